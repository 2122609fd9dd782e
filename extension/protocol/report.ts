// The JSON of `cacheline report` (cacheline-report/1), as docs/outputs.md fixes it. Counts are samples, shares 0 to 1,
// addresses hex strings. 0 means measured and none; null means this evidence cannot say.

import type { Blind, Unattributed, UnseenPlace } from './blindness';
import type { FalseShare } from './false-share';
import type { Finding } from './finding';
import type { TypeHeat } from './layout';
import type { RecordingMeta } from './recording';
import type { Address, Count, LocalRemote, Share } from './values';

export type Verdict = 'false sharing' | 'true sharing' | 'mixed' | 'read-shared' | 'private';
export type LineFlag = 'straddling' | 'adjacent' | 'mixed-use' | 'latent' | 'lock' | 'turns' | 'one-core';
export type Evidence = 'hitm' | 'peer' | 'latency' | 'watch' | 'clock';

/** @uniqueItems */
export type LineFlags = LineFlag[];

export interface SourcePlace {
  /** As recorded; empty: unknown. */
  file: string;
  /** From 1; 0: unknown. */
  line: Count;
}

export interface InlineFrame extends SourcePlace {
  function: string;
}

export interface StoreCounts {
  total: Count;
  l1Hit: Count | null;
  l1Miss: Count | null;
  /** Of unknown level. */
  na: Count;
  /** Read-modify-writes among them. */
  rmw: Count | null;
}

export interface Allocation extends SourcePlace {
  /** That allocated; empty: unknown. */
  function: string;
  /** Bytes that were asked for. */
  size: Count;
  /** Functions that called it, innermost first; at most two. */
  callers?: InlineFrame[];
}

export type DataHow = 'global' | 'stack' | 'code' | 'allocation' | 'unknown';

export interface DataName {
  /** ELF symbol (readable), "[heap]", "[stack]", or the mapping's name. */
  object: string;
  /** Bytes from the object's start. */
  offset: Count;
  /** Where the variable is defined; null where no debug information says. */
  definition: SourcePlace | null;
  /** How the object is known; see docs/outputs.md. The engine always writes this and what follows, but `incomplete`. */
  how?: DataHow;
  /** How, in one clause for a person: "pointer `worker` in run_thread". */
  because?: string;
  /** Of the whole object, readable; empty: unknown. */
  type?: string;
  /** Full path from the object's type: "today.cents", "slots[2].count"; empty: unknown, a hole, or the whole object. */
  field?: string;
  /** A class that the debug information does not define or place: members of it may be there; else absent. */
  incomplete?: string;
  /** Where the object of `type` begins, of an array without a known length its first element; null: unknown. */
  base?: Address | null;
  /** Bytes from the object's start to the field's; null: unknown. */
  fieldOffset?: Count | null;
  /** Which element of the object's outermost array; null: no array. */
  index?: Count | null;
  /** The heap block it lies in; null: none known. */
  allocation?: Allocation | null;
  /** The thread whose stack it is, where `object` is "[stack]"; null: unknown, or no stack. */
  stackOwner?: {
    pid: Count;
    /** Of the main thread that of the process. */
    tid: Count;
    comm: string;
  } | null;
}

/** Code by its names. One of its functions, inlined ones too, is told: the innermost of the program's own (docs/outputs.md). */
export interface NamedCode {
  /** The function that is told, readable; empty: unknown. */
  symbol: string;
  /** Base name of the binary; of code that no file backs the name of its mapping. */
  object: string;
  /** Of the place in that function; empty: unknown. */
  file: string;
  /** Of the place in that function; 0: unknown. */
  line: Count;
  /** Innermost first, up to and with the function that the binary's symbols have, at the line of its call; empty where nothing was inlined. */
  inlined: InlineFrame[];
}

