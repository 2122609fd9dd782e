// The text of `cacheline threads`: a lane for each thread, how unevenly they work, and times by thread and CPU.
import type { CpuSchedule, LockWait, ThreadsDocument, ThreadSchedule } from '../../protocol/threads';
import { sentence, percent } from '../../protocol/words';
import { headField, joinBlocks, titledList } from '../report/report-blocks';
import { count, displayWidth, enumerate, padEnd, PLAIN, plural, printable, shortenMiddle, wrap, type Style } from '../text/terminal-text';
import { formatTwoRowTable, type Cell as TableCell, type Column } from '../text/text-table';
import { contendedCodeText } from './contended-code-text';
import { duration } from './duration';
import { threadName } from './imbalance';
import { cellsOf, laneText, legend, type Cell } from './lanes';

export interface ThreadsTextOptions {
  /** Columns. */
  width: number;
  style?: Style;
  /** The recording, as it was asked for. */
  path: string;
}

type Layout = Required<ThreadsTextOptions>;

/** More rows would not be read; JSON has all. */
const MOST_ROWS = 64;
const LABEL_WIDTH = 22;
/** Processes of which it is said how unevenly their threads work. */
const MOST_PROCESSES = 5;
/** Of the longest running thread: processes whose threads all run less are not spoken of. */
const LEAST_PROCESS = 0.05;
/** Longer lanes are hard to follow. */
const MOST_CELLS = 150;
const INDENT = '  ';
const NOT_KNOWN = 'unknown';
const MOST_WAITING = 8;
const MOST_LOCKS = 3;
const LONGEST_NAME = 60;

/** Lines joined by newlines, with one at the end; none is wider than `width`. */
export function threadsText(list: ThreadsDocument, options: ThreadsTextOptions): string {
  const layout: Layout = { style: PLAIN, ...options };
  return joinBlocks([
    head(list, layout),
    list.threads.length === 0 ? wrap(whyNone(list), layout.width) : [],
    lanes(list, layout),
    imbalanceText(list, layout.width),
    threadTable(list, layout),
    locksText(list, layout.width),
    cpuTable(list, layout),
    contendedCodeText(list, layout),
    notes(list, layout),
    titledList('Warnings', list.warnings.map(sentence), layout.width),
  ]);
}

function head(list: ThreadsDocument, layout: Layout): string[] {
  const { threads, cpus, basis, basisReason, spanNs, fromNs } = list;
  const moved = threads.reduce((sum, { migrations }) => sum + (migrations ?? 0), 0);
  const where = cpus.length === 0 ? '' : ` on ${plural(cpus.length, 'CPU')}`;
  const from = fromNs === 0 ? '' : `, from ${duration(fromNs)} on`;
  const how =
    basis === 'switches'
      ? 'context switches, as the kernel recorded them'
      : `clock samples: running time is estimated, and the rest is not known (no context switches: ${basisReason ?? NOT_KNOWN})`;
  const isKnown = threads.some(({ migrations }) => migrations !== null);
  return [
    ...headField('Recording', layout.path, layout),
    ...headField('Time', `${duration(spanNs)}${from}; ${plural(threads.length, 'thread')}${where}`, layout),
    ...headField('Basis', how, layout),
    ...(isKnown ? headField('Migrations', `threads moved to another CPU ${plural(moved, 'time')}`, layout) : []),
  ];
}

function whyNone({ spanNs }: ThreadsDocument): string {
  return spanNs === 0
    ? 'The recording has no records with times in this window.'
    : 'No thread, or none of those that were asked for, was seen in this window.';
}

function label({ tid, comm }: ThreadSchedule): string {
  return comm === '' ? String(tid) : `${tid} ${printable(comm)}`;
}

function lanes(list: ThreadsDocument, { width, style }: Layout): string[] {
  const drawn = list.threads.slice(0, MOST_ROWS).flatMap((thread) => (thread.lane === null ? [] : [{ thread, lane: thread.lane }]));
  if (drawn.length === 0 || list.spanNs === 0) return [];
  const widest = Math.max(...drawn.map(({ thread }) => displayWidth(label(thread))));
  const labelWidth = Math.min(widest, LABEL_WIDTH, Math.floor(width / 3));
  const room = width - INDENT.length - labelWidth - ' ||'.length;
  const cells = Math.max(1, Math.min(room, list.bins, MOST_CELLS));
  const cellNs = list.spanNs / cells;
  const used = new Set<Cell>();
  const rows = drawn.map(({ thread, lane }) => {
    const row = cellsOf(lane, cells, cellNs);
    for (const cell of row) used.add(cell);
    return `${INDENT}${padEnd(shortenMiddle(label(thread), labelWidth), labelWidth)} |${laneText(row, style)}|`;
  });
  return [
    ...wrap(`What each thread did; each character is ${duration(cellNs)}:`, width).map((line) => style.bold(line)),
    ...rows,
    ...wrap(legend(used), width, INDENT),
  ];
}

/** Of the processes that matter, most uneven first. */
function imbalanceText({ threads, imbalance }: ThreadsDocument, width: number): string[] {
  const runningOf = (tid: number, pid: number): number => threads.find((each) => each.tid === tid && each.pid === pid)?.runningNs ?? 0;
  const most = threads[0]?.runningNs ?? 0;
  const listed = imbalance.filter(({ longest, pid }) => runningOf(longest, pid) >= LEAST_PROCESS * most);
  const rest = imbalance.length - Math.min(listed.length, MOST_PROCESSES);
  return [
    ...listed.slice(0, MOST_PROCESSES).flatMap(({ sentence }) => wrap(sentence, width)),
    ...(rest > 0 ? wrap(`${plural(rest, 'more process', 'more processes')}: --format json has them.`, width) : []),
  ];
}

