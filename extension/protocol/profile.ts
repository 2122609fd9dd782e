// What an open profile can be asked, and what it answers (docs/design/profile.md).
import type { TypeHeat } from './layout';
import type { CacheLine, ObjectSum, Report } from './report';

/** A report without its lines. */
export interface ProfileSummary {
  report: Omit<Report, 'lines'>;
  counts: {
    lines: number;
    /** Of the lines, those that the filter's terms of lines leave. */
    selected: number;
    objects: number;
    types: number;
  };
  /** Source files of the selected lines' code and data, as the report names them. */
  files: string[];
}

/** A line with its name, which filters and a new start of the engine do not change. */
export interface ProfileLine {
  id: string;
  line: CacheLine;
}

/** From `offset` on, at most `count`; by default all. */
export interface ListRange {
  offset?: number;
  count?: number;
}

export interface LinesQuestion extends ListRange {
  question: 'lines';
  /** More terms that select lines. */
  filter?: string;
  /** Of a column (native/profile/line_order.cpp); by default `contended`. */
  sort?: string;
  /** By default true. */
  descending?: boolean;
  /** With the accesses of each line, which is the default. */
  accesses?: boolean;
}

export type Question =
  | LinesQuestion
  | { question: 'line'; id: string }
  /** All lines of which an access stands in a source file, or of which data is defined there. */
  | { question: 'heat'; file: string }
  | ({ question: 'objects' } & ListRange)
  | ({ question: 'types' } & ListRange)
  | ({ question: 'functions' } & ListRange)
  | ({ question: 'threads' } & ListRange);

export interface Page<Row> {
  /** Of all rows that there are. */
  total: number;
  rows: Row[];
}

/** Over the selected lines. */
export interface FunctionSum {
  symbol: string;
  /** Base name of the binary. */
  object: string;
  records: number;
  loads: number;
  stores: number;
  contended: number;
  lines: number;
}

/** Over the selected lines. */
export interface ThreadSum {
  pid: number;
  tid: number;
  comm: string;
  loads: number;
  stores: number;
  lines: number;
  /** Of the lines, those on which it competes. */
  competing: number;
}

/** By the name of the question. */
export interface Answers {
  /** Without `accesses` where these were not asked for. */
  lines: Page<ProfileLine>;
  line: ProfileLine;
  heat: { rows: ProfileLine[] };
  objects: Page<ObjectSum>;
  types: Page<TypeHeat>;
  functions: Page<FunctionSum>;
  threads: Page<ThreadSum>;
}

export type Answer = Answers[keyof Answers];
