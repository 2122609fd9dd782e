// Tasks of the type `cacheline`: a program is profiled in a terminal of its own, as `cacheline record` does, and its profile is shown.
// The task ends with the program's exit status; Ctrl-C and "Terminate Task" end the recording, which is kept.
import * as vscode from 'vscode';
import { exitStatusOf, programStatus, USAGE } from '../session/record/exit-status';
import { EngineError } from '../protocol/engine';
import { resolveTarget } from '../session/record/launch';
import type { RunDisplay } from '../session/record/run-display';
import { showError } from './errors';
import type { Profiler } from './profiler';
import { folderSetting } from './settings';

const TYPE = 'cacheline';
const CTRL_C = '\u0003';

export class ProfileTasks implements vscode.TaskProvider {
  constructor(
    private readonly profiler: Profiler,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.tasks.registerTaskProvider(TYPE, this);
  }

  /** One for each entry of `cacheline.launch`. */
  provideTasks(): vscode.Task[] {
    return (vscode.workspace.workspaceFolders ?? []).flatMap((folder) =>
      folderSetting('launch', this.log, folder).map(({ name, ...entry }) => this.task({ type: TYPE, ...entry }, folder, name)),
    );
  }

  /** A task of tasks.json gets what runs it; its definition stays as it was written. */
  resolveTask(task: vscode.Task): vscode.Task {
    return this.task(task.definition, task.scope ?? vscode.TaskScope.Workspace, task.name);
  }

  private task(definition: vscode.TaskDefinition, scope: vscode.Task['scope'] & {}, name: string): vscode.Task {
    const execution = new vscode.CustomExecution((resolved) => {
      const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
      return Promise.resolve(new ProfileTerminal(this.profiler, resolved, folder?.uri.fsPath, this.log));
    });
    const task = new vscode.Task(definition, scope, name, TYPE, execution, []);
    task.detail = vscode.l10n.t('Profile for false sharing');
    return task;
  }
}

/** The terminal of one run. The program has no input: it reads the end of a file. */
class ProfileTerminal implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly closed = new vscode.EventEmitter<number>();
  private readonly stop = new AbortController();
  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;

  constructor(
    private readonly profiler: Profiler,
    private readonly definition: vscode.TaskDefinition,
    private readonly folder: string | undefined,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  open(): void {
    void this.run().then((status) => this.closed.fire(status));
  }

  close(): void {
    this.stop.abort();
  }

  handleInput(data: string): void {
    if (data.includes(CTRL_C)) this.stop.abort();
  }

  private async run(): Promise<number> {
    let analyzing = false;
    const display: RunDisplay = {
      output: (text) => this.write(text),
      line: (text) => this.write(`${text}\n`),
      warning: (text) => this.write(`${vscode.l10n.t('  warning: {0}', text)}\n`),
      progress: (_, now) => {
        if (now && !analyzing) this.write(`${vscode.l10n.t('analyzing…')}\n`);
        analyzing = now;
      },
      stop: this.stop.signal,
    };
    try {
      const { result } = await this.profiler.run({ kind: 'program', ...resolveTarget(this.definition, this.folder) }, display);
      return programStatus(result);
    } catch (error) {
      showError(error, this.log); // also throws on what is a bug
      const { message } = error as Error;
      this.write(`${message}${error instanceof EngineError && error.nextStep !== '' ? ` ${error.nextStep}` : ''}\n`);
      return error instanceof EngineError ? exitStatusOf(error.kind) : USAGE;
    }
  }

  /** A terminal goes to the next line's start only where it is told to. */
  private write(text: string): void {
    this.written.fire(text.replace(/\r?\n/g, '\r\n'));
  }
}
