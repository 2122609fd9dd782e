// The text of `cacheline layout`: the type in the words of its language with offsets and sizes beside it, where its cache
// lines begin, what it wastes, and a drawing of its lines.
import type { Layout, LayoutMember } from '../../protocol/layout';
import { layoutDrawing } from './layout-drawing';
import { declaration, elementOf } from './layout-declaration';
import {
  alignmentText,
  basesText,
  cutOffSentences,
  differenceSentences,
  firstNames,
  incompleteSentences,
  unplacedSentence,
} from './layout-unknown';
import { joinBlocks } from '../report/report-blocks';
import { readablePlace } from '../lines/source-path';
import { breakText, count, displayWidth, enumerate, padStart, PLAIN, plural, printable, wrap, type Style } from '../text/terminal-text';

export interface LayoutTextOptions {
  width: number;
  style?: Style;
  /** The reader's: source paths below it are shown relative to it. */
  folder?: string;
}

/** What one row of the type says. */
interface Row {
  indent: number;
  text: string;
  /** Offset and size, as written; absent: a remark or a bracket. */
  place?: { offset: string; size: string };
  note?: string;
  style?: keyof Style;
}

/** A hole, or bytes that may be of virtual bases. */
type Gap = Layout['holes'][number] & { bases?: readonly string[] };

const INDENT = 4;
/** A declaration gets at least this, however wide its numbers are. */
const NARROWEST = 16;
/** And this beside declarations that are too long for any column. */
const COMFORTABLE = 48;

/** Lines joined by newlines, with one at the end; none is wider than `width` columns (60 or more). */
export function layoutText(layouts: readonly Layout[], { width, style = PLAIN, folder = '' }: LayoutTextOptions): string {
  const heading = `${count(layouts.length)} types carry this name, with different layouts:`;
  const several = layouts.length > 1 ? [[heading, ...differenceSentences(layouts)].flatMap((text) => wrap(text, width))] : [];
  return joinBlocks([
    ...several,
    ...layouts.flatMap((layout) => [
      typeRows(layout, width, style, folder),
      ...summary(layout, width),
      layoutDrawing(layout, { width, style }),
    ]),
  ]);
}

function typeRows(layout: Layout, width: number, style: Style, folder: string): string[] {
  const name = printable(`${layout.kind} ${layout.name}`);
  const place = layout.file === '' ? [] : wrap(printable(readablePlace(layout, folder)), width - 3, '/* ', '   ');
  const last = place.length - 1;
  return [
    ...place.map((text, i) => style.dim(i === last ? `${text} */` : text)),
    ...breakText(`${name} {`, width - INDENT).map((text, i) => style.bold(i === 0 ? text : ' '.repeat(INDENT) + text)),
    ...formatRows(rowsOf(layout), width, style),
    '};',
  ];
}

function rowsOf(layout: Layout): Row[] {
  const { members, lineSize } = layout;
  const rows: Row[] = [];
  const open: LayoutMember[] = [];
  const holes: Gap[] = [...layout.holes, ...(layout.unplaced ?? []).map((one) => ({ ...one, bits: 0 }))];
  holes.sort((a, b) => a.offset - b.offset || b.size - a.size);
  let line = 0;
  const indent = (): number => INDENT * (open.length + 1);
  const close = (depth: number): void => {
    while (open.length > depth) {
      const ended = open.pop();
      if (ended !== undefined) rows.push({ indent: indent(), text: `}${closingName(ended, open.at(-1))};` });
    }
  };
  // Before what starts at `offset`: the lines that begin until there, the last of them named.
  const lineBegins = (offset: number): void => {
    const reached = Math.floor(offset / lineSize);
    if (reached <= line) return;
    line = reached;
    const begin = reached * lineSize;
    const where =
      begin === offset ? `begins: byte ${count(begin)}` : `began ${plural(offset - begin, 'byte')} before this, at byte ${count(begin)}`;
    rows.push({ indent: indent(), text: `/* --- line ${count(reached)} ${where} --- */`, style: 'cyan' });
  };
  // A hole of bits says only its first byte: it begins there, or where the member before it ends.
  let usedBits = 0;
  const endOf = ({ offset, size, bits }: Gap): number => (bits > 0 ? Math.max(usedBits, offset * 8) + bits : (offset + size) * 8);
  const holesUntil = (bit: number, depth: number): void => {
    while (holes[0] !== undefined && endOf(holes[0]) <= bit) {
      const hole = holes.shift();
      if (hole === undefined) return;
      close(depth);
      rows.push({ indent: indent(), text: holeText(hole), style: 'yellow' });
    }
  };
  members.forEach((member, i) => {
    close(member.depth);
    holesUntil(member.offset * 8 + (member.bitOffset ?? 0), member.depth);
    if (layout.kind !== 'union') lineBegins(member.offset);
    const hasInner = (members[i + 1]?.depth ?? 0) > member.depth;
    rows.push(memberRow(member, open.at(-1), indent(), hasInner, lineSize));
    if (hasInner) {
      open.push(member);
      const each = elementsText(member, members[i + 1]);
      if (each !== '') rows.push({ indent: indent(), text: each, style: 'dim' });
    } else usedBits = member.offset * 8 + (member.bitSize === null ? member.size * 8 : (member.bitOffset ?? 0) + member.bitSize);
  });
  close(0);
  holesUntil(Infinity, 0);
  if (layout.padding > 0) rows.push({ indent: INDENT, text: `/* padding: ${plural(layout.padding, 'byte')} */`, style: 'yellow' });
  return rows;
}

