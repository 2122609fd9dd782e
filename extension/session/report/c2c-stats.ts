// The statistics that `perf c2c report --stats` prints, under perf's names.
import type { Display, Report } from '../../protocol/report';
import { displayOf, measuresHitm } from './c2c-facts';
import { breakText, padEnd, padStart, printable, shortenEnd, wrap } from '../text/terminal-text';

type Counters = Record<string, number | null>;

const NAME_WIDTH = 33;
const NUMBER_WIDTH = 10;
const RULE_WIDTH = 49;
/** Texts with less room behind their name go below it. */
const LEAST_ROOM = 20;

const SORTED_ON: Record<Display, string> = { tot: 'Total HITMs', lcl: 'Local HITMs', rmt: 'Remote HITMs', peer: 'Peer Snoop' };

/** perf's name, our counter or what is worked out of several; `hitm`: cannot be measured everywhere. */
interface Row {
  name: string;
  value: string | ((counters: Counters) => string);
  hitm?: boolean;
}

const TRACE_ROWS: Row[] = [
  { name: 'Total records', value: 'records' },
  { name: 'Locked Load/Store Operations', value: 'locked' },
  { name: 'Load Operations', value: 'loads' },
  { name: 'Loads - uncacheable', value: 'ldUncacheable' },
  { name: 'Loads - IO', value: 'ldIo' },
  { name: 'Loads - Miss', value: 'ldMiss' },
  { name: 'Loads - no mapping', value: 'ldNoAddress' },
  { name: 'Load Fill Buffer Hit', value: 'ldFillBuffer' },
  { name: 'Load L1D hit', value: 'ldL1' },
  { name: 'Load L2D hit', value: 'ldL2' },
  { name: 'Load LLC hit', value: 'ldLlc' },
  { name: 'Load Local HITM', value: 'localHitm', hitm: true },
  { name: 'Load Remote HITM', value: 'remoteHitm', hitm: true },
  { name: 'Load Remote HIT', value: 'remoteHit' },
  { name: 'Load Local DRAM', value: 'localDram' },
  { name: 'Load Remote DRAM', value: 'remoteDram' },
  { name: 'Load MESI State Exclusive', value: 'ldExclusive' },
  { name: 'Load MESI State Shared', value: 'ldShared' },
  { name: 'Load LLC Misses', value: (stats) => String(llcMisses(stats)) },
  { name: 'Load access blocked by data', value: 'blockedData' },
  { name: 'Load access blocked by address', value: 'blockedAddress' },
  { name: 'Load HIT Local Peer', value: 'localPeer' },
  { name: 'Load HIT Remote Peer', value: 'remotePeer' },
  { name: 'LLC Misses to Local DRAM', value: ofMisses('localDram') },
  { name: 'LLC Misses to Remote DRAM', value: ofMisses('remoteDram') },
  { name: 'LLC Misses to Remote cache (HIT)', value: ofMisses('remoteHit') },
  { name: 'LLC Misses to Remote cache (HITM)', value: ofMisses('remoteHitm'), hitm: true },
  { name: 'Store Operations', value: 'stores' },
  { name: 'Store - uncacheable', value: 'stUncacheable' },
  { name: 'Store - no mapping', value: 'stNoAddress' },
  { name: 'Store L1D Hit', value: 'stL1Hit' },
  { name: 'Store L1D Miss', value: 'stL1Miss' },
  { name: 'Store No available memory level', value: 'stNa' },
  { name: 'No Page Map Rejects', value: 'noMap' },
  { name: 'Unable to parse data source', value: 'noParse' },
];

