// The columns of recordings with data sources, in groups as `perf c2c report` has them. A value is a number or a short text;
// null: this evidence cannot say; undefined: there is nothing of the kind in this row.
import { loadCycles } from '../../extension/protocol/measure';
import type { Access, CacheLine, Evidence, LoadLevels } from '../../extension/protocol/report';
import { count } from './format';

export type Value = number | string | null | undefined;

export interface Column {
  /** Unique in the table. */
  key: string;
  name: string;
  title: string;
  line: (line: CacheLine) => Value;
  access: (access: Access) => Value;
  /** Of other evidence it says nothing, even where a zero stands there. */
  needs?: Evidence;
}

export interface Group {
  key: string;
  name: string;
  title: string;
  /** The first says most: it stays where the group is collapsed. */
  columns: Column[];
  /** What gives way first where there is too little room: the highest. */
  priority: number;
}

/** A column whose value lines and accesses have alike. */
function both(key: string, name: string, title: string, of: (row: CacheLine | Access) => Value, needs?: Evidence): Column {
  return { key, name, title, line: of, access: of, ...(needs ? { needs } : {}) };
}

const level = (key: keyof LoadLevels, name: string, title: string): Column => both(`ld.${key}`, name, title, ({ ld }) => ld?.[key] ?? null);

/** A mean of loads of one kind; nothing where there were none. */
function mean(
  key: string,
  name: string,
  title: string,
  samples: (access: Access) => number,
  of: (access: Access) => number | null,
): Column {
  const access = (row: Access): Value => {
    const value = row.meanCycles === null ? null : of(row);
    return value === null ? null : samples(row) > 0 ? Math.round(value) : undefined;
  };
  return { key, name, title, line: () => undefined, access };
}

/** Of all loads of the rows. */
function meanOfAll(accesses: readonly Access[]): Value {
  const timed = accesses.filter(({ meanCycles }) => meanCycles !== null);
  if (timed.length === 0) return null;
  const loads = timed.reduce((sum, access) => sum + access.loads, 0);
  return loads === 0 ? undefined : Math.round(timed.reduce((sum, access) => sum + loadCycles(access), 0) / loads);
}

const percentile = (key: 'p50' | 'p95' | 'max', name: string, title: string): Column => ({
  key: `cycles.${key}`,
  name,
  title,
  line: () => undefined,
  access: ({ cycles, loads }) => (loads === 0 ? undefined : (cycles?.[key] ?? null)),
});

const list = (numbers: readonly number[] | null | undefined): Value => (numbers ? numbers.join(', ') : null);
const nodesOf = (accesses: readonly Access[]): number[] => [...new Set(accesses.flatMap(({ nodes }) => nodes ?? []))].sort((a, b) => a - b);
const snoops = (of: { local: number; remote: number } | null): Value => (of ? of.local + of.remote : null);
const otherLoads = ({ loads, hitm, peer }: Access): number =>
  loads - (hitm?.local ?? 0) - (hitm?.remote ?? 0) - (peer?.local ?? 0) - (peer?.remote ?? 0);

