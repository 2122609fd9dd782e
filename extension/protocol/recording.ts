// meta.json of a recording folder (cacheline-recording/1).
import type { Calibration } from './calibration';
import type { Count, Integer, Positive } from './values';
import type { MachineTopology, RecordedPlacement } from './where';

/**
 * meta.json of a recording folder. It exists from the start of a recording and is replaced at its end.
 * @id cacheline-recording-1.schema.json
 * @title cacheline-recording/1
 */
export interface RecordingMeta {
  schema: 'cacheline-recording/1';
  /** Of the recorder. */
  version: string;
  /** Program and arguments; empty where none was started. */
  command: string[];
  workingDirectory: string;
  /**
   * UTC.
   * @pattern ^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$
   */
  startedAt: string;
  collector: string;
  /** Why this one and not a stronger one. */
  collectorReason: string;
  /** The collectors that were not used, and why; absent in recordings of older versions. */
  notTaken?: { collector: 'pmu' | 'clock' | 'agent'; reason: string }[];
  /** What was recorded; absent in recordings of older versions, which are all of a command. */
  target?: {
    kind: 'command' | 'processes' | 'threads' | 'system';
    /** Of processes or threads. */
    ids: Integer[];
    /** Only what happened on these; empty: on all. */
    cpus: Count[];
    /** Processes that the target started later, too. */
    children: boolean;
    /** --children: processes that the target started before, too, which `ids` has behind those that were asked for; else absent. */
    descendants?: true;
  };
  /** Samples a second and CPU (agent: and thread) that were asked of the kernel; 0: by period. */
  frequency: Count;
  /** Events a sample that were asked of the kernel (clock: ns); 0 or absent: by frequency. */
  period?: Count;
  /** Cycles: loads that were faster were not sampled (memory PMU); null or absent: there was no such filter. */
  ldlat?: Count | null;
  /**
   * 0: until the program ended.
   * @minimum 0
   */
  durationSeconds: number;
  /** Null while it runs, and where the recorder died before it. */
  program: {
    exitStatus: Integer | null;
    signal: Integer | null;
    /**
     * User and system time, waited-for children included.
     * @minimum 0
     */
    cpuSeconds: number;
  } | null;
  samples: Count;
  lost: Count;
  /** Whether perf.data says when threads were put on CPUs and taken off them; absent in recordings of older versions, which do not. */
  switches?: {
    recorded: boolean;
    /** Why not; null: they are recorded. */
    reason: string | null;
  };
  /** Heap blocks in the file `allocations`; null or absent: not recorded. */
  heap?: {
    /** Above the rate, 1 in so many of the blocks below 64 bytes was to be recorded. */
    sampling: Positive;
    blocks: Count;
    /** Blocks that were not recorded. */
    lost: Count;
  } | null;
  /** The recording was ended before the program. */
  interrupted: boolean;
  warnings: string[];
  machine: {
    hostname: string;
    kernel: string;
    cpu: string;
    /** That are online. */
    cpus: Count;
    /**
     * On how many of them the recorded processes could run (sched_setaffinity(2)), at the last look; absent in recordings of older
     * versions.
     */
    usableCpus?: Count;
    lineSize: Count;
  };
  /**
   * What contention costs on this CPU model; null: it was not measured before (`cacheline doctor --calibrate`); absent in recordings of
   * older versions.
   */
  calibration?: Calibration | null;
  /** Packages, NUMA nodes, cores and caches; null: the kernel does not say; absent in recordings of older versions. */
  topology?: MachineTopology | null;
  /** Null: the machine has one NUMA node, or all of it was recorded; absent in recordings of older versions. */
  placement?: RecordedPlacement | null;
  /** Files that were mapped executable. */
  binaries: {
    path: string;
    buildId: string;
    size: Count;
    /**
     * A string: more than a JSON number holds exactly.
     * @pattern ^-?\d+$
     */
    mtimeNs: string;
    /**
     * /proc/PID/root of a process in another mount namespace (a container), through which the recorder saw the file; absent: its path is
     * one of the recorder's own.
     */
    root?: string;
  }[];
}
