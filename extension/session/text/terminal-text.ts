// Text for terminals: untrusted names made harmless, display widths, shortening, wrapping, numbers and colours.
import { t } from '../../protocol/l10n';
import { isPlain } from '../../protocol/printable';

export { printable } from '../../protocol/printable';

/** Colours and weights; each function returns its text, marked or not. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

const same = (text: string): string => text;
const sgr =
  (on: number, off: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`;

export const PLAIN: Style = { bold: same, dim: same, red: same, yellow: same, green: same, cyan: same };
/** ECMA-48 SGR parameters: the eight colours every terminal theme defines. */
export const COLOURED: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  yellow: sgr(33, 39),
  green: sgr(32, 39),
  cyan: sgr(36, 39),
};

const ZERO_WIDTH = /^[\p{Mn}\p{Me}]$/u;
/** East Asian wide and emoji blocks: an over-estimate by one column is harmless, a line that wraps is not. */
const DOUBLE_WIDTH =
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]$/u;

/** Columns that the text takes on a terminal. */
export function displayWidth(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const character of text) width += ZERO_WIDTH.test(character) ? 0 : DOUBLE_WIDTH.test(character) ? 2 : 1;
  return width;
}

/** The longest beginning (or end) of the text that takes at most so many columns. */
export function clip(text: string, width: number, end: 'start' | 'end' = 'start'): string {
  if (isPlain(text)) return end === 'end' ? text.slice(Math.max(0, text.length - width)) : text.slice(0, width);
  const characters = Array.from(text);
  if (end === 'end') characters.reverse();
  let used = 0;
  const kept: string[] = [];
  for (const character of characters) {
    used += displayWidth(character);
    if (used > width) break;
    kept.push(character);
  }
  return (end === 'end' ? kept.reverse() : kept).join('');
}

/** Long C++ names keep their beginning and their end. */
export function shortenMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 2) return clip(text, width);
  const tail = Math.floor((width - 1) / 2);
  return `${clip(text, width - 1 - tail)}…${clip(text, tail, 'end')}`;
}

/** Members keep their names, and lose what they are members of: "….content_lock.state". What does not end in such a path keeps both ends. */
export function shortenMembers(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let depth = 0;
  for (let at = 0; at < text.length && !text.startsWith(' | ', at); at++) {
    const character = text.charAt(at);
    if ('<([{'.includes(character)) depth++;
    else if ('>)]}'.includes(character)) depth--;
    else if (character === '.' && depth === 0 && displayWidth(text.slice(at)) < width) return `…${text.slice(at)}`;
  }
  return shortenMiddle(text, width);
}

/** Paths keep their end. */
export function shortenStart(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `…${clip(text, width - 1, 'end')}`;
}

/** Anything else keeps its beginning. */
export function shortenEnd(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${clip(text, width - 1)}…`;
}

/**
 * The whole text in pieces of at most `width` columns (2 or more: a character may be as wide), broken behind commas and
 * spaces where a piece has one.
 */
export function breakText(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const character of text) {
    const columns = displayWidth(character);
    while (used + columns > width) {
      const end = Math.max(piece.lastIndexOf(','), piece.lastIndexOf(' ')) + 1 || piece.length;
      pieces.push(piece.slice(0, end));
      piece = piece.slice(end);
      used = displayWidth(piece);
    }
    piece += character;
    used += columns;
  }
  return [...pieces, piece].map((part) => part.trim()).filter((part) => part !== '');
}

/** Spaces; none where `columns` is negative. */
function blanks(columns: number): string {
  return ' '.repeat(Math.max(0, columns));
}

export function padStart(text: string, width: number): string {
  return blanks(width - displayWidth(text)) + text;
}

export function padEnd(text: string, width: number): string {
  return text + blanks(width - displayWidth(text));
}

/** Prose is hard to read beyond this, however wide the terminal is. */
const PROSE_WIDTH = 100;

/**
 * Breaks text at spaces into lines of at most `width` columns; longer words are shortened in the middle.
 * @param first put before the first line
 * @param rest put before the others, by default spaces as wide as `first`
 */
export function wrap(text: string, width: number, first = '', rest = ' '.repeat(displayWidth(first))): string[] {
  const room = Math.max(1, Math.min(width, PROSE_WIDTH) - displayWidth(rest));
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ +/)) {
    const fitting = shortenMiddle(word, room);
    if (line === '') line = fitting;
    else if (displayWidth(line) + 1 + displayWidth(fitting) <= room) line += ` ${fitting}`;
    else {
      lines.push(line);
      line = fitting;
    }
  }
  lines.push(line);
  return lines.map((content, index) => (index === 0 ? first : rest) + content);
}

/** "2,000". */
export function count(value: number): string {
  if (!Number.isSafeInteger(value)) return value.toLocaleString('en-US');
  // Not by Intl: its tables take longer to load than a short report takes to write.
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** "1 line", "2,000 lines". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return t(`{0} ${value === 1 ? one : many}`, count(value));
}

/** "0.3 kB", "12.0 MB": decimal units. */
export function byteSize(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  while (value >= 999.95 && units.length > 1) {
    value /= 1000;
    units.shift();
  }
  return `${value.toFixed(1)} ${units[0] ?? 'TB'}`;
}

/** "a", "a and b", "a, b and c". */
export function enumerate(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : t('{0} and {1}', items.slice(0, -1).join(', '), last);
}

/** "a", "a or b", "a, b or c". */
export function alternatives(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : t('{0} or {1}', items.slice(0, -1).join(', '), last);
}
