// From places of the profile to lines of open and closed documents, and back: finds the files and follows edits in them.
import { realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { SourcePlace } from '../protocol/report';
import { LINE_BREAK, LineTracker } from '../session/lines/line-tracker';
import {
  collectWords,
  EDITED_SOURCE,
  MATCHED_BY_NAMES,
  NEWER_SOURCE,
  wordsAt,
  type FileWords,
  type KnownOfFile,
} from '../session/lines/line-words';
import type { PathPair } from '../session/lines/source-map';
import type { ShownProfile } from '../session/profile/shown-profile';
import type { CurrentProfile } from './current-profile';
import { onSettingChange } from './settings';
import { SourceBuilds } from './source-builds';
import { SourcePaths } from './source-paths';
import { findTypeDefinitions } from './type-definitions';

/** Larger files are followed from the moment they are opened, not from the moment they were profiled. */
const MAX_BASELINE_BYTES = 4 * 1024 * 1024;

/** One file of this machine that the profile, or another binary that was asked, has places in. */
interface SourceFile {
  uri: vscode.Uri;
  /** What the recording calls it; the same file can have two names there. */
  names: string[];
  /** Lines of the profile, 0-based. */
  lines: Set<number>;
  /** Names on these lines. */
  words: FileWords;
  /** The text is newer than the binary, and the one that was compiled is not known: lines are where their names are. */
  byNames: boolean;
  /** Undefined until its text is known. */
  tracker: LineTracker | undefined;
  /** When the text that the tracker starts from was saved, in ms since 1970; undefined: not known. */
  saved: number | undefined;
  /** Binaries that were built until then have these lines, in ms since 1970; those of later ones are of another text. */
  built: number;
}

/** Something that a binary says is declared. */
interface DeclaredName extends SourcePlace {
  /** Empty: not known. */
  name: string;
}

/** A line of a document, 0-based. */
export interface DocumentLine {
  uri: vscode.Uri;
  line: number;
}

export class SourceDocuments implements vscode.Disposable {
  /** The profile's, by their real path. */
  private files = new Map<string, SourceFile>();
  /** Those of binaries that know of lines in files that the profile does not have, or has of an earlier build. */
  private declared = new Map<string, SourceFile>();
  private byName = new Map<string, SourceFile>();
  /** Paths of the profile whose files lie outside of the workspace, and are not read. */
  private outside: ReadonlyMap<string, string> = new Map();
  private readonly realPaths = new Map<string, string>();
  private profile: ShownProfile | undefined;
  private readonly moved = new vscode.EventEmitter<vscode.Uri | undefined>();
  /** Lines of this document moved; undefined: all files are new. */
  readonly onDidMove = this.moved.event;
  private readonly paths: SourcePaths;
  private readonly subscriptions: { dispose(): void }[];

  /** @param ownPaths where sources of the extension's own recordings are */
  constructor(
    private readonly current: CurrentProfile,
    ownPaths: readonly PathPair[],
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.paths = new SourcePaths(ownPaths, log);
    this.subscriptions = [
      this.moved,
      onSettingChange('sourceMap', () => void this.use(this.profile)),
      vscode.workspace.onDidOpenTextDocument((document) => this.show(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.change(event)),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => this.filesOf(uri).forEach(({ tracker }) => tracker?.save())),
      vscode.workspace.onDidCloseTextDocument((document) => this.close(document)),
    ];
  }

  /** The one that is the current one, or becomes it. */
  get wanted(): ShownProfile | undefined {
    return this.profile;
  }

  /** It is the current one, its files are found, and no other is to become that. */
  shows(profile: ShownProfile): boolean {
    return this.profile === profile && this.current.get() === profile;
  }

  /** Finds the profile's files on this machine; the profile becomes the current one when that is done. */
  async use(profile: ShownProfile | undefined): Promise<void> {
    profile?.hold();
    try {
      await this.locate(profile);
    } finally {
      profile?.release(this.log);
    }
  }

  private async locate(profile: ShownProfile | undefined): Promise<void> {
    this.profile = profile;
    this.realPaths.clear();
    const files = new Map<string, SourceFile>();
    const byName = new Map<string, SourceFile>();
    await profile?.complete();
    if (this.profile !== profile) return; // another one came meanwhile
    if (profile) await findTypeDefinitions(profile.report);
    const places = [...(profile?.places() ?? [])];
    const { paths, undecided, outside } = await this.paths.locate(places.map(([name]) => name));
    for (const [name, lines] of places) {
      const path = paths.get(name);
      if (path === undefined) continue;
      const key = this.realPath(path);
      const file = files.get(key) ?? newFile(vscode.Uri.file(path), Date.now());
      files.set(key, file);
      byName.set(name, file);
      file.names.push(name);
      for (const line of lines) file.lines.add(line - 1);
    }
    const builds = profile && new SourceBuilds(profile.report);
    await Promise.all(
      [...files.values()].map(async (file) => {
        const known = file.names.map((name) => knownOf(profile, name));
        await this.rememberText(file, known, await builds?.oldest(known));
      }),
    );
    if (this.profile !== profile) return; // another one came meanwhile
    this.files = files;
    this.declared = new Map();
    this.byName = byName;
    this.outside = outside;
    for (const document of vscode.workspace.textDocuments) this.show(document);
    await this.current.set(profile);
    this.moved.fire(undefined);
    if (undecided.size > 0) void this.paths.ask(undecided);
    if (outside.size > 0) void this.askOutside(outside);
  }

  /**
   * Follows more lines of a file than the profile's own.
   * @param name what debug information calls the file
   * @param declared what stands on lines (1-based) of it and others, as they were when the file was profiled, or now where it was not
   * @param built when the binary was built that has these lines
   */
  async follow(uri: vscode.Uri, name: string, declared: readonly DeclaredName[], built: number): Promise<void> {
    let file = this.fileOf(uri, built);
    if (!file) {
      const files = this.files;
      file = newFile(uri, built);
      await this.rememberText(file, [], built);
      if (this.files !== files) return; // another profile came meanwhile
      this.declared.set(this.realPath(uri.fsPath), file);
    }
    if (!file.names.includes(name)) file.names.push(name);
    const { lines, words } = file;
    const more = declared.filter((one) => one.file === name && !lines.has(one.line - 1));
    if (more.length > 0) {
      for (const one of more) {
        lines.add(one.line - 1);
        if (one.name !== '') wordsAt(words, one.line - 1).declares.add(one.name);
      }
      file.tracker?.add(more.map(({ line }) => line - 1));
    }
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
    if (document && !file.tracker?.isOpen) this.show(document);
  }

  /** Where a place of the profile is now; undefined where its file is not here or its code is gone. */
  find({ file, line }: SourcePlace): DocumentLine | undefined {
    const source = this.byName.get(file);
    if (!source) return undefined;
    const now = source.tracker ? source.tracker.now(line - 1) : line - 1;
    return now === undefined ? undefined : { uri: source.uri, line: now };
  }

  /** The lines of a file of the profile; undefined where it is not here, or its text is not the one that was compiled. */
  async compiledLines(profile: ShownProfile, name: string): Promise<readonly string[] | undefined> {
    const file = this.profile === profile ? this.byName.get(name) : undefined;
    if (!file || file.byNames) return undefined;
    if (file.tracker) return file.tracker.compiled;
    const { uri } = file;
    try {
      const { size } = await stat(uri.fsPath);
      return size > MAX_BASELINE_BYTES ? undefined : (await readFile(uri.fsPath, 'utf8')).split(LINE_BREAK);
    } catch (error) {
      this.log.warn(`${uri.fsPath} cannot be read, so its lines are not shown: ${String(error)}`);
      return undefined;
    }
  }

  /** A sentence that says why find() has nothing. */
  whyNotFound(place: SourcePlace): string {
    const where = `${place.file}:${place.line}`;
    if (this.outside.has(place.file))
      return vscode.l10n.t(
        '{0} is outside this workspace, and reading it was not allowed. Add its folder to the setting cacheline.sourceMap.',
        where,
      );
    if (this.isPlaceMatchedByNames(place)) return vscode.l10n.t('{0} was not found again. {1}', where, MATCHED_BY_NAMES);
    return vscode.l10n.t('{0} is not in this workspace, or was removed after the profile was recorded.', where);
  }

  /** The places of the profile, or of a binary that was built at that time, that are now on this line of a document. */
  placesAt(uri: vscode.Uri, line: number, built?: number): SourcePlace[] {
    const file = this.fileOf(uri, built);
    if (!file) return [];
    const originals = file.tracker ? file.tracker.originals(line) : [line];
    return file.names.flatMap((name) => originals.map((original) => ({ file: name, line: original + 1 })));
  }

  /** The recording's names of a document. */
  namesOf(uri: vscode.Uri): readonly string[] {
    return this.fileOf(uri)?.names ?? [];
  }

  /** Whether the document's lines are where their names are: its text is not the one that was compiled, which nobody knows. */
  isMatchedByNames(uri: vscode.Uri): boolean {
    return this.fileOf(uri)?.byNames ?? false;
  }

  /** The same of a file of the profile. */
  isPlaceMatchedByNames({ file }: SourcePlace): boolean {
    return this.byName.get(file)?.byNames ?? false;
  }

  /** What the short texts of a document's lines end with: what they say is of another text; empty where it is of this one. */
  textAge(uri: vscode.Uri): string {
    if (this.isMatchedByNames(uri)) return NEWER_SOURCE;
    return this.fileOf(uri)?.tracker?.isEdited === true ? EDITED_SOURCE : '';
  }

  /** When the text was saved that a document's lines are followed from, in ms since 1970; undefined: not known. */
  followedFrom(uri: vscode.Uri, built?: number): number | undefined {
    return this.fileOf(uri, built)?.saved;
  }

  /** A path without symbolic links: a document can be opened by several. */
  realPath(path: string): string {
    let real = this.realPaths.get(path);
    if (real === undefined) this.realPaths.set(path, (real = resolved(path)));
    return real;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async askOutside(outside: ReadonlyMap<string, string>): Promise<void> {
    if (await this.paths.askOutside(outside)) await this.use(this.profile);
  }

  /** @param built undefined: the profile's; else with the lines of a binary that was built then */
  private fileOf(uri: vscode.Uri, built?: number): SourceFile | undefined {
    if (uri.scheme !== 'file') return undefined;
    const path = this.realPath(uri.fsPath);
    const own = this.files.get(path);
    if (built === undefined || (own && built <= own.built)) return own;
    const other = this.declared.get(path);
    return other && built <= other.built ? other : undefined;
  }

  private filesOf(uri: vscode.Uri): SourceFile[] {
    if (uri.scheme !== 'file') return [];
    const path = this.realPath(uri.fsPath);
    return [this.files.get(path), this.declared.get(path)].filter((file) => file !== undefined);
  }

  private show(document: vscode.TextDocument): void {
    const files = this.filesOf(document.uri);
    if (files.length === 0) return;
    const text = document.getText();
    for (const file of files) {
      file.tracker ??= trackerOf(file, text);
      file.tracker.show(text);
    }
    this.moved.fire(document.uri);
  }

  private close(document: vscode.TextDocument): void {
    const left = this.sameFile(document);
    if (left) this.show(left);
    else this.filesOf(document.uri).forEach(({ tracker }) => tracker?.close());
  }

  /** Another document of the file, opened by another path. */
  private sameFile({ uri }: vscode.TextDocument): vscode.TextDocument | undefined {
    const path = this.realPath(uri.fsPath);
    return vscode.workspace.textDocuments.find(
      (other) => other.uri.scheme === 'file' && other.uri.fsPath !== uri.fsPath && this.realPath(other.uri.fsPath) === path,
    );
  }

  private change({ document, contentChanges, reason }: vscode.TextDocumentChangeEvent): void {
    const files = this.filesOf(document.uri);
    if (files.length === 0 || contentChanges.length === 0) return;
    // What was deleted and comes back is found again by its text; plain edits are followed one by one, unless another path to the
    // file has them, too.
    if (reason !== undefined || this.sameFile(document) || !files.every(({ tracker }) => tracker?.isOpen)) {
      this.show(document);
      return;
    }
    for (const { tracker } of files) tracker?.edit(contentChanges);
    this.moved.fire(document.uri);
  }

  /**
   * The text at the time of the profile: what later states of the file are compared with.
   * @param known of the file, where it is the profile's
   * @param built when the oldest binary was built that has lines of it
   */
  private async rememberText(file: SourceFile, known: readonly KnownOfFile[], built: number | undefined): Promise<void> {
    for (const one of known) collectWords({ ...one, code: undefined }, file.words);
    try {
      const { size, mtimeMs } = await stat(file.uri.fsPath);
      if (built !== undefined && mtimeMs > built) {
        file.byNames = true;
        file.built = built + 1; // ms: a later binary has other lines
        for (const one of known) collectWords({ file: one.file, code: one.code }, file.words);
      } else if (!vscode.workspace.getWorkspaceFolder(file.uri)) return; // system headers do not change
      if (size > MAX_BASELINE_BYTES) return;
      file.tracker = trackerOf(file, await readFile(file.uri.fsPath, 'utf8'));
      file.saved = mtimeMs;
    } catch (error) {
      this.log.warn(`${file.uri.fsPath} cannot be read, so lines are not tracked through edits made while it is closed: ${String(error)}`);
    }
  }
}

function trackerOf({ lines, words, byNames }: SourceFile, text: string): LineTracker {
  return new LineTracker(text, lines, words, byNames);
}

function knownOf(profile: ShownProfile | undefined, file: string): KnownOfFile {
  return { file, types: profile?.types.get(file), definitions: profile?.definitions.get(file), code: profile?.code.get(file) };
}

function newFile(uri: vscode.Uri, built: number): SourceFile {
  return { uri, names: [], lines: new Set(), words: new Map(), byNames: false, tracker: undefined, saved: undefined, built };
}

function resolved(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // removed, or not saved yet
  }
}
