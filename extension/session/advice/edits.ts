// Edits of one source text: what they are, how they are put together, and why there are none.
import { t } from '../../protocol/l10n';
import type { SourceText } from './syntax';

/** Replaces the text from `start` to `end`, in UTF-16 code units of the text before all edits, by `text`. */
export interface TextEdit {
  start: number;
  end: number;
  text: string;
}

export interface FileEdit {
  /** As the change names it. */
  file: string;
  before: string;
  after: string;
  /** In the order of the text; they do not overlap. */
  edits: TextEdit[];
}

/** Why a change is not made by an edit, and what to do instead: a sentence or more. */
export class Refusal extends Error {}

/** @throws Refusal where nothing would change */
export function fileEdit({ file, text }: Pick<SourceText, 'file' | 'text'>, edits: readonly TextEdit[]): FileEdit {
  const sorted = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  if (sorted.length === 0)
    throw new Refusal(t('{0} already has what the change asks for; build and record again to see its effect.', file));
  let after = '';
  let at = 0;
  for (const edit of sorted) {
    if (edit.start < at || edit.end < edit.start || edit.end > text.length)
      throw new RangeError(`Edits of ${file} overlap at ${edit.start}.`);
    after += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return { file, before: text, after: after + text.slice(at), edits: sorted };
}

/** What ends the lines of a text: what ends its first one. */
export function lineEnding(text: string): string {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}

/** The blanks and tabs before the first other character of the line of an offset. */
export function indentationAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  let end = start;
  while (text[end] === ' ' || text[end] === '\t') ++end;
  return text.slice(start, Math.min(end, offset));
}

/** Whether only blanks and tabs stand before the offset in its line. */
export function startsItsLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';
}

/** "a", "a and b", "a, b and c". */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : t('{0} and {1}', words.slice(0, -1).join(', '), words[words.length - 1] ?? '');
}
