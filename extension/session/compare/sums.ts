// A recording added up for comparison: what tables of one analysis say, and what the report says beside them.
import type { NativeEngine } from '../../engine/native';
import { headOf } from '../../engine/report-pieces';
import { tableRowsOf } from '../../engine/table-pieces';
import type { CallOptions, SumsParams } from '../../protocol/engine';
import type { Report } from '../../protocol/report';
import type { TableKey, TableRow } from '../../protocol/table';

export interface Sums {
  /** As it was asked for. */
  path: string;
  /** Without lines. */
  report: Report;
  /** Of each table that was asked for, in that order. */
  tables: TableRow[][];
}

export async function sumsOf(
  engine: NativeEngine,
  by: TableKey[][],
  params: Omit<SumsParams, 'by'>,
  options: CallOptions<'analyze'>,
): Promise<Sums> {
  const { report, tables } = await engine.sums({ ...params, by }, options);
  return { path: params.path, report: headOf(report), tables: tables.map((pieces) => [...tableRowsOf(pieces)]) };
}

/** What a table calls what it does not know: "[no type known]". A mapping ("[heap]") is no such name. */
export function isUnknown(name: string): boolean {
  return /^\[(no \w+ known|no source line known|no source file known|not attributed: .*)\]/.test(name);
}

/** "anonymous" of "anonymous 0x7f0012340000": an address is another one in the next run. */
export function withoutAddress(name: string): string {
  return name.replace(/\s*\b0x[0-9a-f]+\b/g, '');
}
