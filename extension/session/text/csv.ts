// CSV (RFC 4180) of untrusted names.
import { printable } from './terminal-text';

/** Numbers are written as they are; texts are names of a recording, and untrusted. null: the evidence cannot say. */
export type CsvValue = number | null | undefined | { text: string };

/** Cells of one row that are written already. Lines end with CR LF, as the RFC has it. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/** Spreadsheets run what begins with one of these (some take the wide forms too) as a formula, quoted or not; an apostrophe before it makes it text. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;

export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const shown = printable(value.text);
  const text = FORMULA.test(shown) ? `'${shown}` : shown;
  return /[",']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
