// The command "Profile for False Sharing": runs a program, records it, and shows what its threads contend for.
// Commands: cacheline.profile (optional argument { program, args, cwd, env }; returns the recording's path), cacheline.stop.
// Context key: `cacheline.recording`.
import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { EngineError, type Engine, type RecordResult } from '../protocol/engine';
import { environmentList, joinArguments, resolveTarget, type LaunchTarget } from '../session/launch';
import { plainWords } from '../session/plain-words';
import { profile, type Profile, type ProfileProgress } from '../session/profile';
import { plural } from '../session/terminal-text';
import { ShownProfile } from './current-profile';
import { showError } from './errors';
import type { Panel } from './panel';
import type { ProgramPicker } from './program-picker';
import { setting } from './settings';
import type { SourceDocuments } from './source-documents';

export class ProfileCommand {
  private stopRunning: (() => void) | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly picker: ProgramPicker,
    private readonly documents: SourceDocuments,
    private readonly panel: Panel,
    private readonly output: vscode.OutputChannel,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Returns the recording's path; undefined where nothing was recorded. */
  async run(argument: unknown): Promise<string | undefined> {
    if (this.stopRunning) {
      void vscode.window.showInformationMessage('A program is being profiled already. Stop it first with "Cacheline: Stop Recording".');
      return undefined;
    }
    try {
      const target = argument === undefined ? await this.picker.pick() : resolveTarget(argument, defaultFolder());
      if (!target) return undefined;
      await this.picker.remember(target);
      const done = await this.record(target);
      await this.documents.use(new ShownProfile(done.report, done.recording.path, basename(target.program)));
      this.panel.show(true);
      this.summarize(target, done);
      return done.recording.path;
    } catch (error) {
      showError(error, this.log);
      return undefined;
    }
  }

  /** Ends the recording that runs, which is kept and shown. */
  stop(): void {
    this.stopRunning?.();
  }

  private async record(target: LaunchTarget): Promise<Profile> {
    const stop = new AbortController();
    const cancel = new AbortController();
    this.stopRunning = () => stop.abort();
    await vscode.commands.executeCommand('setContext', 'cacheline.recording', true);
    this.output.appendLine(`> ${joinArguments([target.program, ...target.args])}    (in ${target.cwd})`);
    try {
      const parent = await recordingParent(target, this.log);
      return await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: `Profiling ${basename(target.program)}`, cancellable: true },
        (progress, token) => {
          let analyzing = false;
          token.onCancellationRequested(() => (analyzing ? cancel : stop).abort());
          const onProgress = (now: ProfileProgress): void => {
            analyzing = now.phase === 'analyzing';
            if (now.phase === 'recording' && now.output) this.output.append(now.output);
            progress.report({ message: stop.signal.aborted && !analyzing ? 'ending the program…' : progressText(now) });
          };
          return profile(
            this.engine,
            {
              command: [target.program, ...target.args],
              workingDirectory: target.cwd,
              environment: environmentList(target.env),
              frequency: setting('frequency', this.log),
              durationSeconds: 0,
              callchains: false,
              stdio: 'capture',
              output: { parent },
            },
            { stop: stop.signal, cancel: cancel.signal, onProgress },
          );
        },
      );
    } finally {
      this.stopRunning = undefined;
      await vscode.commands.executeCommand('setContext', 'cacheline.recording', false);
    }
  }

  private summarize(target: LaunchTarget, { recording: { path, result }, report }: Profile): void {
    const [head = ''] = plainWords(report);
    const text = `${basename(target.program)}: ${head} ${endText(result)}`.trim();
    this.output.appendLine(`< ${endText(result) || 'It ended.'} ${plural(result.samples, 'sample')} in ${path}`);
    for (const warning of result.warnings) this.output.appendLine(`  warning: ${warning}`);
    this.log.info(`${text} The recording is ${path}.`);
    const show = result.warnings.length > 0 || failed(result) ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    void show([text, ...result.warnings].join(' '), 'Show Output').then((chosen) => {
      if (chosen !== undefined) this.output.show(true);
    });
  }
}

function defaultFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

/** The folder in which PROGRAM.cacheline is made: the setting's, else the workspace's, else where the program runs. */
async function recordingParent(target: LaunchTarget, log: vscode.LogOutputChannel): Promise<string> {
  const wanted = setting('recordingFolder', log);
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(target.program))?.uri.fsPath ?? defaultFolder();
  if (wanted === '') return folder ?? target.cwd;
  const path = resolveTarget({ program: wanted }, folder).program;
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw new EngineError(
      'io',
      `The folder ${path} cannot be made: ${(error as Error).message}.`,
      'Change the setting cacheline.recordingFolder.',
    );
  }
  return path;
}

function progressText(progress: ProfileProgress): string {
  if (progress.phase === 'analyzing') return `analyzing, ${Math.round(progress.share * 100)} %`;
  const lost = progress.lost > 0 ? `, ${progress.lost} lost` : '';
  return `${progress.elapsedSeconds.toFixed(1)} s, ${plural(progress.samples, 'sample')}${lost}. Cancel ends the program and keeps what was recorded.`;
}

/** Empty where the program ended well. */
function endText({ exitStatus, signal, interrupted }: RecordResult): string {
  if (interrupted) return 'The recording was stopped before the program had ended.';
  if (signal !== null) return `The program was killed by signal ${signal}.`;
  return exitStatus !== null && exitStatus !== 0 ? `The program ended with exit status ${exitStatus}.` : '';
}

function failed({ exitStatus, signal, interrupted }: RecordResult): boolean {
  return !interrupted && (signal !== null || (exitStatus ?? 0) !== 0);
}