function holeText({ offset, size, bits, bases }: Gap): string {
  if (bases !== undefined) return printable(`/* bytes ${offset}-${offset + size - 1}: may be of ${basesText(bases)} */`);
  return bits > 0 ? `/* hole: ${plural(bits, 'bit')} */` : `/* hole: ${plural(size, 'byte')} */`;
}

function memberRow(member: LayoutMember, outer: LayoutMember | undefined, indent: number, hasInner: boolean, lineSize: number): Row {
  const { offset, size, bitOffset, bitSize, straddles } = member;
  const name = lastName(member, outer);
  const opened = (): string => declaration({ ...member, name: '', type: elementOf(member.type).element }).replace(/\s*\{\.*\}$/, '');
  const text = hasInner ? `${opened()} {` : `${declaration({ ...member, name })};`;
  const bits = bitSize === null ? '' : `:${bitOffset ?? 0}`;
  const [first, last] = [Math.floor(offset / lineSize), Math.floor((offset + size - 1) / lineSize)];
  return {
    indent,
    text: printable(text),
    place: { offset: `${offset}${bits}`, size: `${size}` },
    ...(straddles ? { note: last > first + 1 ? `crosses lines ${first}-${last}` : `crosses lines ${first}, ${last}`, style: 'red' } : {}),
  };
}

/** With `expand` names are full paths: what is new behind the outer member's, which may have indexes. */
function lastName({ name }: LayoutMember, outer: LayoutMember | undefined): string {
  if (outer === undefined || outer.name === '' || !name.startsWith(outer.name)) return name;
  const behind = name.slice(outer.name.length).replace(/^(?:\[\d+\.\.\d*\])+/, '');
  return behind.startsWith('.') ? behind.slice(1) : name;
}

/** " today", " stats[8]". */
function closingName(ended: LayoutMember, outer: LayoutMember | undefined): string {
  return ended.name === '' ? '' : printable(` ${lastName(ended, outer)}${elementOf(ended.type).lengths}`);
}

/** What the members of an opened array's element stand for; empty: `array` is none. */
function elementsText(array: LayoutMember, inner: LayoutMember | undefined): string {
  if (inner?.elements === undefined || inner.elements === array.elements) return '';
  const index = /^(?:\[\d+\.\.\d*\])+/.exec(inner.name.slice(array.name.length))?.[0] ?? '';
  const number = inner.elements / Math.max(1, array.elements ?? 1);
  return `/* ${index}: ${number > 0 ? `${plural(array.size / number, 'byte')} each` : 'as many as there are'} */`;
}

