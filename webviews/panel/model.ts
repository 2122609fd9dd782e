// The panel's table as data: sorting, and which rows there are with some lines expanded.
import type { Access, CacheLine } from '../../extension/protocol/report';

export type SortKey = 'address' | 'object' | 'verdict' | 'threads' | 'writers' | 'share' | 'samples';
export interface Sort {
  key: SortKey;
  descending: boolean;
}

export const DEFAULT_SORT: Sort = { key: 'share', descending: true };

/** A cache line with what its row shows. */
export interface LineRow {
  kind: 'line';
  /** Unique within a report. */
  id: string;
  line: CacheLine;
  objects: string;
  /** Threads that only read. */
  readers: number;
  writers: number;
  expanded: boolean;
}
export interface DetailRow {
  kind: 'detail';
  id: string;
  line: CacheLine;
}
export interface AccessRow {
  kind: 'access';
  id: string;
  line: CacheLine;
  access: Access;
}
export type Row = LineRow | DetailRow | AccessRow;

/** Worst first. */
const VERDICTS: readonly CacheLine['verdict'][] = ['false sharing', 'mixed', 'true sharing', 'read-shared', 'private'];

export function lineId(line: CacheLine): string {
  return `${line.space} ${line.address}`;
}

/** Accesses in the order of what they cost. */
export function accessesOf(line: CacheLine): Access[] {
  return [...line.accesses].sort((a, b) => b.contended - a.contended || b.records - a.records || a.offset - b.offset);
}

/** "pair.left, pair.right": the data of a line, hottest first. */
export function objectsOf(line: CacheLine): string {
  return [...new Set(accessesOf(line).map(({ data }) => data.object))].join(', ');
}

export function lineRows(lines: readonly CacheLine[], sort: Sort): LineRow[] {
  const rows = lines.map((line): LineRow => {
    const used = line.threads.filter(({ competes }) => competes || line.contended === 0);
    const writers = used.filter(({ stores }) => stores > 0).length;
    return {
      kind: 'line',
      id: lineId(line),
      line,
      objects: objectsOf(line),
      readers: used.length - writers,
      writers,
      expanded: false,
    };
  });
  const sign = sort.descending ? -1 : 1;
  return rows.sort((a, b) => sign * compare(a, b, sort.key) || compareAddresses(a.line.address, b.line.address));
}

/** The rows on show: each line, and below an expanded one its details and accesses. */
export function visibleRows(rows: readonly LineRow[], expanded: ReadonlySet<string>): Row[] {
  return rows.flatMap((row): Row[] => {
    if (!expanded.has(row.id)) return [row];
    const { id, line } = row;
    return [
      { ...row, expanded: true },
      { kind: 'detail', id: `${id} detail`, line },
      ...accessesOf(line).map((access, index): Row => ({ kind: 'access', id: `${id} ${index}`, line, access })),
    ];
  });
}

function compare(a: LineRow, b: LineRow, key: SortKey): number {
  switch (key) {
    case 'address':
      return compareAddresses(a.line.address, b.line.address);
    case 'object':
      return a.objects.localeCompare(b.objects);
    case 'verdict':
      return VERDICTS.indexOf(b.line.verdict) - VERDICTS.indexOf(a.line.verdict);
    case 'threads':
      return a.line.threads.length - b.line.threads.length;
    case 'writers':
      return a.writers - b.writers || a.readers - b.readers;
    case 'share':
      return a.line.contended - b.line.contended || a.line.records - b.line.records;
    case 'samples':
      return a.line.records - b.line.records;
  }
}

/** Addresses are hex strings of up to 64 bits: more than a number holds exactly. */
function compareAddresses(a: string, b: string): number {
  const [left, right] = [a.replace(/^0x/, ''), b.replace(/^0x/, '')];
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}
