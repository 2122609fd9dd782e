// The engine's process: says when it died, and starts it again. The editor and the current profile stay as they are.
import * as vscode from 'vscode';
import type { EngineClient } from '../engine/client';
import { EngineError } from '../protocol/engine';
import { showError } from './errors';
import { showErrorText } from './notify';

const RESTART = vscode.l10n.t('Restart');

export class EngineHealth implements vscode.Disposable {
  private crashes = 0;
  private lastMessage: string | undefined;
  private readonly subscription: { dispose(): void };

  constructor(
    private readonly engine: EngineClient,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscription = engine.onCrash((error) => void this.tell(error));
  }

  get history(): { count: number; message: string | undefined } {
    return { count: this.crashes, message: this.lastMessage };
  }

  /** Command: cacheline.restartEngine. */
  async restart(): Promise<void> {
    try {
      await this.engine.restart();
      this.log.info(`The engine runs again (process ${this.engine.pid ?? 'unknown'}).`);
      vscode.window.setStatusBarMessage(vscode.l10n.t('Cacheline: the engine runs again.'), 5000);
    } catch (error) {
      showError(error, this.log);
    }
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private async tell(error: EngineError): Promise<void> {
    ++this.crashes;
    this.lastMessage = error.message;
    this.log.error(error.message);
    if ((await showErrorText(error.message, RESTART)) === RESTART) await this.restart();
  }
}
