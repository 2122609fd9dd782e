// From counts to the texts of perf's two tables: percentages, means, nodes, and what is shown at all.
import { fixed, nodesText, percent, ranges, type Cells, type Display, type NodeUse, type Question, type TableLine } from './tables';

/** What both tables count. `ldLlc`: without local HITMs. */
export const COUNTERS = ['localHitm', 'remoteHitm', 'localPeer', 'remotePeer', 'ldFillBuffer', 'ldL1', 'ldL2', 'ldLlc'].concat([
  'remoteHit',
  'localDram',
  'remoteDram',
  'stores',
  'stL1Hit',
  'stL1Miss',
  'stNa',
]);
export type Counts = Record<string, number>;

export function metricOf(counts: Counts, display: Display): number {
  const of = (name: string): number => counts[name]!;
  if (display === 'lcl') return of('localHitm');
  if (display === 'rmt') return of('remoteHitm');
  return display === 'peer' ? of('localPeer') + of('remotePeer') : of('localHitm') + of('remoteHitm');
}

const loadsOf = (counts: Counts): number =>
  ['localDram', 'remoteDram', 'remoteHitm', 'remoteHit', 'ldFillBuffer', 'ldL1', 'ldL2', 'ldLlc', 'localHitm'].reduce(
    (sum, name) => sum + counts[name]!,
    0,
  );
const storesOf = (counts: Counts): number => counts['stL1Hit']! + counts['stL1Miss']! + counts['stNa']!;

/** `whole`: the counts of the whole recording. */
export function lineCells(
  counts: Counts,
  whole: Counts,
  place: { address: string; nodes: Iterable<number>; paCount: number },
  display: Display,
): Cells {
  const of = (name: string): string => `${counts[name]!}`;
  const [local, remote] = display === 'peer' ? ['localPeer', 'remotePeer'] : ['localHitm', 'remoteHitm'];
  return {
    address: place.address,
    node: ranges(place.nodes),
    paCount: `${place.paCount}`,
    percent: percent(metricOf(counts, display), metricOf(whole, display)),
    total: `${counts[local]! + counts[remote]!}`,
    local: of(local),
    remote: of(remote),
    records: `${loadsOf(counts) + storesOf(counts)}`,
    loads: `${loadsOf(counts)}`,
    stores: of('stores'),
    l1Hit: of('stL1Hit'),
    l1Miss: of('stL1Miss'),
    na: of('stNa'),
    fillBuffer: of('ldFillBuffer'),
    l1: of('ldL1'),
    l2: of('ldL2'),
    llc: of('ldLlc'),
    localHitm: of('localHitm'),
    remoteHit: of('remoteHit'),
    remoteHitm: of('remoteHitm'),
    localDram: of('localDram'),
    remoteDram: of('remoteDram'),
  };
}

export interface RowFacts {
  counts: Counts;
  offset: number;
  nodes: Iterable<number>;
  paCount: number;
  /** Of remote HITMs (or peer hits), local ones, and other loads; 0 where there is none. */
  means: { remote: number; local: number; load: number };
  cpus: Iterable<number>;
  nodeUses: NodeUse[];
  /** pid, tid, codeAddress, symbol, object, source: those that the question asks for. */
  identity: Cells;
}

/** `line`: the counts of the row's line. */
export function rowCells(row: RowFacts, line: Counts, { display, nodeInfo }: Question): Cells {
  const share = (name: string): string => percent(row.counts[name]!, line[name]!);
  const [local, remote] = display === 'peer' ? ['localPeer', 'remotePeer'] : ['localHitm', 'remoteHitm'];
  return {
    percentRemote: share(remote),
    percentLocal: share(local),
    percentL1Hit: share('stL1Hit'),
    percentL1Miss: share('stL1Miss'),
    percentNa: share('stNa'),
    offset: `0x${row.offset.toString(16)}`,
    node: ranges(row.nodes),
    paCount: `${row.paCount}`,
    meanRemote: fixed(row.means.remote, 0),
    meanLocal: fixed(row.means.local, 0),
    meanLoad: fixed(row.means.load, 0),
    records: `${loadsOf(row.counts) + storesOf(row.counts)}`,
    cpus: `${[...row.cpus].length}`,
    nodes: nodesText(row.nodeUses, nodeInfo, metricOf(row.counts, display), row.counts['stores']!),
    ...row.identity,
  };
}

export const isRowShown = (counts: Counts, display: Display): boolean => counts['stores']! > 0 || metricOf(counts, display) > 0;

/** Whether a line has its place in the table: a thousandth of what the shared lines have together. */
export function isLineShown(counts: Counts, shared: Counts, { display, showAll }: Question): boolean {
  if (showAll) return true;
  const sum = metricOf(shared, display);
  return sum > 0 && metricOf(counts, display) / sum >= 0.001;
}

/** Notes which neighbours perf takes for equal. Every cell of `lines` is filled. */
export function rankAll(lines: readonly TableLine[], display: Display): void {
  const sortBy = { tot: 'total', peer: 'total', lcl: 'localHitm', rmt: 'remoteHitm' }[display];
  for (const line of lines) {
    line.rank = `${1e9 - Number(line.cells[sortBy])}`.padStart(12);
    for (const row of line.rows) row.rank = rowRank(row.cells, line.cells, display);
  }
}

/** As perf sorts, ties in any order. */
export function sortByRank(lines: TableLine[]): void {
  const byRank = (a: { rank: string }, b: { rank: string }): number => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0);
  lines.sort(byRank);
  for (const { rows } of lines) rows.sort(byRank);
}

/** Ascending offset, then descending counts. perf prints shares of the line's counts; two digits tell the counts again. */
export function rowRank(row: Cells, line: Cells, display: Display): string {
  const count = (share: string, whole: string): number => Math.round((parseFloat(row[share]!) / 100) * Number(line[whole]));
  const remote = count('percentRemote', 'remote');
  const local = count('percentLocal', 'local');
  const keys = { tot: [remote + local], peer: [remote + local], lcl: [local, remote], rmt: [remote, local] }[display];
  return [parseInt(row['offset']!, 16), ...keys.map((key) => 1e9 - key)].map((key) => `${key}`.padStart(12)).join(' ');
}

/** How many samples came by each call chain; chains are told apart by their counts only. */
export function callersCell(counts: readonly number[]): string {
  return counts.toSorted((a, b) => b - a).join(' ');
}