const optional = (value: number | null, format: (value: number) => string): TableCell => ({
  text: value === null ? NOT_KNOWN : format(value),
});

function threadTable(list: ThreadsDocument, { width, style }: Layout): string[] {
  const { threads } = list;
  if (threads.length === 0) return [];
  const columns: Column[] = [
    { title: 'thread', align: 'left', shorten: shortenMiddle },
    { title: 'running', align: 'right' },
    { title: 'contended', align: 'right' },
    ...['runnable', 'blocked', ...(isLockWaited(list) ? ['locks'] : []), 'switches', 'moved'].map((title): Column => ({
      title,
      align: 'right',
    })),
    ...(hasUnknown(list) ? [{ title: 'unknown', align: 'right' } satisfies Column] : []),
  ];
  const rows = threads
    .slice(0, MOST_ROWS)
    .map((thread): TableCell[] => [
      { text: label(thread) },
      { text: duration(thread.runningNs) },
      optional(thread.contendedNs, duration),
      optional(thread.runnableNs, duration),
      optional(thread.blockedNs, duration),
      ...(isLockWaited(list) ? [optional(lockNs(thread), duration)] : []),
      optional(thread.switches, count),
      optional(thread.migrations, count),
      ...(hasUnknown(list) ? [{ text: duration(thread.unknownNs) }] : []),
    ]);
  const left = threads.slice(MOST_ROWS);
  const rest = left.reduce((sum, { runningNs }) => sum + runningNs, 0);
  return [
    style.bold('Threads'),
    ...formatTwoRowTable(columns, [], rows, { width, indent: INDENT.length, style }),
    ...(left.length === 0
      ? []
      : wrap(`and ${plural(left.length, 'more thread')}, which ran ${duration(rest)} in total; --format json has them.`, width, INDENT)),
  ];
}

function areLocksKnown({ threads }: ThreadsDocument): boolean {
  return threads.some(({ locks }) => locks !== null);
}

function isLockWaited({ threads }: ThreadsDocument): boolean {
  return threads.some((thread) => (lockNs(thread) ?? 0) > 0);
}

function whatFor(list: ThreadsDocument): string {
  if (!areLocksKnown(list)) return 'the reason is not recorded.';
  if (!isLockWaited(list)) return 'no wait is known to be for a lock; short waits are rarely caught.';
  return '"locks" is the part known to be for a lock; short waits are rarely caught.';
}

function lockNs({ locks }: ThreadSchedule): number | null {
  return locks === null ? null : locks.reduce((sum, { ns }) => sum + ns, 0);
}

/** Of the threads that waited longest, for what. */
function locksText({ threads }: ThreadsDocument, width: number): string[] {
  const waiting = threads
    .filter((thread) => (lockNs(thread) ?? 0) > 0)
    .sort((a, b) => (lockNs(b) ?? 0) - (lockNs(a) ?? 0))
    .slice(0, MOST_WAITING);
  return waiting.flatMap((thread) => wrap(`Thread ${threadName(thread)} waits for ${locksOf(thread.locks ?? [])}.`, width));
}

/** "a lock for 1.20 s (pthread_mutex_lock, called from Pool::take)"; of several locks the longest ones. */
function locksOf(locks: readonly LockWait[]): string {
  const named = locks.slice(0, MOST_LOCKS).map(({ lock, caller, ns }) => {
    const from = caller === '' ? '' : `, called from ${shortenMiddle(printable(caller), LONGEST_NAME)}`;
    return `a lock for ${duration(ns)} (${shortenMiddle(printable(lock), LONGEST_NAME)}${from})`;
  });
  const rest = locks.length - named.length;
  return enumerate([...named, ...(rest > 0 ? [`${count(rest)} more`] : [])]);
}

function hasUnknown({ threads }: ThreadsDocument): boolean {
  return threads.some(({ unknownNs }) => unknownNs > 0);
}

function cpuTable({ cpus, spanNs }: ThreadsDocument, { width, style }: Layout): string[] {
  if (cpus.length === 0) return [];
  const columns: Column[] = ['CPU', 'running', 'of the time', 'threads', 'switches'].map((title) => ({ title, align: 'right' }));
  const row = ({ cpu, runningNs, threads, switches }: CpuSchedule): TableCell[] => [
    { text: String(cpu) },
    { text: duration(runningNs) },
    { text: spanNs === 0 ? NOT_KNOWN : percent(Math.min(1, runningNs / spanNs)) },
    { text: count(threads) },
    optional(switches, count),
  ];
  return [style.bold('CPUs, of these threads'), ...formatTwoRowTable(columns, [], cpus.map(row), { width, indent: INDENT.length, style })];
}

function notes(list: ThreadsDocument, { width }: Layout): string[] {
  const { basis, lost, threads } = list;
  const sentences = [
    ...(threads.some(({ contendedNs }) => contendedNs !== null)
      ? ['Contended time is part of the running time, estimated from samples. For the data, see `cacheline report`.']
      : []),
    ...(basis === 'switches' ? [`"runnable": the thread could run and had no CPU. "blocked": it waited; ${whatFor(list)}`] : []),
    ...(hasUnknown(list) ? ['"unknown": the thread was off its CPU when the recording began, or records are missing.'] : []),
    ...(lost > 0 ? [`${plural(lost, 'record was', 'records were')} lost, so some of these times are too long or unknown.`] : []),
  ];
  return sentences.flatMap((text) => wrap(text, width, '- '));
}