export interface Access extends NamedCode {
  /** Bytes from the line's start. */
  offset: Count;
  /** Bytes accessed; 0 where the instruction does not say. */
  width: Count;
  /** In the process; the lowest where several processes have it at different places. */
  codeAddress: Address;
  /** The same place in the binary's own numbering, as objdump prints it. */
  elfAddress?: Address;
  /**
   * Why the function or the line is missing; absent where both are there.
   * @minLength 1
   */
  unnamed?: string;
  /** Lock prefix, or xchg with memory. */
  locked: boolean;
  /**
   * Of a read: the same function stores to these bytes later, on every way onward or on some. Stores retire unseen, so that they need not have
   * samples. Absent: no such store is known.
   */
  storesLater?: 'always' | 'sometimes';
  records: Count;
  /** Samples by threads that compete for the line, 0 on lines without a writer; without what costs nearly as much alone (docs/outputs.md). */
  contended: Count;
  /** The false causes' share of all that it waits for; null: no cause was seen. */
  falseShare: Share | null;
  /** Index in the line's `words`; null where these are not known. */
  word: Count | null;
  loads: Count;
  stores: StoreCounts;
  hitm: LocalRemote | null;
  peer: LocalRemote | null;
  ld?: LoadLevels | null;
  /** Of loads, in core cycles; 0 where there was none of the kind. */
  meanCycles: {
    remoteHitm: number | null;
    localHitm: number | null;
    peer: number | null;
    remotePeer?: number | null;
    localPeer?: number | null;
    /** Of loads that are neither HITM nor peer. */
    load: number;
  } | null;
  /** Of all loads of this row, in core cycles: exact up to 64 loads, beyond that p50 and p95 within 1/32; the maximum is exact. */
  cycles: {
    /** The smallest value that half of the loads do not exceed. */
    p50: number;
    /** The smallest value that 95% of the loads do not exceed. */
    p95: number;
    max: number;
  } | null;
  /** NUMA nodes of the memory, by physical address; null where the recording does not say; absent with clock evidence. */
  memoryNodes?: Count[] | null;
  /** How often the physical address changed from one sample to the next (`PA cnt` of perf); absent with clock evidence. */
  paCount?: Count | null;
  /** How many CPUs it ran on; null where the samples carry no CPU numbers. */
  cpus: Count | null;
  threads: Count[];
  processes: Count[];
  /** NUMA nodes of the CPUs that made the accesses; null where the recording does not say. */
  nodes: Count[] | null;
  /** CPUs that made the accesses: "0-3,8"; absent with clock evidence. */
  cpuList?: string;
  /** What each node's CPUs did, ascending; absent with clock evidence. */
  nodeStats?: {
    node: Count;
    cpus: Count;
    cpuList: string;
    hitm: LocalRemote | null;
    peer: LocalRemote | null;
    stores: Count;
  }[];
  /**
   * Call chains of the code at `codeAddress`, the ten commonest, most samples first; absent where not asked for. With data sources from
   * whatever row, with clock evidence of this row.
   */
  callers?: {
    records: Count;
    hitm: Count | null;
    /** Innermost caller first. */
    frames: CallerFrame[];
  }[];
  /** [n]: samples whose instruction pointer was n instructions after the access. */
  skid: Count[];
  /** Accesses trapped by debug registers, never part of `records`; null or absent where these bytes were not watched. */
  watch?: {
    reads: Count;
    /** Read-modify-writes included. */
    writes: Count;
    /** Accesses of which the code does not say what they were. */
    unknown?: Count;
    threads: Count[];
    /** In which these bytes were watched. */
    windowMs: number;
  } | null;
  /** Index in the report's `findings`; null: nobody waits here. */
  finding: Count | null;
  data: DataName;
}

/** Of code that called. All empty, at 0x0: a caller that is not known. */
export interface CallerFrame extends NamedCode {
  codeAddress: Address;
}

/** Loads by where their data came from. `llc` leaves local HITMs out. */
export type LoadLevels = Record<'fillBuffer' | 'l1' | 'l2' | 'llc' | 'remoteHit' | 'localDram' | 'remoteDram', Count>;

export interface ThreadUse {
  pid: Count;
  tid: Count;
  comm: string;
  loads: Count;
  stores: Count;
  /** Its accesses interleave in time with another thread's. */
  competes: boolean;
}

/** What watchpoints say to the verdict of a line. Absence is never a refutation: it reads "not seen in N ms". */
export interface Confirmation {
  /** False: not seen, which is no refutation. */
  confirmed: boolean;
  /** For a person: "2 threads write 'a' and 'b' in turn: seen 14 times in 12 ms" or "only 1 of 2 words was seen in 12 ms". */
  sentence: string;
  /** The words that were watched, in order of address. */
  words: {
    offset: Count;
    length: Count;
    /** For a person: `counters[1].b`; may be empty. */
    name?: string;
    reads: Count;
    writes: Count;
    unknown?: Count;
    readers: Count[];
    writers: Count[];
    windowMs: number;
  }[];
  /** How often the next access of the line was another thread's. */
  alternations: Count;
}

/** Who would gain from moving data apart. */
export interface Victim {
  /** Indices of words of one group. */
  words: Count[];
  threads: Count[];
  contended: Count;
  falseShare: Share;
  /** Index in `accesses`: where most of it waits; null: not listed. */
  access: Count | null;
  /** Index in `accesses`: what it waits for most; null: not listed. */
  cause: Count | null;
}

