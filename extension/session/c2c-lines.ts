// perf's "Shared Data Cache Line Table": a row a line, in perf's columns, with the data on it and its verdict where there is room.
import type { CacheLine, Display, Report } from '../protocol/report';
import { allContendedLoads, contendedLoads, displayOf, measuresHitm, rangeList, usedObjects } from './c2c-facts';
import { usedText } from './data-text';
import { GroupedTable, type Entry, type Group } from './grouped-table';
import { shortenMiddle, type Style } from './terminal-text';

const PERCENT_TITLE: Record<Display, [string, string]> = {
  tot: ['Tot', 'Hitm'],
  lcl: ['Lcl', 'Hitm'],
  rmt: ['Rmt', 'Hitm'],
  peer: ['Snoop', 'Peer'],
};
const MAX_OBJECTS = 3;

/** @param data what lies on each line, see dataOf() */
export function c2cLineTable(report: Report, data: readonly string[], layout: { width: number; style: Style }): string[] {
  const display = displayOf(report);
  const hitm = measuresHitm(report);
  const [upper, lower] = PERCENT_TITLE[display];
  const groups: Group[] = [
    { title: '', columns: ['Index'] },
    { title: report.c2c?.doubleLine ? 'Double-Cacheline' : 'Cacheline', columns: ['Address', 'Node', 'PA cnt'] },
    { title: upper, columns: [lower] },
    display === 'peer'
      ? { title: 'Load Peer', columns: ['Total', 'Local', 'Remote'] }
      : { title: 'Load Hitm', columns: ['Total', 'LclHitm', 'RmtHitm'] },
    { title: 'Total', columns: ['records', 'Loads', 'Stores'] },
    { title: 'Stores', columns: ['L1Hit', 'L1Miss', 'N/A'] },
    { title: 'Core Load Hit', columns: ['FB', 'L1', 'L2'] },
    { title: 'LLC Load Hit', columns: hitm ? ['LclHit', 'LclHitm'] : ['LclHit'] },
    { title: 'RMT Load Hit', columns: hitm ? ['RmtHit', 'RmtHitm'] : ['RmtHit'] },
    { title: 'Load Dram', columns: ['Lcl', 'Rmt'] },
  ];
  const fields = [
    { title: 'Data', shorten: shortenMiddle, optional: true, style: 'bold' as const },
    { title: 'Verdict', optional: true },
  ];
  const all = allContendedLoads(report, display);
  const entries = report.lines.map((line, index): Entry => ({
    cells: [
      String(index),
      ...lineCells(line),
      share(contendedLoads(line, display), all),
      ...contendedCells(line, display),
      ...countCells(line, hitm),
    ],
    texts: [data[index] ?? '', line.verdict],
  }));
  const table = new GroupedTable(groups, fields, entries, layout);
  const rows = table.header();
  for (const entry of entries) table.add(entry, rows);
  return rows;
}

function lineCells({ address, node, paCount }: CacheLine): string[] {
  return [address, nodes(node), countText(paCount)];
}

function contendedCells(line: CacheLine, display: Display): string[] {
  const pair = display === 'peer' ? line.peer : line.hitm;
  return pair === null ? ['n/a', 'n/a', 'n/a'] : [pair.local + pair.remote, pair.local, pair.remote].map(String);
}

function countCells({ records, loads, stores, ld, hitm }: CacheLine, measured: boolean): string[] {
  return [
    records,
    loads,
    stores.total,
    stores.l1Hit,
    stores.l1Miss,
    stores.na,
    ...[ld?.fillBuffer, ld?.l1, ld?.l2, ld?.llc],
    ...(measured ? [hitm?.local] : []),
    ld?.remoteHit,
    ...(measured ? [hitm?.remote] : []),
    ...[ld?.localDram, ld?.remoteDram],
  ].map(countText);
}

/** "0-1", or perf's "N/A" where the recording does not say. */
export function nodes(list: readonly number[] | null | undefined): string {
  return list === null || list === undefined || list.length === 0 ? 'N/A' : rangeList(list);
}

export function countText(value: number | null | undefined): string {
  return value === null || value === undefined ? 'n/a' : String(value);
}

/** Two decimals, as perf has them. */
export function share(part: number, whole: number): string {
  if (part === 0) return '0.00%'; // most of them are
  return `${(whole === 0 ? 0 : (part / whole) * 100).toFixed(2)}%`;
}

/** "false sharing (adjacent)". */
export function verdictText({ verdict, flags }: CacheLine): string {
  return verdict + (flags.length > 0 ? ` (${flags.join(', ')})` : '');
}

/** "counters+0..8, limit+16": the first objects of a line with the offsets used. */
export function dataOf(line: CacheLine, display: Display): string {
  const uses = usedObjects(line, display);
  const shown = uses.slice(0, MAX_OBJECTS).map((use) => usedText(use));
  return shown.join(', ') + (uses.length > shown.length ? `, ${uses.length - shown.length} more` : '');
}
