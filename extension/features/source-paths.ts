// Finds the files of this machine that a recording's paths mean: by the setting, as they are, or by their end in the
// workspace. Where several files fit equally well the person is asked, and the answer becomes the setting. Files outside of
// the workspace and the setting's folders are left out unless the person agrees.
// Setting: cacheline.sourceMap.
import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, normalize } from 'node:path';
import * as vscode from 'vscode';
import { pickerText, printable } from '../protocol/printable';
import { agreeing, bestSuffixMatches, isBelow, mapPath, pairOf, type PathPair } from '../session/lines/source-map';
import { count } from '../session/text/terminal-text';
import { showInformation } from './notify';
import { OutsideFolders } from './outside-folders';
import { setting } from './settings';

/** Files of one name that are compared with a path of the recording. */
const MAX_CANDIDATES = 200;
/** Names in a message. */
const MAX_NAMED = 3;
/** Searches of the workspace at once; a recording can name thousands of files. */
const SEARCHES = 8;

export interface LocatedPaths {
  /** By the recording's path. */
  paths: Map<string, string>;
  /** Paths that several files fit equally well, with these files. */
  undecided: Map<string, string[]>;
  /** Paths of files outside that nobody agreed to, with these files, without symbolic links. */
  outside: Map<string, string>;
}

interface ExistingFile {
  path: string;
  /** Its path without symbolic links where it lies outside of the workspace. */
  outside: string | undefined;
}

export class SourcePaths {
  /** What was asked before and left open is not asked again in this session. */
  private readonly asked = new Set<string>();
  private readonly outsideFolders = new OutsideFolders();

