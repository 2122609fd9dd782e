// The columns of recordings with data sources, in groups as `perf c2c report` has them. A value is a number or a short text;
// null: this evidence cannot say; undefined: there is nothing of the kind in this row.
import { t } from '../../extension/protocol/l10n';
import { loadCycles } from '../../extension/protocol/measure';
import type { PanelLine } from '../../extension/protocol/panel';
import type { Access, Evidence, LoadLevels } from '../../extension/protocol/report';
import { count } from './format';

export type Value = number | string | null | undefined;

export interface Column {
  /** Unique in the table. */
  key: string;
  name: string;
  title: string;
  line: (line: PanelLine) => Value;
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
function both(key: string, name: string, title: string, of: (row: PanelLine | Access) => Value, needs?: Evidence): Column {
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

/** Of all loads. */
function meanOf(cycles: number | null, loads: number | null): Value {
  if (cycles === null || loads === null) return null;
  return loads === 0 ? undefined : Math.round(cycles / loads);
}

const percentile = (key: 'p50' | 'p95' | 'max', name: string, title: string): Column => ({
  key: `cycles.${key}`,
  name,
  title,
  line: () => undefined,
  access: ({ cycles, loads }) => (loads === 0 ? undefined : (cycles?.[key] ?? null)),
});

const list = (numbers: readonly number[] | null | undefined): Value => (numbers ? numbers.join(', ') : null);
const snoops = (of: { local: number; remote: number } | null): Value => (of ? of.local + of.remote : null);
const otherLoads = ({ loads, hitm, peer }: Access): number =>
  loads - (hitm?.local ?? 0) - (hitm?.remote ?? 0) - (peer?.local ?? 0) - (peer?.remote ?? 0);

const GROUPS: Group[] = [
  {
    key: 'hitm',
    name: t('HITM'),
    title: t('Loads that hit a line modified in another core’s cache'),
    priority: 0,
    columns: [
      both('hitm.total', t('Total'), t('All HITMs'), ({ hitm }) => snoops(hitm), 'hitm'),
      both('hitm.local', t('Lcl'), t('HITMs in a cache of the same node'), ({ hitm }) => hitm?.local ?? null, 'hitm'),
      both('hitm.remote', t('Rmt'), t('HITMs in a cache of another node'), ({ hitm }) => hitm?.remote ?? null, 'hitm'),
    ],
  },
  {
    key: 'peer',
    name: t('Peer'),
    title: t('Loads that another core’s cache answered'),
    priority: 0,
    columns: [
      both('peer.total', t('Total'), t('All peer hits'), ({ peer }) => snoops(peer), 'peer'),
      both('peer.local', t('Lcl'), t('Peer hits in the same node'), ({ peer }) => peer?.local ?? null, 'peer'),
      both('peer.remote', t('Rmt'), t('Peer hits in another node'), ({ peer }) => peer?.remote ?? null, 'peer'),
    ],
  },
  {
    key: 'totals',
    name: t('Totals'),
    title: t('Samples of the line: loads of a known level, and stores'),
    priority: 3,
    columns: [
      both('records', t('Records'), t('Loads of a known level, and stores'), ({ records }) => records),
      both('loads', t('Loads'), t('Loads'), ({ loads }) => loads),
    ],
  },
  {
    key: 'stores',
    name: t('Stores'),
    title: t('Stores, by what the level-1 cache did'),
    priority: 1,
    columns: [
      both('stores.total', t('Total'), t('All stores'), ({ stores }) => stores.total),
      both('stores.l1Hit', t('L1 hit'), t('Stores that hit the level-1 cache'), ({ stores }) => stores.l1Hit),
      both('stores.l1Miss', t('L1 miss'), t('Stores that missed the level-1 cache'), ({ stores }) => stores.l1Miss),
      both('stores.na', t('N/A'), t('Stores whose level is not known'), ({ stores }) => stores.na),
    ],
  },
  {
    key: 'core',
    name: t('Core'),
    title: t('Loads that the core’s own caches answered'),
    priority: 6,
    columns: [
      level('l1', t('L1'), t('Level-1 cache')),
      level('fillBuffer', t('FB'), t('Line fill buffer: the line was already on its way')),
      level('l2', t('L2'), t('Level-2 cache')),
    ],
  },
  {
    key: 'llc',
    name: t('LLC'),
    title: t('Loads that the last-level cache answered'),
    priority: 7,
    columns: [
      level('llc', t('Hit'), t('Last-level cache, not modified elsewhere')),
      both('llc.hitm', t('HITM'), t('Modified in another core’s cache of the same node'), ({ hitm }) => hitm?.local ?? null, 'hitm'),
    ],
  },
  {
    key: 'remote',
    name: t('Remote'),
    title: t('Loads that a cache of another node answered'),
    priority: 7,
    columns: [
      level('remoteHit', t('Hit'), t('Remote cache, not modified')),
      both('remote.hitm', t('HITM'), t('Modified in a cache of another node'), ({ hitm }) => hitm?.remote ?? null, 'hitm'),
    ],
  },
  {
    key: 'dram',
    name: t('DRAM'),
    title: t('Loads that memory answered'),
    priority: 8,
    columns: [level('localDram', t('Lcl'), t('Memory of the same node')), level('remoteDram', t('Rmt'), t('Memory of another node'))],
  },
  {
    key: 'cycles',
    name: t('Cycles'),
    title: t('Core cycles from a load’s start until its data is there'),
    priority: 2,
    columns: [
      {
        key: 'cycles.mean',
        name: t('Mean'),
        title: t('Mean of the loads of the rows listed'),
        line: ({ loadCycles: cycles, timedLoads }) => meanOf(cycles, timedLoads),
        access: (access) => meanOf(access.meanCycles === null ? null : loadCycles(access), access.loads),
      },
      mean(
        'cycles.rmt',
        t('Rmt HITM'),
        t('Mean of remote HITMs'),
        ({ hitm }) => hitm?.remote ?? 0,
        ({ hitm, meanCycles }) => (hitm ? (meanCycles?.remoteHitm ?? null) : null),
      ),
      mean(
        'cycles.lcl',
        t('Lcl HITM'),
        t('Mean of local HITMs'),
        ({ hitm }) => hitm?.local ?? 0,
        ({ hitm, meanCycles }) => (hitm ? (meanCycles?.localHitm ?? null) : null),
      ),
      mean(
        'cycles.peer',
        t('Peer'),
        t('Mean of peer hits'),
        ({ peer }) => (peer?.local ?? 0) + (peer?.remote ?? 0),
        ({ meanCycles }) => meanCycles?.peer ?? null,
      ),
      mean('cycles.load', t('Load'), t('Mean of the other loads'), otherLoads, ({ meanCycles }) => meanCycles?.load ?? null),
      percentile('p50', t('p50'), t('Half of the row’s loads took at most this')),
      percentile('p95', t('p95'), t('95% of the row’s loads took at most this')),
      percentile('max', t('Max'), t('The slowest load of the row')),
    ],
  },
  {
    key: 'memory',
    name: t('Memory'),
    title: t('Where the memory is, by physical address'),
    priority: 9,
    columns: [
      {
        key: 'memory.node',
        name: t('Node'),
        title: t('NUMA nodes of the memory'),
        line: ({ node }) => list(node),
        access: ({ memoryNodes }) => list(memoryNodes),
      },
      both('memory.pa', t('PA cnt'), t('How often the physical address changed'), ({ paCount }) => paCount ?? null),
    ],
  },
  {
    key: 'who',
    name: t('Users'),
    title: t('Which threads and CPUs accessed the line'),
    priority: 4,
    columns: [
      both('who.threads', t('Threads'), t('Threads seen'), ({ threads }) => (typeof threads === 'number' ? threads : threads.length)),
      { key: 'who.cpus', name: t('CPUs'), title: t('CPUs seen'), line: () => undefined, access: ({ cpus }) => cpus },
      {
        key: 'who.nodes',
        name: t('Nodes'),
        title: t('NUMA nodes of the CPUs'),
        line: ({ nodes }) => list(nodes),
        access: ({ nodes }) => list(nodes),
      },
    ],
  },
];

/** What columns are measured by: lines, and accesses of some of them. */
export interface MeasuredBy {
  lines: readonly PanelLine[];
  examples: readonly Access[];
}

/** The groups and columns that say something about these. */
export function groupsOf({ lines, examples }: MeasuredBy, evidence: readonly Evidence[]): Group[] {
  const says = ({ line, access, needs }: Column): boolean =>
    (needs === undefined || evidence.includes(needs)) &&
    (lines.some((row) => isKnown(line(row))) || examples.some((one) => isKnown(access(one))));
  return GROUPS.map((group) => ({ ...group, columns: group.columns.filter(says) })).filter(({ columns }) => columns.length > 0);
}

function isKnown(value: Value): boolean {
  return value !== null && value !== undefined && value !== '';
}

export function valueText(value: Value): string {
  return typeof value === 'number' ? count(value) : (value ?? '');
}

/** The longest text of a column, its name included. Of numbers only the largest is written out: writing is what costs. */
export function textLength({ name, line, access }: Column, { lines, examples }: MeasuredBy): number {
  let longest = name.length;
  let largest = 0;
  const look = (value: Value): void => {
    if (typeof value === 'number') largest = Math.max(largest, value);
    else longest = Math.max(longest, value?.length ?? 0);
  };
  for (const row of lines) look(line(row));
  for (const one of examples) look(access(one));
  return Math.max(longest, count(largest).length);
}
