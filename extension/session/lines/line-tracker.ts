// Keeps source lines of a profile on their code while a document is edited, closed and opened again.
// Lines here are 0-based, as in the editor's positions.
import { mapLines, mapMovedLines, pairMoved } from './line-diff';
import { isMisnamed, placeByNames } from './line-names';
import type { FileWords } from './line-words';

/** One replaced range of a document; the shape of VS Code's TextDocumentContentChangeEvent. */
export interface TextChange {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  text: string;
}

export const LINE_BREAK = /\r\n|\r|\n/;
/** In a larger change each line would be searched for too long. */
const MAX_SEARCHED_LINES = 5000;
/** Of a longer text an edit is compared with the lines that are missing alone, not with the whole text. */
const MAX_COMPARED_LINES = 20_000;
/** A call does not take as many arguments as a paste can have lines. */
const MAX_SPLICED_LINES = 10_000;

/** A text and where the profile's lines were in it. */
interface Anchor {
  text: string[];
  /** Line of the profile to line of the text; lines that are gone are absent. */
  lines: Map<number, number>;
  /** Lines of the profile whose line of the text has become something else that the profile knows: they are nowhere. */
  misnamed: Set<number>;
}

/** Lines of an anchor's text that an event changed, the second one exclusive. */
type Range = [number, number];

export class LineTracker {
  /** What is on disk as far as known: where a document that is opened again starts from. */
  private saved: Anchor;
  /** The document while it is open. */
  private open: Anchor | undefined;
  /** The text that it was made with: the file when it was profiled, or the first one that is known. */
  private readonly original: readonly string[];
  /** Line of the profile to line of that text. */
  private readonly start: Map<number, number>;
  /** All that lines of the file declare. */
  private names = new Set<string>();

  /**
   * @param text the file when it was profiled
   * @param lines the lines to follow
   * @param words names on these lines
   * @param byNames the text is not the one that was compiled: lines are where their names are
   */
  constructor(
    text: string,
    lines: Iterable<number>,
    private readonly words: FileWords = new Map(),
    private readonly byNames = false,
  ) {
    this.original = text.split(LINE_BREAK);
    this.start = this.startOf([...lines]);
    this.names = namesOf(words);
    this.saved = { text: [...this.original], lines: new Map(this.start), misnamed: new Set() };
  }

  /** Follows more lines of the text it was made with: through what is different now, not edit by edit. `words` know their names. */
  add(lines: Iterable<number>): void {
    const more = [...lines].filter((line) => !this.start.has(line));
    if (more.length === 0) return;
    for (const [line, at] of this.startOf(more)) this.start.set(line, at);
    this.names = namesOf(this.words);
    for (const anchor of this.open ? [this.saved, this.open] : [this.saved]) {
      this.findAgain(
        anchor,
        more.filter((line) => !anchor.lines.has(line)),
      );
      this.checkNames(anchor, [[0, anchor.text.length]]);
    }
  }

  get isOpen(): boolean {
    return this.open !== undefined;
  }

  /** Whether the text is another one now than the one that it was made with. */
  get isEdited(): boolean {
    const { text } = this.open ?? this.saved;
    return text.length !== this.original.length || text.some((line, at) => line !== this.original[at]);
  }

  /** The document shows this text now: opened, or changed in a way that is no plain edit (undo, reload). */
  show(text: string): void {
    const now = text.split(LINE_BREAK);
    this.open = { text: now, lines: follow(this.saved, now), misnamed: new Set() };
    this.checkNames(this.open, [[0, now.length]]);
    const missing = this.missing(this.open);
    if (missing.length > 0) this.findAgain(this.open, missing);
  }

  /** Changes of one event, in its order: each in the coordinates of the text after those before it. */
  edit(changes: readonly TextChange[]): void {
    const anchor = this.open;
    if (!anchor) return;
    const [before, misnamed] = [anchor.lines.size, anchor.misnamed.size];
    const changed: Range[] = [];
    for (const change of changes) applyChange(anchor, change, changed, (line) => this.original[this.start.get(line) ?? -1]);
    this.checkNames(anchor, changed);
    const missing = this.missing(anchor);
    if (missing.length === 0) return;
    const fresh = anchor.lines.size < before || anchor.misnamed.size > misnamed;
    if (fresh && Math.max(anchor.text.length, this.original.length) <= MAX_COMPARED_LINES) this.findAgain(anchor, missing);
    else this.findWithin(anchor, missing, changed);
  }