const GROUPS: Group[] = [
  {
    key: 'hitm',
    name: 'HITM',
    title: 'Loads that hit a line modified in another core’s cache',
    priority: 0,
    columns: [
      both('hitm.total', 'Total', 'All HITMs', ({ hitm }) => snoops(hitm), 'hitm'),
      both('hitm.local', 'Lcl', 'HITMs in a cache of the same node', ({ hitm }) => hitm?.local ?? null, 'hitm'),
      both('hitm.remote', 'Rmt', 'HITMs in a cache of another node', ({ hitm }) => hitm?.remote ?? null, 'hitm'),
    ],
  },
  {
    key: 'peer',
    name: 'Peer',
    title: 'Loads that another core’s cache answered',
    priority: 0,
    columns: [
      both('peer.total', 'Total', 'All peer hits', ({ peer }) => snoops(peer), 'peer'),
      both('peer.local', 'Lcl', 'Peer hits in the same node', ({ peer }) => peer?.local ?? null, 'peer'),
      both('peer.remote', 'Rmt', 'Peer hits in another node', ({ peer }) => peer?.remote ?? null, 'peer'),
    ],
  },
  {
    key: 'totals',
    name: 'Totals',
    title: 'Samples of the line: loads of a known level, and stores',
    priority: 3,
    columns: [
      both('records', 'Records', 'Loads of a known level, and stores', ({ records }) => records),
      both('loads', 'Loads', 'Loads', ({ loads }) => loads),
    ],
  },
  {
    key: 'stores',
    name: 'Stores',
    title: 'Stores, by what the level-1 cache did',
    priority: 1,
    columns: [
      both('stores.total', 'Total', 'All stores', ({ stores }) => stores.total),
      both('stores.l1Hit', 'L1 hit', 'Stores that hit the level-1 cache', ({ stores }) => stores.l1Hit),
      both('stores.l1Miss', 'L1 miss', 'Stores that missed the level-1 cache', ({ stores }) => stores.l1Miss),
      both('stores.na', 'N/A', 'Stores whose level is not known', ({ stores }) => stores.na),
    ],
  },
  {
    key: 'core',
    name: 'Core',
    title: 'Loads that the core’s own caches answered',
    priority: 6,
    columns: [
      level('l1', 'L1', 'Level-1 cache'),
      level('fillBuffer', 'FB', 'Line fill buffer: the line was already on its way'),
      level('l2', 'L2', 'Level-2 cache'),
    ],
  },
  {
    key: 'llc',
    name: 'LLC',
    title: 'Loads that the last-level cache answered',
    priority: 7,
    columns: [
      level('llc', 'Hit', 'Last-level cache, not modified elsewhere'),
      both('llc.hitm', 'HITM', 'Modified in another core’s cache of the same node', ({ hitm }) => hitm?.local ?? null, 'hitm'),
    ],
  },
  {
    key: 'remote',
    name: 'Remote',
    title: 'Loads that a cache of another node answered',
    priority: 7,
    columns: [
      level('remoteHit', 'Hit', 'Remote cache, not modified'),
      both('remote.hitm', 'HITM', 'Modified in a cache of another node', ({ hitm }) => hitm?.remote ?? null, 'hitm'),
    ],
  },
  {
    key: 'dram',
    name: 'DRAM',
    title: 'Loads that memory answered',
    priority: 8,
    columns: [level('localDram', 'Lcl', 'Memory of the same node'), level('remoteDram', 'Rmt', 'Memory of another node')],
  },
  {
    key: 'cycles',
    name: 'Cycles',
    title: 'Core cycles from a load’s start until its data is there',
    priority: 2,
    columns: [
      {
        key: 'cycles.mean',
        name: 'Mean',
        title: 'Mean of the loads of the rows listed',
        line: ({ accesses }) => meanOfAll(accesses),
        access: (access) => meanOfAll([access]),
      },
      mean(
        'cycles.rmt',
        'Rmt HITM',
        'Mean of remote HITMs',
        ({ hitm }) => hitm?.remote ?? 0,
        ({ hitm, meanCycles }) => (hitm ? (meanCycles?.remoteHitm ?? null) : null),
      ),
      mean(
        'cycles.lcl',
        'Lcl HITM',
        'Mean of local HITMs',
        ({ hitm }) => hitm?.local ?? 0,
        ({ hitm, meanCycles }) => (hitm ? (meanCycles?.localHitm ?? null) : null),
      ),
      mean(
        'cycles.peer',
        'Peer',
        'Mean of peer hits',
        ({ peer }) => (peer?.local ?? 0) + (peer?.remote ?? 0),
        ({ meanCycles }) => meanCycles?.peer ?? null,
      ),
      mean('cycles.load', 'Load', 'Mean of the other loads', otherLoads, ({ meanCycles }) => meanCycles?.load ?? null),
      percentile('p50', 'p50', 'Half of the row’s loads took at most this'),
      percentile('p95', 'p95', '95% of the row’s loads took at most this'),
      percentile('max', 'Max', 'The slowest load of the row'),
    ],
  },
  {
    key: 'memory',
    name: 'Memory',
    title: 'Where the memory is, by physical address',
    priority: 9,
    columns: [
      {
        key: 'memory.node',
        name: 'Node',
        title: 'NUMA nodes of the memory',
        line: ({ node }) => list(node),
        access: ({ memoryNodes }) => list(memoryNodes),
      },
      both('memory.pa', 'PA cnt', 'How often the physical address changed', ({ paCount }) => paCount ?? null),
    ],
  },
  {
    key: 'who',
    name: 'Users',
    title: 'Which threads and CPUs accessed the line',
    priority: 4,
    columns: [
      both('who.threads', 'Threads', 'Threads seen', ({ threads }) => threads.length),
      { key: 'who.cpus', name: 'CPUs', title: 'CPUs seen', line: () => undefined, access: ({ cpus }) => cpus },
      {
        key: 'who.nodes',
        name: 'Nodes',
        title: 'NUMA nodes of the CPUs',
        line: ({ accesses }) => list(nodesOf(accesses)),
        access: ({ nodes }) => list(nodes),
      },
    ],
  },
];

/** The groups and columns that say something about these lines. */
export function groupsOf(lines: readonly CacheLine[], evidence: readonly Evidence[]): Group[] {
  const says = ({ line, access, needs }: Column): boolean =>
    (needs === undefined || evidence.includes(needs)) &&
    lines.some((row) => isKnown(line(row)) || row.accesses.some((one) => isKnown(access(one))));
  return GROUPS.map((group) => ({ ...group, columns: group.columns.filter(says) })).filter(({ columns }) => columns.length > 0);
}

function isKnown(value: Value): boolean {
  return value !== null && value !== undefined && value !== '';
}

export function valueText(value: Value): string {
  return typeof value === 'number' ? count(value) : (value ?? '');
}

/** The longest text of a column, its name included. Of numbers only the largest is written out: writing is what costs. */
export function textLength({ name, line, access }: Column, lines: readonly CacheLine[]): number {
  let longest = name.length;
  let largest = 0;
  const look = (value: Value): void => {
    if (typeof value === 'number') largest = Math.max(largest, value);
    else longest = Math.max(longest, value?.length ?? 0);
  };
  for (const row of lines) {
    look(line(row));
    for (const one of row.accesses) look(access(one));
  }
  return Math.max(longest, count(largest).length);
}
