// Which lines of a document wait less or more after a change: while a comparison is open, the lines of both recordings meet in the
// text as it is now. Setting: cacheline.compareHeat.
import { readFile, stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Comparison } from '../session/compare/comparison';
import type { LineChange, SideLines } from '../session/compare/line-changes';
import type { Side } from '../session/compare/sums';
import { LineTracker } from '../session/lines/line-tracker';
import type { PathPair } from '../session/lines/source-map';
import { collectWords, type FileWords } from '../session/lines/line-words';
import { onSettingChange, setting } from './settings';
import { SourcePaths } from './source-paths';

/** Lines of larger files are not followed. */
const MAX_BYTES = 4 * 1024 * 1024;

/** 0-based. */
export interface LineDifference extends LineChange {
  line: number;
}

/** What one recording says of a file. */
interface SideFile {
  side: Side;
  /** Contended samples by line of that recording, 0-based. */
  contended: ReadonlyMap<number, number>;
  tracker: LineTracker;
  /** That the tracker was shown last. */
  text: string;
}

interface Shown {
  comparison: Comparison;
  /** By path. */
  files: Map<string, SideFile[]>;
}

export class LineDifferences implements vscode.Disposable {
  private shown: Shown | undefined;
  /** The one that was asked for last. */
  private wanted: Comparison | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly paths: SourcePaths;
  private readonly subscriptions: { dispose(): void }[];

  /** @param ownPaths where sources of the extension's own recordings are */
  constructor(
    ownPaths: readonly PathPair[],
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.paths = new SourcePaths(ownPaths, log);
    this.subscriptions = [
      this.changed,
      onSettingChange('compareHeat', () => this.changed.fire()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (this.shown?.files.has(document.uri.fsPath) === true) this.changed.fire();
      }),
    ];
  }

  /** Undefined: none is open any more. */
  async show(comparison: Comparison | undefined): Promise<void> {
    this.wanted = comparison;
    const files = comparison === undefined ? undefined : await this.filesOf(comparison);
    if (this.wanted !== comparison) return; // another one came meanwhile
    this.shown = comparison && files && { comparison, files };
    this.changed.fire();
  }

  /** In line order; undefined: no comparison is open, or the setting leaves lines to the current profile. */
  of(document: vscode.TextDocument): LineDifference[] | undefined {
    if (!this.shown || !setting('compareHeat', this.log)) return undefined;
    const { comparison, files } = this.shown;
    const sums = new Map<number, Record<Side, number>>();
    const text = document.getText();
    for (const file of (document.uri.scheme === 'file' ? files.get(document.uri.fsPath) : undefined) ?? []) {
      if (file.text !== text) file.tracker.show((file.text = text));
      for (const [line, contended] of file.contended) {
        const now = file.tracker.now(line);
        if (now === undefined || now >= document.lineCount) continue;
        const there = sums.get(now) ?? { before: 0, after: 0 };
        there[file.side] += contended;
        sums.set(now, there);
      }
    }
    return [...sums]
      .sort(([a], [b]) => a - b)
      .flatMap(([line, { before, after }]) => {
        const change = comparison.lines.of(before, after);
        return change === undefined ? [] : [{ line, ...change }];
      });
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async filesOf({ lines: { sides }, built }: Comparison): Promise<Shown['files']> {
    const names = (Object.keys(sides) as Side[]).flatMap((side) => [...sides[side].contended.keys()].map((name) => ({ side, name })));
    const { paths } = await this.paths.locate([...new Set(names.map(({ name }) => name))]);
    const files: Shown['files'] = new Map();
    await Promise.all(
      names.map(async ({ side, name }) => {
        const path = paths.get(name);
        const file = path === undefined ? undefined : await this.read(path, name, side, sides[side], built[side]);
        if (path !== undefined && file) files.set(path, [...(files.get(path) ?? []), file]);
      }),
    );
    return files;
  }

  /** A text that is newer than the program is another one than the program's: its lines are where their names are. */
  private async read(path: string, name: string, side: Side, lines: SideLines, built: number | undefined): Promise<SideFile | undefined> {
    try {
      const { size, mtimeMs } = await stat(path);
      if (size > MAX_BYTES) return undefined;
      const text = await readFile(path, 'utf8');
      const words: FileWords = new Map();
      collectWords({ file: name, code: lines.code.get(name) }, words);
      const contended = new Map([...(lines.contended.get(name) ?? [])].map(([line, samples]) => [line - 1, samples]));
      const tracker = new LineTracker(text, words.keys(), words, built !== undefined && mtimeMs > built);
      return { side, contended, tracker, text };
    } catch (error) {
      this.log.warn(`${path} cannot be read, so its lines are not compared: ${String(error)}`);
      return undefined;
    }
  }
}
