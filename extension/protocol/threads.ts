// `cacheline-threads/1`: what the threads of a recording did over time, and on which CPUs (docs/outputs.md).
import type { Count } from './values';

/** Of what the times are made: records of context switches, or clock samples, of which each stands for one period of running. */
export type ThreadsBasis = 'switches' | 'samples';

/** ns in each of `bins` equal parts of the window; null: this recording cannot say. */
export interface ThreadLane {
  running: Count[];
  runnable: Count[] | null;
  blocked: Count[] | null;
  unknown: Count[] | null;
  /** Estimated; can exceed `running` by what samples err. */
  contended: Count[] | null;
  /** How often in each part it was put on another CPU than before. */
  migrations: Count[] | null;
}

/** Blocked time in which a thread is proved to wait for a lock. Names are untrusted. */
export interface LockWait {
  /** The function that takes the lock: `pthread_mutex_lock`. */
  lock: string;
  /** The function of the program that called it; empty: not known. */
  caller: string;
  ns: Count;
  /** How often. */
  waits: Count;
}

/** One thread. Times are ns in the window; null: this recording cannot say. */
export interface ThreadSchedule {
  pid: Count;
  tid: Count;
  /** An untrusted name; empty: no record names it. */
  comm: string;
  /** From when on it was there, since the window began. */
  firstNs: Count;
  /** Until when. */
  lastNs: Count;
  /** On a CPU. */
  runningNs: Count;
  /** It was ready to run but had no CPU: preempted, after sched_yield, or before its first time on one. */
  runnableNs: Count | null;
  /** Off the CPU until something woke it, with the time from then until it ran. */
  blockedNs: Count | null;
  /** Of `blockedNs`, longest first; null: nobody looked. What is not among them is blocked for something else, or too shortly to be looked at. */
  locks: LockWait[] | null;
  /** What it did is unknown: records are missing, or it was there before the recording. */
  unknownNs: Count;
  /** Of `runningNs`, estimated: contended samples times the period. */
  contendedNs: Count | null;
  /** How often it left a CPU. */
  switches: Count | null;
  /** Of `switches`: it could have run on. */
  preempted: Count | null;
  /** How often it was put on another CPU than before. */
  migrations: Count | null;
  /** Where it ran, by number; empty: the recording names no CPUs. */
  cpus: { cpu: Count; runningNs: Count }[];
  /** Null: many other threads ran longer. */
  lane: ThreadLane | null;
}

/** One CPU, of the threads in the list. */
export interface CpuSchedule {
  cpu: Count;
  runningNs: Count;
  /** That ran there. */
  threads: Count;
  switches: Count | null;
  /** ns in each bin. */
  running: Count[];
}

/** A function, also where it was inlined. Names are untrusted. */
export interface FunctionName {
  /** Empty: code of `object` that nothing names. */
  name: string;
  /** Base name of the binary; empty: no file backs the code. */
  object: string;
}

/** Where threads contend: contended time of a function, estimated. */
export interface ContendedFunction extends FunctionName {
  /** In its own code. */
  selfNs: Count;
  /** And in what it called. */
  totalNs: Count;
  /** Who calls it, with the contended time in which they do; most first, at most 20. */
  callers: (FunctionName & { ns: Count })[];
  /** What it calls, likewise. */
  callees: (FunctionName & { ns: Count })[];
}

/** What the engine says. */
export interface ThreadList {
  schema: 'cacheline-threads/1';
  basis: ThreadsBasis;
  /** One clause: why there are no context switches; null where there are. */
  basisReason: string | null;
  /** Where the window begins, ns since the first record that has a time. */
  fromNs: Count;
  /** Its length. */
  spanNs: Count;
  /** What a clock sample stands for, the mean; null: the recording has none. */
  periodNs: Count | null;
  /** Records that found no room: some times are then unknown. */
  lost: Count;
  /**
   * Equal parts of the window.
   * @asType integer
   * @minimum 1
   * @maximum 1000
   */
  bins: number;
  /** Longest running first. */
  threads: ThreadSchedule[];
  /** By number; empty: the recording names no CPUs. */
  cpus: CpuSchedule[];
  /** Whether samples have call chains; without, no function has callers. */
  callChains: boolean;
  /** Contended code, most contended time with callees first, at most 100; null: contended time is not known. */
  functions: ContendedFunction[] | null;
  /** Sentences. */
  warnings: string[];
}

/** How unevenly the threads of one process work. */
export interface Imbalance {
  pid: Count;
  /**
   * The threads that are compared: those that run at least 10% as long as the longest running one.
   * @minItems 2
   */
  threads: Count[];
  /**
   * The longest running time over the mean: 1 is even.
   * @minimum 1
   */
  factor: number;
  /** The thread that runs longest. */
  longest: Count;
  /**
   * How many times as long as the mean of the others it runs.
   * @minimum 1
   */
  ratio: number;
  /** For a person. */
  sentence: string;
}

/**
 * The document of `cacheline threads --format json`: what threads did over time, and on which CPUs.
 * @id cacheline-threads-1.schema.json
 * @title cacheline-threads/1
 */
export interface ThreadsDocument extends ThreadList {
  /** Of each process with at least two threads that work, most unevenly first. */
  imbalance: Imbalance[];
}
