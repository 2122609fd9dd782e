// What activate() returns, for other extensions and for the tests in the extension host.
import type * as vscode from 'vscode';
import type { FromCompare, ToCompare } from '../protocol/compare';
import type { Measure } from '../protocol/measure';
import type { FromMachine, ToMachine } from '../protocol/machine';
import type { FromPanel, PanelAdvice, ToPanel, UnfoldedLine } from '../protocol/panel';
import type { LineDetail } from '../protocol/panel-detail';
import type { TabAnswer } from '../protocol/panel-tabs';
import type { AdviceList } from '../protocol/advice';
import type { Report } from '../protocol/report';
import type { ListedRecording } from '../session/record/recording-list';
import type { TreeNode } from '../session/profile/contended-tree';
import type { LineDifference } from './line-differences';

export interface LineHeatState {
  /** 1-based, in the document as it is now. */
  line: number;
  step: 1 | 2 | 3 | 4 | 5;
  /** Of everything of the measure in the recording, 0 to 1. */
  share: number;
  measure: Measure;
  /** What the line measured: samples, or core cycles for `latency`. */
  amount: number;
  /** What loads measured on the cache lines that this line only stores to; 0 where it has an amount. */
  caused: number;
  /** The text after the line; empty: the settings leave it out. */
  text: string;
  /** Name of the gutter icon; null where the gutter shows borders, or no mark. */
  icon: string | null;
}

/** Text after a member's declaration. */
export interface MemberTextState {
  /** 1-based, in the document as it is now. */
  line: number;
  text: string;
}

export interface PanelState {
  open: boolean;
  /** The page has asked for the report and got it. */
  shown: boolean;
  message: ToPanel;
  /** What the page was sent last of it; undefined: nothing yet, or there is none. */
  advice: PanelAdvice | undefined;
  /** The line in full that the page was sent last; undefined: none. */
  detail: LineDetail | undefined;
  /** Of the lines whose accesses the page asked for, the one that came last. */
  unfolded: UnfoldedLine | undefined;
  /** What a tab beside the lines was sent last; undefined: nothing yet of this profile. */
  tab: TabAnswer | undefined;
}

/** The page of "Check This Machine". */
export interface MachineState {
  open: boolean;
  /** The page has asked for the view and got it. */
  shown: boolean;
  /** Undefined before the first check. */
  message: ToMachine | undefined;
}

/** The page of "Compare Recordings". */
export interface CompareState {
  open: boolean;
  /** The page has asked for the comparison and got it. */
  shown: boolean;
  /** Undefined before the first comparison. */
  message: ToCompare | undefined;
}

/** A tab that shows a recording. */
export interface RecordingTabState extends PanelState {
  uri: vscode.Uri;
  /** Does what the same message of its page does. */
  receive(message: FromPanel): Promise<void>;
}

export interface CachelineApi {
  /** With all its lines, which the engine is asked for. */
  currentReport(): Promise<Report | undefined>;
  heatOf(uri: vscode.Uri): Promise<LineHeatState[]>;
  /** What a comparison changed on lines (1-based), where the gutter shows that. */
  differencesOf(uri: vscode.Uri): Promise<LineDifference[] | undefined>;
  memberTextsOf(uri: vscode.Uri): MemberTextState[];
  /** The view of contended data: the same provider that the view asks. */
  contendedData(): vscode.TreeDataProvider<TreeNode>;
  /** The view of recordings, as above. */
  recordings(): vscode.TreeDataProvider<ListedRecording>;
  /** Shows a report that was made elsewhere, also in the panel of an earlier one of this title. `advice`: without it there is none. */
  showReport(report: Report, title: string, advice?: AdviceList): Promise<void>;
  /** What the editor's terminals get. */
  terminalVariables(): vscode.EnvironmentVariableCollection;
  /** Of the panel that was active last. */
  panelState(): PanelState;
  recordingTabs(): RecordingTabState[];
  /** Does what the same message of that panel's page does. */
  receiveFromPanel(message: FromPanel): Promise<void>;
  machineState(): MachineState;
  /** Does what the same message of the page of "Check This Machine" does. */
  receiveFromMachine(message: FromMachine): Promise<void>;
  compareState(): CompareState;
  /** Does what the same message of the page of "Compare Recordings" does. */
  receiveFromCompare(message: FromCompare): Promise<void>;
  /** How many the engine keeps open. */
  openProfiles(): number;
  /** The process of the engine, where one runs. */
  enginePid(): number | undefined;
  /** The process that records; undefined: none was needed yet. */
  recorderPid(): number | undefined;
  /** How often the engine has died by itself, and what was said last. */
  engineCrashes(): { count: number; message: string | undefined };
  /** What the "Restart" action does. */
  restartEngine(): Promise<void>;
}