export interface CacheLine {
  /** Of the line's first byte. */
  address: Address;
  /** "pid 5000", "kernel", or "file DEVICE:INODE" for a shared mapping. */
  space: string;
  /** Of a line in a shared mapping: its place in the file, whatever addresses processes see it at. */
  fileOffset?: Address;
  /** Name of the mapping: a path, "[heap]", "[stack]", ... */
  mapping: string;
  /** NUMA nodes of the memory. */
  node: Count[] | null;
  /** How often the physical address changed from one sample to the next. */
  paCount: Count | null;
  verdict: Verdict;
  /** False where 0.2 or 0.8 lies between the bounds of `falseShare`: more samples could change the verdict. */
  verdictSure: boolean;
  /** Null where nobody waits. */
  falseShare: FalseShare | null;
  /** Bytes that accesses use as one, by offset. Empty where nobody waits, and where nothing is known of them. */
  words: {
    offset: Count;
    size: Count;
    /** Words that are used alike have the same. */
    group: Count;
  }[];
  /** The waiting at a word that is due to accesses to another one or the same; the largest share first. */
  waits: {
    /** Index of the word that is waited at. */
    word: Count;
    /** Index of the word whose accesses are waited for. */
    cause: Count;
    /** Of all waiting on the line. */
    share: Share;
    /** How much of that is false. */
    falseShare: Share;
    /** How much of it is by code that accesses both words in one step; absent in reports of older versions. */
    sameStep?: Share;
  }[];
  /** Most contended samples first. */
  victims: Victim[];
  /** Absent where nothing of the line was watched. */
  confirmation?: Confirmation;
  flags: LineFlags;
  /** Of a line without a known writer that code may write after reading it: what would wait if it did so each time. Absent elsewhere. */
  ifWritten?: { contended: Count; falseShare: FalseShare };
  /** Of all contended samples. */
  contendedShare: Share;
  /** Contended samples of this line over all samples of the recording: what it costs. */
  programShare: Share;
  /** Samples by threads that compete; locked accesses to what nobody else writes only as often as they alternate with others. */
  contended: Count;
  hitm: { total: Count; local: Count; remote: Count } | null;
  peer: LocalRemote | null;
  /** Attributed samples; with data sources: loads of a known level, and stores but uncacheable ones. */
  records: Count;
  /** Read-only accesses. */
  loads: Count;
  stores: StoreCounts;
  ld: LoadLevels | null;
  /** Locked loads and stores; absent with clock evidence. */
  locked?: Count;
  /**
   * How many goroutines were seen at it that have enough samples to tell who shares; what others did counts for their threads. Absent
   * where the program is not of Go.
   */
  goroutines?: Count;
  threads: ThreadUse[];
  /** One row an offset and code address. */
  accesses: Access[];
}

export interface ObjectSum {
  object: string;
  space: string;
  binary: string;
  definition: SourcePlace | null;
  /**
   * Where unnamed memory begins, which tells it from others of the same `object`; null: its name tells. The engine always writes
   * this and what follows.
   */
  base?: Address | null;
  /** The heap block of its first access that lies in one; null: none known. */
  allocation?: Allocation | null;
  /** Lines of the object that were accessed. */
  lines: Count;
  verdict: Verdict;
  /** False where 0.2 or 0.8 lies between the bounds of `falseShare`. */
  verdictSure: boolean;
  /** Null where nobody waits. */
  falseShare: FalseShare | null;
  flags: LineFlags;
  contended: Count;
  contendedShare: Share;
  programShare: Share;
  records: Count;
  loads: Count;
  stores: Count;
}

export interface BinaryState {
  path: string;
  /** Hex; empty where there is none. */
  buildId: string;
  status: 'ok' | 'no debug info' | 'no symbols' | 'changed' | 'missing';
  /** One sentence; empty where the status is ok. */
  detail: string;
}

/** What `lines` are sorted by: all, local or remote HITMs, or loads that a peer's cache answered. */
export type Display = 'tot' | 'lcl' | 'rmt' | 'peer';
/** What tells rows of one offset apart. */
export type CoalesceKey = 'tid' | 'pid' | 'iaddr' | 'dso';

/** Samples at lines that one thread writes and others use, while all of these ran on one core. */
export interface TakenTurns {
  /** What says where threads ran: context switches, or where these were not recorded the CPUs of samples alone. */
  basis: 'switches' | 'samples';
  samples: Count;
  /** On which threads did nothing but that: private lines with the flag "turns" or "one-core". */
  lines: Count;
  /** Of `lines`, those with the flag "one-core". */
  oneCore: Count;
  /** That took turns at the one of these lines with most such samples. */
  threads: Count;
}

/** What was asked for, and what perf's tables name. */
export interface C2cSettings {
  display: Display;
  /**
   * Always with `offset` before them.
   * @uniqueItems
   */
  coalesce: CoalesceKey[];
  /** Lines are pairs of neighbours: twice `lineSize`. */
  doubleLine: boolean;
  /** As perf names them. */
  events: string[];
  nodes: {
    node: Count;
    /** "0-3,8". */
    cpus: string;
  }[];
  /** Samples that the filters (mode, time, processes, threads, CPUs) left out; in no other count. */
  filtered: Count;
}

