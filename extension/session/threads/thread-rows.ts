// What is said of the threads of a recording, row by row and sentence by sentence, for the terminal and for the panel.
import { t } from '../../protocol/l10n';
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
export const NOT_KNOWN = t('unknown');
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
  const where = cpus.length === 0 ? '' : t(' on {0}', plural(cpus.length, 'CPU'));
  const from = fromNs === 0 ? '' : t(', from {0} on', duration(fromNs));
  const how =
    basis === 'switches'
      ? t('context switches, as the kernel recorded them')
      : t('clock samples: running time is estimated, and the rest is not known (no context switches: {0})', basisReason ?? NOT_KNOWN);
  const isKnown = threads.some(({ migrations }) => migrations !== null);
  return [
    { name: t('Time'), text: `${duration(spanNs)}${from}; ${plural(threads.length, 'thread')}${where}` },
    { name: t('Basis'), text: how },
    ...(isKnown ? [{ name: t('Migrations'), text: t('threads moved to another CPU {0}', plural(moved, 'time')) }] : []),
  ];
}

/** Why no thread is listed. */
export function whyNone({ spanNs }: ThreadsDocument): string {
  return spanNs === 0
    ? t('The recording has no records with times in this window.')
    : t('No thread, or none of the chosen ones, was seen in this window.');
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
  return t('and {0}, which ran {1} in total', plural(left.length, 'more thread'), duration(ran));
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
    column(t('running'), t('On a CPU'), ({ runningNs }) => runningNs, duration),
    column(
      t('contended'),
      t('The part of its running time that it waits for a cache line, estimated'),
      ({ contendedNs }) => contendedNs,
      duration,
    ),
    column(t('runnable'), t('It was ready to run but had no CPU'), ({ runnableNs }) => runnableNs, duration),
    column(t('blocked'), t('Off the CPU until something woke it'), ({ blockedNs }) => blockedNs, duration),
    ...(isLockWaited(list) ? [column(t('locks'), t('The part of its blocked time that is known to be for a lock'), lockNs, duration)] : []),
    column(t('switches'), t('How often it left a CPU'), ({ switches }) => switches, count),
    column(t('moved'), t('How often it was put on another CPU than before'), ({ migrations }) => migrations, count),
    ...(hasUnknown(list)
      ? [column(t('unknown'), t('What it did is unknown'), ({ unknownNs }: ThreadSchedule) => unknownNs, duration)]
      : []),
  ];
}

/** With the CPU's number. */
export function cpuColumns({ spanNs }: ThreadsDocument): NumberColumn<CpuSchedule>[] {
  return [
    column(t('CPU'), t('Its number'), ({ cpu }) => cpu, String),
    column(t('running'), t('These threads ran there'), ({ runningNs }) => runningNs, duration),
    column(
      t('of the time'),
      t('The part of the recording’s time that these threads ran there'),
      ({ runningNs }) => (spanNs === 0 ? null : Math.min(1, runningNs / spanNs)),
      percent,
    ),
    column(t('threads'), t('Threads that ran there'), ({ threads }) => threads, count),
    column(t('switches'), t('How often a thread left it'), ({ switches }) => switches, count),
  ];
}

function areLocksKnown({ threads }: ThreadsDocument): boolean {
  return threads.some(({ locks }) => locks !== null);
}

function isLockWaited({ threads }: ThreadsDocument): boolean {
  return threads.some((thread) => (lockNs(thread) ?? 0) > 0);
}

function whatFor(list: ThreadsDocument): string {
  if (!areLocksKnown(list)) return t('the reason is not recorded.');
  if (!isLockWaited(list)) return t('no wait is known to be for a lock; short waits are rarely caught.');
  return t('"locks" is the part known to be for a lock; short waits are rarely caught.');
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
  return waiting.map((thread) => t('Thread {0} waits for {1}.', threadName(thread), locksOf(thread.locks ?? [])));
}

/** "a lock for 1.20 s (pthread_mutex_lock, called from Pool::take)"; of several locks the longest ones. */
function locksOf(locks: readonly LockWait[]): string {
  const named = locks.slice(0, MOST_LOCKS).map(({ lock, caller, ns }) => {
    const from = caller === '' ? '' : t(', called from {0}', shortenMiddle(printable(caller), LONGEST_NAME));
    return t('a lock for {0} ({1}{2})', duration(ns), shortenMiddle(printable(lock), LONGEST_NAME), from);
  });
  const rest = locks.length - named.length;
  return enumerate([...named, ...(rest > 0 ? [t('{0} more', count(rest))] : [])]);
}

function hasUnknown({ threads }: ThreadsDocument): boolean {
  return threads.some(({ unknownNs }) => unknownNs > 0);
}

/** What the words of the table mean, and what is not known. */
export function noteSentences(list: ThreadsDocument): string[] {
  const { basis, lost, threads } = list;
  return [
    ...(threads.some(({ contendedNs }) => contendedNs !== null)
      ? [t('Contended time is part of the running time, estimated from samples. For the data, see `cacheline report`.')]
      : []),
    ...(basis === 'switches' ? [t('"runnable": the thread could run and had no CPU. "blocked": it waited; {0}', whatFor(list))] : []),
    ...(hasUnknown(list) ? [t('"unknown": the thread was off its CPU when the recording began, or records are missing.')] : []),
    ...(lost > 0 ? [t('{0} lost, so some of these times are too long or unknown.', plural(lost, 'record was', 'records were'))] : []),
  ];
}
