// The panel's table as data: sorting, and which rows there are with some lines expanded.
import { amountOf, type Measure } from '../../extension/protocol/measure';
import type { PanelLine, UnfoldedLine } from '../../extension/protocol/panel';
import type { Access, CacheLine } from '../../extension/protocol/report';
import type { Value } from './columns';
import type { HeadColumn } from './layout';

export interface Sort {
  /** Of a column. */
  key: string;
  descending: boolean;
}

/** A cache line with what its row shows. */
export interface LineRow {
  kind: 'line';
  /** Unique within a report. */
  id: string;
  line: PanelLine;
  expanded: boolean;
}
interface DetailRow {
  kind: 'detail';
  id: string;
  line: UnfoldedLine;
}
export interface AccessRow {
  kind: 'access';
  id: string;
  line: UnfoldedLine;
  access: Access;
  /** Among the accesses of the line. */
  index: number;
}
/** A line that the host has not sent yet. */
interface MissingRow {
  kind: 'missing';
  id: string;
  /** Among the lines in their order. */
  place: number;
}
export type Row = LineRow | DetailRow | AccessRow | MissingRow;

/** Worst first. */
const VERDICTS: readonly CacheLine['verdict'][] = ['false sharing', 'mixed', 'true sharing', 'read-shared', 'private'];

/** Accesses in the order of what they cost. */
export function accessesOf(line: CacheLine, measure: Measure): Access[] {
  return [...line.accesses].sort((a, b) => amountOf(b, measure) - amountOf(a, measure) || b.records - a.records || a.offset - b.offset);
}

export function lineRow(line: PanelLine): LineRow {
  return { kind: 'line', id: line.id, line, expanded: false };
}

/** @param column the one to sort by, where it is one of data sources */
export function lineRows(lines: readonly PanelLine[], sort: Sort, measure: Measure, column?: HeadColumn): LineRow[] {
  const sign = sort.descending ? -1 : 1;
  const value = column?.column?.line;
  const compare = value
    ? (a: PanelLine, b: PanelLine) => compareValues(value(a), value(b))
    : (a: PanelLine, b: PanelLine) => compareFixed(a, b, sort.key, measure);
  return [...lines].sort((a, b) => sign * compare(a, b) || compareAddresses(a.address, b.address)).map(lineRow);
}

function compareFixed(a: PanelLine, b: PanelLine, key: string, measure: Measure): number {
  switch (key) {
    case 'address':
      return compareAddresses(a.address, b.address);
    case 'object':
      return a.objects.localeCompare(b.objects);
    case 'verdict':
      return VERDICTS.indexOf(b.verdict) - VERDICTS.indexOf(a.verdict);
    case 'threads':
      return a.threads - b.threads;
    case 'writers':
      return a.writers - b.writers || a.readers - b.readers;
    case 'samples':
      return a.records - b.records;
    default: {
      // Of data sources the report's own order of ties is by address.
      const records = measure === 'contended' ? a.records - b.records : 0;
      return amountOf(a, measure) - amountOf(b, measure) || records;
    }
  }
}

/** What is not known sorts as the least. */
function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b, 'en', { numeric: true });
  const number = (value: Value): number => (typeof value === 'number' ? value : value ? 0 : -1);
  return number(a) - number(b);
}

/** Addresses are hex strings of up to 64 bits: more than a number holds exactly. */
function compareAddresses(a: string, b: string): number {
  const [left, right] = [a.replace(/^0x/, ''), b.replace(/^0x/, '')];
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}
