// A table as text: what it adds up, its rows with bars, who waits for whom, and what its evidence cannot say.
import type { TableHead, TableKey, TableRow } from '../../protocol/table';
import { readablePath } from '../lines/source-path';
import { titledList } from '../report/report-blocks';
import { VERDICT_STYLE, type Layout } from '../report/report-lines';
import { percent } from '../../protocol/words';
import { byteSize, count, displayWidth, enumerate, plural, printable, shortenMiddle, shortenStart, wrap } from '../text/terminal-text';
import { formatOneRowTable, type Cell, type Column } from '../text/text-table';
import { bar } from './bar';
import { pairsText } from './pairs-text';

/** Rows without --show-all. */
const MAX_ROWS = 40;
/** Of the width, what keys get at least, where they need it, before other columns are shown. */
const KEYS_SHARE = 0.3;
const GAP = 2;
const DATA_KEYS = new Set<TableKey>(['object', 'type', 'member', 'allocation']);

const KEY_WORDS: Record<TableKey, string> = {
  line: 'cache line',
  object: 'object',
  type: 'type',
  member: 'member',
  allocation: 'allocation',
  function: 'function',
  frame: 'innermost function',
  source: 'source line',
  file: 'source file',
  thread: 'thread',
  process: 'process',
  cpu: 'CPU',
  node: 'node',
  time: 'time',
};

/** A column of numbers: the lower its rank, the narrower the terminals that still show it. */
interface Numbers {
  title: string;
  rank: number;
  cell: (row: TableRow) => string;
}

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
  const rest = rows.length - shown.length;
  const blocks = [
    [style.bold(title(head, options.path, width)), ...wrap(totals(head), width)],
    rows.length === 0 ? ['There are no samples.'] : rowsText(head, shown, options),
    ...(rest > 0 ? [[`${plural(rest, 'more row')}: ${moreText(head, rows.slice(shown.length))} (all with --show-all)`]] : []),
    pairsText(head, rows, options),
    titledList('Warnings', head.warnings, width),
    head.limits.flatMap((limit) => wrap(limit, width)).map((line) => style.dim(line)),
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

function totals({ total, programSamples, evidence, collector, filtered, selected }: TableHead): string {
  const parts = [
    `${plural(total.samples, 'sample')} (${[collector, ...evidence].filter((word, i, all) => all.indexOf(word) === i).join(', ')})`,
    `${count(total.contended)} contended: ${percent(programSamples === 0 ? 0 : total.contended / programSamples)} of all ${count(programSamples)}`,
    ...(filtered === null ? [] : [`${count(filtered)} left out by filters`]),
    ...(selected === null ? [] : [`${count(selected.lines)} of ${plural(selected.of, 'line')} chosen`]),
  ];
  return parts.join('; ');
}

function moreText({ total }: TableHead, rows: readonly TableRow[]): string {
  const contended = rows.reduce((sum, row) => sum + row.contended, 0);
  return `${percent(total.contended === 0 ? 0 : contended / total.contended)} of the contended samples`;
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
    ...numbers.map((column): Column => ({ title: column.title, align: column.title === 'verdict' ? 'left' : 'right' })),
    ...keys.map(({ key }): Column => ({ title: KEY_WORDS[key], align: 'left', shorten: shortenMiddle })),
  ];
  const measure = (row: TableRow): number => (head.total.contended > 0 ? row.contended : row.samples);
  const most = Math.max(...rows.map(measure));
  const cells = rows.map((row, index): Cell[] => [
    { text: bar(most === 0 ? 0 : measure(row) / most, barWidth), style: 'cyan' },
    ...numbers.map((column): Cell => ({
      text: column.cell(row),
      ...(column.title === 'verdict' && row.verdict !== null ? { style: VERDICT_STYLE[row.verdict] } : {}),
    })),
    ...keys.map(({ texts }): Cell => ({ text: texts[index] ?? '', style: 'bold' })),
  ]);
  return formatOneRowTable(columns, cells, { width, indent: 0, style });
}

function keyText(row: TableRow, key: TableKey, folder: string): string {
  const text = printable(row.key[key] ?? '');
  return key === 'source' || key === 'file' ? readablePath(text, folder) : text;
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

function numbersOf({ by, total, evidence }: TableHead): Numbers[] {
  const memory = !evidence.includes('clock');
  const ofData = by.some((key) => DATA_KEYS.has(key));
  const share = (value: number | null): string => (value === null ? '?' : percent(value));
  const missShare = (misses: number | null): number | null =>
    misses === null || total.misses === null ? null : total.misses === 0 ? 0 : misses / total.misses;
  const number = (value: number | null): string => (value === null ? '?' : count(value));
  return [
    { title: 'share', rank: 0, cell: ({ contended }) => percent(total.contended === 0 ? 0 : contended / total.contended) },
    { title: 'of all', rank: ofData ? 4 : 2, cell: ({ programShare }) => percent(programShare) },
    ...(memory
      ? [
          { title: 'misses', rank: 2, cell: ({ misses }: TableRow) => share(missShare(misses)) },
          { title: 'bounce', rank: 2, cell: ({ bounce }: TableRow) => share(bounce) },
          { title: 'HITMs', rank: 8, cell: ({ hitm }: TableRow) => number(hitm) },
        ]
      : [
          {
            title: 'waited',
            rank: 6,
            cell: ({ contendedNs }: TableRow) => (contendedNs === null ? '?' : contendedNs === 0 ? '' : duration(contendedNs)),
          },
        ]),
    { title: 'false', rank: 7, cell: ({ falseShare }) => (falseShare === null ? '' : percent(falseShare)) },
    { title: 'samples', rank: total.contended > 0 ? 5 : 0, cell: ({ samples }) => count(samples) },
    { title: 'reads', rank: 11, cell: ({ reads }) => count(reads) },
    { title: 'writes', rank: 11, cell: ({ writes }) => count(writes) },
    { title: 'threads', rank: 9, cell: ({ threads }) => count(threads) },
    { title: 'lines', rank: 10, cell: ({ lines }) => count(lines) },
    ...(ofData
      ? [
          { title: 'objects', rank: 3, cell: ({ instances }: TableRow) => number(instances) },
          {
            title: 'bytes',
            rank: 3,
            cell: ({ bytes }: TableRow) => (bytes === null ? '?' : bytes < 1000 ? String(bytes) : byteSize(bytes)),
          },
        ]
      : []),
    { title: 'verdict', rank: 1, cell: ({ verdict }) => verdict ?? '' },
  ];
}

/** "0.3 ms", "12.5 s". */
function duration(nanoseconds: number): string {
  return nanoseconds < 1e9 ? `${(nanoseconds / 1e6).toFixed(1)} ms` : `${(nanoseconds / 1e9).toFixed(1)} s`;
}
