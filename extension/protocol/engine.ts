// The calls of the engine: what the command line asks of the addon directly and the extension of its helper process.
import type { AdviceList } from './advice';
import type { CalibrationResult } from './calibration';
import type { DeclarationList, LayoutList, TypeList } from './layout';
import type { Answer, ProfileSummary, Question } from './profile';
import type { CoalesceKey, Display, Report } from './report';
import type { Table, TableKey, TableRow } from './table';
import type { ThreadList } from './threads';
import type { Count, Integer } from './values';
import type { Trace } from './trace';
import type { WhereOutcome, WhereParams } from './where';
import type { WorksetSurvey } from './workset';

export type CollectorChoice = 'auto' | 'pmu' | 'clock' | 'agent';
export type CallGraph = 'fp' | 'dwarf' | 'lbr';

/** What is recorded instead of a command. */
export type AttachTarget = { kind: 'processes' | 'threads'; ids: number[] } | { kind: 'system' };

export interface RecordParams {
  /** Empty with `attach`: unless it is the command that a recording of the whole machine lasts for. */
  command: string[];
  attach?: AttachTarget;
  /** Only what happens on these CPUs. */
  cpus?: number[];
  /** Processes that the target starts later, too; by default true. */
  children?: boolean;
  /** Of processes: those that they started before, too. */
  descendants?: boolean;
  /** By default `auto`: the strongest evidence that the machine allows. */
  collector?: CollectorChoice;
  workingDirectory?: string;
  /** "NAME=value", added to or replacing the caller's. */
  environment?: string[];
  /** An existing, empty folder. */
  outputDirectory: string;
  /** Samples a second and CPU; the agent: and thread. */
  frequency: number;
  /** 0: until the program ends. */
  durationSeconds: number;
  /** Call chains with each sample; by default none. */
  callGraph?: CallGraph;
  /** `frequency` was asked for by the person: a collector's own default does not apply. */
  frequencyGiven?: boolean;
  /** Events a sample instead of a frequency. */
  period?: number;
  /** Cycles: faster loads are not sampled (memory PMU); by default 30. */
  ldlat?: number;
  /** Only samples of this mode. */
  mode?: 'user' | 'kernel';
  physicalAddresses?: boolean;
  /** Of each CPU's ring buffer; by default 512 KiB. */
  ringBytes?: number;
  /** When threads are put on CPUs and taken off them, too, where the kernel takes it; by default true. */
  switches?: boolean;
  /** FIFOs, as of `perf record --control`. */
  control?: { command: string; acknowledge?: string; startDisabled?: boolean };
  /** Watchpoints: on what the expressions name, or (no expressions) on the words that the samples make suspect. */
  watch?: { expressions: string[]; confirm: boolean; budget?: number };
  /** Heap blocks too: all up to a rate; above it 1 in `sampling` of those below 64 bytes. */
  heap?: HeapParams;
  /** Objects of one type are followed; without `watch` and `heap`. */
  trace?: TraceRequest;
  /** The program's standard streams: the caller's, or its output sent back as `output` progress and no input. */
  stdio: 'inherit' | 'capture';
}

export interface TraceRequest {
  /** TYPE or TYPE.member. */
  type: string;
  /** Of the program's elapsed time that tracing may cost, above 0, up to 1; by default 0.02. */
  budget?: number;
  /** Objects that are followed at most; by default 1000. */
  instances?: number;
}

export interface HeapParams {
  /** A whole number; 1: all. */
  sampling: number;
}

export interface RecordProgress {
  elapsedSeconds: number;
  samples: number;
  lost: number;
  bytes: number;
  /** What it is recorded with: in the first progress, which comes before the program starts. */
  chosen?: Pick<RecordResult, 'collector' | 'collectorReason' | 'notTaken'>;
  /** Sentences that a person should read before the end; each comes once. */
  news?: string[];
  /** What the program printed since the last progress; only with `stdio: 'capture'`. */
  output?: string;
}

export interface RecordResult {
  exitStatus: number | null;
  signal: number | null;
  interrupted: boolean;
  durationReached: boolean;
  samples: number;
  lost: number;
  bytes: number;
  seconds: number;
  programCpuSeconds: number;
  /** By rate and CPU time, so many that none at all is no accident. */
  samplesWereDue: boolean;
  collector: string;
  collectorReason: string;
  /** The collectors that were not used, and why. */
  notTaken: { collector: string; reason: string }[];
  /** What the watchpoints saw; null: none were asked for. */
  watch: { hits: number; words: number; watchedMs: number } | null;
  /** null: heap blocks were not recorded. */
  heap: { sampling: number; blocks: number; lost: number } | null;
  /** Absent or null: nothing was to be traced. */
  trace?: { instances: number; hits: number } | null;
  warnings: string[];
}

