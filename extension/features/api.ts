// What activate() returns, for other extensions and for the tests in the extension host.
import type * as vscode from 'vscode';
import type { FromPanel, ToPanel } from '../protocol/panel';
import type { Report } from '../protocol/report';

export interface LineHeatState {
  /** 1-based, in the document as it is now. */
  line: number;
  step: 1 | 2 | 3 | 4 | 5;
  /** Of all contended samples, 0 to 1. */
  share: number;
  /** The text after the line. */
  text: string;
  /** Name of the gutter icon; null where the gutter shows borders. */
  icon: string | null;
}

export interface PanelState {
  open: boolean;
  /** The page has asked for the report and got it. */
  shown: boolean;
  message: ToPanel;
}

export interface CachelineApi {
  currentReport(): Report | undefined;
  heatOf(uri: vscode.Uri): LineHeatState[];
  panelState(): PanelState;
  /** Does what the same message of the panel's page does. */
  receiveFromPanel(message: FromPanel): Promise<void>;
  /** The process of the engine, where one runs. */
  enginePid(): number | undefined;
  /** How often the engine has died by itself, and what was said last. */
  engineCrashes(): { count: number; message: string | undefined };
  /** What the "Restart" action does. */
  restartEngine(): Promise<void>;
}
