// A line's picture as data: which threads act alike, the bars by offset, and who waits for whom.
import { t } from '../../extension/protocol/l10n';
import type { LineDetail } from '../../extension/protocol/panel-detail';
import type { CacheLine } from '../../extension/protocol/report';
import { count } from './format';

/** Threads that made the same accesses. */
interface ThreadGroup {
  /** "worker 4711", "worker, 8 threads"; of what has no colour of its own "other threads". */
  name: string;
  samples: number;
}

/** Colours that there are; more groups share the last one. */
export const MOST_GROUPS = 6;

export interface Grouped {
  /** Most samples first. */
  groups: ThreadGroup[];
  /** Of each access of the line, its group. */
  of: number[];
}

/** Accesses say which threads made them, not how often each did: those of the same threads have one colour. */
export function threadGroups({ accesses, threads }: CacheLine): Grouped {
  const names = new Map(threads.map(({ tid, comm }) => [tid, comm]));
  const nameOf = (tids: readonly number[]): string => {
    const comms = [...new Set(tids.map((tid) => names.get(tid) || 'thread'))].sort().join(', ');
    return tids.length === 1 ? `${comms} ${tids[0]}` : t('{0}, {1} threads', comms, count(tids.length));
  };
  const exact = accesses.map(({ threads: tids }) => [...tids].sort((a, b) => a - b));
  // With samples of each core's memory accesses few rows have the same threads: those of the same names are told apart then.
  const byThreads = exact.map((tids) => tids.join());
  const byName = exact.map((tids) => [...new Set(tids.map((tid) => names.get(tid) ?? ''))].sort().join());
  const keys = new Set(byThreads).size <= MOST_GROUPS ? byThreads : byName;
  const sums = new Map<string, { tids: Set<number>; samples: number }>();
  accesses.forEach(({ records }, index) => {
    const key = keys[index] ?? '';
    const sum = sums.get(key) ?? { tids: new Set<number>(), samples: 0 };
    sums.set(key, sum);
    sum.samples += records;
    for (const tid of exact[index] ?? []) sum.tids.add(tid);
  });
  const sorted = [...sums].sort(([, a], [, b]) => b.samples - a.samples);
  const groups = sorted.slice(0, MOST_GROUPS).map(([, { tids, samples }]) => ({ name: nameOf([...tids]), samples }));
  const rest = sorted.slice(MOST_GROUPS);
  if (rest.length > 0) groups.push({ name: t('other threads'), samples: rest.reduce((sum, [, { samples }]) => sum + samples, 0) });
  const places = new Map(sorted.map(([key], place) => [key, Math.min(place, MOST_GROUPS)]));
  return { groups, of: keys.map((key) => places.get(key) ?? MOST_GROUPS) };
}

export interface Bar {
  /** Bytes from the line's start. */
  offset: number;
  width: number;
  /** Data that is accessed there. */
  names: string[];
  /** By group, in their order; counts are samples. */
  parts: { group: number; reads: number; writes: number }[];
  samples: number;
}

/** One an offset; as wide as the widest access there, up to the next offset. */
export function offsetBars({ line, size, accesses }: LineDetail, of: readonly number[]): Bar[] {
  const bars = new Map<number, Bar>();
  line.accesses.forEach(({ offset, width, loads, stores }, index) => {
    const bar = bars.get(offset) ?? { offset, width: 1, names: [], parts: [], samples: 0 };
    bars.set(offset, bar);
    bar.width = Math.max(bar.width, width);
    bar.samples += loads + stores.total;
    const name = accesses[index]?.name ?? '';
    if (name !== '' && !bar.names.includes(name)) bar.names.push(name);
    const group = of[index] ?? MOST_GROUPS;
    let part = bar.parts.find((one) => one.group === group);
    if (!part) bar.parts.push((part = { group, reads: 0, writes: 0 }));
    part.reads += loads;
    part.writes += stores.total;
  });
  const sorted = [...bars.values()].sort((a, b) => a.offset - b.offset);
  return sorted.map((bar, index) => ({
    ...bar,
    width: Math.max(1, Math.min(bar.width, (sorted[index + 1]?.offset ?? size) - bar.offset)),
    parts: bar.parts.sort((a, b) => a.group - b.group),
  }));
}

export interface Waits {
  /** Of the words that anybody waits at or for, in the order of their offsets. */
  words: { name: string; offset: number }[];
  /** [waits at][waits for]: of all waiting on the line, and how much of that is false; undefined: none. */
  shares: ({ share: number; falseShare: number } | undefined)[][];
}

/** Undefined where nobody waits, or nothing is known of it. */
export function waitMatrix({ line, accesses }: LineDetail): Waits | undefined {
  const used = [...new Set(line.waits.flatMap(({ word, cause }) => [word, cause]))]
    .filter((word) => line.words[word] !== undefined)
    .sort((a, b) => (line.words[a]?.offset ?? 0) - (line.words[b]?.offset ?? 0));
  if (used.length === 0) return undefined;
  const nameOf = (word: number): string => {
    const names = line.accesses.flatMap((access, index) => (access.word === word ? [accesses[index]?.name ?? ''] : []));
    return [...new Set(names)].filter((name) => name !== '').join(', ') || 'unknown';
  };
  return {
    words: used.map((word) => ({ name: nameOf(word), offset: line.words[word]?.offset ?? 0 })),
    shares: used.map((word) => used.map((cause) => line.waits.find((wait) => wait.word === word && wait.cause === cause))),
  };
}