export interface AnalyzeParams {
  /** A `.cacheline` folder or a perf.data file. */
  path: string;
  showAll: boolean;
  /** Of recordings with data sources: their tables as text, and of the report no more lines than the words around them speak of. */
  tables?: TableOptions;
  /** Of recordings with data sources. By default `peer` for Arm, else `tot`. */
  display?: Display;
  /** By default `iaddr`. */
  coalesce?: CoalesceKey[];
  /** Lines of twice the size: what the adjacent-line prefetcher moves together. */
  doubleLine?: boolean;
  /** Only samples of this mode. */
  mode?: 'user' | 'kernel';
  /** Only samples of this window, in seconds since the first sample; either end may be absent. */
  window?: { from?: number; to?: number };
  pids?: number[];
  tids?: number[];
  cpus?: number[];
  /** As a person writes it (docs/design/profile.md): its terms select samples, together with the above, and lines. */
  filter?: string;
  /** Call chains of the rows' code, where the recording has them. */
  callers?: boolean;
  /** A folder in which the recorded machine's files lie under their paths. */
  symfs?: string;
  vmlinux?: string;
  /** Fetch missing debug information from the servers in DEBUGINFOD_URLS. */
  debuginfod?: boolean;
}

/** Of a recording added up by keys; there are no tables of accesses beside it, and all lines count. */
export interface TableParams extends Omit<AnalyzeParams, 'tables' | 'showAll' | 'coalesce' | 'callers'> {
  /** One key, or two different ones. */
  by: TableKey[];
  /** Parts of the time, for the key `time`; by default USUAL_BINS. */
  bins?: number;
}

/** Rows that were left out of a table. */
export interface RowsLeft {
  rows: number;
  /** Samples of theirs. */
  contended: number;
}

/** Several tables of one analysis, and the report beside them: of each table one to three different keys. */
export interface SumsParams extends Omit<AnalyzeParams, 'tables' | 'showAll' | 'coalesce'> {
  by: TableKey[][];
  /** The report with its lines; by default with those alone that have `ifWritten`. */
  lines?: boolean;
}

export type OpenParams = Omit<AnalyzeParams, 'tables'>;

export type WorksetParams = Omit<OpenParams, 'callers' | 'coalesce' | 'showAll'>;

/** Threads have no CPUs and modes to be selected by, and no lines: their filter has terms of times, threads and processes alone. */
export type ThreadsParams = Omit<OpenParams, 'cpus' | 'mode'> & {
  /** Parts of the window, 1 to 1000; by default 60. */
  bins?: number;
};

/** How the tables of a recording with data sources look. */
export interface TableOptions {
  /** Columns of the terminal. */
  width: number;
  /** With colours. */
  coloured: boolean;
  /** The folder the reader is in: source paths below it are shown relative to it. */
  folder: string;
  /** Of nodes, 0: ids; 1: with CPU counts and shares; 2: with CPU lists. */
  nodeInfo: 0 | 1 | 2;
  /** Names of functions in full, however long. */
  fullSymbols: boolean;
  /** With source files and lines. */
  source: boolean;
}

/** Questions about the types of one binary. All reject with kind 'unreadable' where it cannot be read or has no debug information. */
export interface LayoutParams {
  binary: string;
  /** Of a type or typedef: qualified in full or by a tail of it, and template arguments may be left out. All types that are called so answer. */
  name: string;
  expand?: boolean;
  /** By default 64. */
  lineSize?: number;
}

export interface DeclarationsParams {
  binary: string;
  /** Path of a source file; DWARF's own may be longer or shorter by whole components in front. */
  file: string;
  expand?: boolean;
  lineSize?: number;
}

export type CollectorName = 'pmu' | 'clock' | 'watch' | 'agent';

export interface Blocker {
  /** "perf_event_paranoid". */
  what: string;
  /** The value seen; may be empty. */
  value: string;
  /** The command or setting that lifts it, or why nothing does. */
  fix: string;
}

/** What half a second of a built-in contended program showed with one collector. */
export interface SelfTest {
  collector: CollectorName;
  passed: boolean;
  /** Of watchpoints: accesses seen. */
  samples: Count;
  /** One sentence: what was found, or what went wrong. */
  found: string;
}

/** Null: unknown. More fields than these. */
export interface MachineFacts {
  hostname: string | null;
  kernel: string | null;
  cpu: string | null;
  cpus: Integer | null;
  lineSize: Integer | null;
  pmus: string[];
  [more: string]: unknown;
}

/**
 * The document of `cacheline doctor --format json`.
 * @id cacheline-doctor.schema.json
 * @title cacheline doctor
 */
export interface DoctorReport {
  collectors: {
    name: CollectorName;
    usable: boolean;
    /** What else is to be known of it. */
    note?: string;
    blockers: Blocker[];
  }[];
  /** With --self-test: what a built-in contended program showed, for each usable collector; else absent. */
  selfTests?: SelfTest[];
  /** With --calibrate: what contention costs here; else absent. */
  calibration?: CalibrationResult;
  machine: MachineFacts;
}

export interface BinaryInfo {
  path: string;
  kind: 'executable' | 'shared library' | 'script' | 'other ELF file' | 'not a program' | 'unreadable';
  debugInfo: boolean;
  staticallyLinked: boolean;
  architecture: string;
  buildId: string;
  interpreter: string;
}