  /** @param own pairs besides the setting's, which come first */
  constructor(
    private readonly own: readonly PathPair[],
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async locate(names: readonly string[]): Promise<LocatedPaths> {
    const mapped = this.pairs();
    const paths = new Map<string, string>();
    const tied = new Map<string, string[]>();
    const found: PathPair[] = [];
    const outside = new Map<string, string>();
    const locateOne = async (name: string): Promise<void> => {
      const direct = (await this.bySetting(name, mapped)) ?? (isAbsolute(name) ? await existing(name) : undefined);
      const agreed = direct?.outside === undefined || this.outsideFolders.mayRead(direct.outside);
      if (direct && agreed === true) {
        paths.set(name, direct.path);
        return;
      }
      const matches = await suffixMatches(name);
      if (direct?.outside !== undefined) {
        const same = await linkTo(direct.outside, matches);
        if (same === undefined) outside.set(name, direct.outside);
        else paths.set(name, same);
        if (same !== undefined || agreed === undefined) return;
      }
      const [only] = matches;
      if (only !== undefined && matches.length === 1) {
        paths.set(name, only);
        found.push(pairOf(name, only));
      } else if (matches.length > 1) tied.set(name, matches);
      else this.log.info(`No file in this workspace matches ${name} of the recording.`);
    };
    const rest = names.values();
    await Promise.all(
      Array.from({ length: SEARCHES }, async () => {
        for (const name of rest) await locateOne(name);
      }),
    );
    const undecided = new Map<string, string[]>();
    for (const [name, matches] of tied) {
      const match = agreeing(name, matches, found);
      if (match !== undefined) paths.set(name, match);
      else undecided.set(name, matches);
    }
    for (const name of outside.keys()) {
      if (paths.has(name)) outside.delete(name);
      else this.log.info(`${name} of the recording is outside this workspace and the folders of cacheline.sourceMap, so it is not read.`);
    }
    return { paths, undecided, outside };
  }

  /** Asks whether files outside may be read; whether some may that were left out. */
  askOutside(outside: ReadonlyMap<string, string>): Promise<boolean> {
    return this.outsideFolders.ask(outside.values());
  }

  /** Offers the choice; an answer is written to the setting, from which everything is located again. */
  async ask(undecided: ReadonlyMap<string, string[]>): Promise<void> {
    const open = [...undecided].filter(([name]) => !this.asked.has(name));
    const [first] = open;
    if (!first) return;
    for (const [name] of open) this.asked.add(name);
    const names = open.slice(0, MAX_NAMED).map(([name]) => basename(name));
    const named = names.join(', ');
    const list = open.length > names.length ? vscode.l10n.t('{0} and {1} more', named, open.length - names.length) : named;
    if ((await showInformation(undecidedText(open.length, list), vscode.l10n.t('Choose…'))) === undefined) return;
    const [name, candidates] = first;
    const chosen = await vscode.window.showQuickPick(
      candidates.map((path) => ({ label: pickerText(vscode.workspace.asRelativePath(path)), description: pickerText(path), path })),
      { title: vscode.l10n.t('Source of the Recording'), placeHolder: vscode.l10n.t('Which file is {0}?', printable(name)) },
    );
    // The first answer often decides the others too: what it leaves open is asked next.
    for (const [other] of open) if (other !== name) this.asked.delete(other);
    if (chosen) await this.remember(pairOf(name, chosen.path));
  }

  private async remember({ from, to }: PathPair): Promise<void> {
    const settings = vscode.workspace.getConfiguration('cacheline');
    const known = settings.inspect<Record<string, string>>('sourceMap')?.workspaceValue;
    const folder = workspaceFolder();
    const portable =
      folder !== undefined && (to === folder || to.startsWith(`${folder}/`)) ? `\${workspaceFolder}${to.slice(folder.length)}` : to;
    await settings.update('sourceMap', { ...known, [from]: portable }, vscode.ConfigurationTarget.Workspace);
  }

  private pairs(): PathPair[] {
    const folder = workspaceFolder() ?? '';
    const pairs = Object.entries(setting('sourceMap', this.log)).map(([from, to]) => ({
      from,
      to: to.replaceAll('${workspaceFolder}', () => folder),
    }));
    return [...pairs, ...this.own];
  }

  private async bySetting(name: string, pairs: readonly PathPair[]): Promise<ExistingFile | undefined> {
    const path = mapPath(name, pairs);
    if (path === undefined) return undefined;
    const found = isAbsolute(path) ? await existing(path) : undefined;
    if (found === undefined) this.log.warn(`cacheline.sourceMap makes ${path} of ${name}, and there is no such file.`);
    // A recorded path can leave the setting's folder by "..".
    return found && pairs.some(({ to }) => isBelow(path, normalize(to))) ? { ...found, outside: undefined } : found;
  }
}

function workspaceFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

/** The workspace's files that end most like the path. */
async function suffixMatches(name: string): Promise<string[]> {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  let candidates: vscode.Uri[] = [];
  // A workspace can have more files of one name than are compared (main.c, mod.rs): then those in a folder of the same name, and so on.
  for (let last = 1; last <= segments.length; ++last) {
    // Characters that mean something in a glob pattern become "any one character"; the suffix match decides.
    const pattern = `**/${segments
      .slice(-last)
      .join('/')
      .replace(/[*?[\]{}!\\]/g, '?')}`;
    const found = await vscode.workspace.findFiles(pattern, '**/{node_modules,.git}/**', MAX_CANDIDATES);
    if (last === 1 || found.length > 0) candidates = found;
    if (found.length < MAX_CANDIDATES) break;
  }
  return bestSuffixMatches(
    name,
    candidates.map(({ fsPath }) => fsPath),
  ).sort();
}

/** The one of these files of the workspace that is this one, reached by symbolic links. */
async function linkTo(real: string, files: readonly string[]): Promise<string | undefined> {
  const targets = await Promise.all(files.map((file) => realpath(file).catch(() => undefined)));
  return files[targets.indexOf(real)];
}

/**
 * The path under which the editor opens a file: of a path through symbolic links the one in the workspace, so that
 * decorations meet the document. Undefined where there is no such file. Nothing of it is read.
 */
async function existing(name: string): Promise<ExistingFile | undefined> {
  const uri = vscode.Uri.file(normalize(name));
  if (!(await isFile(uri.fsPath))) return undefined;
  if (vscode.workspace.getWorkspaceFolder(uri)) return { path: uri.fsPath, outside: undefined };
  const real = await realpath(uri.fsPath);
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const below = await realpath(folder.uri.fsPath).catch(() => undefined);
    if (below !== undefined && real.startsWith(`${below}/`))
      return { path: vscode.Uri.joinPath(folder.uri, real.slice(below.length)).fsPath, outside: undefined };
  }
  return { path: uri.fsPath, outside: real };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false; // absent or unreadable: the workspace is searched instead
  }
}

function undecidedText(files: number, list: string): string {
  return files === 1
    ? vscode.l10n.t('1 source file of the recording ({0}) could be any of several files in this workspace.', list)
    : vscode.l10n.t('{0} source files of the recording ({1}) could be any of several files in this workspace.', count(files), list);
}
