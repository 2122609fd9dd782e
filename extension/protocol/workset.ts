// `cacheline-workset/1`: how much memory threads, types and allocation sites work on, and which classes of misses the samples show
// (docs/outputs.md).
import type { Count, Positive, Share } from './values';

/** Numbers of cache lines, of `lineSize` bytes each. Null: the samples cannot say. */
export interface LinesUsed {
  samples: Count;
  /** Distinct lines that samples fell on. */
  lines: Count;
  /** Of them, those with one sample, */
  once: Count;
  /** and with two. */
  twice: Count;
  /** The share of the accesses that goes to the sampled lines, estimated (Good-Turing). */
  coverage: Share | null;
  /** At least so many lines were used: the lower end of the 95% interval of `estimate`. */
  atLeast: Count | null;
  /** Chao1: expected to be at most the lines that were used. */
  estimate: Count | null;
  /** One clause: why there is no estimate; else null. */
  reason: string | null;
}

export interface WorkingSet extends LinesUsed {
  /** Lines that were used in one part of the time, at least: all where they were used all the time, else the median over the parts. */
  atATime: Count | null;
}

export interface ThreadWorkingSet extends WorkingSet {
  pid: Count;
  tid: Count;
  /** An untrusted name; empty: no record names it. */
  comm: string;
}

/** Of a type, or of what one place in the code allocated. */
export interface DataWorkingSet extends LinesUsed {
  /** As in the tables of the report; untrusted. */
  name: string;
  /** Lines that its recorded heap blocks and variables cover, whenever they were there; null: not known, `atMostReason` says why. */
  atMost: Count | null;
  atMostReason: string | null;
  /** Of its heap blocks, the most that were there at one time; null: it has none, or `atMost` is not known. */
  peakBytes: Count | null;
}

/** A data cache of the recorded machine. */
export interface WorksetCache {
  level: Positive;
  /** "Data", "Unified". */
  type: string;
  bytes: Positive;
  /** Lines of a set; null: not recorded. */
  ways: Count | null;
  /**
   * That share it.
   * @minItems 1
   */
  cpus: Count[];
}

/** Hot lines of one thread in the sets of a cache. */
export interface CacheSets {
  count: Count;
  ways: Count;
  /** Sets with more hot lines than ways. */
  oversubscribed: Count;
  /** Hot lines in the fullest set. */
  mostLines: Count;
  /**
   * Hot lines in one of the sets that are not over-subscribed, the mean.
   * @minimum 0
   */
  elsewhere: number;
}

export type MissClassName = 'false sharing' | 'true sharing' | 'conflict' | 'capacity';
/** `stated`: the report says it. `likely`: a memory PMU's data sources agree. `not seen`: the samples speak against it. */
export type Knowledge = 'stated' | 'likely' | 'possible' | 'not seen' | 'not known';

/** Why accesses may miss the caches. Null: it does not apply, or is not known. */
export interface MissClass {
  class: MissClassName;
  /** Of the cache; null: sharing, or there are no samples or no caches. */
  level: Positive | null;
  knowledge: Knowledge;
  /**
   * Sharing: of all samples, those that wait so. Conflict: of the worst thread's samples, those in over-subscribed sets. Capacity: of the
   * loads of memory samples that say it, those that a farther cache or memory answered.
   */
  share: Share | null;
  /** Ids of the threads that it concerns, worst first; empty: none, or all on the CPUs of a shared cache. */
  threads: Count[];
  /** Capacity: the largest working set of one part of the time, at least. */
  lines: Count | null;
  /** Capacity: lines of the cache that it is compared with. */
  cacheLines: Count | null;
  /** Conflict: of the worst thread. */
  sets: CacheSets | null;
  /** One clause: why it is not known; else null. */
  reason: string | null;
}

/** What the engine says. */
export interface WorksetSurvey {
  schema: 'cacheline-workset/1';
  evidence: string[];
  collector: string;
  lineSize: Positive;
  samples: Count;
  /** Of them, those with a place on a line: all others are left out here. */
  attributed: Count;
  /** Samples that filters left out; null: there was none. */
  filtered: Count | null;
  /**
   * From the first to the last sample.
   * @minimum 0
   */
  seconds: number;
  /** Into how many equal parts the time is cut. */
  parts: Positive;
  /** @minimum 0 */
  partSeconds: number;
  all: WorkingSet;
  /** Most samples first, as the next two; at most 256 each. */
  threads: ThreadWorkingSet[];
  types: DataWorkingSet[];
  allocations: DataWorkingSet[];
  /** By level and first CPU; empty: the recording does not say. */
  caches: WorksetCache[];
  missClasses: MissClass[];
  /** Sentences. */
  warnings: string[];
}

/** A class with what it rests on and what helps. */
export interface ExplainedMissClass extends MissClass {
  /** Sentences for a person. */
  evidence: string;
  /** What helps, for a person; null where nothing was seen or is known. */
  remedy: string | null;
}

/**
 * The document of `cacheline workset --format json`: working sets against the machine's caches, and classes of misses.
 * @id cacheline-workset-1.schema.json
 * @title cacheline-workset/1
 */
export interface WorksetDocument extends WorksetSurvey {
  missClasses: ExplainedMissClass[];
}
