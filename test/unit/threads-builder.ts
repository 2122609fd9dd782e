// Made documents of `cacheline threads`: what a recording of some threads would say.
import type {
  ContendedFunction,
  CpuSchedule,
  ThreadLane,
  ThreadList,
  ThreadsDocument,
  ThreadSchedule,
} from '../../extension/protocol/threads';
import { imbalanceOf } from '../../extension/session/threads/imbalance';

export const BINS = 60;
export const BIN_NS = 20_000_000;

const STATES = { '#': 'running', X: 'running', '-': 'runnable', '.': 'blocked', '?': 'unknown' } as const;

/** @param drawn one character a bin, as lanes show them; a blank: not there */
export function laneOf(drawn: string): ThreadLane {
  const lane = { running: [], runnable: [], blocked: [], unknown: [], contended: [], migrations: [] } as {
    [Name in keyof ThreadLane]-?: number[];
  };
  for (const character of drawn) {
    for (const name of ['running', 'runnable', 'blocked', 'unknown'] as const)
      lane[name].push(STATES[character as keyof typeof STATES] === name ? BIN_NS : 0);
    lane.contended.push(character === 'X' ? (BIN_NS * 3) / 4 : 0);
    lane.migrations.push(0);
  }
  return lane;
}

const sum = (bins: readonly number[] | null): number => (bins ?? []).reduce((total, ns) => total + ns, 0);

export function thread(tid: number, comm: string, drawn: string, more: Partial<ThreadSchedule> = {}): ThreadSchedule {
  const lane = laneOf(drawn);
  return {
    pid: 4710,
    tid,
    comm,
    firstNs: (drawn.length - drawn.trimStart().length) * BIN_NS,
    lastNs: drawn.trimEnd().length * BIN_NS,
    runningNs: sum(lane.running),
    runnableNs: sum(lane.runnable),
    blockedNs: sum(lane.blocked),
    unknownNs: sum(lane.unknown),
    contendedNs: sum(lane.contended),
    locks: [],
    switches: 120,
    preempted: 7,
    migrations: 3,
    cpus: [{ cpu: 0, runningNs: sum(lane.running) }],
    lane,
    ...more,
  };
}

export function cpu(number: number, share: number): CpuSchedule {
  const running = new Array<number>(BINS).fill(BIN_NS * share);
  return { cpu: number, runningNs: sum(running), threads: 2, switches: 240, running };
}

type Calls = readonly (readonly [string, number])[];

export function contended(
  name: string,
  selfNs: number,
  totalNs: number,
  callers: Calls,
  callees: Calls,
  object = 'server',
): ContendedFunction {
  const calls = (list: Calls): ContendedFunction['callers'] => list.map(([other, ns]) => ({ name: other, object, ns }));
  return { name, object, selfNs, totalNs, callers: calls(callers), callees: calls(callees) };
}

export function threadsDocument(threads: ThreadSchedule[], more: Partial<ThreadList> = {}): ThreadsDocument {
  const list: ThreadList = {
    schema: 'cacheline-threads/1',
    basis: 'switches',
    basisReason: null,
    fromNs: 0,
    spanNs: BINS * BIN_NS,
    periodNs: 2_004_008,
    lost: 0,
    bins: BINS,
    threads: [...threads].sort((a, b) => b.runningNs - a.runningNs || a.pid - b.pid || a.tid - b.tid),
    cpus: [cpu(0, 0.9), cpu(1, 0.5)],
    callChains: true,
    functions: [
      contended('produce', 0, 900_000_000, [], [['push', 900_000_000]]),
      contended(
        'push',
        400_000_000,
        1_200_000_000,
        [
          ['produce', 900_000_000],
          ['refill', 300_000_000],
        ],
        [['lock', 800_000_000]],
      ),
      contended('lock', 800_000_000, 800_000_000, [['push', 800_000_000]], []),
      contended('', 2_000_000, 2_000_000, [], []),
    ],
    warnings: [],
    ...more,
  };
  return { ...list, imbalance: imbalanceOf(list) };
}

const repeat = (pattern: string, bins = BINS): string => pattern.repeat(Math.ceil(bins / pattern.length)).slice(0, bins);

/** A main thread that waits, a worker with twice the work of the two others, and one that waits for its CPU. */
export const uneven = threadsDocument([
  thread(4710, 'server', `##${repeat('.', 56)}##`),
  thread(4711, 'reader', ` ${repeat('#', 24)}${repeat('X', 32)}   `),
  thread(4712, 'writer', ` ${repeat('XX..', 56)}   `, {
    locks: [
      { lock: 'pthread_mutex_lock', caller: 'Pool::take', ns: 240_000_000, waits: 12 },
      { lock: 'pthread_rwlock_rdlock', caller: '', ns: 20_000_000, waits: 1 },
    ],
  }),
  thread(4713, 'writer', ` ${repeat('#-.X', 56)}   `),
]);

/** Without context switches: only running is known, and only where samples fell. */
export const sampled = threadsDocument(
  uneven.threads.map((each) => ({
    ...each,
    runnableNs: null,
    blockedNs: null,
    locks: null,
    switches: null,
    preempted: null,
    migrations: null,
    unknownNs: 0,
    lane: each.lane && { ...each.lane, runnable: null, blocked: null, unknown: null, migrations: null },
  })),
  {
    basis: 'samples',
    basisReason: 'they were not asked for (--no-switches)',
    cpus: [{ ...cpu(0, 0.9), switches: null }],
    callChains: false,
    functions: [contended('push', 1_200_000_000, 1_200_000_000, [], [])],
    warnings: ['contended time is not known: this recording has neither data addresses nor register snapshots'],
  },
);

/** Names that must not reach a terminal as they are, wide ones, and many threads. */
export const hostile = threadsDocument(
  [
    thread(1, 'a\u001b[31mred\u202e', repeat('#?')),
    thread(2, '線程名稱是很長的名字線程名稱是很長的名字', repeat('X.')),
    thread(3, '', repeat('.'), { migrations: null, contendedNs: null }),
    ...Array.from({ length: 70 }, (_, at) =>
      thread(100 + at, `worker-${at}`, repeat('#.', at < 60 ? 60 : 4).padEnd(BINS), at > 65 ? { lane: null } : {}),
    ),
  ],
  {
    functions: [
      contended('', 5_000_000, 5_000_000, [], [], 'lib\u001b.so'),
      contended('std::very<long, name>::'.repeat(9), 4_000_000, 9_000_000, [['a\u001b[0m', 1_000_000]], [], ''),
    ],
    fromNs: 250_000_000,
    lost: 12,
    warnings: ['\u001b]0;title\u0007bad'],
  },
);