/** The counters of `perf c2c report --stats`. */
export type Stats = Record<
  | ('records' | 'locked' | 'loads' | 'ldUncacheable' | 'ldIo' | 'ldMiss' | 'ldNoAddress' | 'ldFillBuffer' | 'ldL1' | 'ldL2' | 'ldLlc')
  | ('localHitm' | 'remoteHitm' | 'remoteHit' | 'localPeer' | 'remotePeer' | 'localDram' | 'remoteDram' | 'ldExclusive' | 'ldShared')
  | ('blockedData' | 'blockedAddress' | 'stores' | 'stUncacheable' | 'stNoAddress' | 'stL1Hit' | 'stL1Miss' | 'stNa' | 'noMap' | 'noParse'),
  Count | null
>;

/** The same over lines that threads share. */
export type SharedStats = Record<
  'lines' | 'loads' | 'fillBuffer' | 'l1' | 'l2' | 'llc' | 'peer' | 'locked' | 'blocked' | 'stores' | 'stL1Hit' | 'stNa' | 'merged',
  Count | null
>;

/**
 * The document of `cacheline report --format json`. Counts are samples. 0 means measured and none; null means this evidence cannot say.
 * More fields may be added; these stay.
 * @id cacheline-report-1.schema.json
 * @title cacheline-report/1
 * @if { properties: { c2c: true }, required: ['c2c'] }
 * @then { description: 'With data sources every row has these too', properties: { lines: { type: 'array', items: {
 *   type: 'object', required: ['locked'], properties: { locked: true, accesses: { type: 'array', items: {
 *     type: 'object', required: ['ld', 'memoryNodes', 'paCount', 'cpuList', 'nodeStats'],
 *     properties: { ld: true, memoryNodes: true, paCount: true, cpuList: true, nodeStats: true, meanCycles: { anyOf: [
 *       { type: 'object', required: ['remotePeer', 'localPeer'], properties: { remotePeer: true, localPeer: true } }, { type: 'null' },
 *     ] } },
 * } } } } } } }
 * @else { description: 'Without, the evidence is another', properties: { evidence: {
 *   type: 'array', items: { enum: ['clock', 'watch'] },
 * } } }
 */
export interface Report {
  schema: 'cacheline-report/1';
  /**
   * What the numbers rest on; empty where the recording has data sources and none of them says anything.
   * @uniqueItems
   */
  evidence: Evidence[];
  /** "clock", "agent", "pmu", ... */
  collector: string;
  /**
   * Bytes of a cache line.
   * @asType integer
   * @minimum 16
   */
  lineSize: number;
  /** --double-cl: a line is a pair of neighbours, twice `lineSize`; else absent. */
  doubleLine?: true;
  /** Absent with clock evidence. */
  c2c?: C2cSettings;
  samples: {
    /** Every sample of the recording. */
    total: Count;
    /** Charged to a memory access. */
    attributed: Count;
    /** Attributed to a line with a writer, by threads that compete for it. */
    contended: Count;
    /** Not in total: the kernel dropped them. */
    lost: Count;
    /** Not in total: --user, --kernel, --time, --pid, --tid, --cpu and --filter left them out; absent where there was no filter. */
    filtered?: Count;
    /** Adds up with `attributed` to `total`. */
    unattributed: Unattributed;
  };
  /** Null: less than 10% of the samples. */
  blind: Blind | null;
  /** The code with most of the samples of which nothing can be said, most samples first; null with data sources: they need no code. */
  unseen: UnseenPlace[] | null;
  stats: Stats;
  shared: SharedStats;
  /** Contended first, by contended samples, ties by ascending address. Private lines only with --show-all. */
  lines: CacheLine[];
  /** Private lines that were not listed. */
  linesLeftOut: Count;
  /** How many of the lines the terms of --filter chose, which `lines` has; absent where it has no terms of lines. */
  selected?: { lines: Count; of: Count };
  /**
   * What was not contended because threads took turns on one core; null: nothing tells where threads ran, or data sources tell who waits;
   * absent in reports of older versions.
   */
  turns?: TakenTurns | null;
  /** Of `samples.contended`, those on lines that were not listed; absent with clock evidence. */
  contendedLeftOut?: Count;
  /** What threads wait for, by subject; most contended samples first. */
  findings: Finding[];
  /** Lines added up per data object. */
  objects: ObjectSum[];
  /** By contended samples, descending; absent in reports of older versions, and in the panel, which shows none. */
  types?: TypeHeat[];
  /** Every binary that samples fell into. */
  binaries: BinaryState[];
  warnings: string[];
  /**
   * From the first sample to the last.
   * @minimum 0
   */
  seconds: number;
  /** The meta.json of the recording; null for a bare perf.data. */
  recording: RecordingMeta | null;
}
