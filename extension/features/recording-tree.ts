// The view "Recordings": those of the workspace and of the recording folder, and those that were opened from elsewhere. View:
// cacheline.recordings. Commands, each of a row or of the selected one: cacheline.openListed, cacheline.renameRecording,
// cacheline.revealRecording, cacheline.deleteRecording; and cacheline.refreshRecordings.
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import * as vscode from 'vscode';
import {
  editableName,
  foreignFiles,
  listRecordings,
  recordingWords,
  whyNoName,
  type ListedRecording,
} from '../session/record/recording-list';
import { enumerate, plural } from '../session/text/terminal-text';
import type { CurrentProfile } from './current-profile';
import { askModal, showErrorText, showInformation } from './notify';
import type { Panels } from './panel';
import { VIEW_TYPE } from './recording-editor';
import { findRecordings, outsideFolders } from './recording-files';
import { onSettingChange } from './settings';

const OPENED_KEY = 'cacheline.openedRecordings';
/** Remembered of those that were opened from elsewhere: the last ones. */
const MAX_OPENED = 20;
/** Rows: the newest ones. */
const MAX_LISTED = 500;
/** Files come and go in groups. */
const QUIET_MS = 300;
/** Other files that a question names. */
const MAX_NAMED = 3;

export class RecordingTree implements vscode.TreeDataProvider<ListedRecording>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<ListedRecording>;
  private readonly subscriptions: { dispose(): void }[];
  /** Undefined: nothing was listed yet. Asking for the setting of a folder takes a tenth of the extension's start. */
  private outside: vscode.Disposable | undefined;
  private listed: Promise<ListedRecording[]> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly current: CurrentProfile,
    private readonly panels: Panels,
    private readonly state: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.view = vscode.window.createTreeView('cacheline.recordings', { treeDataProvider: this });
    const places = vscode.workspace.createFileSystemWatcher('**/{*.cacheline,perf.data,*.perf.data}', false, true, false);
    // It is there from the start of a recording, and replaced at the end.
    const ends = vscode.workspace.createFileSystemWatcher('**/*.cacheline/meta.json');
    const later = (): void => this.refreshLater();
    const elsewhere = (): void => {
      if (this.outside) this.watchOutside();
      later();
    };
    this.subscriptions = [
      this.changed,
      this.view,
      ...[places, ends].flatMap((watcher) => [watcher, watcher.onDidCreate(later), watcher.onDidChange(later), watcher.onDidDelete(later)]),
      current.onDidChange((profile) => void this.opened(profile?.path)),
      onSettingChange('recordingFolder', elsewhere),
      vscode.workspace.onDidChangeWorkspaceFolders(elsewhere),
      this.view.onDidChangeVisibility(({ visible }) => visible && this.refresh()),
    ];
  }

  async getChildren(recording?: ListedRecording): Promise<ListedRecording[]> {
    if (recording) return [];
    this.listed ??= this.list();
    return this.listed;
  }

  getTreeItem(recording: ListedRecording): vscode.TreeItem {
    const { label, description, text } = recordingWords(recording, Date.now());
    const isShown = this.current.get()?.path === recording.path;
    const item = new vscode.TreeItem(label);
    item.id = recording.path;
    item.description = description;
    item.tooltip = text;
    item.accessibilityInformation = { label: isShown ? vscode.l10n.t('{0}, {1}, shown', label, description) : `${label}, ${description}` };
    item.iconPath = new vscode.ThemeIcon(isShown ? 'eye' : recording.ended ? 'graph' : 'record');
    item.contextValue = recording.ended ? 'recording' : 'unfinished';
    item.command = { command: 'cacheline.openListed', title: vscode.l10n.t('Open'), arguments: [recording] };
    return item;
  }

  /** Command: cacheline.refreshRecordings. */
  refresh(): void {
    this.listed = undefined;
    this.changed.fire(undefined);
  }

  /** Command: cacheline.openListed. In a tab of its own, as from the explorer. */
  async open(argument: unknown): Promise<void> {
    const recording = this.chosen(argument);
    if (recording) await vscode.commands.executeCommand('cacheline.openAsProfile', vscode.Uri.file(recording.path));
  }

  /** Command: cacheline.renameRecording. */
  async rename(argument: unknown): Promise<void> {
    const recording = this.chosen(argument);
    if (!recording) return;
    const { stem, suffix } = editableName(recording.path);
    const pathOf = (name: string): string => join(dirname(recording.path), name + suffix);
    const name = await vscode.window.showInputBox({
      title: vscode.l10n.t('Rename Recording'),
      prompt: suffix === '' ? vscode.l10n.t('New name') : vscode.l10n.t('New name, without {0}', suffix),
      value: stem,
      validateInput: (value) => {
        if (value === stem) return undefined;
        return whyNoName(value) ?? (existsSync(pathOf(value)) ? vscode.l10n.t('This name is already taken.') : undefined);
      },
    });
    if (name === undefined || name === stem) return;
    await this.move(recording.path, pathOf(name));
    this.refresh();
  }

  /** Command: cacheline.revealRecording. */
  async reveal(argument: unknown): Promise<void> {
    const recording = this.chosen(argument);
    if (!recording) return;
    const uri = vscode.Uri.file(recording.path);
    const command = vscode.workspace.getWorkspaceFolder(uri) ? 'revealInExplorer' : 'revealFileInOS';
    // An editor in a browser, or of another machine, has no file manager beside it.
    if ((await vscode.commands.getCommands()).includes(command)) {
      await vscode.commands.executeCommand(command, uri);
      return;
    }
    const choice = await showInformation(
      vscode.l10n.t('The recording is outside this workspace: {0}', recording.path),
      vscode.l10n.t('Copy Path'),
    );
    if (choice !== undefined) await vscode.env.clipboard.writeText(recording.path);
  }

  /** Command: cacheline.deleteRecording. To the trash where the file system has one, else for good where the person agrees. */
  async delete(argument: unknown): Promise<void> {
    const recording = this.chosen(argument);
    if (!recording) return;
    const uri = vscode.Uri.file(recording.path);
    try {
      await vscode.workspace.fs.delete(uri, { recursive: true, useTrash: true });
    } catch (error) {
      this.log.info(`${recording.path} was not moved to the trash: ${String(error)}`);
      await this.deleteForGood(recording, uri);
    }
    this.refresh();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.outside?.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async deleteForGood(recording: ListedRecording, uri: vscode.Uri): Promise<void> {
    try {
      const others = await foreignFiles(recording.path);
      const more = others.length > MAX_NAMED ? [plural(others.length - MAX_NAMED, 'more', 'more')] : [];
      const also = vscode.l10n.t(
        'This also deletes files that are not part of the recording: {0}.',
        enumerate([...others.slice(0, MAX_NAMED), ...more]),
      );
      const detail = [
        recording.path,
        ...(recording.ended ? [] : [vscode.l10n.t('It has no end yet: it may still be recording.')]),
        ...(others.length > 0 ? [also] : []),
        vscode.l10n.t('There is no trash here. This cannot be undone.'),
      ].join('\n');
      const { label } = recordingWords(recording, Date.now());
      if (await askModal(vscode.l10n.t('Permanently delete the recording "{0}"?', label), detail, vscode.l10n.t('Delete')))
        await vscode.workspace.fs.delete(uri, { recursive: true, useTrash: false });
    } catch (error) {
      this.log.error(`${recording.path}: ${String(error)}`);
      void showErrorText(vscode.l10n.t('{0} was not deleted: {1}', recording.path, (error as Error).message));
    }
  }

  private async list(): Promise<ListedRecording[]> {
    if (!this.outside) this.watchOutside();
    const recordings = await listRecordings([...(await findRecordings(this.log)), ...this.openedPaths()], this.log);
    const left = recordings.length - MAX_LISTED;
    this.view.message = left > 0 ? vscode.l10n.t('The newest {0} of {1} recordings.', MAX_LISTED, recordings.length) : '';
    return recordings.slice(0, MAX_LISTED);
  }

  /** Of a menu, or of a key. */
  private chosen(argument: unknown): ListedRecording | undefined {
    const { path } = (argument ?? {}) as Partial<ListedRecording>;
    return typeof path === 'string' ? (argument as ListedRecording) : this.view.selection[0];
  }

  private refreshLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), QUIET_MS);
  }

  /** Folders of the setting that the workspace's own watchers do not see. */
  private watchOutside(): void {
    this.outside?.dispose();
    const watchers = outsideFolders(this.log).map((folder) => {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), '*.cacheline');
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      watcher.onDidCreate(() => this.refreshLater());
      watcher.onDidDelete(() => this.refreshLater());
      return watcher;
    });
    this.outside = vscode.Disposable.from(...watchers);
  }

  private openedPaths(): string[] {
    const paths = this.state.get<unknown>(OPENED_KEY);
    return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : [];
  }

  /** @param path of the profile that is shown now; undefined: none is */
  private async opened(path: string | undefined): Promise<void> {
    this.refreshLater();
    if (path === undefined || !isAbsolute(path)) return;
    await this.remember([path, ...this.openedPaths().filter((other) => other !== path)]);
  }

  private async remember(paths: readonly string[]): Promise<void> {
    await this.state.update(OPENED_KEY, paths.slice(0, MAX_OPENED));
  }

  /** With the tabs and the panel that show it. */
  private async move(from: string, to: string): Promise<void> {
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .flatMap((tab) => {
        const { input, group } = tab;
        if (!(input instanceof vscode.TabInputCustom) || input.viewType !== VIEW_TYPE) return [];
        const { fsPath } = input.uri;
        if (fsPath !== from && !fsPath.startsWith(from + sep)) return [];
        return [{ tab, below: fsPath.slice(from.length), column: group.viewColumn }];
      });
    // The editor would move the tab of a folder as a text.
    await vscode.window.tabGroups.close(tabs.map(({ tab }) => tab));
    let now = to;
    try {
      await vscode.workspace.fs.rename(vscode.Uri.file(from), vscode.Uri.file(to), { overwrite: false });
      await this.remember(this.openedPaths().map((path) => (path === from ? to : path)));
    } catch (error) {
      now = from;
      this.log.error(`${from}: ${String(error)}`);
      void showErrorText(vscode.l10n.t('{0} was not renamed to {1}: {2}', from, to, (error as Error).message));
    }
    for (const { below, column } of tabs)
      await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(now + below), VIEW_TYPE, column);
    if (now === from) return;
    if (!this.panels.moved(from, to) && tabs.length === 0 && this.current.get()?.path === from)
      await vscode.commands.executeCommand('cacheline.openRecording', to);
  }
}