  save(): void {
    const { open } = this;
    if (open) this.saved = { text: [...open.text], lines: new Map(open.lines), misnamed: new Set(open.misnamed) };
  }

  /** Edits that were not saved are gone with the document. */
  close(): void {
    this.open = undefined;
  }

  /** Where a line of the profile is now; undefined where its code is gone. Lines that are not followed are known in an unedited text. */
  now(line: number): number | undefined {
    const { lines, misnamed } = this.open ?? this.saved;
    if (!this.start.has(line)) return this.compiled === undefined ? undefined : line;
    return misnamed.has(line) ? undefined : lines.get(line);
  }

  /** The text while it is the one that was compiled. */
  get compiled(): readonly string[] | undefined {
    return this.byNames || this.isEdited ? undefined : this.original;
  }

  /** Lines of the profile that are now on this line. */
  originals(line: number): number[] {
    const { lines, misnamed } = this.open ?? this.saved;
    return [...lines].filter(([original, now]) => now === line && !misnamed.has(original)).map(([original]) => original);
  }

  private startOf(lines: readonly number[]): Map<number, number> {
    return this.byNames ? placeByNames(this.original, this.words, lines) : new Map(lines.map((line) => [line, line]));
  }

  /** Lines that were in the first text and are nowhere now. */
  private missing({ lines, misnamed }: Anchor): number[] {
    if (lines.size === this.start.size && misnamed.size === 0) return [];
    return [...this.start.keys()].filter((line) => !lines.has(line) || misnamed.has(line));
  }

  private checkNames(anchor: Anchor, changed: readonly Range[]): void {
    if (this.names.size === 0) return;
    for (const [line, now] of anchor.lines) {
      if (!changed.some(([from, to]) => from <= now && now < to)) continue;
      const own = this.words.get(line)?.declares;
      const before = this.original[this.start.get(line) ?? -1] ?? '';
      if (own && isMisnamed(anchor.text[now] ?? '', before, own, this.names)) anchor.misnamed.add(line);
      else anchor.misnamed.delete(line);
    }
  }

  /** Finds missing lines by what is different between the first text and this one. */
  private findAgain(anchor: Anchor, missing: readonly number[]): void {
    // Where a line that became another one is elsewhere, what stands around it was moved, too.
    const moved = missing.some((line) => anchor.misnamed.has(line));
    const starts = new Map((moved ? [...this.start.keys()] : missing).map((line) => [line, this.start.get(line) ?? -1]));
    const map = mapMovedLines(this.original, anchor.text, starts.values());
    const hit = (line: number): number | undefined => map.get(starts.get(line) ?? -1);
    const swapped = moved && missing.some((line) => anchor.misnamed.has(line) && hit(line) !== undefined);
    this.place(anchor, swapped ? [...starts.keys()] : missing, hit);
  }

  /** Finds missing lines among those that just changed. */
  private findWithin(anchor: Anchor, missing: readonly number[], changed: readonly Range[]): void {
    const starts = new Map(missing.map((line) => [this.start.get(line) ?? -1, line]));
    const texts = new Set([...starts.keys()].map((at) => (this.original[at] ?? '').trim()));
    const free: number[] = [];
    for (const [from, to] of changed)
      for (let line = from; line < to; ++line) if (texts.has((anchor.text[line] ?? '').trim())) free.push(line);
    if (free.length === 0) return;
    const from = [...starts.keys()].sort((a, b) => a - b);
    const pairs = pairMoved(
      this.original,
      from,
      anchor.text,
      [...new Set(free)].sort((a, b) => a - b),
    );
    this.place(anchor, missing, (line) => pairs.get(this.start.get(line) ?? -1));
  }

