// Recordings added up, made by hand: rows for the tables that comparisons and checks read.
import type { FalseShare } from '../../extension/protocol/false-share';
import type { Finding } from '../../extension/protocol/finding';
import type { TypeHeat } from '../../extension/protocol/layout';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { Report, SourcePlace } from '../../extension/protocol/report';
import type { TableKey, TableRow } from '../../extension/protocol/table';
import type { Sums } from '../../extension/session/compare/sums';
import { intelReport } from './pmu-reports';
import { finding, report } from './report-builder';
import { tableRow } from './table-builder';

/** Data that waits. */
export interface Waits {
  type: string;
  member: string;
  object?: string;
  /** Of the innermost function, and of the one that holds the code; by default the same. */
  function?: string;
  symbol?: string;
  contended: number;
  falseShare?: number;
  verdict?: TableRow['verdict'];
  source?: string;
  /** The function that allocated it. */
  allocation?: string;
}

const PERIOD_NS = 2_000_000;

/** The meta.json of a whole run by the clock. */
export function wholeRun(more: Partial<RecordingMeta> = {}): RecordingMeta {
  return {
    ...intelReport().recording!,
    command: ['./server', '3'],
    collector: 'clock',
    frequency: 500,
    period: 0,
    durationSeconds: 3,
    interrupted: false,
    program: { exitStatus: 0, signal: null, cpuSeconds: 1 },
    machine: { hostname: 'a', kernel: '6.1', cpu: 'A', cpus: 4, lineSize: 64 },
    binaries: [],
    startedAt: '2026-01-01T00:00:00Z',
    ...more,
  };
}

export interface SumsOptions {
  samples?: number;
  seconds?: number;
  types?: TypeHeat[];
  more?: Partial<Report>;
}

/** @param by the tables, as DIFF_TABLES names them */
export function sums(
  by: readonly TableKey[][],
  rows: readonly Waits[],
  { samples = 1000, seconds = 2, types = [], more = {} }: SumsOptions = {},
): Sums {
  const contended = rows.reduce((sum, row) => sum + row.contended, 0);
  const head: Report = {
    ...report([]),
    findings: judgementsOf(rows, samples),
    ...more,
    seconds,
    types,
    samples: { ...report([]).samples, total: samples, attributed: samples, contended },
  };
  return { path: 'made.cacheline', window: false, report: head, tables: by.map((keys) => tableOf(keys, rows, samples)) };
}

/** One for each object, with its members. */
function judgementsOf(rows: readonly Waits[], samples: number): Finding[] {
  const objects = new Map<string, Waits[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.object ?? row.type, row.verdict]);
    objects.set(key, [...(objects.get(key) ?? []), row]);
  }
  const findings = [...objects.values()].map((own) => {
    const contended = own.reduce((sum, row) => sum + row.contended, 0);
    const [{ type, verdict, object } = { type: '', object: '' }] = own;
    const known = type.startsWith('[') ? '' : type;
    const shareOf = (row: Waits): FalseShare => ({ value: row.falseShare ?? 1, low: row.falseShare ?? 1, high: row.falseShare ?? 1 });
    const value = own.reduce((sum, row) => sum + row.contended * (row.falseShare ?? 1), 0) / contended;
    return finding({ type: known, object: object ?? type.toLowerCase() }, contended, {
      kind: known === '' ? 'variable' : 'type',
      ...{ verdict: verdict ?? 'false sharing', programShare: contended / samples, falseShare: { value, low: value, high: value } },
      members: own.map((row) => ({
        ...{ name: row.member.startsWith('[') ? '' : row.member, contended: row.contended, falseShare: shareOf(row) },
        ...placeOf(row.source),
      })),
    });
  });
  return findings.sort((a, b) => b.contended - a.contended);
}

function placeOf(source = ''): SourcePlace {
  const [, file = '', line = '0'] = /^(.+):(\d+)$/.exec(source) ?? [];
  return { file, line: Number(line) };
}

function tableOf(keys: readonly TableKey[], rows: readonly Waits[], samples: number): TableRow[] {
  const found = new Map<string, TableRow>();
  for (const row of rows) {
    const texts: Partial<Record<TableKey, string>> = {
      type: row.type,
      member: row.member,
      object: row.object ?? row.type.toLowerCase(),
      function: row.function ?? 'work',
      symbol: row.symbol ?? row.function ?? 'work',
      source: row.source ?? '[no source line known]',
      allocation: row.allocation ?? '[no allocation known]',
    };
    const key = Object.fromEntries(keys.map((name) => [name, texts[name] ?? '']));
    const id = JSON.stringify(key);
    const known =
      found.get(id) ??
      tableRow({ key, contended: 0, contendedNs: 0, verdict: row.verdict ?? 'false sharing', falseShare: row.falseShare ?? 1 });
    known.contended += row.contended;
    known.samples = known.contended;
    known.programShare = known.contended / samples;
    known.contendedNs = known.contended * PERIOD_NS;
    found.set(id, known);
  }
  return [...found.values()].sort((a, b) => b.contended - a.contended);
}