const SHARED_ROWS: Row[] = [
  { name: 'Total Shared Cache Lines', value: 'lines' },
  { name: 'Load HITs on shared lines', value: 'loads' },
  { name: 'Fill Buffer Hits on shared lines', value: 'fillBuffer' },
  { name: 'L1D hits on shared lines', value: 'l1' },
  { name: 'L2D hits on shared lines', value: 'l2' },
  { name: 'LLC hits on shared lines', value: 'llc' },
  { name: 'Load hits on peer cache or nodes', value: 'peer' },
  { name: 'Locked Access on shared lines', value: 'locked' },
  { name: 'Blocked Access on shared lines', value: 'blocked' },
  { name: 'Store HITs on shared lines', value: 'stores' },
  { name: 'Store L1D hits on shared lines', value: 'stL1Hit' },
  { name: 'Store No available memory level', value: 'stNa' },
  { name: 'Total Merged records', value: 'merged' },
];

/** The three blocks above perf's tables; one text line each item. */
export function c2cStatistics(report: Report, width: number): string[][] {
  const hitm = measuresHitm(report);
  return [
    [...c2cTitle('Trace Event Information', width), ...counterRows(TRACE_ROWS, report.stats, hitm, width)],
    [...c2cTitle('Global Shared Cache Line Event Information', width), ...counterRows(SHARED_ROWS, report.shared, hitm, width)],
    [...c2cTitle('c2c details', width), ...details(report, width)],
  ];
}

/** A title between two rules, as perf sets them. */
function c2cTitle(title: string, width: number): string[] {
  const rule = '='.repeat(Math.min(RULE_WIDTH, width));
  return [rule, ' '.repeat(Math.max(0, Math.floor((rule.length - title.length) / 2))) + shortenEnd(title, width), rule];
}

function counterRows(rows: readonly Row[], counters: Counters, measured: boolean, width: number): string[] {
  return rows
    .filter(({ hitm }) => measured || hitm !== true)
    .flatMap(({ name, value }) => field(name, typeof value === 'string' ? numberText(counters[value]) : value(counters), width));
}

function details(report: Report, width: number): string[] {
  const { c2c } = report;
  if (c2c === undefined) return [];
  const lines = (name: string, texts: readonly string[]): string[] => {
    const room = width - NAME_WIDTH - 5;
    const pieces = texts.flatMap((text) => breakText(printable(text), room < LEAST_ROOM ? width - 4 : room));
    if (room < LEAST_ROOM) return [`  ${name}:`, ...pieces.map((piece) => `    ${piece}`)];
    return pieces.map((piece, i) => `  ${padEnd(i === 0 ? name : '', NAME_WIDTH)} : ${piece}`);
  };
  return [
    ...lines('Events', c2c.events),
    ...lines('Cachelines sort on', [SORTED_ON[displayOf(report)]]),
    ...lines('Cacheline data grouping', [['offset', ...c2c.coalesce].join(',')]),
    ...(c2c.doubleLine ? lines('Cacheline size', [`${2 * report.lineSize} bytes, two neighbours as one`]) : []),
    ...c2c.nodes.flatMap(({ node, cpus }) => lines(`CPUs of node ${node}`, [cpus])),
    ...(c2c.filtered > 0 ? lines('Left out by the filters', [String(c2c.filtered)]) : []),
  ];
}

/** In perf's columns; on a terminal too narrow for them, name and number as prose. */
function field(name: string, value: string, width: number): string[] {
  const row = `  ${padEnd(name, NAME_WIDTH)} : ${padStart(value, NUMBER_WIDTH)}`;
  return row.length <= width ? [row] : wrap(`${name}: ${value}`, width, '  ', '    ');
}

function numberText(value: number | null | undefined): string {
  return value === null || value === undefined ? 'n/a' : String(value);
}

function llcMisses(stats: Counters): number {
  return (stats['localDram'] ?? 0) + (stats['remoteDram'] ?? 0) + (stats['remoteHit'] ?? 0) + (stats['remoteHitm'] ?? 0);
}

function ofMisses(counter: string): (stats: Counters) => string {
  return (stats) => {
    const misses = llcMisses(stats);
    return misses === 0 ? 'n/a' : `${(((stats[counter] ?? 0) / misses) * 100).toFixed(1)}%`;
  };
}
