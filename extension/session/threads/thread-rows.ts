// What is said of the threads of a recording, row by row and sentence by sentence, for the terminal and for the panel.
import type { CpuSchedule, LockWait, ThreadsDocument, ThreadSchedule } from '../../protocol/threads';
import { percent } from '../../protocol/words';
import { count, enumerate, plural, printable, shortenMiddle } from '../text/terminal-text';
import { duration } from './duration';
import { threadName } from './imbalance';

/** More rows would not be read; JSON has all. */
export const MOST_ROWS = 64;
/** Processes of which it is said how unevenly their threads work. */
const MOST_PROCESSES = 5;
/** Of the longest running thread: processes whose threads all run less are not spoken of. */
const LEAST_PROCESS = 0.05;
export const NOT_KNOWN = 'unknown';
const MOST_WAITING = 8;
const MOST_LOCKS = 3;
const LONGEST_NAME = 60;

/** A column of numbers. */
export interface NumberColumn<Row> {
  title: string;
  /** What it says. */
  meaning: string;
  /** By which rows sort; null: not known. */
  value: (row: Row) => number | null;
  cell: (row: Row) => string;
}

/** What the times are of, and where they come from. */
export function factsOf(list: ThreadsDocument): { name: string; text: string }[] {
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
    { name: 'Time', text: `${duration(spanNs)}${from}; ${plural(threads.length, 'thread')}${where}` },
    { name: 'Basis', text: how },
    ...(isKnown ? [{ name: 'Migrations', text: `threads moved to another CPU ${plural(moved, 'time')}` }] : []),
  ];
}

/** Why no thread is listed. */
export function whyNone({ spanNs }: ThreadsDocument): string {
  return spanNs === 0
    ? 'The recording has no records with times in this window.'
    : 'No thread, or none of the chosen ones, was seen in this window.';
}

/** "4711 writer". */
export function threadLabel({ tid, comm }: ThreadSchedule): string {
  return comm === '' ? String(tid) : `${tid} ${printable(comm)}`;
}

/** Of the processes that matter, most uneven first; and how many others there are. */
export function imbalanceSentences({ threads, imbalance }: ThreadsDocument): { sentences: string[]; rest: number } {
  const runningOf = (tid: number, pid: number): number => threads.find((each) => each.tid === tid && each.pid === pid)?.runningNs ?? 0;
  const most = threads[0]?.runningNs ?? 0;
  const listed = imbalance.filter(({ longest, pid }) => runningOf(longest, pid) >= LEAST_PROCESS * most).slice(0, MOST_PROCESSES);
  return { sentences: listed.map(({ sentence }) => sentence), rest: imbalance.length - listed.length };
}

/** "and 3 more threads, which ran 1.25 s in total". */
export function moreThreadsText(left: readonly ThreadSchedule[]): string {
  const ran = left.reduce((sum, { runningNs }) => sum + runningNs, 0);
  return `and ${plural(left.length, 'more thread')}, which ran ${duration(ran)} in total`;
}

function column<Row>(
  title: string,
  meaning: string,
  value: (row: Row) => number | null,
  format: (value: number) => string,
): NumberColumn<Row> {
  const cell = (row: Row): string => {
    const known = value(row);
    return known === null ? NOT_KNOWN : format(known);
  };
  return { title, meaning, value, cell };
}

/** Behind the thread's name. */
export function threadColumns(list: ThreadsDocument): NumberColumn<ThreadSchedule>[] {
  return [
    column('running', 'On a CPU', ({ runningNs }) => runningNs, duration),
    column('contended', 'Of its running time, estimated: waiting for a cache line', ({ contendedNs }) => contendedNs, duration),
    column('runnable', 'It was ready to run but had no CPU', ({ runnableNs }) => runnableNs, duration),
    column('blocked', 'Off the CPU until something woke it', ({ blockedNs }) => blockedNs, duration),
    ...(isLockWaited(list) ? [column('locks', 'Of its blocked time: known to be for a lock', lockNs, duration)] : []),
    column('switches', 'How often it left a CPU', ({ switches }) => switches, count),
    column('moved', 'How often it was put on another CPU than before', ({ migrations }) => migrations, count),
    ...(hasUnknown(list) ? [column('unknown', 'What it did is unknown', ({ unknownNs }: ThreadSchedule) => unknownNs, duration)] : []),
  ];
}

/** With the CPU's number. */
export function cpuColumns({ spanNs }: ThreadsDocument): NumberColumn<CpuSchedule>[] {
  return [
    column('CPU', '', ({ cpu }) => cpu, String),
    column('running', 'These threads ran there', ({ runningNs }) => runningNs, duration),
    column('of the time', '', ({ runningNs }) => (spanNs === 0 ? null : Math.min(1, runningNs / spanNs)), percent),
    column('threads', 'Threads that ran there', ({ threads }) => threads, count),
    column('switches', 'How often a thread left it', ({ switches }) => switches, count),
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
export function lockSentences({ threads }: ThreadsDocument): string[] {
  const waiting = threads
    .filter((thread) => (lockNs(thread) ?? 0) > 0)
    .sort((a, b) => (lockNs(b) ?? 0) - (lockNs(a) ?? 0))
    .slice(0, MOST_WAITING);
  return waiting.map((thread) => `Thread ${threadName(thread)} waits for ${locksOf(thread.locks ?? [])}.`);
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

/** What the words of the table mean, and what is not known. */
export function noteSentences(list: ThreadsDocument): string[] {
  const { basis, lost, threads } = list;
  return [
    ...(threads.some(({ contendedNs }) => contendedNs !== null)
      ? ['Contended time is part of the running time, estimated from samples. For the data, see `cacheline report`.']
      : []),
    ...(basis === 'switches' ? [`"runnable": the thread could run and had no CPU. "blocked": it waited; ${whatFor(list)}`] : []),
    ...(hasUnknown(list) ? ['"unknown": the thread was off its CPU when the recording began, or records are missing.'] : []),
    ...(lost > 0 ? [`${plural(lost, 'record was', 'records were')} lost, so some of these times are too long or unknown.`] : []),
  ];
}
