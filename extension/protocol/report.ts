// The JSON of `cacheline report` (cacheline-report/1), as docs/outputs.md fixes it. Counts are samples, shares 0 to 1,
// addresses hex strings. 0 means measured and none; null means this evidence cannot say.

import type { Calibration } from './calibration';
import type { FalseShare } from './false-share';
import type { TypeHeat } from './layout';

export type Verdict = 'false sharing' | 'true sharing' | 'mixed' | 'read-shared' | 'private';
export type LineFlag = 'straddling' | 'adjacent' | 'mixed-use' | 'latent' | 'lock';
export type Evidence = 'hitm' | 'peer' | 'latency' | 'watch' | 'clock';

export interface SourcePlace {
  file: string;
  line: number;
}

export interface InlineFrame extends SourcePlace {
  function: string;
}

export interface StoreCounts {
  total: number;
  l1Hit: number | null;
  l1Miss: number | null;
  na: number;
  rmw: number | null;
}

export interface DataName {
  /** ELF symbol (readable), "[heap]", "[stack]", or the mapping's name. */
  object: string;
  /** Bytes from the object's start. */
  offset: number;
  /** Where the variable is defined; null where no debug information says. */
  definition: SourcePlace | null;
  /** How the object is known. The engine always writes this and what follows, but `incomplete`. */
  how?: DataHow;
  /** One clause for a person: "pointer `worker` in run_thread". */
  because?: string;
  /** Of the whole object, readable; empty: unknown. */
  type?: string;
  /** Full path from the object's type: `today.cents`, `slots[2].count`; empty: unknown, a hole, or the whole object. */
  field?: string;
  /** A class that the debug information does not define or place: members of it may be there. */
  incomplete?: string;
  /** Address at which the object of `type` begins; of an array whose length nobody knows: its first element's. null: unknown. */
  base?: string | null;
  /** Bytes from the object's start to the field's; null: unknown. */
  fieldOffset?: number | null;
  /** Which element of the object's outermost array; null: no array. */
  index?: number | null;
  /** The heap block it lies in, and who called the function that allocated it, innermost first; null: none known. */
  allocation?: (SourcePlace & { size: number; function: string; callers?: InlineFrame[] }) | null;
  /** Of "[stack]": the thread whose stack it is; null: unknown, or no stack. */
  stackOwner?: { pid: number; tid: number; comm: string } | null;
}

export type DataHow = 'global' | 'stack' | 'code' | 'allocation' | 'unknown';

export interface Access {
  /** Bytes from the line's start. */
  offset: number;
  /** Bytes touched, 0 where the instruction does not say. */
  width: number;
  /** In the process; the lowest where several processes have it at different places. */
  codeAddress: string;
  /** The same place in the binary's own numbering, as objdump prints it. */
  elfAddress?: string;
  /** The function that holds the instruction, readable, and the innermost place of it; of library code that was inlined, the program's own. */
  symbol: string;
  /** Base name of the binary that holds the instruction. */
  object: string;
  file: string;
  line: number;
  /** Innermost first, up to and with `symbol` at the line of its call; empty where nothing was inlined. */
  inlined: InlineFrame[];
  /** Why the function or the line is missing; absent where both are there. */
  unnamed?: string;
  locked: boolean;
  records: number;
  /** Samples by threads that compete for the line, 0 on lines without a writer. What costs nearly as much alone is left out (docs/outputs.md). */
  contended: number;
  /** The false causes' share of what it waits for, 0 to 1; null: no access was seen that it waits for. */
  falseShare: number | null;
  /** Index in the line's `words`; null where these are not known. */
  word: number | null;
  loads: number;
  stores: StoreCounts;
  hitm: { local: number; remote: number } | null;
  peer: { local: number; remote: number } | null;
  ld?: LoadLevels | null;
  /** Of loads, in core cycles; 0 where there was none of the kind. `load`: neither HITM nor peer. */
  meanCycles: {
    remoteHitm: number | null;
    localHitm: number | null;
    peer: number | null;
    remotePeer?: number | null;
    localPeer?: number | null;
    load: number;
  } | null;
  /** Of all loads of this row. */
  cycles: { p50: number; p95: number; max: number } | null;
  /** NUMA nodes of the memory, by physical address; null where the recording does not say. */
  memoryNodes?: number[] | null;
  /** How often the physical address changed from one sample to the next (`PA cnt` of perf). */
  paCount?: number | null;
  /** How many made the accesses; null where the samples carry no CPU numbers. */
  cpus: number | null;
  threads: number[];
  processes: number[];
  /** NUMA nodes of the CPUs that made the accesses; null where the recording does not say. */
  nodes: number[] | null;
  /** Of the CPUs: "0-3,8"; absent with clock evidence. */
  cpuList?: string;
  /** What each node's CPUs did, ascending; absent with clock evidence. */
  nodeStats?: {
    node: number;
    cpus: number;
    cpuList: string;
    hitm: { local: number; remote: number } | null;
    peer: { local: number; remote: number } | null;
    stores: number;
  }[];
  /**
   * Who called the code at `codeAddress`, most samples first; absent where not asked for. Of recordings with data sources from whatever row, with clock
   * evidence of this row. Innermost caller first.
   */
  callers?: { records: number; hitm: number | null; frames: CallerFrame[] }[];
  /** [n]: samples whose instruction pointer was n instructions after the access. */
  skid: number[];
  /**
   * Accesses trapped by debug registers, never part of the counts above; null or absent where these bytes were not watched. `writes`
   * includes read-modify-writes; of `unknown` ones the code does not say what they were.
   */
  watch?: { reads: number; writes: number; unknown?: number; threads: number[]; windowMs: number } | null;
  data: DataName;
}

