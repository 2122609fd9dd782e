// Chooses what to profile: launch entries, programs used before, executables of the workspace, or a path.
// Remembers arguments and working folder of each program in the workspace's state.
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import * as vscode from 'vscode';
import type { BinaryInfo, Engine } from '../protocol/engine';
import { pickerText, printable } from '../protocol/printable';
import { findExecutables } from '../session/record/executables';
import {
  joinArguments,
  LaunchError,
  parseRecent,
  remember,
  resolveTarget,
  splitArguments,
  type LaunchTarget,
} from '../session/record/launch';
import { folderSetting } from './settings';

const RECENT_KEY = 'cacheline.recentPrograms';
const SEARCH = { maxEntries: 50_000, maxDepth: 10 };
/** Programs that are listed: the newest ones. */
const MAX_LISTED = 200;

interface ProgramItem extends vscode.QuickPickItem {
  /** What picking it gives; undefined for separators. */
  choose?: () => Promise<LaunchTarget | undefined>;
}

export class ProgramPicker {
  constructor(
    private readonly engine: Engine,
    private readonly state: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Undefined where the person gave up. Rejects with EngineError or LaunchError. */
  async pick(): Promise<LaunchTarget | undefined> {
    const choose = await this.pickProgram();
    return choose?.();
  }

  async remember(target: LaunchTarget): Promise<void> {
    await this.state.update(RECENT_KEY, remember(this.recent(), target));
  }

  private recent(): LaunchTarget[] {
    return parseRecent(this.state.get(RECENT_KEY));
  }

  private async pickProgram(): Promise<ProgramItem['choose']> {
    const picker = vscode.window.createQuickPick<ProgramItem>();
    const search = new AbortController();
    picker.title = vscode.l10n.t('Profile for False Sharing');
    picker.placeholder = vscode.l10n.t('Choose a program, or type its path');
    picker.matchOnDescription = true;
    const known = this.knownItems();
    const browse: ProgramItem[] = [
      { label: '', kind: vscode.QuickPickItemKind.Separator },
      { label: vscode.l10n.t('Browse…'), alwaysShow: true, choose: () => this.browse() },
    ];
    let found: ProgramItem[] = [];
    const list = (): void => {
      picker.items = [...typedItem(picker.value, (path) => this.ask(path)), ...known, ...found, ...browse];
    };
    try {
      return await new Promise<ProgramItem['choose']>((resolvePick, reject) => {
        picker.onDidChangeValue(list);
        picker.onDidAccept(() => resolvePick(picker.activeItems[0]?.choose));
        picker.onDidHide(() => resolvePick(undefined));
        list();
        picker.show();
        picker.busy = true;
        this.workspacePrograms(search.signal).then((items) => {
          found = items;
          picker.busy = false;
          if (!search.signal.aborted) list();
        }, reject);
      });
    } finally {
      search.abort();
      picker.dispose();
    }
  }

  private knownItems(): ProgramItem[] {
    const open = vscode.workspace.workspaceFolders ?? [];
    const folders = open.length > 0 ? open : [undefined];
    const launch = folders.flatMap((folder) =>
      folderSetting('launch', this.log, folder).map((entry): ProgramItem => {
        return {
          label: pickerText(entry.name),
          description: pickerText([entry.program, joinArguments(entry.args)].join(' ').trim()),
          ...(folder && folders.length > 1 ? { detail: pickerText(folder.name) } : {}),
          // Also where it cannot be resolved: then picking it says why.
          choose: () => Promise.resolve().then(() => resolveTarget(entry, folder?.uri.fsPath)),
        };
      }),
    );
    const recent = this.recent().map((target): ProgramItem => {
      return {
        label: pickerText(basename(target.program)),
        description: pickerText([vscode.workspace.asRelativePath(target.program), joinArguments(target.args)].join(' ').trim()),
        choose: () => this.ask(target.program),
      };
    });
    return [...group(vscode.l10n.t('launch entries'), launch), ...group(vscode.l10n.t('recently used'), recent)];
  }

  private async workspacePrograms(signal: AbortSignal): Promise<ProgramItem[]> {
    const searches = await Promise.all(
      (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => findExecutables(uri.fsPath, { ...SEARCH, signal })),
    );
    if (signal.aborted) return [];
    if (searches.some(({ complete }) => !complete)) {
      this.log.info(
        `Only the first ${SEARCH.maxEntries} files of each workspace folder were searched for programs. Use Browse for others.`,
      );
    }
    const paths = searches
      .flatMap(({ files }) => files)
      .sort((a, b) => b.modified - a.modified)
      .slice(0, MAX_LISTED)
      .map(({ path }) => path);
    const binaries = (await this.engine.call('inspect', { paths })).filter(({ kind }) => kind === 'executable');
    const items = (withDebugInfo: boolean): ProgramItem[] =>
      binaries.filter(({ debugInfo }) => debugInfo === withDebugInfo).map((binary) => this.programItem(binary));
    return [
      ...group(vscode.l10n.t('programs with debug information'), items(true)),
      ...group(vscode.l10n.t('programs without debug information'), items(false)),
    ];
  }

  private programItem({ path, staticallyLinked }: BinaryInfo): ProgramItem {
    return {
      label: pickerText(basename(path)),
      description:
        pickerText(vscode.workspace.asRelativePath(dirname(path))) + (staticallyLinked ? ` (${vscode.l10n.t('statically linked')})` : ''),
      choose: () => this.ask(path),
    };
  }

  private async browse(): Promise<LaunchTarget | undefined> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const chosen = await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Program to Profile'),
      openLabel: vscode.l10n.t('Profile'),
      ...(folder ? { defaultUri: folder } : {}),
    });
    return chosen?.[0] && this.ask(chosen[0].fsPath);
  }

  /** Asks for arguments and working folder, with those of the last time. */
  private async ask(program: string): Promise<LaunchTarget | undefined> {
    const last = this.recent().find((target) => target.program === program);
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(program)) ?? vscode.workspace.workspaceFolders?.[0];
    const title = vscode.l10n.t('Profile {0}', printable(basename(program)));
    const line = await vscode.window.showInputBox({
      title,
      prompt: vscode.l10n.t('Arguments of the program. Use quotes to group words; no shell is involved.'),
      value: joinArguments(last?.args ?? []),
      ignoreFocusOut: true,
      validateInput: argumentsProblem,
    });
    if (line === undefined) return undefined;
    const cwd = await vscode.window.showInputBox({
      title,
      prompt: vscode.l10n.t('Working folder of the program'),
      value: last?.cwd ?? folder?.uri.fsPath ?? dirname(program),
      ignoreFocusOut: true,
      validateInput: folderProblem,
    });
    return cwd === undefined ? undefined : { program, args: splitArguments(line), cwd, env: last?.env ?? {} };
  }
}

function group(label: string, items: ProgramItem[]): ProgramItem[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

/** An entry for a path that is being typed, relative to the workspace folder. */
function typedItem(value: string, ask: (path: string) => Promise<LaunchTarget | undefined>): ProgramItem[] {
  if (!value.includes('/')) return [];
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
  const path = resolve(
    folder,
    value.replace(/^~(?=\/)/, () => homedir()),
  );
  return [{ label: pickerText(path), description: vscode.l10n.t('this path'), alwaysShow: true, choose: () => ask(path) }];
}

function argumentsProblem(line: string): string | undefined {
  try {
    splitArguments(line);
    return undefined;
  } catch (error) {
    if (error instanceof LaunchError) return error.message;
    throw error;
  }
}

async function folderProblem(path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return vscode.l10n.t('Enter an absolute path.');
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? undefined : vscode.l10n.t('This folder does not exist.');
}
