// A table of text columns that fits a width: the flexible columns give way, the widest first.
import { breakText, displayWidth, shortenEnd, type Style } from './terminal-text';

export interface Column {
  title: string;
  align: 'left' | 'right';
  /** How a text too long for its column is shortened; without it the column keeps its natural width. */
  shorten?: (text: string, width: number) => string;
  /** Instead: it goes on in rows below. */
  broken?: boolean;
}

export interface Cell {
  text: string;
  style?: keyof Style;
}

const GAP = 2;
/** A flexible column does not become narrower than this. */
const NARROWEST = 12;
export const SECOND_ROW_INDENT = 6;

/**
 * A table in one row an entry where that fits the width without shortening anything, else in two: the columns of `first`,
 * and below them those of `second`, indented and without titles.
 */
export function formatTwoRowTable(
  first: readonly Column[],
  second: readonly Column[],
  rows: readonly (readonly Cell[])[],
  layout: { width: number; indent: number; style: Style },
): string[] {
  const all = [...first, ...second];
  if (naturalWidth(all, rows, layout.indent) <= layout.width) return formatTable(all, rows, layout).flat();
  const part = (columns: readonly Column[], from: number, indent: number): string[][] =>
    formatTable(
      columns,
      rows.map((row) => row.slice(from, from + columns.length)),
      { ...layout, indent },
    );
  const [titles = [], ...upper] = part(first, 0, layout.indent);
  const [, ...lower] = part(second, first.length, layout.indent + SECOND_ROW_INDENT);
  return [...titles, ...upper.flatMap((row, i) => [...row, ...(lower[i] ?? [])])];
}

/** A table in one row an entry, shortened where it has to be: its titles first. */
export function formatOneRowTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  layout: { width: number; indent: number; style: Style },
): string[] {
  return formatTable(columns, rows, layout).flat();
}

/** Columns that the table takes without shortening anything. */
function naturalWidth(columns: readonly Column[], rows: readonly (readonly Cell[])[], indent: number): number {
  const widths = naturalWidths(columns, rows);
  return indent + widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1);
}

/** Title and rows, each of one line or more, none wider than `width`. */
function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width, indent, style }: { width: number; indent: number; style: Style },
): string[][] {
  const widths = fit(columns, naturalWidths(columns, rows), width - indent);
  const format = (cells: readonly Cell[]): string[] => {
    const parts = cells.map(({ text }, i) =>
      columns[i]?.broken ? breakText(text, widths[i] ?? 0) : [(columns[i]?.shorten ?? shortenEnd)(text, widths[i] ?? 0)],
    );
    const height = Math.max(...parts.map(({ length }) => length));
    return Array.from({ length: height }, (_, row) =>
      lineOf(
        cells,
        parts.map((part) => part[row] ?? ''),
      ),
    );
  };
  const lineOf = (cells: readonly Cell[], plain: readonly string[]): string => {
    const total = plain.reduce((sum, _, i) => sum + (widths[i] ?? 0), 0) + GAP * (plain.length - 1);
    // Only a terminal narrower than the rigid columns: cut, and without colours, which could be cut through.
    const marked = indent + total <= width;
    const line = plain
      .map((text, i) => {
        const name = cells[i]?.style;
        const shown = marked && name !== undefined ? style[name](text) : text;
        const pad = ' '.repeat(Math.max(0, (widths[i] ?? 0) - displayWidth(text)));
        return columns[i]?.align === 'right' ? pad + shown : shown + pad;
      })
      .join(' '.repeat(GAP));
    return (' '.repeat(indent) + (marked ? line : shortenEnd(line, width - indent))).trimEnd();
  };
  return [format(columns.map(({ title }) => ({ text: title, style: 'dim' }))), ...rows.map(format)];
}

function naturalWidths(columns: readonly Column[], rows: readonly (readonly Cell[])[]): number[] {
  return columns.map(({ title }, i) =>
    rows.reduce((widest, row) => Math.max(widest, displayWidth(row[i]?.text ?? '')), displayWidth(title)),
  );
}

/** Widths that fit `room` with a gap between two columns, as far as the flexible columns can give way. */
function fit(columns: readonly Column[], natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1) - room;
  while (excess > 0) {
    let widest = -1;
    columns.forEach(({ shorten, broken }, i) => {
      const width = widths[i] ?? 0;
      if ((shorten !== undefined || broken) && width > NARROWEST && width > (widths[widest] ?? 0)) widest = i;
    });
    const width = widths[widest];
    if (width === undefined) break;
    widths[widest] = width - 1;
    --excess;
  }
  return widths;
}
