// What the picture of a type shows: its cache lines as rows, the pieces on each, and which lines are folded away.
import type { LayoutMember } from '../../protocol/layout';
import { shareOf, type Measure } from '../../protocol/measure';
import { amountOfUse, sumOf, type FieldUse, type MemberHeat, type TypeCard } from './type-heat';

/** Rows that fit without folding, and with. */
const MAX_LINES = 6;
const MAX_SHOWN = 4;
/** Members on the same bytes (a union's) that are drawn above each other; more are counted. */
const MAX_TRACKS = 3;

export interface Piece {
  kind: 'member' | 'hole' | 'padding';
  /** Bytes from the line's start; of bit-fields fractions. */
  start: number;
  end: number;
  member: LayoutMember | undefined;
  /** Of a member on several lines: what was measured on this one. */
  use: FieldUse | undefined;
  /** The member goes on before or behind this line. */
  cutLeft: boolean;
  cutRight: boolean;
  /** Which of how many on the same bytes. */
  track: number;
  tracks: number;
}

export interface LineRow {
  kind: 'line';
  /** From the line that the type begins on. */
  index: number;
  /** In the measure, of the fields on this line. One that straddles counts on the line where it starts. */
  amount: number;
  records: number;
  pieces: Piece[];
  /** Members that share bytes with others and are not drawn. */
  hidden: number;
}

export interface FoldRow {
  kind: 'fold';
  lines: number;
  /** How many of them have samples, and what these measured. */
  sampled: number;
  amount: number;
}

export type CardRow = LineRow | FoldRow;

/**
 * Rows in the order of addresses. Of more lines than fit, the hottest are shown and the others folded.
 * @param phase byte of the first line that the type begins at; undefined: not known, drawn from its start
 * @param most how many lines may be shown; fewer make a smaller picture
 */
export function cardRows(card: TypeCard, measure: Measure, phase = 0, most = MAX_LINES): CardRow[] {
  const { layout } = card;
  const count = Math.max(1, Math.ceil((phase + layout.size) / layout.lineSize));
  const sums = new Map<number, { amount: number; records: number }>();
  for (const { leaf, fields } of card.members) {
    for (const field of leaf ? fields : []) {
      const index = Math.min(count - 1, Math.floor((phase + field.offset) / layout.lineSize));
      const sum = sums.get(index) ?? { amount: 0, records: 0 };
      sums.set(index, { amount: sum.amount + amountOfUse(sumOf([field]), measure), records: sum.records + field.records });
    }
  }
  const sumAt = (index: number): { amount: number; records: number } => sums.get(index) ?? { amount: 0, records: 0 };
  const shown = new Set<number>();
  if (count <= most) for (let index = 0; index < count; ++index) shown.add(index);
  else {
    const room = Math.min(most, MAX_SHOWN);
    const hottest = [...sums].sort(([a, x], [b, y]) => y.amount - x.amount || y.records - x.records || a - b).map(([index]) => index);
    for (const index of hottest.slice(0, room)) shown.add(index);
    for (let index = 0; shown.size === 0 || (sums.size === 0 && shown.size < room); ++index) shown.add(index);
  }

  const rows: CardRow[] = [];
  let next = 0;
  const foldUpTo = (end: number): void => {
    if (end <= next) return;
    const inside = [...sums].filter(([index]) => index >= next && index < end).map(([, sum]) => sum);
    const sampled = inside.filter(({ records }) => records > 0);
    rows.push({ kind: 'fold', lines: end - next, sampled: sampled.length, amount: sampled.reduce((sum, { amount }) => sum + amount, 0) });
  };
  for (const index of [...shown].sort((a, b) => a - b)) {
    foldUpTo(index);
    rows.push({ kind: 'line', index, ...sumAt(index), ...stack(piecesOnLine(card, index, phase, layout.lineSize), measure) });
    next = index + 1;
  }
  foldUpTo(count);
  return rows;
}

/** Shares of what all members measured: which part of a type's contention is on a line. */
export function shareOfType(row: { amount: number }, card: TypeCard, measure: Measure): number {
  const whole = card.members.reduce((sum, { leaf, use }) => sum + (leaf ? amountOfUse(use, measure) : 0), 0);
  return shareOf(row.amount, whole + amountOfUse(card.outside, measure));
}