/** Of code that called: `symbol`, `file` and `line` are the innermost inlined function's. All empty, at 0x0: a caller that is not known. */
export interface CallerFrame extends SourcePlace {
  codeAddress: string;
  symbol: string;
  object: string;
  /** As of an access. */
  inlined: InlineFrame[];
}

/** Loads by where their data came from. `llc` leaves local HITMs out. */
export type LoadLevels = Record<'fillBuffer' | 'l1' | 'l2' | 'llc' | 'remoteHit' | 'localDram' | 'remoteDram', number>;

export interface ThreadUse {
  pid: number;
  tid: number;
  comm: string;
  loads: number;
  stores: number;
  /** Its accesses interleave in time with another thread's. */
  competes: boolean;
}

/** Absence is never a refutation: it reads "not seen in N ms". */
export interface Confirmation {
  confirmed: boolean;
  /** For a person: "2 threads write 'a' and 'b' in turn: seen 14 times in 12 ms" or "only 1 of 2 words was seen in 12 ms". */
  sentence: string;
  /** The words that were watched, in order of address. */
  words: {
    offset: number;
    length: number;
    /** For a person: `counters[1].b`; may be empty. */
    name?: string;
    reads: number;
    writes: number;
    unknown?: number;
    readers: number[];
    writers: number[];
    windowMs: number;
  }[];
  /** How often the accessing thread changed from one hit of the line to the next. */
  alternations: number;
}

/** Who would gain from moving data apart. */
export interface Victim {
  /** Indices of words of one group. */
  words: number[];
  threads: number[];
  contended: number;
  falseShare: number;
  /** Indices of accesses: where most of it waits, and for what; null: not listed. */
  access: number | null;
  cause: number | null;
}

export interface CacheLine {
  address: string;
  /** "pid 5000", "kernel", or "file DEVICE:INODE" for a shared mapping. */
  space: string;
  /** Of a line in a shared mapping: its place in the file, whatever addresses processes see it at. */
  fileOffset?: string;
  mapping: string;
  node: number[] | null;
  paCount: number | null;
  verdict: Verdict;
  /** False where more samples could change the verdict. */
  verdictSure: boolean;
  /** Null where nobody waits. */
  falseShare: FalseShare | null;
  /** Bytes that accesses use as one, by offset; those of one `group` are used alike. Empty where nobody waits, and where nothing is known of it. */
  words: { offset: number; size: number; group: number }[];
  /**
   * The waiting at a word that is due to accesses to another one or the same: its share of all waiting here, how much of that is false, and how
   * much of it is by code that accesses both words in one step (absent in reports of older versions).
   */
  waits: { word: number; cause: number; share: number; falseShare: number; sameStep?: number }[];
  /** Most contended samples first. */
  victims: Victim[];
  /** What watchpoints say to the verdict; absent where none were set on this line. */
  confirmation?: Confirmation;
  flags: LineFlag[];
  /** Of all contended samples. */
  contendedShare: number;
  /** Contended samples of this line over all samples of the recording: what it costs. */
  programShare: number;
  contended: number;
  hitm: { total: number; local: number; remote: number } | null;
  peer: { local: number; remote: number } | null;
  records: number;
  loads: number;
  stores: StoreCounts;
  ld: LoadLevels | null;
  locked?: number;
  /** In Go programs: how many were seen at it that have enough samples to tell who shares; what others did counts for their threads. */
  goroutines?: number;
  threads: ThreadUse[];
  accesses: Access[];
}

export interface ObjectSum {
  object: string;
  space: string;
  binary: string;
  definition: SourcePlace | null;
  /** Address of memory without a name, which is told apart by it; null: told apart by its name. The engine always writes this and what follows. */
  base?: string | null;
  /** The heap block of its first access that lies in one; null: none known. */
  allocation?: DataName['allocation'];
  lines: number;
  verdict: Verdict;
  verdictSure: boolean;
  falseShare: FalseShare | null;
  flags: LineFlag[];
  contended: number;
  contendedShare: number;
  programShare: number;
  records: number;
  loads: number;
  stores: number;
}

export interface BinaryState {
  path: string;
  buildId: string;
  status: 'ok' | 'no debug info' | 'no symbols' | 'changed' | 'missing';
  detail: string;
}

