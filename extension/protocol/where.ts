// Where the memory of processes lies and where their threads run: `cacheline where --format json` (cacheline-where/1), and what
// recordings keep of it.

/** Keys are ids of CPUs or NUMA nodes. */
export type ById = Record<string, number>;

/** Null: the kernel does not say. */
export interface MachineCache {
  level: number;
  /** "Data", "Instruction", "Unified". */
  type: string;
  bytes: number | null;
  lineSize: number | null;
  /** That share it. */
  cpus: number[];
}

/** The online part of a machine, as the kernel describes it. */
export interface MachineTopology {
  /** False: the kernel has no NUMA nodes, and `nodes` is one that holds everything. */
  numa: boolean;
  packages: { id: number; cpus: number[] }[];
  cores: { package: number | null; die: number | null; id: number; cpus: number[] }[];
  caches: MachineCache[];
  /** `distances`: to each node in the order of their ids, 10 is the node itself; empty where the kernel does not say. */
  nodes: { id: number; cpus: number[]; memoryBytes: number | null; freeBytes: number | null; distances: number[] }[];
}

/** Bytes of resident pages, as `numastat -p` sorts them; `other` is its "private". */
export interface MemoryKinds {
  huge: number;
  heap: number;
  stack: number;
  other: number;
}

export interface WhereNode {
  id: number;
  cpus: number[];
  /** Of the processes that were looked at; null: not known, `memoryReason` says why. */
  bytes: number | null;
  kinds: MemoryKinds | null;
}

export interface WhereThread {
  tid: number;
  pid: number;
  /** Untrusted. */
  name: string;
  /** By node, in ns, while it was looked at. */
  runNs: ById;
  /** The same by CPU. */
  cpuRunNs: ById;
  /** For each stretch of the timeline the CPU on which it ran most; null: it did not run. */
  cpuOverTime: (number | null)[];
}

export interface WhereProcess {
  pid: number;
  /** Untrusted, as is the command. */
  name: string;
  /** Empty: not known, or longer than 4096 bytes. */
  command: string[];
  /** Empty: not known. */
  allowedCpus: number[];
  allowedNodes: number[];
  ended: boolean;
  /** CPU time that no look saw: of threads that ended before the next one. */
  missedNs: number;
}

export interface Where {
  schema: 'cacheline-where/1';
  /** Looked at. */
  seconds: number;
  machine: MachineTopology;
  nodes: WhereNode[];
  processes: WhereProcess[];
  /** By run time, descending, ties by ascending id. */
  threads: WhereThread[];
  /** Of very many threads those that ended and ran least, as a sum. */
  unlisted: { threads: number; runNs: ById };
  /** `memory`: bytes by node at the last look in each stretch; null: there was none. */
  timeline: { binSeconds: number; memory: (ById | null)[] };
  looks: { threads: number; memory: number };
  /** Why `bytes` are null, or where they come from instead of numa_maps; null: they are exact. */
  memoryReason: string | null;
  /** Of the accesses; null: only a memory PMU counts them. */
  remoteShare: number | null;
  conclusion: string;
  /** A numactl line for a shell; its words may be untrusted. Null: there is nothing to bind. */
  command: string | null;
}

/** `placement` of meta.json: a few looks at memory and threads. */
export interface RecordedPlacement {
  seconds: number;
  looks: number;
  nodes: WhereNode[];
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
  where: Where;
  /** Of the command; both null: there was none. */
  exitStatus: number | null;
  signal: number | null;
  interrupted: boolean;
}
