// What the tabs of the panel beside its lines show. All texts may hold untrusted names.
import type { RowId } from './panel-rows';
import type { SourcePlace } from './report';

/** What the tab "Data" can be grouped by. */
export const GROUP_KEYS = [
  'type',
  'object',
  'member',
  'allocation',
  'function',
  'source',
  'file',
  'thread',
  'process',
  'cpu',
  'node',
] as const;
export type GroupKey = (typeof GROUP_KEYS)[number];

/** What a tab can show: a table by a key, who waits for whom, contention over time, what threads did, or the code of an access. */
export type TabView = GroupKey | 'pairs' | 'timeline' | 'threads' | 'code';
export const TAB_VIEWS: readonly TabView[] = [...GROUP_KEYS, 'pairs', 'timeline', 'threads', 'code'];

export interface TabColumn {
  title: string;
  /** What its values say. */
  meaning: string;
  /** Its texts stand at the right. */
  number: boolean;
  /** Its values are verdicts, each shown in its colour. */
  verdict?: true;
}

/** By what a column sorts; null: not known. */
export type TabValue = number | string | null;

export interface TabRow {
  /** A text for each column. */
  cells: string[];
  /** A value for each column. */
  values: TabValue[];
  /** Of what the table adds up, 0 to 1: the length of its bar. */
  share: number;
  /** What it opens; null: nothing. */
  place: SourcePlace | null;
  /** What it unfolds to; may be empty. */
  rows: TabRow[];
}

/** What tables have, whatever they are of. */
export interface TabRows {
  columns: TabColumn[];
  /** Of `columns`, the one with the bars; -1: none. */
  bars: number;
  /** Those with the largest shares first. */
  rows: TabRow[];
  /** Instead of rows, where there are none. */
  empty: string;
  /** Of the rows that were left out; empty: there are none. */
  more: string;
}

export interface TabTable extends TabRows {
  kind: 'table';
  /** What it adds up, in a sentence. */
  totals: string;
  /** What it cannot say, in sentences. */
  notes: string[];
  warnings: string[];
}

/** A part of the time. */
export interface TimelinePart {
  /** "0.50": seconds since the recording's first sample, as the filter's `time:` takes them. */
  from: string;
  to: string;
  samples: number;
  contended: number;
  /** Of the contended samples: "12.3%". */
  share: string;
}

export interface TabTimeline {
  kind: 'timeline';
  totals: string;
  /** Equal parts in their order; empty: no sample has a time. */
  parts: TimelinePart[];
  notes: string[];
  warnings: string[];
}

/** What a thread did: parts of a lane are drawn one above the other in this order. */
export const LANE_STATES = ['contended', 'running', 'runnable', 'blocked', 'unknown'] as const;
export type LaneState = (typeof LANE_STATES)[number];

export interface TabThreads {
  kind: 'threads';
  /** What the times are of, and where they come from. */
  facts: { name: string; text: string }[];
  /** How to know more; empty: it is all known. */
  advice: string;
  /** How unevenly threads work, and what they wait for. */
  sentences: string[];
  /**
   * Of equal parts of the time, the share that a thread spent in each state, 0 to 1; `running` is without `contended`. `moves`: how often it
   * was put on another CPU; empty: not known.
   */
  lanes: { name: string; states: Record<LaneState, number[]>; moves: number[] }[];
  /** From the lanes' start to their end: "272 ms". */
  span: string;
  /** Of the states that there are, and of moves. */
  legend: { state: LaneState | 'moves'; words: string }[];
  /** CPUs by their NUMA node. Of the same parts of the time, the share that one of the threads ran there. */
  nodes: { name: string; cpus: { name: string; running: number[] }[] }[];
  threads: TabRows;
  cpus: TabRows;
  notes: string[];
  warnings: string[];
}

/** A source line, above its instructions. */
export interface CodeSource {
  kind: 'source';
  /** "queue.c:12", or why there is none. */
  name: string;
  /** What it opens; null: nothing. */
  place: SourcePlace | null;
  /** Empty: not known. */
  text: string;
}

export interface CodeInstructionRow {
  kind: 'instruction';
  address: string;
  text: string;
  /** The function that was inlined here; empty: none. */
  inlined: string;
  /** What it accesses, by its name; empty: not known. */
  data: string;
  samples: number;
  contended: number;
  /** Of the contended samples, 0 to 1. */
  share: number;
  /** It accesses the line that is shown. */
  ofLine: boolean;
  /** It is the access that is shown. */
  isShown: boolean;
}

/** The instructions of the function in which an access of a line stands. */
export interface TabCode {
  kind: 'code';
  /** "push of server, cache line 0x7f00" */
  title: string;
  /** `ProfileLine.id` */
  line: string;
  /** Of the line, most contended first; the one that is shown is `access`. */
  accesses: { access: number; name: string }[];
  access: number;
  /** Why there are no instructions; empty: there are. */
  problem: string;
  rows: (CodeSource | CodeInstructionRow)[];
  notes: string[];
}

export type TabContent = TabTable | TabTimeline | TabThreads | TabCode;

/** A line, or one of its accesses. */
export type TabSubject = Omit<RowId, 'version'>;

export interface TabRequest {
  view: TabView;
  /** What is shown: the filter of the report, and of the timeline without its windows of time. */
  filter: string;
  /** Of the view `code`; absent: the most contended access of the most contended line. */
  subject?: TabSubject;
}

/** Equal requests have equal texts. */
export function requestText({ view, filter, subject }: TabRequest): string {
  return JSON.stringify([view, filter, subject?.line ?? null, subject?.access ?? null]);
}

/** Answers a request, whose fields are repeated. */
export interface TabAnswer extends TabRequest {
  /** Null: it could not be had, and `problem` says why. */
  content: TabContent | null;
  problem: string;
}