/** Every call: its parameters, its result and the progress it may send. */
export interface EngineCalls {
  /** Aborting ends the recording and resolves with what was recorded. */
  record: { params: RecordParams; result: RecordResult; progress: RecordProgress };
  /** What the samples of a recording so far make suspect: text for the engine that records it. Aborting as of `analyze`. */
  suspects: { params: { path: string }; result: string; progress: never };
  /** There will be no more `suspects` of that recording. */
  forget: { params: { path: string }; result: null; progress: never };
  /** Aborting rejects with kind 'cancelled'. Progress is the share done, 0 to 1. */
  analyze: { params: AnalyzeParams; result: Report; progress: number };
  /** What to change, without the edits. Aborting and progress as of `analyze`. */
  advise: { params: OpenParams; result: AdviceList; progress: number };
  /** Several tables of one analysis, in the order asked for, and its report without lines. Aborting and progress as of `analyze`. */
  sums: { params: Omit<SumsParams, 'lines'>; result: { report: Report; tables: TableRow[][] }; progress: number };
  /** A table with its first `most` rows, and the sums of the others. Aborting and progress as of `analyze`. */
  table: { params: TableParams & { most: number }; result: { table: Table; left: RowsLeft }; progress: number };
  /** What the threads did over time. Aborting and progress as of `analyze`. */
  threads: { params: ThreadsParams; result: ThreadList; progress: number };
  /** How much memory is worked on, and classes of misses. Aborting and progress as of `analyze`. */
  workset: { params: WorksetParams; result: WorksetSurvey; progress: number };
  /** The paths of the objects that a recording followed. Aborting has no effect. */
  trace: { params: { path: string }; result: Trace; progress: never };
  /** Keeps the recording open until `close`. Aborting and progress as of `analyze`. */
  open: { params: OpenParams; result: { handle: number; summary: ProfileSummary }; progress: number };
  /** Another filter for an open profile; where it fails, the old one stays. */
  filter: { params: { handle: number; filter: string }; result: ProfileSummary; progress: number };
  ask: { params: { handle: number; question: Question }; result: Answer; progress: never };
  close: { params: { handle: number }; result: null; progress: never };
  doctor: { params: { selfTest?: boolean }; result: DoctorReport; progress: never };
  /** Measures what contention costs here, for half a second to two, and keeps it in the user's cache. Aborting rejects with kind 'cancelled'. */
  calibrate: { params: Record<string, never>; result: CalibrationResult; progress: never };
  /** No layouts: no type carries the name. */
  layout: { params: LayoutParams; result: LayoutList; progress: never };
  /** All structures, classes and unions with names, each layout once. */
  types: { params: { binary: string }; result: TypeList; progress: never };
  /** The types, and the variables and members of structure types, that are declared in one source file. */
  declarations: { params: DeclarationsParams; result: DeclarationList; progress: never };
  /** Looks at a process, or runs a program and looks at it. Aborting ends it and resolves with what was seen. Progress is the seconds so far. */
  where: { params: WhereParams; result: WhereOutcome; progress: number };
  inspect: { params: { paths: string[] }; result: BinaryInfo[]; progress: never };
}

export type EngineMethod = keyof EngineCalls;

export interface CallOptions<M extends EngineMethod> {
  signal?: AbortSignal;
  onProgress?: (progress: EngineCalls[M]['progress']) => void;
}

/** Implemented by the addon in this process (command line) and by the client of the helper process (extension). */
export interface Engine {
  /** Rejects with EngineError only. */
  call<M extends EngineMethod>(method: M, params: EngineCalls[M]['params'], options?: CallOptions<M>): Promise<EngineCalls[M]['result']>;
}

/** 'crashed': the helper process died; 'unavailable': the addon could not be loaded. */
export type EngineErrorKind = 'usage' | 'unreadable' | 'impossible' | 'io' | 'cancelled' | 'internal' | 'crashed' | 'unavailable';

export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    readonly kind: EngineErrorKind,
    message: string,
    /** One sentence a person can act on, or empty. */
    readonly nextStep = '',
  ) {
    super(message);
  }
}

/** Host to helper. */
export type ToHelper =
  | { type: 'call'; id: number; method: EngineMethod; params: unknown }
  | { type: 'abort'; id: number }
  /** The answer to `suspects`. */
  | { type: 'suspects'; id: number; answer: SuspectsAnswer };

/** What the call `suspects` gave, or a clause that says why it gave nothing: empty where a later one may. */
export type SuspectsAnswer = { found: string } | { why: string };

/** Helper to host. */
export type FromHelper =
  | { type: 'ready'; version: string }
  /** Instead of `ready`: the addon could not be loaded. The helper then ends. */
  | { type: 'unavailable'; message: string; nextStep: string }
  | { type: 'progress'; id: number; progress: unknown }
  /** A recording asks for its suspects: they are looked for in another process. */
  | { type: 'suspects'; id: number; path: string }
  /** A recording that asked for suspects has ended. */
  | { type: 'forget'; path: string }
  | { type: 'result'; id: number; result: unknown }
  | { type: 'error'; id: number; kind: EngineErrorKind; message: string; nextStep: string };
