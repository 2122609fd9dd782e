// Records one target at a time and shows what its threads contend for: what the commands, tasks and debug configurations share.
// Context key: `cacheline.recording`.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { EngineError, type Engine } from '../protocol/engine';
import { sentence } from '../protocol/words';
import { summaryOf } from '../session/report/first-words';
import { profile, type Profile, type ProfileProgress, type Recording } from '../session/record/profile';
import { recordRequest, targetName, type ProfileTarget } from '../session/record/profile-target';
import { endText, failed, progressText, startText } from '../session/record/profile-words';
import { LaunchError } from '../session/record/recording-choices';
import { makeFolder } from '../session/record/recording-folder';
import { ShownProfile } from '../session/profile/shown-profile';
import { showSaid, type RunDisplay } from '../session/record/run-display';
import { plural, printable } from '../session/text/terminal-text';
import { showInformation, showWarning, withNotification } from './notify';
import type { Panels } from './panel';
import { recordingFolder } from './recording-files';
import { RecordingStatus } from './recording-status';
import { SamplingControl } from './sampling-control';
import { folderSetting } from './settings';

export const NOT_TRUSTED = vscode.l10n.t(
  'Recording is off in an untrusted workspace, because others may have written its programs and settings. Trust it first with "Workspaces: Manage Workspace Trust". You can still open recordings.',
);

/** Before a person is asked for anything. Throws LaunchError. */
export function refuseUntrusted(): void {
  if (!vscode.workspace.isTrusted) throw new LaunchError(NOT_TRUSTED);
}

export class Profiler implements vscode.Disposable {
  private stopRunning: (() => void) | undefined;
  private readonly status = new RecordingStatus();
  private readonly sampling: SamplingControl;

  constructor(
    private readonly engine: Engine,
    private readonly panels: Panels,
    private readonly channel: vscode.OutputChannel,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.sampling = new SamplingControl(log);
  }

  /**
   * Records, analyses and shows.
   * @param display by default a notification and the output channel
   * @param parent the folder in which the recording is made; by default the setting's
   * Rejects with EngineError, or LaunchError where a recording runs already or the workspace is not trusted.
   */
  async run(target: ProfileTarget, display?: RunDisplay, parent?: string): Promise<Recording> {
    refuseUntrusted();
    if (this.stopRunning)
      throw new LaunchError(vscode.l10n.t('A recording is already running. Stop it first with "Cacheline: Stop Recording".'));
    const done = await (display ? this.record(target, display, parent) : this.recordWithNotification(target, parent));
    const shown = await ShownProfile.begin(done.opened, done.recording.path, printable(targetName(target)));
    const head = summaryOf(shown); // while nothing else can be shown in its place
    await this.panels.open(shown);
    this.summarize(target, done.recording, head, display);
    return done.recording;
  }

  /** Ends the recording that runs, which is kept and shown. */
  stop(): void {
    this.stopRunning?.();
  }

  /** Samples no more until `pause(false)`; the recording goes on. */
  pause(paused: boolean): Promise<void> {
    return this.sampling.set(!paused);
  }

  dispose(): void {
    this.status.dispose();
    this.sampling.dispose();
  }

  private recordWithNotification(target: ProfileTarget, parent: string | undefined): Thenable<Profile> {
    const title = vscode.l10n.t('Profiling {0}', printable(targetName(target)));
    return withNotification(title, (progress, stop) => {
      const display: RunDisplay = {
        output: (text) => this.channel.append(text),
        line: (text) => this.channel.appendLine(text),
        warning: (text) => {
          this.channel.appendLine(vscode.l10n.t('  warning: {0}', text));
          void showWarning(text);
        },
        progress,
        stop,
      };
      return this.record(target, display, parent);
    });
  }

  private async record(target: ProfileTarget, display: RunDisplay, parent: string | undefined): Promise<Profile> {
    const stop = new AbortController();
    const cancel = new AbortController();
    let analyzing = false;
    display.stop.addEventListener('abort', () => (analyzing ? cancel : stop).abort(), { once: true });
    if (display.stop.aborted) stop.abort();
    this.stopRunning = () => stop.abort();
    this.status.begin(printable(targetName(target)));
    try {
      await vscode.commands.executeCommand('setContext', 'cacheline.recording', true);
      const folder = folderOf(target);
      const request = recordRequest(target, this.settings(folder), parent ?? (await this.recordingParent(target, folder)));
      const control = await this.sampling.begin(target.paused ?? false);
      display.line(startText(target));
      const onProgress = (now: ProfileProgress): void => {
        if (now.phase === 'analyzing' && !analyzing) void this.sampling.end();
        analyzing = now.phase === 'analyzing';
        showSaid(now, display);
        this.status.progress(now);
        display.progress(stop.signal.aborted && !analyzing ? vscode.l10n.t('ending…') : progressText(target, now), analyzing);
      };
      return await profile(this.engine, { ...request, ...control }, { stop: stop.signal, cancel: cancel.signal, onProgress });
    } finally {
      this.stopRunning = undefined;
      this.status.end();
      await this.sampling.end();
      await vscode.commands.executeCommand('setContext', 'cacheline.recording', false);
    }
  }

  private settings(folder: vscode.WorkspaceFolder | undefined): Parameters<typeof recordRequest>[1] {
    return {
      frequency: folderSetting('frequency', this.log, folder),
      collector: folderSetting('collector', this.log, folder),
      confirm: folderSetting('confirm', this.log, folder),
      attachDuration: folderSetting('attachDuration', this.log, folder),
    };
  }

  private summarize(target: ProfileTarget, { path, result }: Recording, head: string, display: RunDisplay | undefined): void {
    const end = endText(target, result);
    const text = `${printable(targetName(target))}: ${head} ${end}`.trim();
    const line = display ? display.line.bind(display) : (said: string) => this.channel.appendLine(said);
    line(`< ${vscode.l10n.t('{0} {1} in {2}', end || vscode.l10n.t('It ended.'), plural(result.samples, 'sample'), path)}`);
    for (const warning of result.warnings) line(vscode.l10n.t('  warning: {0}', printable(warning)));
    this.log.info(`${text} The recording is ${path}.`);
    if (display) {
      line(`  ${head}`);
      return;
    }
    const show = result.warnings.length > 0 || failed(result) ? showWarning : showInformation;
    void show([text, ...result.warnings.map((warning) => printable(sentence(warning)))].join(' '), vscode.l10n.t('Show Output')).then(
      (chosen) => {
        if (chosen !== undefined) this.channel.show(true);
      },
    );
  }

  /** The folder in which NAME.cacheline is made: the setting's, else the workspace's, else where the program runs. */
  private async recordingParent(target: ProfileTarget, folder: vscode.WorkspaceFolder | undefined): Promise<string> {
    const path = recordingFolder(this.log, folder);
    if (path === undefined) return folder?.uri.fsPath ?? (target.kind === 'program' ? target.cwd : homedir());
    try {
      await makeFolder(path);
    } catch (error) {
      throw new EngineError(
        'io',
        vscode.l10n.t('The folder {0} cannot be made: {1}.', path, (error as Error).message),
        vscode.l10n.t('Change the setting cacheline.recordingFolder.'),
      );
    }
    return path;
  }
}

/** The workspace's folder that the program is in, else the first one. */
function folderOf(target: ProfileTarget): vscode.WorkspaceFolder | undefined {
  const own = target.kind === 'program' ? vscode.workspace.getWorkspaceFolder(vscode.Uri.file(target.program)) : undefined;
  return own ?? vscode.workspace.workspaceFolders?.[0];
}
