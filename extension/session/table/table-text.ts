// A table as text: what it adds up, its rows with bars, who waits for whom, and what its evidence cannot say.
import { KEY_WORDS, type TableHead, type TableRow } from '../../protocol/table';
import { titledList } from '../report/report-blocks';
import { VERDICT_STYLE, type Layout } from '../report/report-lines';
import { displayWidth, enumerate, printable, shortenMiddle, shortenStart, wrap } from '../text/terminal-text';
import { formatOneRowTable, type Cell, type Column } from '../text/text-table';
import { bar } from './bar';
import { pairsText } from './pairs-text';
import { keyText, limitsOf, moreRowsText, numbersOf, totalsText, type Numbers } from './table-columns';

/** Rows without --show-all. */
const MAX_ROWS = 40;
/** Of the width, what keys get at least, where they need it, before other columns are shown. */
const KEYS_SHARE = 0.3;
const GAP = 2;

export interface TableTextOptions extends Layout {
  /** The recording, as it was asked for. */
  path: string;
  /** Every row instead of the first ones. */
  showAll: boolean;
}

/** Lines joined by newlines, with one at the end; none is wider than `width` columns. */
export function tableText(head: TableHead, rows: readonly TableRow[], options: TableTextOptions): string {
  const { width, style, showAll } = options;
  const shown = showAll ? rows : shownRows(head, rows);
  const left = rows.slice(shown.length);
  const leftContended = left.reduce((sum, { contended }) => sum + contended, 0);
  const blocks = [
    [style.bold(title(head, options.path, width)), ...wrap(totalsText(head), width)],
    rows.length === 0 ? ['There are no samples.'] : rowsText(head, shown, options),
    ...(left.length > 0 ? [[`${moreRowsText(head, { rows: left.length, contended: leftContended })} (all with --show-all)`]] : []),
    pairsText(head, rows, options),
    titledList('Warnings', head.warnings, width),
    limitsOf(head)
      .flatMap((limit) => wrap(limit, width))
      .map((line) => style.dim(line)),
  ];
  return `${blocks
    .filter(({ length }) => length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** Of a timeline all: the rows are not those with most samples first. */
function shownRows({ by }: TableHead, rows: readonly TableRow[]): readonly TableRow[] {
  return by[0] === 'time' && by.length === 1 ? rows : rows.slice(0, MAX_ROWS);
}

function title({ by }: TableHead, path: string, width: number): string {
  const words = `By ${enumerate(by.map((key) => KEY_WORDS[key]))}: `;
  return words + shortenStart(printable(path), Math.max(1, width - displayWidth(words)));
}

function rowsText(head: TableHead, rows: readonly TableRow[], { width, style, folder }: TableTextOptions): string[] {
  const keys = head.by.map((key) => ({ key, texts: rows.map((row) => keyText(row, key, folder)) }));
  const keyRoom = keys.reduce(
    (sum, { key, texts }) => sum + GAP + Math.min(Math.floor((KEYS_SHARE * width) / head.by.length), widest(KEY_WORDS[key], texts)),
    0,
  );
  const barWidth = Math.min(24, Math.max(8, Math.floor(width / 10)));
  const numbers = chosenNumbers(head, rows, width - barWidth - keyRoom);
  const columns: Column[] = [
    { title: '', align: 'left' },
    ...numbers.map((column): Column => ({ title: column.title, align: column.is === 'verdict' ? 'left' : 'right' })),
    ...keys.map(({ key }): Column => ({ title: KEY_WORDS[key], align: 'left', shorten: shortenMiddle })),
  ];
  const measure = (row: TableRow): number => (head.total.contended > 0 ? row.contended : row.samples);
  const most = Math.max(...rows.map(measure));
  const cells = rows.map((row, index): Cell[] => [
    { text: bar(most === 0 ? 0 : measure(row) / most, barWidth), style: 'cyan' },
    ...numbers.map((column): Cell => ({
      text: column.cell(row),
      ...(column.is === 'verdict' && row.verdict !== null ? { style: VERDICT_STYLE[row.verdict] } : {}),
    })),
    ...keys.map(({ texts }): Cell => ({ text: texts[index] ?? '', style: 'bold' })),
  ]);
  return formatOneRowTable(columns, cells, { width, indent: 0, style });
}

function widest(heading: string, texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), displayWidth(heading));
}

/** The columns that fit, in their order. */
function chosenNumbers(head: TableHead, rows: readonly TableRow[], room: number): Numbers[] {
  const all = numbersOf(head);
  const chosen = new Set<Numbers>();
  let left = room;
  for (const column of [...all].sort((a, b) => a.rank - b.rank)) {
    left -= GAP + widest(column.title, rows.map(column.cell));
    if (left < 0 && chosen.size > 1) break;
    chosen.add(column);
  }
  return all.filter((column) => chosen.has(column));
}
