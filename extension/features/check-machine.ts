// The command "Check This Machine": a page with what can be recorded here, why not the rest, what would change it, and a self-test.
// The same as text goes to the output channel, for screen readers and for copying.
// Command: cacheline.checkMachine; returns the text. Messages: protocol/machine.ts.
import * as vscode from 'vscode';
import { EngineError, type DoctorReport, type Engine } from '../protocol/engine';
import type { FromMachine, SelfTestState, ToMachine } from '../protocol/machine';
import { doctorText } from '../session/machine/doctor-text';
import { machineView, parseMachineMessage } from '../session/machine/machine-view';
import type { MachineState } from './api';
import { showError } from './errors';
import { NOT_TRUSTED } from './profiler';
import { panelIcon } from './recording-page';
import { showPage } from './webview-page';

const WIDTH = 100;
const TITLE = vscode.l10n.t('Check This Machine');

export class CheckMachine implements vscode.Disposable {
  private view: vscode.WebviewPanel | undefined;
  private shown = false;
  private report: DoctorReport | undefined;
  private selfTest: SelfTestState = { state: 'none' };

  constructor(
    private readonly engine: Engine,
    private readonly extensionUri: vscode.Uri,
    private readonly output: vscode.OutputChannel,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Undefined where the engine could not say, which is then shown. */
  async run(): Promise<string | undefined> {
    const text = await this.check();
    if (text !== undefined) this.open();
    return text;
  }

  state(): MachineState {
    return { open: this.view !== undefined, shown: this.shown, message: this.message() };
  }

  async receive(message: FromMachine): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.send();
        return;
      case 'check':
        await this.check();
        return;
      case 'selfTest':
        await this.runSelfTest();
        return;
      case 'copy':
        await this.copy(message);
        return;
      case 'text':
        this.output.show();
        return;
      case 'error':
        this.log.error(`The page of "${TITLE}" failed: ${message.message}`);
    }
  }

  dispose(): void {
    this.view?.dispose();
  }

  private async check(): Promise<string | undefined> {
    try {
      return this.take(await this.engine.call('doctor', {}));
    } catch (error) {
      showError(error, this.log);
      return undefined;
    }
  }

  private async runSelfTest(): Promise<void> {
    if (this.selfTest.state === 'running') return;
    if (!vscode.workspace.isTrusted) {
      this.selfTest = { state: 'failed', message: NOT_TRUSTED, nextStep: '' };
      this.send();
      return;
    }
    this.selfTest = { state: 'running' };
    this.send();
    try {
      const report = await this.engine.call('doctor', { selfTest: true });
      const results = report.selfTests;
      this.selfTest =
        results === undefined
          ? {
              state: 'failed',
              message: vscode.l10n.t('The engine did not run the self-test.'),
              nextStep: vscode.l10n.t('Reinstall Cacheline Lens: extension and engine versions differ.'),
            }
          : { state: 'done', results };
      this.take(report);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.selfTest = { state: 'failed', message: error.message, nextStep: error.nextStep };
      this.log.error(`self-test: ${error.message}`);
      this.send();
    }
  }

  private take(report: DoctorReport): string {
    this.report = report;
    const text = doctorText(report, { width: WIDTH });
    this.output.append(text);
    this.send();
    return text;
  }

  private async copy({ collector, blocker }: Extract<FromMachine, { type: 'copy' }>): Promise<void> {
    const command = this.message()?.view.collectors.find(({ name }) => name === collector)?.blockers[blocker]?.command;
    if (command === undefined || command === '') return;
    await vscode.env.clipboard.writeText(command);
    vscode.window.setStatusBarMessage(vscode.l10n.t('Copied: {0}', command), 5000);
  }

  private open(): void {
    if (this.view) {
      this.view.reveal();
      return;
    }
    const view = vscode.window.createWebviewPanel('cacheline.machine', TITLE, vscode.ViewColumn.Active);
    this.view = view;
    view.iconPath = panelIcon(this.extensionUri);
    view.webview.onDidReceiveMessage((message: unknown) => {
      const known = parseMachineMessage(message);
      if (known) void this.receive(known);
      else this.log.warn(`The page of "${TITLE}" sent something unknown: ${JSON.stringify(message ?? null).slice(0, 200)}`);
    });
    view.onDidChangeViewState(() => {
      if (!view.visible) this.shown = false; // a hidden page is gone: it asks again when it comes back
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.shown = false;
    });
    showPage(view, { extensionUri: this.extensionUri, name: 'machine', title: TITLE, log: this.log });
  }

  private message(): ToMachine | undefined {
    return this.report && { type: 'machine', view: machineView(this.report, this.selfTest) };
  }

  private send(): void {
    void this.view?.webview.postMessage(this.message()).then((delivered) => (this.shown = delivered));
  }
}