/** Declarations left, numbers right, each in its column; a declaration that is too long gets several rows. */
function formatRows(rows: readonly Row[], width: number, style: Style): string[] {
  const places = rows.flatMap(({ place }) => place ?? []);
  const offsets = largest(places, ({ offset }) => offset.length, 'offset'.length);
  const sizes = largest(places, ({ size }) => size.length, 'size'.length);
  const notes = largest(rows, ({ note = '' }) => (note === '' ? 0 : `  ! ${note}`.length));
  const numbers = ({ offset, size }: { offset: string; size: string }, note = ''): string =>
    `/* ${padStart(offset, offsets)}  ${padStart(size, sizes)}${note === '' ? '' : `  ! ${note}`} */`;
  const room = Math.max(NARROWEST, width - numbers({ offset: '', size: '' }).length - notes - 1);
  const widths = rows.filter(({ place }) => place !== undefined).map(({ indent, text }) => indent + displayWidth(text));
  const isLong = widths.some((one) => one > room);
  const least = isLong ? Math.min(room, COMFORTABLE) : NARROWEST;
  const column = largest(widths, (one) => (one <= room ? one : 0), least);
  const title = `${' '.repeat(column)} ${numbers({ offset: 'offset', size: 'size' })}`;
  const format = ({ indent, text, place, note, style: mark }: Row): string[] => {
    const shown = (plain: string): string => (mark === undefined ? plain : style[mark](plain));
    const broken = place === undefined || indent + displayWidth(text) > column;
    const pieces = broken ? breakText(text, Math.max(NARROWEST, width - indent - INDENT)) : [text];
    const lines = pieces.map((piece, i) => ' '.repeat(i === 0 ? indent : indent + INDENT) + piece);
    if (place === undefined) return lines.map(shown);
    if (displayWidth(lines.at(-1) ?? '') > column) lines.push('');
    const last = lines.pop() ?? '';
    const remark = numbers(place, note);
    const gap = ' '.repeat(column - displayWidth(last) + 1);
    return [...lines.map(shown), shown(last) + gap + (note === undefined ? style.dim(remark) : shown(remark))];
  };
  return [...(places.length === 0 ? [] : [style.dim(title)]), ...rows.flatMap(format)];
}

/** Two paragraphs at most: sizes, and what is wasted. */
function summary(layout: Layout, width: number): string[][] {
  const { size, lines, lineSize, members, padding, kind } = layout;
  const own = members.filter(({ depth }) => depth === 0);
  const lastLine = size % lineSize;
  const head = [
    `Size ${plural(size, 'byte')}, ${alignmentText(layout)}, on ${plural(lines, 'cache line')} of ${lineSize} bytes`,
    lastLine > 0 && lines > 1 ? `, the last one used up to byte ${lastLine}` : '',
    `; ${plural(own.length, 'member')}`,
    kind === 'union' ? ', all in the same place' : '',
    '.',
  ].join('');
  const waste = wasted(layout, padding);
  return [
    [
      ...wrap(head, width),
      ...(waste === '' ? [] : wrap(waste, width)),
      ...[...(layout.unplaced ?? []).map(unplacedSentence), ...incompleteSentences(layout)].flatMap((sentence) => wrap(sentence, width)),
      ...straddling(layout, width),
      ...cutOffSentences(layout).flatMap((sentence) => wrap(sentence, width)),
    ],
  ];
}

function wasted({ holes: all, members, unplaced }: Layout, padding: number): string {
  const holes = all.filter(({ elements }) => elements !== 0); // of an open array nobody knows how many elements have it
  const bytes = holes.filter(({ size }) => size > 0);
  const bits = holes.filter(({ size, bits: wide }) => size === 0 && wide > 0);
  const parts = [
    ...(bytes.length > 0
      ? [
          `${plural(
            times(bytes, () => 1),
            'hole',
          )} of ${plural(
            times(bytes, ({ size }) => size),
            'byte',
          )}`,
        ]
      : []),
    ...(bits.length > 0
      ? [
          `${plural(
            times(bits, () => 1),
            'bit hole',
          )} of ${plural(
            times(bits, ({ bits: wide }) => wide),
            'bit',
          )}`,
        ]
      : []),
    ...(padding > 0 ? [`${plural(padding, 'byte')} of padding at the end`] : []),
  ];
  if (parts.length > 0) return `Unused: ${enumerate(parts)}.`;
  if (unplaced !== undefined || all.length > 0) return '';
  return members.length === 0 ? 'It has no members.' : 'No holes and no padding.';
}

/** A hole in an element of an array is in each of them. */
function times(holes: Layout['holes'], of: (hole: Layout['holes'][number]) => number): number {
  return sum(holes.map((hole) => (hole.elements ?? 1) * of(hole)));
}

function straddling({ members }: Layout, width: number): string[] {
  // Of an array's elements each lies elsewhere: the array says it for all.
  const crossing = members.filter(({ straddles, elements }) => straddles && elements === undefined);
  if (crossing.length === 0) return [];
  return wrap(`${enumerate(firstNames(crossing))} ${crossing.length === 1 ? 'lies' : 'lie'} on more lines than the size needs.`, width);
}

/** A spread of many rows into Math.max() is more than the stack holds. */
function largest<T>(all: readonly T[], of: (one: T) => number, least = 0): number {
  return all.reduce((most, one) => Math.max(most, of(one)), least);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
