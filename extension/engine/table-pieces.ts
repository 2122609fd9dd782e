// A table's JSON text in pieces, as the addon writes it: a table of all lines may be longer than a string can be.
import type { RowsLeft } from '../protocol/engine';
import type { Table, TableHead, TableRow } from '../protocol/table';

/**
 * Joined they are the document. The first one ends with the `[` of `rows`, the last one begins with its `]`; those between are whole
 * rows, all but the first of them behind a comma.
 */
export type TablePieces = readonly string[];

export function tableHeadOf(pieces: TablePieces): TableHead {
  return JSON.parse(`${pieces[0] ?? ''}${pieces.at(-1) ?? ''}`) as TableHead;
}

/** One after the other, so that few have to be held. */
export function* tableRowsOf(pieces: TablePieces): Generator<TableRow> {
  for (const piece of pieces.slice(1, -1)) yield* JSON.parse(`[${piece.startsWith(',') ? piece.slice(1) : piece}]`) as TableRow[];
}

/** The table with at most so many rows, and what the others come to. */
export function firstRowsOf(pieces: TablePieces, most: number): { table: Table; left: RowsLeft } {
  const rows: TableRow[] = [];
  const left: RowsLeft = { rows: 0, contended: 0 };
  for (const row of tableRowsOf(pieces)) {
    if (rows.length < most) {
      rows.push(row);
      continue;
    }
    left.rows++;
    left.contended += row.contended;
  }
  return { table: { ...tableHeadOf(pieces), rows }, left };
}
