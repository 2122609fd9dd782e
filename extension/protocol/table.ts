// The JSON of `cacheline report --by` (cacheline-table/1), as docs/outputs.md fixes it. Counts are samples, shares 0 to 1.
// 0 means measured and none; null means this evidence cannot say.
import type { Evidence, LoadLevels, Verdict } from './report';

/** What tables are made by, as --by spells it. */
export const TABLE_KEYS = [
  'line',
  'object',
  'type',
  'member',
  'allocation',
  'function',
  'source',
  'file',
  'thread',
  'process',
  'cpu',
  'node',
  'time',
] as const;
export type TableKey = (typeof TABLE_KEYS)[number];

/** How many parts the time has by default, and at most. */
export const USUAL_BINS = 20;
export const MOST_BINS = 10_000;

/** What another function does to a function's cache lines. */
export interface WaitsFor {
  /** Whose accesses the row's function waits for; itself, where its threads wait for each other. */
  function: string;
  /** Of the row's contended samples. */
  share: number;
  /** How much of it is false, 0 to 1. */
  falseShare: number;
  /** By source line of both, the largest share first. */
  lines: {
    /** The line that waits, as by the key `source`. */
    source: string;
    /** The line that it waits for. */
    cause: string;
    /** Of the row's contended samples. */
    share: number;
  }[];
}

export interface TableRow {
  /** A text for each key of `by`. What is not known stands in square brackets. */
  key: Partial<Record<TableKey, string>>;
  samples: number;
  /** As the report counts them: clock evidence: samples of threads that wait; data sources: the loads that -d chooses. */
  contended: number;
  /** Contended samples over all samples of the report. */
  programShare: number;
  /** The time that the contended samples stand for, ns; null with data sources. */
  contendedNs: number | null;
  /** Samples of loads, and of stores and read-modify-writes. The rest of `samples` is not attributed to a line. */
  reads: number;
  writes: number;
  /** Loads that another core's modified line answered; null where the evidence does not tell. */
  hitm: number | null;
  /** Loads that another core's cache answered (Arm); null where the evidence does not tell. */
  peer: number | null;
  /** Accesses whose line the first cache did not have: a fill buffer, another cache or memory did; null with clock evidence. */
  misses: number | null;
  /** Of the accesses, the share whose data came from another core; null with clock evidence. */
  bounce: number | null;
  /** Loads by where their data came from; null with clock evidence. */
  ld: LoadLevels | null;
  /** Stores by whether the first cache had the line; `na`: the samples do not say. null with clock evidence. */
  st: Record<'l1Hit' | 'l1Miss' | 'na', number> | null;
  /** How much of the waiting is for data that the waiting access does not share, 0 to 1; null: not known. */
  falseShare: number | null;
  /** Its bounds; null where nobody waits. */
  falseShareLow: number | null;
  falseShareHigh: number | null;
  /** Distinct threads, and cache lines. */
  threads: number;
  lines: number;
  /** Distinct sampled objects, elements of arrays one by one: a lower bound. null: the start of none is known. */
  instances: number | null;
  /** The sum of their sizes: a lower bound. null: not known. */
  bytes: number | null;
  /** Rolled up from the accesses of the row; null: none of its samples is attributed to a line. */
  verdict: Verdict | null;
  /** With the key `function` alone; the largest share first. */
  waitsFor?: WaitsFor[];
}

/** The document without its rows. */
export interface TableHead {
  schema: 'cacheline-table/1';
  /** One key, or two. */
  by: TableKey[];
  evidence: Evidence[];
  collector: string;
  /** What the rows add up to; `misses`: null with clock evidence. */
  total: { samples: number; contended: number; misses: number | null };
  /** All samples of the report, of which `programShare` is a share. */
  programSamples: number;
  /** Samples that filters left out; null: there was no such filter. */
  filtered: number | null;
  /** Which of the lines a filter chose; null: all. The rows then are of these lines alone. */
  selected: { lines: number; of: number } | null;
  /** Of the key `time`: equal parts of the time of the samples, in seconds since the recording's first sample. */
  bins: { count: number; from: number; to: number } | null;
  /** What this evidence can say and what it cannot, in sentences. */
  limits: string[];
  /** As those of the report. */
  warnings: string[];
}

export interface Table extends TableHead {
  rows: TableRow[];
}