  /** Puts lines where they were found, as long as no other line is there. */
  private place(anchor: Anchor, lines: readonly number[], hit: (line: number) => number | undefined): void {
    const free = new Set(lines);
    const held = new Set<number>();
    for (const [line, now] of anchor.lines) if (!free.has(line)) held.add(now);
    const found = lines.flatMap((line) => {
      const now = hit(line);
      return now === undefined || held.has(now) ? [] : [[line, now] as const];
    });
    if (found.length === 0) return;
    const taken = new Set(found.map(([, now]) => now));
    for (const line of lines) if (taken.has(anchor.lines.get(line) ?? -1)) anchor.lines.delete(line);
    for (const [line, now] of found) anchor.lines.set(line, now);
    this.checkNames(anchor, [[0, anchor.text.length]]);
  }
}

function namesOf(words: FileWords): Set<string> {
  return new Set([...words.values()].flatMap(({ declares }) => [...declares]));
}

function follow(anchor: Anchor, text: readonly string[]): Map<number, number> {
  const map = mapLines(anchor.text, text);
  const lines = new Map<number, number>();
  for (const [original, line] of anchor.lines) {
    const now = map[line] ?? -1;
    if (now >= 0) lines.set(original, now);
  }
  return lines;
}

/**
 * @param changed lines that the same event has changed before; this change's are added
 * @param profiled the text of a line of the profile
 */
function applyChange(
  anchor: Anchor,
  { range: { start, end }, text }: TextChange,
  changed: Range[],
  profiled: (line: number) => string | undefined,
): void {
  const inserted = text.split(LINE_BREAK);
  const before = anchor.text.slice(start.line, end.line + 1);
  const after = [...inserted];
  after[0] = (before[0] ?? '').slice(0, start.character) + (after[0] ?? '');
  after[after.length - 1] = (after.at(-1) ?? '') + (before.at(-1) ?? '').slice(end.character);
  const grown = after.length - before.length;
  const map = mapLines(before, after);

  for (const [original, line] of anchor.lines) {
    if (line < start.line) continue;
    if (line > end.line) {
      if (grown !== 0) anchor.lines.set(original, line + grown);
      continue;
    }
    const there = map[line - start.line] ?? -1;
    const now =
      there >= 0
        ? there
        : (withCode(after, profiled(original) ?? '') ?? insideChange(line, before[line - start.line] ?? '', start, end, after.length - 1));
    if (now === undefined) {
      anchor.lines.delete(original);
      anchor.misnamed.delete(original);
    } else anchor.lines.set(original, start.line + now);
  }
  if (after.length < MAX_SPLICED_LINES) anchor.text.splice(start.line, before.length, ...after);
  else anchor.text = anchor.text.slice(0, start.line).concat(after, anchor.text.slice(start.line + before.length));
  if (grown !== 0) moveRanges(changed, end.line, grown);
  changed.push([start.line, start.line + after.length]);
}

/** Moves what is behind a line. */
function moveRanges(ranges: Range[], behind: number, by: number): void {
  for (const range of ranges) {
    if (range[0] > behind) range[0] += by;
    if (range[1] > behind) range[1] += by;
  }
}

/** The one line that holds the profile's code, perhaps with more around it: what was typed in front of it may be a line of its own now. */
function withCode(lines: readonly string[], profiled: string): number | undefined {
  const code = profiled.trim();
  if (code === '' || lines.length > MAX_SEARCHED_LINES) return undefined;
  const holding = lines.flatMap((line, index) => (line.includes(code) ? [index] : []));
  return holding.length === 1 ? holding[0] : undefined;
}

/**
 * A line that is not the same any more: it stays where its code begins, as long as that was not what was removed.
 * Returns the line within the replaced part, which now ends with `last`.
 */
function insideChange(
  line: number,
  text: string,
  start: TextChange['range']['start'],
  end: TextChange['range']['end'],
  last: number,
): number | undefined {
  const begins = text.length - text.trimStart().length;
  if (line === start.line && start.character > begins) return 0;
  if (line === end.line && end.character <= begins) return last;
  return start.line === end.line ? last : undefined;
}