/** What meta.json of a recording says; absent for a bare perf.data. */
export interface RecordingMeta {
  schema: 'cacheline-recording/1';
  version: string;
  command: string[];
  workingDirectory: string;
  startedAt: string;
  collector: string;
  collectorReason: string;
  /** Absent in recordings of older versions. */
  notTaken?: { collector: string; reason: string }[];
  /** Absent in recordings of older versions, which are all of a command. */
  target?: { kind: 'command' | 'processes' | 'threads' | 'system'; ids: number[]; cpus: number[]; children: boolean; descendants?: true };
  /** 0 where there is a period. */
  frequency: number;
  /** Events a sample (clock: ns); 0 or absent: by frequency. */
  period?: number;
  /** Cycles: loads that were faster were not sampled. Null or absent: no such filter. */
  ldlat?: number | null;
  durationSeconds: number;
  program: { exitStatus: number | null; signal: number | null; cpuSeconds: number } | null;
  samples: number;
  lost: number;
  /** Whether it has context switches, and why not. Absent in recordings of older versions, which have none. */
  switches?: { recorded: boolean; reason: string | null };
  /** Of `allocations`: null or absent where heap blocks were not recorded. */
  heap?: { sampling: number; blocks: number; lost: number } | null;
  interrupted: boolean;
  warnings: string[];
  machine: { hostname: string; kernel: string; cpu: string; cpus: number; lineSize: number };
  /** What contention costs on its CPU model. Null or absent: it was not measured before. */
  calibration?: Calibration | null;
  /** `root`: /proc/PID/root of a process in another mount namespace. */
  binaries: { path: string; buildId: string; size: number; mtimeNs: string; root?: string }[];
}

export type UnattributedReason = 'kernel' | 'noInstruction' | 'noMemoryOperand' | 'clobbered' | 'threadLocal' | 'unmapped';

/** Why nothing can be said about a sample. */
export type UnseenReason = Exclude<UnattributedReason, 'noMemoryOperand' | 'threadLocal'> | 'lost';

/** What a report could not see. Shares are of all samples, with those that are known to be lost. */
export interface Blind {
  share: number;
  /** Most samples first. `what` is for a person, behind "in": "code that no file backs (JIT: Java)". It holds untrusted names. */
  reasons: { reason: UnseenReason; what: string; share: number }[];
}

/** Code whose samples say nothing. */
export interface UnseenPlace extends Pick<Access, 'symbol' | 'object' | 'file' | 'line' | 'inlined' | 'unnamed'> {
  reason: UnseenReason;
  /** Of the access; null: all code of a binary that cannot be read, or that no file backs. */
  codeAddress: string | null;
  elfAddress: string | null;
  samples: number;
  /** Of the same samples as `Blind.share`. */
  share: number;
}

/** What `lines` are sorted by: HITMs in total, local or remote, or loads that a peer's cache answered. */
export type Display = 'tot' | 'lcl' | 'rmt' | 'peer';
/** What tells rows of one offset apart. */
export type CoalesceKey = 'tid' | 'pid' | 'iaddr' | 'dso';

export interface C2cSettings {
  display: Display;
  /** Always with `offset` before them. */
  coalesce: CoalesceKey[];
  doubleLine: boolean;
  /** As perf names them. */
  events: string[];
  nodes: { node: number; cpus: string }[];
  /** Samples that the filters (mode, time, threads, CPUs) left out. */
  filtered: number;
}

export interface Report {
  schema: 'cacheline-report/1';
  evidence: Evidence[];
  collector: string;
  lineSize: number;
  /** A line is a pair of neighbours, twice `lineSize`; else absent. */
  doubleLine?: true;
  /** What was asked for, and the events and nodes that the tables of `perf c2c report` name; absent with clock evidence. */
  c2c?: C2cSettings;
  samples: {
    total: number;
    attributed: number;
    contended: number;
    lost: number;
    /** What the filters (mode, time, processes, threads, CPUs) left out; absent where there was none. */
    filtered?: number;
    unattributed: Record<UnattributedReason, number>;
  };
  /** null: less than 10 % of the samples. */
  blind: Blind | null;
  /** Where most of them were lost, most samples first; null with data sources, whose samples need no code. */
  unseen: UnseenPlace[] | null;
  stats: Record<string, number | null>;
  shared: Record<string, number | null>;
  lines: CacheLine[];
  /** Private lines not listed. */
  linesLeftOut: number;
  /** How many of the lines the filter's terms of lines chose, which `lines` has; absent where the filter has no such terms. */
  selected?: { lines: number; of: number };
  /** Of `samples.contended`, on lines not listed; absent with clock evidence. */
  contendedLeftOut?: number;
  objects: ObjectSum[];
  /** By contended samples, descending; absent in the panel, which shows none. */
  types?: TypeHeat[];
  binaries: BinaryState[];
  warnings: string[];
  /** First to last sample. */
  seconds: number;
  recording: RecordingMeta | null;
}
