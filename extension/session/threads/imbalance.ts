// How unevenly the threads of a process work, in numbers and in words.
import { t } from '../../protocol/l10n';
import type { Imbalance, ThreadList, ThreadSchedule } from '../../protocol/threads';
import { printable } from '../text/terminal-text';

/** Of the longest running time: threads that run less manage the others or wait, and are not compared. */
const LEAST_WORK = 0.1;
/** Times the mean of the others: below that the work is even, as far as this matters. */
const UNEVEN = 1.25;

/** "4711 (writer)". */
export function threadName({ tid, comm }: Pick<ThreadSchedule, 'tid' | 'comm'>): string {
  return comm === '' ? String(tid) : `${tid} (${printable(comm)})`;
}

/** @returns one entry for each process with at least two threads that work, most unevenly first */
export function imbalanceOf({ threads }: Pick<ThreadList, 'threads'>): Imbalance[] {
  const processes = new Map<number, ThreadSchedule[]>();
  for (const thread of threads) processes.set(thread.pid, [...(processes.get(thread.pid) ?? []), thread]);
  return [...processes.values()].flatMap((all) => imbalanceOfProcess(all) ?? []).sort((a, b) => b.factor - a.factor || a.pid - b.pid);
}

function imbalanceOfProcess(all: readonly ThreadSchedule[]): Imbalance | undefined {
  const most = Math.max(...all.map(({ runningNs }) => runningNs));
  const working = all.filter(({ runningNs }) => runningNs > 0 && runningNs >= LEAST_WORK * most).sort((a, b) => b.runningNs - a.runningNs);
  const [longest, ...others] = working;
  if (longest === undefined || others.length === 0) return undefined;
  const sum = others.reduce((total, { runningNs }) => total + runningNs, 0);
  const ratio = longest.runningNs / (sum / others.length);
  return {
    pid: longest.pid,
    threads: working.map(({ tid }) => tid).sort((a, b) => a - b),
    factor: longest.runningNs / ((sum + longest.runningNs) / working.length),
    longest: longest.tid,
    ratio,
    sentence: sentenceOf(longest, others, ratio),
  };
}

function sentenceOf(longest: ThreadSchedule, others: readonly ThreadSchedule[], ratio: number): string {
  const [only] = others;
  if (ratio < UNEVEN) return t('The {0} working threads of process {1} work about equally long.', others.length + 1, longest.pid);
  const than =
    others.length === 1 && only !== undefined
      ? t('thread {0}', threadName(only))
      : t('the {0} other working threads on average', others.length);
  return t('Thread {0} works {1} times as long as {2}.', threadName(longest), ratio.toFixed(1), than);
}
