// A recording added up for comparison: what tables of one analysis say, and what the report says beside them.
import type { CallOptions, Engine, SumsParams } from '../../protocol/engine';
import type { Report, SourcePlace } from '../../protocol/report';
import type { TableKey, TableRow } from '../../protocol/table';

/** Of a comparison. */
export type Side = 'before' | 'after';

export interface Sums {
  /** As it was asked for. */
  path: string;
  /** Only a part of its time was asked for. */
  window: boolean;
  /** Without lines. */
  report: Report;
  /** Of each table that was asked for, in that order. */
  tables: TableRow[][];
}

export async function sumsOf(
  engine: Engine,
  by: TableKey[][],
  params: Omit<SumsParams, 'by' | 'lines'>,
  options: CallOptions<'sums'>,
): Promise<Sums> {
  const window = params.window !== undefined || /(^|\s)-?time:/.test(params.filter ?? '');
  return { path: params.path, window, ...(await engine.call('sums', { ...params, by }, options)) };
}

/** What a table calls what it does not know: "[no type known]". A mapping ("[heap]") is no such name. */
export function isUnknown(name: string): boolean {
  return /^\[(no \w+ known|no source line known|no source file known|not attributed: .*)\]/.test(name);
}

/** "anonymous" of "anonymous 0x7f0012340000": an address is another one in the next run. */
export function withoutAddress(name: string): string {
  return name.replace(/\s*\b0x[0-9a-f]+\b/g, '');
}

/**
 * What is called the same in the next run: "anonymous" of "anonymous 0x7f0012340000", "Slot (heap)" of "Slot[8] (heap)", "Job (stack of
 * worker)" of "Job (stack of worker 4711)".
 */
export function lastingName(object: string): string {
  return withoutAddress(object)
    .replace(/(\[\d*\])+(?= \([^()]*\)$)/, '')
    .replace(/([([]stack of .+) \d+([)\]])$/, '$1$2');
}

/** The place that a table's key `source` names; undefined where it names none. */
export function placeOfSource(source: string): SourcePlace | undefined {
  const [, file, line] = isUnknown(source) ? [] : (/^(.+):(\d+)$/.exec(source) ?? []);
  return file === undefined ? undefined : { file, line: Number(line) };
}
