// Where the memory of processes lies and where their threads run: `cacheline where --format json` (cacheline-where/1), and what
// recordings keep of it.
import type { Count, Integer, Share } from './values';

/**
 * Keys are ids of CPUs or NUMA nodes.
 * @propertyNames { pattern: '^\\d+$' }
 */
export type ById = Record<string, Count>;

/** Null: the kernel does not say. */
export interface MachineCache {
  level: Count;
  /** "Data", "Instruction", "Unified". */
  type: string;
  bytes: Count | null;
  lineSize: Count | null;
  /** Lines of a set. */
  ways: Count | null;
  /**
   * That share it.
   * @minItems 1
   */
  cpus: Count[];
}

export interface MachineNode {
  id: Count;
  cpus: Count[];
  memoryBytes: Count | null;
  freeBytes: Count | null;
  /** To each node in the order of their ids, 10 is the node itself; empty where the kernel does not say. */
  distances: Count[];
}

/** The online part of a machine, as the kernel describes it. */
export interface MachineTopology {
  /** False: the kernel has no NUMA nodes, and `nodes` is one that holds everything. */
  numa: boolean;
  packages: { id: Count; cpus: Count[] }[];
  /** `id` is unique within its die. */
  cores: { package: Count | null; die: Count | null; id: Count; cpus: Count[] }[];
  /** By level, type and CPUs. */
  caches: MachineCache[];
  /** @minItems 1 */
  nodes: MachineNode[];
}

/** Bytes of resident pages, as `numastat -p` sorts them; `other` is its "private". */
export interface MemoryKinds {
  huge: Count;
  heap: Count;
  stack: Count;
  other: Count;
}

export interface WhereNode {
  id: Count;
  cpus: Count[];
  /** Of the processes that were looked at, at the look that found most; null: not known, `memoryReason` says why. */
  bytes: Count | null;
  kinds: MemoryKinds | null;
}

export interface WhereThread {
  tid: Count;
  pid: Count;
  /** Untrusted. */
  name: string;
  /** By node, in ns, while it was looked at. */
  runNs: ById;
  /** The same by CPU. */
  cpuRunNs: ById;
  /** For each stretch of the timeline the CPU on which it ran most; null: it did not run. */
  cpuOverTime: (Count | null)[];
}

export interface WhereProcess {
  pid: Count;
  /** Untrusted, as is the command. */
  name: string;
  /** Empty: not known, or longer than 4096 bytes. */
  command: string[];
  /** Empty: not known. */
  allowedCpus: Count[];
  /** Of memory; empty: not known. */
  allowedNodes: Count[];
  ended: boolean;
  /** CPU time that no look saw: of threads that ended before the next one. */
  missedNs: Count;
}

/**
 * Where the memory of processes lies and where their threads run: `cacheline where --format json`.
 * @id cacheline-where-1.schema.json
 * @title cacheline-where/1
 */
export interface Where {
  schema: 'cacheline-where/1';
  /**
   * Looked at.
   * @minimum 0
   */
  seconds: number;
  /** Null: the recording does not say. */
  machine: MachineTopology | null;
  /** Empty: the recording does not say. */
  nodes: WhereNode[];
  /** The one that was asked for, or the program and what it started; of a recording none. */
  processes: WhereProcess[];
  /** By run time, descending, ties by ascending id. */
  threads: WhereThread[];
  /** Of very many threads those that ended and ran least, as a sum. Null: a recording does not say. */
  unlisted: { threads: Count; runNs: ById } | null;
  /** Null: a recording keeps none. */
  timeline: {
    /** @exclusiveMinimum 0 */
    binSeconds: number;
    /** Bytes by node at the last look in each stretch; null: there was none. */
    memory: (ById | null)[];
  } | null;
  looks: { threads: Count; memory: Count };
  /** Why `bytes` are null, or where they come from instead of numa_maps; null: they are exact. */
  memoryReason: string | null;
  /**
   * Of the loads of a recording whose source is known, those that another node's cache or memory answered. Null: it takes a recording
   * (--from) with data sources.
   */
  remoteShare: Share | null;
  /** Of a recording: that it was cut, by whom, and what else it lacks; untrusted. Else empty. */
  warnings: string[];
  /** @minLength 1 */
  conclusion: string;
  /** A numactl line for a shell; its words may be untrusted. Null: there is nothing to bind. */
  command: string | null;
}

/** Of a process or a program that was looked at, not of a recording. */
export type LiveWhere = Where & Record<'machine', MachineTopology> & { [K in 'unlisted' | 'timeline']: NonNullable<Where[K]> };

/** A few looks at where memory was and where threads ran. */
export interface RecordedPlacement {
  /**
   * From the start of the recording to the last look.
   * @minimum 0
   */
  seconds: number;
  looks: Count;
  nodes: WhereNode[];
  /** Those that ran, by run time, descending, ties by ascending id; the time between two looks counts for the CPU of the later one. */
  threads: Pick<WhereThread, 'tid' | 'pid' | 'name' | 'cpuRunNs'>[];
}

/** One of `pid` and `command`. */
export interface WhereParams {
  pid?: number;
  /** Program and arguments. */
  command?: string[];
  /** That a running process is looked at; by default 3. A command: to its end. */
  seconds?: number;
}

export interface WhereOutcome {
  where: LiveWhere;
  /** Of the command; both null: there was none. */
  exitStatus: Integer | null;
  signal: Integer | null;
  interrupted: boolean;
}
