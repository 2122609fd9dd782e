// Of a table by function: which function waits for which, down to source lines.
import type { TableHead, TableRow } from '../../protocol/table';
import { readablePath } from '../lines/source-path';
import type { Layout } from '../report/report-lines';
import { percent } from '../../protocol/words';
import { plural, printable, shortenMiddle } from '../text/terminal-text';
import { formatOneRowTable, type Cell, type Column } from '../text/text-table';
import { pairsOf, partOfLines, type Pair } from './pairs';

const MAX_PAIRS = 20;
const MAX_LINES = 4;
/** Lines with less of their pair's share are left out. */
const LEAST_LINE = 0.05;

/** Empty where no function waits. */
export function pairsText(head: TableHead, rows: readonly TableRow[], { width, style, folder }: Layout): string[] {
  const pairs = pairsOf(head, rows);
  if (pairs.length === 0) return [];
  const shown = pairs.slice(0, MAX_PAIRS);
  const columns: Column[] = [
    { title: 'share', align: 'right' },
    { title: 'false', align: 'right' },
    { title: 'waits', align: 'left', shorten: shortenMiddle },
    { title: 'for', align: 'left', shorten: shortenMiddle },
  ];
  const cells = shown.flatMap((pair): Cell[][] => [
    [
      { text: percent(pair.part) },
      { text: percent(pair.falseShare) },
      { text: printable(pair.from), style: 'bold' },
      { text: printable(pair.function), style: 'bold' },
    ],
    ...linesOf(pair, folder),
  ]);
  const rest = pairs.length - shown.length;
  return [
    style.bold('Who waits for whom'),
    ...formatOneRowTable(columns, cells, { width, indent: 0, style }),
    ...(rest > 0 ? [plural(rest, 'more pair')] : []),
  ];
}

function linesOf(pair: Pair, folder: string): Cell[][] {
  return pair.lines
    .filter((line) => line.share >= LEAST_LINE * pair.share)
    .slice(0, MAX_LINES)
    .map(({ source, cause, share }) => [
      { text: percent(partOfLines(pair, share)), style: 'dim' },
      { text: '' },
      { text: `  ${readablePath(printable(source), folder)}`, style: 'dim' },
      { text: `  ${readablePath(printable(cause), folder)}`, style: 'dim' },
    ]);
}
