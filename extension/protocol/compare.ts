// Messages between the extension host and the page of "Compare Recordings". Everything in them is data and is rendered as text; names of
// recordings and programs in it are printable already.
import type { DiffKind, DiffStatus } from './diff';

/** The same of both recordings, as text. */
export interface BothSides {
  before: string;
  after: string;
}

export interface CompareRow {
  /** Its place among all rows of the comparison. */
  id: number;
  status: DiffStatus;
  statusText: string;
  name: string;
  /** What else is to be known of the name; may be empty. */
  remark: string;
  /** Its waiting over that of whatever waits most, 0 to 1: how long the bars are. */
  bar: Record<keyof BothSides, number>;
  waiting: BothSides;
  /** How sure it is that chance alone makes no such difference; may be empty. */
  sure: string;
  /** By the columns of the view. */
  numbers: BothSides[];
  /** The source line that waits most, of the recording that is opened for it: "worker.c:20"; empty: none is known. */
  place: string;
  /** The same in full: "/src/worker.c:20, in the recording after". */
  placeTitle: string;
}

/** What was advised on the recording before, beside what came. */
export interface PredictedRow {
  advice: string;
  /** Whether it was followed, as the layouts show. */
  followed: string;
  /** How much faster the program was predicted to be. */
  speedup: string;
  /** Of the waiting for this data, what is left. */
  predictedLeft: string;
  measuredLeft: string;
}

export interface CompareView {
  conclusion: string;
  /** Its numbers; may be empty. */
  details: string;
  before: string;
  after: string;
  /** How long the recorded runs took; empty where that says nothing. */
  elapsed: string;
  predicted: PredictedRow[];
  /** What the waiting of rows is. */
  waiting: string;
  /** What rows say besides their waiting: titles, and what they mean. */
  columns: { name: string; meaning: string }[];
  /** Without kinds that have no rows. */
  tables: { kind: DiffKind; title: string; rows: CompareRow[] }[];
  /** What could not be compared, and why. */
  notes: string[];
  legend: string;
}

/** Host to page. */
export interface ToCompare {
  type: 'comparison';
  /** Another one for each comparison. */
  version: number;
  view: CompareView;
}

/** Page to host. */
export type FromCompare =
  | { type: 'ready' }
  /** Opens the place of a row of that comparison. */
  | { type: 'open'; version: number; row: number }
  /** Compares the other way round. */
  | { type: 'swap' }
  /** Reads both recordings again. */
  | { type: 'again' }
  /** Copies the comparison as Markdown. */
  | { type: 'copy' }
  | { type: 'error'; message: string };
