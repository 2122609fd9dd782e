// From places of the profile to lines of open and closed documents, and back: finds the files and follows edits in them.
import { readFile, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { SourcePlace } from '../protocol/report';
import { LineTracker } from '../session/line-tracker';
import type { CurrentProfile, ShownProfile } from './current-profile';
import { onSettingChange } from './settings';
import { SourcePaths } from './source-paths';
import { findTypeDefinitions } from './type-definitions';

/** Larger files are followed from the moment they are opened, not from the moment they were profiled. */
const MAX_BASELINE_BYTES = 4 * 1024 * 1024;

/** One file of this machine that the profile has places in. */
interface SourceFile {
  uri: vscode.Uri;
  /** What the recording calls it; the same file can have two names there. */
  names: string[];
  /** Lines of the profile, 0-based. */
  lines: Set<number>;
  /** Undefined until its text is known. */
  tracker: LineTracker | undefined;
  /** When the text that the tracker starts from was saved, in ms since 1970; undefined: not known. */
  saved: number | undefined;
  /** Of the binary whose lines are followed, where no profile has places in the file: when it was built. */
  built: number | undefined;
}

/** A line of a document, 0-based. */
export interface DocumentLine {
  uri: vscode.Uri;
  line: number;
}

export class SourceDocuments implements vscode.Disposable {
  private files = new Map<string, SourceFile>();
  private byName = new Map<string, SourceFile>();
  private profile: ShownProfile | undefined;
  private readonly moved = new vscode.EventEmitter<vscode.Uri | undefined>();
  /** Lines of this document moved; undefined: all files are new. */
  readonly onDidMove = this.moved.event;
  private readonly paths: SourcePaths;
  private readonly subscriptions: { dispose(): void }[];

  constructor(
    private readonly current: CurrentProfile,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.paths = new SourcePaths(log);
    this.subscriptions = [
      this.moved,
      onSettingChange('sourceMap', () => void this.use(this.profile)),
      vscode.workspace.onDidOpenTextDocument((document) => this.show(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.change(event)),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => this.fileOf(uri)?.tracker?.save()),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.fileOf(uri)?.tracker?.close()),
    ];
  }

  /** Finds the profile's files on this machine; the profile becomes the current one when that is done. */
  async use(profile: ShownProfile | undefined): Promise<void> {
    this.profile = profile;
    const files = new Map<string, SourceFile>();
    const byName = new Map<string, SourceFile>();
    if (profile) await findTypeDefinitions(profile.report);
    const places = [...(profile?.places() ?? [])];
    const { paths, undecided } = await this.paths.locate(places.map(([name]) => name));
    for (const [name, lines] of places) {
      const path = paths.get(name);
      if (path === undefined) continue;
      const file = files.get(path) ?? {
        uri: vscode.Uri.file(path),
        names: [],
        lines: new Set(),
        tracker: undefined,
        saved: undefined,
        built: undefined,
      };
      files.set(path, file);
      byName.set(name, file);
      file.names.push(name);
      for (const line of lines) file.lines.add(line - 1);
    }
    await Promise.all([...files.values()].map((file) => this.rememberText(file)));
    if (this.profile !== profile) return; // another one came meanwhile
    this.files = files;
    this.byName = byName;
    for (const document of vscode.workspace.textDocuments) this.show(document);
    await this.current.set(profile);
    this.moved.fire(undefined);
    if (undecided.size > 0) void this.paths.ask(undecided);
  }

  /**
   * Follows more lines of a file than the profile's own.
   * @param name what debug information calls the file
   * @param lines 1-based, as they were when the file was profiled, or now where it was not
   * @param built when the binary was built that has these lines: after the next build they are those of another text
   */
  async follow(uri: vscode.Uri, name: string, lines: readonly number[], built: number): Promise<void> {
    let file = this.fileOf(uri);
    if (!file || (file.built !== undefined && file.built < built)) {
      const files = this.files;
      file = { uri, names: [], lines: new Set(), tracker: undefined, saved: undefined, built };
      await this.rememberText(file);
      if (this.files !== files) return; // another profile came meanwhile
      this.files.set(uri.fsPath, file);
    }
    if (!file.names.includes(name)) file.names.push(name);
    this.byName.set(name, file);
    const more = lines.map((line) => line - 1).filter((line) => !file.lines.has(line));
    for (const line of more) file.lines.add(line);
    file.tracker?.add(more);
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

  /** The profile's places that are now on this line of a document. */
  placesAt(uri: vscode.Uri, line: number): SourcePlace[] {
    const file = this.fileOf(uri);
    if (!file) return [];
    const originals = file.tracker ? file.tracker.originals(line) : [line];
    return file.names.flatMap((name) => originals.map((original) => ({ file: name, line: original + 1 })));
  }

  /** The recording's names of a document. */
  namesOf(uri: vscode.Uri): readonly string[] {
    return this.fileOf(uri)?.names ?? [];
  }

  /** When the text was saved that a document's lines are followed from, in ms since 1970; undefined: not known. */
  followedFrom(uri: vscode.Uri): number | undefined {
    return this.fileOf(uri)?.saved;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private fileOf(uri: vscode.Uri): SourceFile | undefined {
    return uri.scheme === 'file' ? this.files.get(uri.fsPath) : undefined;
  }

  private show(document: vscode.TextDocument): void {
    const file = this.fileOf(document.uri);
    if (!file) return;
    const text = document.getText();
    file.tracker ??= new LineTracker(text, file.lines);
    file.tracker.show(text);
    this.moved.fire(document.uri);
  }

  private change({ document, contentChanges, reason }: vscode.TextDocumentChangeEvent): void {
    const file = this.fileOf(document.uri);
    if (!file || contentChanges.length === 0) return;
    // What was deleted and comes back is found again by its text; plain edits are followed one by one.
    if (reason !== undefined || !file.tracker?.isOpen) {
      this.show(document);
      return;
    }
    file.tracker.edit(contentChanges);
    this.moved.fire(document.uri);
  }

  /** The text at the time of the profile: what later states of the file are compared with. */
  private async rememberText(file: SourceFile): Promise<void> {
    if (!vscode.workspace.getWorkspaceFolder(file.uri)) return; // system headers do not change
    try {
      const { size, mtimeMs } = await stat(file.uri.fsPath);
      if (size > MAX_BASELINE_BYTES) return;
      file.tracker = new LineTracker(await readFile(file.uri.fsPath, 'utf8'), file.lines);
      file.saved = mtimeMs;
    } catch (error) {
      this.log.warn(`${file.uri.fsPath} cannot be read, so edits made while it is closed are not followed: ${String(error)}`);
    }
  }
}
