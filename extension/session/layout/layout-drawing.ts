// A drawing of a type's cache lines in text: a row a line, a column a byte, eight bytes a cell.
import type { Layout, LayoutMember } from '../../protocol/layout';
import { clip, count, displayWidth, padEnd, padStart, printable, type Style } from '../text/terminal-text';

const CELL = 8;
/** A member that fills this many rows and more in full is drawn as one, with how many it stands for. */
const FOLDED = 3;
const FEWEST_CELLS = 1;
const HOLE = '.';
/** No identifier of C, C++, Rust or Go has it. */
const FILLER = '-';

/** Bytes [from, to) that one member has, or several that share them; a hole has no name. */
interface Segment {
  from: number;
  to: number;
  name: string;
  isBits: boolean;
  /** It may be a union's, or of one variant: others have the same bytes. */
  mayShare: boolean;
  straddles: boolean;
}

/** Rows none wider than `width` columns where that holds one cell; none for a type without a size, or with one that cannot be. */
export function layoutDrawing(layout: Layout, { width, style }: { width: number; style: Style }): string[] {
  const { size, lineSize } = layout;
  if (size <= 0 || !Number.isSafeInteger(size)) return [];
  const label = Math.max('line'.length, `${Math.floor((size - 1) / lineSize)}`.length);
  let cells = Math.max(FEWEST_CELLS, Math.min(8, lineSize / CELL));
  while (cells > FEWEST_CELLS && label + 2 + cells * (CELL + 1) > width) cells /= 2;
  const row = cells * CELL;
  const all = segments(layout);
  const ruler = Array.from({ length: cells }, (_, i) => padEnd(`${i * CELL}`, CELL + 1)).join('');
  const rows = [style.dim(`${padStart('line', label)}  ${ruler}`.trimEnd())];
  let next = 0;
  for (let from = 0; from < size;) {
    while ((all[next]?.to ?? Infinity) <= from) next++;
    const current = all[next];
    const full = current === undefined || current.from > from ? 0 : Math.floor((Math.min(current.to, size) - from) / row);
    // Whole lines are folded, so that the next row starts with its number.
    const folded = from % lineSize === 0 ? full - (full % (lineSize / row)) : 0;
    if (current !== undefined && folded >= FOLDED * (lineSize / row)) {
      const [first, last] = [from / lineSize, (from + folded * row) / lineSize - 1];
      const what = current.name === '' ? 'nothing' : current.name;
      const text = ` ... lines ${count(first)} to ${count(last)}: ${what}`;
      rows.push(' '.repeat(label) + style[current.name === '' ? 'yellow' : 'dim'](clip(text, width - label)));
      from += folded * row;
      continue;
    }
    const number = from % lineSize === 0 ? `${from / lineSize}` : '';
    rows.push(`${padStart(number, label)} |${drawRow(all, next, from, Math.min(from + row, size), style)}`);
    from += row;
  }
  return rows;
}

function drawRow(all: readonly Segment[], first: number, from: number, end: number, style: Style): string {
  let text = '';
  for (let i = first; i < all.length && (all[i]?.from ?? end) < end; i++) {
    const segment = all[i];
    if (segment === undefined) break;
    const [start, stop] = [Math.max(segment.from, from), Math.min(segment.to, end)];
    // A cell's edge inside the segment is one column more for its name.
    const columns = stop - start + edges(start - from, stop - from);
    const isHole = segment.name === '';
    const shown = isHole ? emptyCells(start - from, stop - from) : fill(segment.name, columns);
    text += isHole ? style.yellow(shown) : segment.straddles ? style.red(shown) : shown;
    if ((stop - from) % CELL === 0 || stop === end) text += '|';
  }
  return text;
}

/** Edges of cells strictly between two columns of bytes. */
function edges(from: number, to: number): number {
  return Math.max(0, Math.ceil(to / CELL) - 1 - Math.floor(from / CELL));
}

function emptyCells(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, i) => (i > 0 && (from + i) % CELL === 0 ? `|${HOLE}` : HOLE)).join('');
}

/** As much of the name as leaves a column that ends it. */
function fill(name: string, columns: number): string {
  const cut = clip(name, Math.max(1, columns - 1));
  return cut + FILLER.repeat(Math.max(0, columns - displayWidth(cut)));
}

/** The type's bytes from first to last, each in one segment. */
function segments({ kind, size, members: all, unplaced = [] }: Layout): Segment[] {
  const drawn: Segment[] = [];
  // Only the first element of an array is opened: the array is drawn as one.
  const members = all.filter(({ elements }) => elements === undefined);
  const leaves = members.filter((member, i) => (members[i + 1]?.depth ?? 0) <= member.depth).map((member) => segmentOf(member, kind));
  for (const segment of [...leaves, ...unplaced.map(openSegment)]
    .filter(({ from, to }) => from < to && from >= 0)
    .sort((a, b) => a.from - b.from || Number(a.isBits) - Number(b.isBits) || (a.isBits ? 0 : b.to - a.to))) {
    const last = drawn.at(-1);
    if (last === undefined || segment.from >= last.to) drawn.push(segment);
    else if (segment.isBits && last.isBits) {
      last.name += `,${segment.name}`;
      last.to = Math.max(last.to, segment.to);
    } else if (segment.from > last.from && !segment.mayShare) {
      // In the tail padding of a member, which is [[no_unique_address]].
      last.to = segment.from;
      drawn.push(segment);
    } else {
      if (segment.from === last.from) last.name += `/${segment.name}`;
      if (segment.to > last.to) drawn.push({ ...segment, from: last.to });
    }
  }
  const whole: Segment[] = [];
  let end = 0;
  const hole = (to: number): void => {
    if (end < to) whole.push({ from: end, to, name: '', isBits: false, mayShare: false, straddles: false });
  };
  for (const segment of drawn) {
    hole(segment.from);
    whole.push(segment);
    end = segment.to;
  }
  hole(size);
  return whole;
}

function openSegment({ offset, size, bases }: NonNullable<Layout['unplaced']>[number]): Segment {
  return { from: offset, to: offset + size, name: printable(`${bases.join('/')}?`), isBits: false, mayShare: false, straddles: false };
}

function segmentOf({ name, type, role, offset, size, bitOffset, bitSize, depth, straddles }: LayoutMember, kind: Layout['kind']): Segment {
  const isBits = bitSize !== null;
  const named = name.slice(name.lastIndexOf('.') + 1);
  const from = offset + (isBits ? Math.floor((bitOffset ?? 0) / 8) : 0);
  const to = isBits ? offset + Math.ceil(((bitOffset ?? 0) + bitSize) / 8) : offset + size;
  const shown = role === 'vtable pointer' ? 'vtable' : named !== '' ? named : role === 'discriminant' ? role : type;
  return { from, to, name: printable(shown), isBits, mayShare: kind === 'union' || kind === 'enum' || depth > 0, straddles };
}
