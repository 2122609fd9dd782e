// The text of `cacheline threads`: a lane for each thread, how unevenly they work, and times by thread and CPU.
import type { ThreadsDocument } from '../../protocol/threads';
import { sentence } from '../../protocol/words';
import { headField, joinBlocks, titledList } from '../report/report-blocks';
import { displayWidth, padEnd, PLAIN, plural, shortenMiddle, wrap, type Style } from '../text/terminal-text';
import { formatTwoRowTable, type Cell as TableCell, type Column } from '../text/text-table';
import { contendedCodeText } from './contended-code-text';
import { duration } from './duration';
import { cellsOf, laneText, legend, type Cell } from './lanes';
import {
  cpuColumns,
  factsOf,
  imbalanceSentences,
  lockSentences,
  MOST_ROWS,
  moreThreadsText,
  noteSentences,
  threadColumns,
  threadLabel,
  whyNone,
} from './thread-rows';

export interface ThreadsTextOptions {
  /** Columns. */
  width: number;
  style?: Style;
  /** The recording, as it was asked for. */
  path: string;
}

type Layout = Required<ThreadsTextOptions>;

const LABEL_WIDTH = 22;
/** Longer lanes are hard to follow. */
const MOST_CELLS = 150;
const INDENT = '  ';

/** Lines joined by newlines, with one at the end; none is wider than `width`. */
export function threadsText(list: ThreadsDocument, options: ThreadsTextOptions): string {
  const layout: Layout = { style: PLAIN, ...options };
  return joinBlocks([
    head(list, layout),
    list.threads.length === 0 ? wrap(whyNone(list), layout.width) : [],
    lanes(list, layout),
    imbalanceText(list, layout.width),
    threadTable(list, layout),
    lockSentences(list).flatMap((sentence) => wrap(sentence, layout.width)),
    cpuTable(list, layout),
    contendedCodeText(list, layout),
    noteSentences(list).flatMap((text) => wrap(text, layout.width, '- ')),
    titledList('Warnings', list.warnings.map(sentence), layout.width),
  ]);
}

function head(list: ThreadsDocument, layout: Layout): string[] {
  return [...headField('Recording', layout.path, layout), ...factsOf(list).flatMap(({ name, text }) => headField(name, text, layout))];
}

function lanes(list: ThreadsDocument, { width, style }: Layout): string[] {
  const drawn = list.threads.slice(0, MOST_ROWS).flatMap((thread) => (thread.lane === null ? [] : [{ thread, lane: thread.lane }]));
  if (drawn.length === 0 || list.spanNs === 0) return [];
  const widest = Math.max(...drawn.map(({ thread }) => displayWidth(threadLabel(thread))));
  const labelWidth = Math.min(widest, LABEL_WIDTH, Math.floor(width / 3));
  const room = width - INDENT.length - labelWidth - ' ||'.length;
  const cells = Math.max(1, Math.min(room, list.bins, MOST_CELLS));
  const cellNs = list.spanNs / cells;
  const used = new Set<Cell>();
  const rows = drawn.map(({ thread, lane }) => {
    const row = cellsOf(lane, cells, cellNs);
    for (const cell of row) used.add(cell);
    return `${INDENT}${padEnd(shortenMiddle(threadLabel(thread), labelWidth), labelWidth)} |${laneText(row, style)}|`;
  });
  return [
    ...wrap(`What each thread did; each character is ${duration(cellNs)}:`, width).map((line) => style.bold(line)),
    ...rows,
    ...wrap(legend(used), width, INDENT),
  ];
}

function imbalanceText(list: ThreadsDocument, width: number): string[] {
  const { sentences, rest } = imbalanceSentences(list);
  return [
    ...sentences.flatMap((sentence) => wrap(sentence, width)),
    ...(rest > 0 ? wrap(`${plural(rest, 'more process', 'more processes')}: --format json has them.`, width) : []),
  ];
}

function threadTable(list: ThreadsDocument, { width, style }: Layout): string[] {
  const { threads } = list;
  if (threads.length === 0) return [];
  const numbers = threadColumns(list);
  const columns: Column[] = [
    { title: 'thread', align: 'left', shorten: shortenMiddle },
    ...numbers.map(({ title }): Column => ({ title, align: 'right' })),
  ];
  const rows = threads
    .slice(0, MOST_ROWS)
    .map((thread): TableCell[] => [{ text: threadLabel(thread) }, ...numbers.map(({ cell }) => ({ text: cell(thread) }))]);
  const left = threads.slice(MOST_ROWS);
  return [
    style.bold('Threads'),
    ...formatTwoRowTable(columns, [], rows, { width, indent: INDENT.length, style }),
    ...(left.length === 0 ? [] : wrap(`${moreThreadsText(left)}; --format json has them.`, width, INDENT)),
  ];
}

function cpuTable(list: ThreadsDocument, { width, style }: Layout): string[] {
  const { cpus } = list;
  if (cpus.length === 0) return [];
  const numbers = cpuColumns(list);
  const columns = numbers.map(({ title }): Column => ({ title, align: 'right' }));
  const rows = cpus.map((cpu) => numbers.map(({ cell }): TableCell => ({ text: cell(cpu) })));
  return [style.bold('CPUs, of these threads'), ...formatTwoRowTable(columns, [], rows, { width, indent: INDENT.length, style })];
}
