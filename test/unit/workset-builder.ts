// Made documents of `cacheline workset`: a program whose rows compete for sets, one of which little is known, and untrusted names.
import type {
  DataWorkingSet,
  LinesUsed,
  MissClass,
  ThreadWorkingSet,
  WorkingSet,
  WorksetCache,
  WorksetDocument,
  WorksetSurvey,
} from '../../extension/protocol/workset';
import { explained } from '../../extension/session/workset/miss-classes';

const NOT_KNOWN: Pick<LinesUsed, 'coverage' | 'atLeast' | 'estimate'> = { coverage: null, atLeast: null, estimate: null };

function used(samples: number, lines: number, more: Partial<LinesUsed> = {}): LinesUsed {
  const [once, twice] = [Math.floor(lines / 4), Math.floor(lines / 5)];
  return { samples, lines, once, twice, coverage: 1 - once / samples, atLeast: lines, estimate: lines + once, reason: null, ...more };
}

function workingSet(samples: number, lines: number, more: Partial<WorkingSet> = {}): WorkingSet {
  return { ...used(samples, lines), atATime: Math.floor(0.9 * lines), ...more };
}

function thread(tid: number, comm: string, samples: number, lines: number, more: Partial<WorkingSet> = {}): ThreadWorkingSet {
  return { pid: 4710, tid, comm, ...workingSet(samples, lines, more) };
}

function data(name: string, samples: number, lines: number, more: Partial<DataWorkingSet> = {}): DataWorkingSet {
  return { name, ...used(samples, lines), atMost: null, atMostReason: 'the recording has no heap blocks', peakBytes: null, ...more };
}

function missClass(name: MissClass['class'], knowledge: MissClass['knowledge'], more: Partial<MissClass> = {}): MissClass {
  return {
    class: name,
    level: null,
    knowledge,
    share: null,
    threads: [],
    lines: null,
    cacheLines: null,
    sets: null,
    reason: null,
    ...more,
  };
}

const caches: WorksetCache[] = [
  { level: 1, type: 'Data', bytes: 48 * 1024, ways: 12, cpus: [0] },
  { level: 1, type: 'Data', bytes: 48 * 1024, ways: 12, cpus: [1] },
  { level: 2, type: 'Unified', bytes: 2 << 20, ways: 16, cpus: [0] },
  { level: 2, type: 'Unified', bytes: 2 << 20, ways: 16, cpus: [1] },
  { level: 3, type: 'Unified', bytes: 260 << 20, ways: null, cpus: [0, 1] },
];

const physical = 'the set of a line follows from its physical address (page colour), and only virtual ones are known here';

function survey(part: Partial<WorksetSurvey>): WorksetDocument {
  return explained({
    schema: 'cacheline-workset/1',
    evidence: ['clock'],
    collector: 'clock',
    lineSize: 64,
    samples: 6100,
    attributed: 6000,
    filtered: null,
    seconds: 4.25,
    parts: 5,
    partSeconds: 0.85,
    all: workingSet(6000, 2900),
    threads: [],
    types: [],
    allocations: [],
    caches,
    missClasses: [],
    warnings: [],
    ...part,
  });
}

/** Memory samples of two threads: the one goes through columns, whose lines meet in one set, the other through more than L2 holds. */
export const columns = survey({
  evidence: ['hitm', 'latency'],
  collector: 'pmu',
  threads: [thread(4711, 'columns', 3500, 900), thread(4712, 'blocks', 2500, 2000, { atATime: 40_000 })],
  types: [
    data('row', 3500, 900, { atMost: 1024, atMostReason: null, peakBytes: 65_536 }),
    data('block', 2400, 1990, { atMost: 65_536, atMostReason: null, peakBytes: 4 << 20 }),
    data('[no type known]', 100, 60, { atMostReason: 'some of it lies outside of the recorded heap blocks and variables' }),
  ],
  allocations: [
    data('make_rows (matrix.c:12)', 3500, 900, { atMost: 1024, atMostReason: null, peakBytes: 65_536 }),
    data('[no allocation known]', 2500, 2000),
  ],
  missClasses: [
    missClass('false sharing', 'stated', { share: 0.125 }),
    missClass('true sharing', 'not seen', { share: 0 }),
    missClass('conflict', 'likely', {
      level: 1,
      share: 0.82,
      threads: [4711],
      sets: { count: 64, ways: 12, oversubscribed: 1, mostLines: 64, elsewhere: 0.4 },
    }),
    missClass('conflict', 'not known', { level: 2, reason: physical }),
    missClass('conflict', 'not known', { level: 3, reason: `${physical}; many last-level caches hash it in a way that is not documented` }),
    missClass('capacity', 'likely', { level: 1, share: 0.4, threads: [4712, 4711], lines: 40_000, cacheLines: 768 }),
    missClass('capacity', 'possible', { level: 2, share: 0.05, threads: [4712], lines: 40_000, cacheLines: 32_768 }),
    missClass('capacity', 'not seen', { level: 3, lines: 40_000, cacheLines: 4_259_840 }),
  ],
});

const noCaches = 'the recording does not say what caches the machine has';

/** Few samples that filters left, and no caches. */
export const scarce = survey({
  samples: 49,
  attributed: 40,
  filtered: 5000,
  all: workingSet(40, 31, { ...NOT_KNOWN, atATime: null, reason: 'there are 40 samples, and 50 are needed' }),
  threads: [thread(4711, '', 40, 31, { ...NOT_KNOWN, atATime: null, reason: 'there are 40 samples, and 50 are needed' })],
  types: [data('row', 40, 31, { ...NOT_KNOWN, reason: 'there are 40 samples, and 50 are needed' })],
  caches: [],
  missClasses: [
    missClass('false sharing', 'not known', { reason: 'the samples do not say what threads wait for' }),
    missClass('true sharing', 'not known', { reason: 'the samples do not say what threads wait for' }),
    missClass('conflict', 'not known', { reason: noCaches }),
    missClass('capacity', 'not known', { reason: noCaches }),
  ],
});

/** Names that must not reach a terminal as they are, wide and long ones, and more of all than is shown. */
export const hostile = survey({
  collector: 'a\u001b[31mred\u202e',
  threads: [
    thread(1, 'a\u001b[31mred\u202e', 400, 90),
    thread(2, '線程名稱是很長的名字線程名稱是很長的名字', 300, 80),
    ...Array.from({ length: 40 }, (_, at) => thread(100 + at, `worker-${at}`, 60, 20)),
  ],
  types: [data('std::very<long, name>::'.repeat(9), 400, 90), ...Array.from({ length: 29 }, (_, at) => data(`type_${at}\u0000`, 60, 20))],
  allocations: [data('make\u009b (a\nb.c:1)', 400, 90)],
  caches: [{ level: 1, type: 'Data', bytes: 32_768, ways: 8, cpus: [0] }],
  missClasses: [
    missClass('capacity', 'possible', { level: 1, threads: Array.from({ length: 9 }, (_, at) => at + 1), lines: 600, cacheLines: 512 }),
    missClass('capacity', 'possible', { level: 3, lines: 600, cacheLines: 512 }),
  ],
  warnings: ['\u001b]0;title\u0007bad'],
});
