// What an open profile can be asked, and what it answers (docs/design/profile.md).
import type { TypeHeat } from './layout';
import type { Measure } from './measure';
import type { Access, CacheLine, Confirmation, DataName, ObjectSum, Report, SourcePlace } from './report';

export interface ProfileSummary {
  /** Without its lines; `objects` is empty: they are asked for, too. */
  report: Omit<Report, 'lines'>;
  counts: {
    lines: number;
    /** Of the lines, those that the filter's terms of lines leave. */
    selected: number;
    objects: number;
    types: number;
  };
  /** Of the selected lines, in core cycles; null: no load carries a latency. */
  loadCycles: number | null;
}

/** A line with its name, which filters and a new start of the engine do not change. */
export interface ProfileLine {
  id: string;
  line: CacheLine;
}

/** What a list shows of a line: a fraction of the line with all its accesses. */
export interface LineSummary
  extends
    Pick<CacheLine, 'address' | 'space' | 'node' | 'paCount' | 'verdict' | 'flags' | 'contended'>,
    Pick<CacheLine, 'hitm' | 'peer' | 'ld' | 'records' | 'loads' | 'stores'> {
  /** As of `ProfileLine`. */
  id: string;
  confirmation?: Pick<Confirmation, 'confirmed' | 'sentence'>;
  /** How many. */
  threads: number;
  /** Of the threads that compete, of all where none does; one that does both is in either number. */
  writers: number;
  readers: number;
  /** What its accesses are to, the most contended ones first; those to the same bytes by the same name are one. */
  data: SummaryUse[];
  /** The own code of its most contended access that says its place. */
  place: SourcePlace | null;
  /** Core cycles of all its loads, and of how many; null: none carries a latency. */
  loadCycles: number | null;
  timedLoads: number | null;
  /** NUMA nodes of the CPUs. */
  nodes: number[];
}

export interface SummaryUse extends Pick<Access, 'offset' | 'contended' | 'records'> {
  /** What names are made of. */
  data: Omit<DataName, 'because' | 'incomplete'>;
}

/** From `offset` on, at most `count`; by default all. */
export interface ListRange {
  offset?: number;
  count?: number;
}

/** Lines of which one access fits all that is said. */
export interface LineChoice {
  /** Where its code stands, inlined or not, or its data is defined. */
  place?: SourcePlace;
  /** `DataName.type` is one of them. */
  types?: string[];
  /** `DataName.object`. */
  object?: string;
}

export interface LinesQuestion extends ListRange {
  question: 'lines';
  only?: LineChoice;
  /** More terms that select lines. */
  filter?: string;
  /** Of a column (native/profile/line_order.cpp); by default `contended`. */
  sort?: string;
  /** By default true. */
  descending?: boolean;
  /** With the accesses of each line, which is the default; without the call chains of these: `line` has them. */
  accesses?: boolean;
}

/** The same lines in summary. */
export interface RowsQuestion extends Omit<LinesQuestion, 'question' | 'accesses'> {
  question: 'rows';
}

export type Question =
  | LinesQuestion
  | RowsQuestion
  | { question: 'line'; id: string }
  /** The instructions around an access of a line, by its index. */
  | { question: 'code'; id: string; access: number }
  /** What was measured on the lines of a source file. */
  | { question: 'heat'; file: string; measure: Measure }
  /** The source lines on which code stands. */
  | { question: 'places' }
  /** The members of data that accesses name. */
  | { question: 'data'; measure: Measure }
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

/** A source line, and all accesses of the selected lines whose code stands there, inlined or not. */
export interface SourceLineHeat {
  line: number;
  /** Samples, or core cycles for `latency`. */
  amount: number;
  /**
   * What loads measured on the cache lines that this source line stores to. Data sources are of loads: a line that only
   * stores has none itself, and yet is what makes those loads miss. 0 where it has an amount of its own.
   */
  caused: number;
  /** Of the threads that compete here: how many write, read, and do both, who are in either number. */
  writers: number;
  readers: number;
  both: number;
}

export interface CodePlace extends SourcePlace {
  /** Base names. */
  binaries: string[];
  /** What code uses here, of many names some. `called`: the function that was inlined here. */
  uses: { object: string; field: string; called: string }[];
}

/** What says which data it is. */
export type DataIdentity = Pick<DataName, 'object' | 'offset' | 'definition' | 'how' | 'type' | 'field' | 'fieldOffset' | 'stackOwner'>;

/** A member of data of one name, of all elements together. */
export interface DataSum extends Pick<Access, 'width'> {
  /** Of its first access. */
  data: DataIdentity;
  amount: number;
  /** The program's own code that measured most; null: none is known. */
  place: SourcePlace | null;
}

/** An instruction, with what the accesses of the selected lines say of it. */
export interface CodeInstruction {
  /** The binary's own. */
  address: string;
  /** AT&T syntax, with the names of what it calls, which are untrusted. */
  text: string;
  /** The innermost place that is not in a library; null: no debug information says. */
  place: SourcePlace | null;
  /** The innermost function that was inlined here; empty: none. */
  inlined: string;
  samples: number;
  contended: number;
  /** It accesses the line that was asked for. */
  ofLine: boolean;
  /** What most of its contended samples are at; null: none is known. */
  data: DataIdentity | null;
}

/** The function in which an access stands; of a long one what is near the access. */
export interface CodeListing {
  function: string;
  /** Base name of the binary. */
  object: string;
  /** A sentence: why there are no instructions; empty: there are. */
  problem: string;
  /** Contended samples of the whole report. */
  contended: number;
  /** Of the access. */
  address: string;
  /** Bytes of the function that are left out on each side. */
  bytesBefore: number;
  bytesBehind: number;
  instructions: CodeInstruction[];
}

/** By the name of the question. */
export interface Answers {
  /** Without `accesses` where these were not asked for. */
  lines: Page<ProfileLine>;
  rows: Page<LineSummary>;
  line: ProfileLine;
  code: CodeListing;
  heat: { rows: SourceLineHeat[] };
  places: { rows: CodePlace[] };
  data: { rows: DataSum[] };
  objects: Page<ObjectSum>;
  types: Page<TypeHeat>;
  functions: Page<FunctionSum>;
  threads: Page<ThreadSum>;
}

export type Answer = Answers[keyof Answers];
