// Pausing the recording that runs, and going on: a button of the status bar and the commands cacheline.pause and cacheline.resume.
// Context key: `cacheline.sampling`, "on" or "off" while something is recorded that can be paused.
import * as vscode from 'vscode';
import { EngineError, type RecordParams } from '../protocol/engine';
import { SamplingFifo } from '../session/record/sampling-fifo';

export class SamplingControl implements vscode.Disposable {
  private fifo: SamplingFifo | undefined;
  private readonly item = vscode.window.createStatusBarItem('cacheline.sampling', vscode.StatusBarAlignment.Left);

  constructor(private readonly log: vscode.LogOutputChannel) {
    this.item.name = vscode.l10n.t('Cacheline Sampling');
  }

  /**
   * What the recording that begins is controlled by; empty where it cannot be, which the log says.
   * Rejects with EngineError where it has to begin paused and cannot.
   */
  async begin(paused: boolean): Promise<Pick<RecordParams, 'control'>> {
    try {
      this.fifo = await SamplingFifo.make();
    } catch (error) {
      const text = vscode.l10n.t('Recordings cannot be paused here: {0}.', (error as Error).message.trim());
      if (paused) throw new EngineError('io', text, vscode.l10n.t('Record without "paused", or install mkfifo (coreutils).'));
      this.log.warn(text);
      return {};
    }
    await this.show(!paused);
    return { control: { command: this.fifo.path, startDisabled: paused } };
  }

  async set(on: boolean): Promise<void> {
    if (!this.fifo) return;
    await this.fifo.send(on ? 'enable' : 'disable');
    await this.show(on);
  }

  async end(): Promise<void> {
    const { fifo } = this;
    this.fifo = undefined;
    this.item.hide();
    await vscode.commands.executeCommand('setContext', 'cacheline.sampling', undefined);
    await fifo?.remove();
  }

  dispose(): void {
    this.item.dispose();
    void this.fifo?.remove();
  }

  private async show(on: boolean): Promise<void> {
    this.item.text = on ? '$(debug-pause)' : vscode.l10n.t('$(debug-continue) paused');
    this.item.tooltip = on ? vscode.l10n.t('Pause sampling. The program keeps running.') : vscode.l10n.t('Resume sampling');
    this.item.accessibilityInformation = {
      label: on ? vscode.l10n.t('Pause sampling') : vscode.l10n.t('Resume sampling (paused)'),
      role: 'button',
    };
    this.item.command = on ? 'cacheline.pause' : 'cacheline.resume';
    this.item.show();
    await vscode.commands.executeCommand('setContext', 'cacheline.sampling', on ? 'on' : 'off');
  }
}
