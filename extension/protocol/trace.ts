// Which functions touch the objects of a type, and on which CPUs: `cacheline trace --format json` (cacheline-trace/1).
import type { Count, Share } from './values';

/** "unknown": the instruction cannot be told. */
export type TraceAccess = 'read' | 'write' | 'read-write' | 'unknown';

/** Consecutive accesses of one kind by one function on one CPU. */
export interface TraceStep {
  /** Untrusted, as are the members. */
  function: string;
  /** In the order of their offsets; of arrays all elements together, "slots[].count". */
  members: string[];
  /** Which of the path's CPUs, numbered as the object came to them: 0 is that of the allocation. */
  place: Count;
  /** It ran on another CPU than the step before; the first: than the allocation. */
  cpuChanged: boolean;
  access: TraceAccess;
  /** It came again and again, with no other steps in between than its neighbours. */
  repeated: boolean;
  /** Mean over the objects; of a variable since its window began. */
  sinceAllocNs: Count;
  /**
   * Of the samples of the recording that --costs names, the share of this function's accesses of this kind to these members, at any object
   * of the type; steps with the same ones have the same share. Null: `costReason` says why, or
   * `access` is unknown.
   */
  cost: Share | null;
}

/** What objects have in common. */
export interface TracePath {
  /** Objects, descending. */
  count: Count;
  /** They were followed no longer, though they lived on. */
  truncated: boolean;
  /** Function of the program; untrusted. Null: they are variables. */
  allocatedIn: string | null;
  /** Null: not while they were followed. */
  freed: Pick<TraceStep, 'function' | 'place' | 'cpuChanged' | 'sinceAllocNs'> | null;
  steps: TraceStep[];
  /** That the path has behind the last one. */
  moreSteps: Count;
}

/**
 * The paths of a type's objects through functions and CPUs: `cacheline trace --format json`.
 * @id cacheline-trace-1.schema.json
 * @title cacheline-trace/1
 */
export interface Trace {
  schema: 'cacheline-trace/1';
  /** Untrusted. */
  type: string;
  /** Null: the whole object was traced. */
  member: string | null;
  /** Objects that were followed; of variables, windows of time. */
  instances: Count;
  /** Of them, those that were followed no longer, though they lived on. */
  truncated: Count;
  /** That trapped. */
  accesses: Count;
  /**
   * Share of the program's elapsed time that tracing took, by its own account, which leaves out what context switches cost more. Null: the
   * recorder was killed.
   * @minimum 0
   */
  overhead: number | null;
  /** Why steps have no cost; null: they have one. */
  costReason: string | null;
  paths: TracePath[];
  /** Sentences: what cannot be read. */
  warnings: string[];
}
