// The text of `cacheline layout --list`: the types of a binary.
import type { TypeSummary } from '../../protocol/layout';
import { NO_TYPES } from './layout-names';
import { readablePlace } from '../lines/source-path';
import { formatTwoRowTable, type Cell, type Column } from '../text/text-table';
import { count, plural, PLAIN, printable, shortenMiddle, shortenStart, wrap, type Style } from '../text/terminal-text';

export interface TypeListOptions {
  width: number;
  style?: Style;
  /** The folder the reader is in: paths below it are shown relative to it. */
  folder: string;
}

const COLUMNS: Column[] = [
  { title: 'Size', align: 'right' },
  { title: 'Lines', align: 'right' },
  { title: 'Type', align: 'left', shorten: shortenMiddle },
];
const PLACE: Column[] = [{ title: 'Defined at', align: 'left', shorten: shortenStart }];

/** Lines joined by newlines, with one at the end; none is wider than `width` columns. */
export function typeListText(types: readonly TypeSummary[], { width, style = PLAIN, folder }: TypeListOptions): string {
  if (types.length === 0) return `${wrap(NO_TYPES, width).join('\n')}\n`;
  const rows = types.map(({ name, kind, size, lines, file, line }): Cell[] => [
    { text: count(size) },
    { text: count(lines) },
    { text: printable(`${kind} ${name}`) },
    { text: file === '' ? '' : printable(readablePlace({ file, line }, folder)), style: 'dim' },
  ]);
  const table = formatTwoRowTable(COLUMNS, PLACE, rows, { width, indent: 0, style }).filter((row) => row !== '');
  return `${[...table, '', plural(types.length, 'type')].join('\n')}\n`;
}
