// What contention costs on a machine: `cacheline doctor --calibrate`, and in meta.json (docs/outputs.md, "Calibration").

/** What the CPU does for an access. `load`: a plain one, of a line that another thread stores to. `locked`: a read-modify-write. */
export type AccessClass = 'load' | 'store' | 'locked' | 'exchange';

/** Two threads that repeat some work and one access: ns of one iteration of one thread. */
export interface SweepPoint {
  /** Without the access: the median over rounds. The others are this and the median of what the access added in a round. */
  workNs: number;
  /** On a line of the thread's own. */
  aloneNs: number;
  /** On a line that the other thread uses the same way, at another word. */
  contendedNs: number;
  /** Iterations of a thread between two changes of the other thread's word that it sees; null: it saw none. */
  iterationsPerChange: number | null;
  /** Median over the rounds of how far their 1 - (aloneNs - workNs) / (contendedNs - workNs) is from this point’s. */
  spread: number;
}

export interface Calibration {
  schema: 'cacheline-calibration/1';
  /** As /proc/cpuinfo has it; may be empty. */
  cpuModel: string;
  /** "VENDOR-FAMILY-MODEL-STEPPING". */
  cpuId: string;
  cpus: [number, number];
  seconds: number;
  /** ISO 8601, UTC. */
  date: string;
  /** The work between two accesses grows from point to point. */
  classes: Record<AccessClass, SweepPoint[]>;
  /** Slices of time that were measured, and how many of them are not used: a thread did not have its CPU to itself. */
  slices: number;
  discarded: number;
}

export interface CalibrationResult {
  /** Null: not known. */
  measured: Calibration | null;
  /** Where it is kept; null: it is not. */
  file: string | null;
  /** Why it is not known or not kept: sentences; empty: it is both. */
  reason: string;
}
