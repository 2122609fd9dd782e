// The JSON of `cacheline report --by` (cacheline-table/1), as docs/outputs.md fixes it. Counts are samples, shares 0 to 1.
// 0 means measured and none; null means this evidence cannot say.
import { t } from './l10n';
import type { Evidence, LoadLevels, Verdict } from './report';
import type { Count, Positive, Share } from './values';

/** What tables are made by, as --by spells it. */
export const TABLE_KEYS = [
  'line',
  'object',
  'type',
  'member',
  'allocation',
  'function',
  'symbol',
  'source',
  'file',
  'thread',
  'process',
  'cpu',
  'node',
  'time',
] as const;
export type TableKey = (typeof TABLE_KEYS)[number];

/** What a row of the key is. */
export const KEY_WORDS: Record<TableKey, string> = {
  line: t('cache line'),
  object: t('object'),
  type: t('type'),
  member: t('member'),
  allocation: t('allocation'),
  function: t('function'),
  symbol: t('symbol'),
  source: t('source line'),
  file: t('source file'),
  thread: t('thread'),
  process: t('process'),
  cpu: t('CPU'),
  node: t('node'),
  time: t('time'),
};

/** How many parts the time has by default, and at most. */
export const USUAL_BINS = 20;
export const MOST_BINS = 10_000;

/** What another function does to a function's cache lines. */
export interface WaitsFor {
  /** Whose accesses the row's function waits for; itself, where its threads wait for each other. */
  function: string;
  /** Of the row's contended samples. */
  share: Share;
  /** How much of it is false, 0 to 1. */
  falseShare: Share;
  /** By source line of both, the largest share first. */
  lines: {
    /** The line that waits, as by the key `source`. */
    source: string;
    /** The line that it waits for. */
    cause: string;
    /** Of the row's contended samples. */
    share: Share;
  }[];
}

export interface TableRow {
  /**
   * A text for each key of `by`. What is not known stands in square brackets.
   * @minProperties 1
   * @maxProperties 2
   * @propertyNames {
   *   enum: ['line', 'object', 'type', 'member', 'allocation', 'function', 'symbol', 'source', 'file', 'thread', 'process', 'cpu', 'node', 'time'],
   * }
   */
  key: Partial<Record<TableKey, string>>;
  samples: Count;
  /** As the report counts them: clock evidence: samples of threads that wait; data sources: the loads that -d chooses. */
  contended: Count;
  /** Contended samples over all samples of the report. */
  programShare: Share;
  /** The time that the contended samples stand for, ns; null with data sources. */
  contendedNs: Count | null;
  /** Samples of loads. What is neither read nor write of `samples` is not attributed to a line. */
  reads: Count;
  /** Of stores and read-modify-writes. */
  writes: Count;
  /** Loads that another core's modified line answered; null where the evidence does not tell. */
  hitm: Count | null;
  /** Loads that another core's cache answered (Arm); null where the evidence does not tell. */
  peer: Count | null;
  /** Accesses whose line the first cache did not have: a fill buffer, another cache or memory did; null with clock evidence. */
  misses: Count | null;
  /** Of the accesses, the share whose data came from another core; null with clock evidence. */
  bounce: Share | null;
  /** Loads by where their data came from; null with clock evidence. */
  ld: LoadLevels | null;
  /** Stores by whether the first cache had the line; `na`: the samples do not say. null with clock evidence. */
  st: Record<'l1Hit' | 'l1Miss' | 'na', Count> | null;
  /** How much of the waiting is for data that the waiting access does not share, 0 to 1; null: not known. */
  falseShare: Share | null;
  /** Its lower bound; null where nobody waits. */
  falseShareLow: Share | null;
  /** Its upper bound; null where nobody waits. */
  falseShareHigh: Share | null;
  /** Distinct ones. */
  threads: Count;
  /** Distinct cache lines. */
  lines: Count;
  /** Distinct sampled objects, elements of arrays one by one: a lower bound. null: the start of none is known. */
  instances: Count | null;
  /** The sum of their sizes: a lower bound. null: not known. */
  bytes: Count | null;
  /** Rolled up from the accesses of the row; null: none of its samples is attributed to a line. */
  verdict: Verdict | null;
  /** With the key `function` alone; the largest share first. */
  waitsFor?: WaitsFor[];
}

/** The document without its rows. */
export interface TableHead {
  schema: 'cacheline-table/1';
  /**
   * One key, or two.
   * @minItems 1
   * @maxItems 2
   * @uniqueItems true
   */
  by: TableKey[];
  evidence: Evidence[];
  collector: string;
  /** What the rows add up to; `misses`: null with clock evidence. */
  total: { samples: Count; contended: Count; misses: Count | null };
  /** All samples of the report, of which `programShare` is a share. */
  programSamples: Count;
  /** Samples that filters left out; null: there was no such filter. */
  filtered: Count | null;
  /** Which of the lines a filter chose; null: all. The rows then are of these lines alone. */
  selected: { lines: Count; of: Count } | null;
  /** Of the key `time`: equal parts of the time of the samples, in seconds since the recording's first sample. */
  bins: { count: Positive; from: number; to: number } | null;
  /** What this evidence can say and what it cannot, in sentences. */
  limits: string[];
  /** As those of the report. */
  warnings: string[];
}

/**
 * The document of `cacheline report --by KEY[,KEY] --format json`: the samples of a recording added up by keys. More fields may be added;
 * these stay. 0: measured and none; null: this evidence cannot say.
 * @id cacheline-table-1.schema.json
 * @title cacheline-table/1
 */
export interface Table extends TableHead {
  /** By contended samples, then samples, descending; times ascend. */
  rows: TableRow[];
}