/** First and last byte of a member, as fractions where it is a bit-field. */
function extentOf({ offset, size, bitOffset, bitSize }: LayoutMember): { start: number; end: number } {
  if (bitSize === null) return { start: offset, end: offset + size };
  const start = offset + (bitOffset ?? 0) / 8;
  return { start, end: start + bitSize / 8 };
}

/** Of a hole of bits, whose `offset` is that of the byte it begins in: behind the bit-field that ends there. */
function bitHoleStart(offset: number, members: readonly MemberHeat[]): number {
  const ends = members.map(({ member }) => extentOf(member).end).filter((end) => offset < end && end < offset + 1);
  return Math.max(offset, ...ends);
}

/**
 * The members and holes of one object on one of its lines, which may be on the same bytes.
 * @param index of the line, from the one that the object begins on
 * @param phase byte of the first line that it begins at
 */
export function piecesOnLine({ layout, members }: TypeCard, index: number, phase: number, lineSize: number): Piece[] {
  const from = index * lineSize - phase; // in the type
  const to = Math.min(from + lineSize, layout.size);
  const pieces: Piece[] = [];
  const add = (kind: Piece['kind'], start: number, end: number, member?: LayoutMember, use?: FieldUse): void => {
    if (start >= to || end <= from || end <= start) return;
    const [cutLeft, cutRight] = [start < from, end > to];
    const place = { start: Math.max(start, from) - from, end: Math.min(end, to) - from };
    pieces.push({ kind, ...place, member, use, cutLeft, cutRight, track: 0, tracks: 1 });
  };
  // Of members on the same bytes the one that the samples are named for comes first.
  const ordered = [...members].sort((a, b) => Number(a.sameBytesAs !== undefined) - Number(b.sameBytesAs !== undefined));
  for (const one of ordered) {
    const { start, end } = extentOf(one.member);
    if (one.leaf) add('member', start, end, one.member, useBetween(one.sameBytesAs ?? one, from, to));
  }
  for (const { offset, size, bits } of layout.holes) {
    const start = bits > 0 ? bitHoleStart(offset, members) : offset;
    add('hole', start, start + size + bits / 8);
  }
  add('padding', layout.size - layout.padding, layout.size);
  return pieces;
}

/** What was measured at a member's fields that lie on these bytes, wholly or in part. */
function useBetween({ member, use, fields }: MemberHeat, from: number, to: number): FieldUse | undefined {
  if (from <= member.offset && member.offset + member.size <= to) return use;
  return sumOf(fields.filter(({ offset, size }) => offset < to && offset + Math.max(1, size) > from));
}

/** Puts members on the same bytes above each other, the hottest first where there are too many. */
export function stack<P extends Piece>(pieces: P[], measure: Measure): { pieces: P[]; hidden: number } {
  const sorted = pieces.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: P[] = [];
  let hidden = 0;
  for (let first = 0; first < sorted.length;) {
    let end = sorted[first]?.end ?? 0;
    let last = first + 1;
    for (let piece = sorted[last]; piece && piece.start < end; piece = sorted[last]) {
      end = Math.max(end, piece.end);
      ++last;
    }
    const group = sorted.slice(first, last).sort((a, b) => amountOfUse(b.use, measure) - amountOfUse(a.use, measure) || a.start - b.start);
    const tracks: number[][] = [];
    const placed: P[] = [];
    for (const piece of group) {
      const free = tracks.findIndex((taken) => taken.every((at) => !overlap(placed[at], piece)));
      if (free < 0 && tracks.length === MAX_TRACKS) {
        ++hidden;
        continue;
      }
      const track = free < 0 ? tracks.push([]) - 1 : free;
      tracks[track]?.push(placed.push({ ...piece, track }) - 1);
    }
    kept.push(...placed.map((piece) => ({ ...piece, tracks: tracks.length })));
    first = last;
  }
  return { pieces: kept.sort((a, b) => a.start - b.start || a.track - b.track), hidden };
}

function overlap(a: Piece | undefined, b: Piece): boolean {
  return a !== undefined && a.start < b.end && b.start < a.end;
}
