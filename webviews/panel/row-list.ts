// The rows of the table and where they stand, without making them: of half a million lines only those on show become rows.
import { accessesOf, type LineRow, type Row } from './model';
import type { Measure } from '../../extension/protocol/measure';
import type { UnfoldedLine } from '../../extension/protocol/panel';

/** Pixels; of details the least: they wrap, and are measured. */
export const HEIGHT: Record<Row['kind'], number> = { line: 28, detail: 64, access: 24, missing: 28 };

/** Of an expanded line. */
interface Opened {
  /** Of the line, among the lines in their order. */
  place: number;
  /** Its details and accesses, below it. */
  rows: readonly Row[];
  /** Index of the first of them, and its top in pixels. */
  index: number;
  top: number;
  /** Pixels of all of them. */
  height: number;
}

export class RowList {
  readonly length: number;
  /** Pixels of all rows. */
  readonly height: number;
  /** By place. */
  private readonly opened: Opened[] = [];

  /**
   * @param total lines
   * @param lineAt undefined: it was not sent yet
   * @param expanded places of expanded lines, ascending, with the lines in full; undefined: they have not come yet
   * @param heights measured pixels of details, by `Row.id`
   */
  constructor(
    private readonly total: number,
    private readonly lineAt: (place: number) => LineRow | undefined,
    expanded: readonly (readonly [number, UnfoldedLine | undefined])[] = [],
    measure: Measure = 'contended',
    private readonly heights: ReadonlyMap<string, number> = new Map(),
  ) {
    let [rowsBefore, pixelsBefore] = [0, 0];
    for (const [place, line] of expanded) {
      const rows = line ? rowsBelow(line, measure) : [];
      const height = rows.reduce((sum, row) => sum + this.heightOf(row), 0);
      this.opened.push({ place, rows, index: place + 1 + rowsBefore, top: (place + 1) * HEIGHT.line + pixelsBefore, height });
      rowsBefore += rows.length;
      pixelsBefore += height;
    }
    this.length = total + rowsBefore;
    this.height = total * HEIGHT.line + pixelsBefore;
  }

  at(index: number): Row {
    const before = this.lastOpened((one) => one.index <= index);
    const below = before?.rows[index - before.index];
    if (below) return below;
    const place = this.placeOf(index);
    const line = this.lineAt(place);
    if (!line) return { kind: 'missing', id: `missing ${place}`, place };
    return this.lastOpened((one) => one.place <= place)?.place === place ? { ...line, expanded: true } : line;
  }

  /** Of the line that the row is of, among the lines in their order. */
  placeOf(index: number): number {
    const before = this.lastOpened((one) => one.index <= index);
    return before ? before.place + Math.max(0, index - before.index - before.rows.length + 1) : index;
  }

  /** Of the row its place among those beside it, from 1, and how many these are: all lines, or all that is below its line. */
  besideAt(index: number): { place: number; of: number } {
    const before = this.lastOpened((one) => one.index <= index);
    if (before?.rows[index - before.index]) return { place: index - before.index + 1, of: before.rows.length };
    return { place: this.placeOf(index) + 1, of: this.total };
  }

  /** In pixels. */
  topOf(index: number): number {
    const before = this.lastOpened((one) => one.index <= index);
    if (!before) return index * HEIGHT.line;
    const into = index - before.index;
    if (into >= before.rows.length) return before.top + before.height + (into - before.rows.length) * HEIGHT.line;
    return before.rows.slice(0, into).reduce((top, row) => top + this.heightOf(row), before.top);
  }

  /** Of the row at so many pixels; of the nearest one where there is none. */
  indexAt(pixels: number): number {
    const before = this.lastOpened((one) => one.top <= pixels);
    if (!before) return this.within(Math.floor(pixels / HEIGHT.line));
    if (pixels >= before.top + before.height)
      return this.within(before.index + before.rows.length + Math.floor((pixels - before.top - before.height) / HEIGHT.line));
    let [index, bottom] = [before.index, before.top];
    for (const row of before.rows) {
      bottom += this.heightOf(row);
      if (pixels < bottom) break;
      ++index;
    }
    return index;
  }

  heightOf(row: Row): number {
    return this.heights.get(row.id) ?? HEIGHT[row.kind];
  }

  private within(index: number): number {
    return Math.max(0, Math.min(this.length - 1, index));
  }

  private lastOpened(isBefore: (one: Opened) => boolean): Opened | undefined {
    let [low, high] = [0, this.opened.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const one = this.opened[middle];
      if (one && isBefore(one)) low = middle + 1;
      else high = middle;
    }
    return this.opened[low - 1];
  }
}

/** The details of an expanded line, and its accesses. */
function rowsBelow(line: UnfoldedLine, measure: Measure): Row[] {
  const { id } = line;
  return [
    { kind: 'detail', id: `${id} detail`, line },
    ...accessesOf(line, measure).map((access, place): Row => {
      return { kind: 'access', id: `${id} ${place}`, line, access, index: line.accesses.indexOf(access) };
    }),
  ];
}
