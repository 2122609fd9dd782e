// Keeps source lines of a profile on their code while a document is edited, closed and opened again.
// Lines here are 0-based, as in the editor's positions.
import { mapLines } from './line-diff';

/** One replaced range of a document; the shape of VS Code's TextDocumentContentChangeEvent. */
export interface TextChange {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  text: string;
}

const LINE_BREAK = /\r\n|\r|\n/;
/** In a larger change each line would be searched for too long. */
const MAX_SEARCHED_LINES = 5000;

/** A text and where the profile's lines were in it. */
interface Anchor {
  text: string[];
  /** Line of the profile to line of the text; lines that are gone are absent. */
  lines: Map<number, number>;
}

export class LineTracker {
  /** What is on disk as far as known: where a document that is opened again starts from. */
  private saved: Anchor;
  /** The document while it is open. */
  private open: Anchor | undefined;
  /** The file when it was profiled. */
  private readonly original: readonly string[];

  /**
   * @param text the file when it was profiled
   * @param lines the lines to follow
   */
  constructor(text: string, lines: Iterable<number>) {
    this.original = text.split(LINE_BREAK);
    this.saved = { text: [...this.original], lines: new Map([...lines].map((line) => [line, line])) };
  }

  /** Follows more lines of the text it was made with: through what is different now, not edit by edit. */
  add(lines: Iterable<number>): void {
    for (const anchor of this.open ? [this.saved, this.open] : [this.saved]) {
      const more = [...lines].filter((line) => !anchor.lines.has(line));
      const from = { text: [...this.original], lines: new Map(more.map((line) => [line, line])) };
      for (const [original, now] of follow(from, anchor.text)) anchor.lines.set(original, now);
    }
  }

  get isOpen(): boolean {
    return this.open !== undefined;
  }

  /** The document shows this text now: opened, or changed in a way that is no plain edit (undo, reload). */
  show(text: string): void {
    const now = text.split(LINE_BREAK);
    this.open = { text: now, lines: follow(this.saved, now) };
  }

  /** Changes of one event, in its order: each in the coordinates of the text after those before it. */
  edit(changes: readonly TextChange[]): void {
    if (!this.open) return;
    for (const change of changes) applyChange(this.open, change, this.original);
  }

  save(): void {
    if (this.open) this.saved = { text: [...this.open.text], lines: new Map(this.open.lines) };
  }

  /** Edits that were not saved are gone with the document. */
  close(): void {
    this.open = undefined;
  }

  /** Where a line of the profile is now; undefined where its code is gone. */
  now(line: number): number | undefined {
    return (this.open ?? this.saved).lines.get(line);
  }

  /** Lines of the profile that are now on this line. */
  originals(line: number): number[] {
    return [...(this.open ?? this.saved).lines].filter(([, now]) => now === line).map(([original]) => original);
  }
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

function applyChange(anchor: Anchor, { range: { start, end }, text }: TextChange, profiled: readonly string[]): void {
  const inserted = text.split(LINE_BREAK);
  const before = anchor.text.slice(start.line, end.line + 1);
  const after = [...inserted];
  after[0] = (before[0] ?? '').slice(0, start.character) + (after[0] ?? '');
  after[after.length - 1] = (after.at(-1) ?? '') + (before.at(-1) ?? '').slice(end.character);
  const grown = after.length - before.length;
  const map = mapLines(before, after);

  for (const [original, line] of [...anchor.lines]) {
    if (line < start.line) continue;
    if (line > end.line) {
      anchor.lines.set(original, line + grown);
      continue;
    }
    const there = map[line - start.line] ?? -1;
    const now =
      there >= 0
        ? there
        : (withCode(after, profiled[original] ?? '') ?? insideChange(line, before[line - start.line] ?? '', start, end, after.length - 1));
    if (now === undefined) anchor.lines.delete(original);
    else anchor.lines.set(original, start.line + now);
  }
  // Not by splice: a call does not take as many arguments as a paste can have lines.
  anchor.text = anchor.text.slice(0, start.line).concat(after, anchor.text.slice(start.line + before.length));
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
