// What contention costs on a machine: `cacheline doctor --calibrate`, and in meta.json (docs/outputs.md, "Calibration").
import type { Count, Share } from './values';

/** @minimum 0 @maximum 1000000000 */
export type Nanoseconds = number;

/** Two threads that repeat some work and one access: times of one iteration of one thread. */
export interface SweepPoint {
  /** Without the access, the median over rounds; the other times are this and the median of what the access added in a round. */
  workNs: Nanoseconds;
  /** With the access on a line of the thread's own. */
  aloneNs: Nanoseconds;
  /** With the access on a line that the other thread uses the same way, at another word. */
  contendedNs: Nanoseconds;
  /**
   * Iterations of a thread between two changes of the other thread's word that it sees; null: it saw none.
   * @minimum 0
   */
  iterationsPerChange: number | null;
  /** Median over the rounds of how far their 1 - (aloneNs - workNs) / (contendedNs - workNs), within 0 and 1, is from this point's. */
  spread: Share;
}

/**
 * The work between two accesses grows from point to point.
 * @minItems 1
 * @maxItems 64
 */
export type Sweep = SweepPoint[];

/**
 * What contention costs on a machine, as `cacheline doctor --calibrate` measured it: two threads that repeat some work and one access.
 * @id cacheline-calibration-1.schema.json
 * @title cacheline-calibration/1
 */
export interface Calibration {
  schema: 'cacheline-calibration/1';
  /**
   * As /proc/cpuinfo has it; may be empty.
   * @maxLength 256
   */
  cpuModel: string;
  /**
   * VENDOR-FAMILY-MODEL-STEPPING; on Arm the register MIDR_EL1.
   * @maxLength 256
   */
  cpuId: string;
  /** Of the two threads. */
  cpus: [Count, Count];
  /**
   * That the measurement took.
   * @minimum 0
   */
  seconds: number;
  /**
   * ISO 8601, UTC.
   * @maxLength 256
   */
  date: string;
  classes: {
    /** Plain loads of a line that the other thread stores to. */
    load: Sweep;
    /** Plain stores. They hide in the store buffer: of them only bounds are told. */
    store: Sweep;
    /** Plain read-modify-writes. Tight loops of them hide in the store buffer: of them only bounds are told. */
    update: Sweep;
    /** Locked read-modify-writes: atomic additions. */
    locked: Sweep;
    /** Compare-exchanges, repeated until they work. */
    exchange: Sweep;
  };
  /** Slices of time that were measured, those that were discarded included. */
  slices: Count;
  /** Slices in which a thread did not have its CPU to itself. */
  discarded: Count;
}

/** What the CPU does for an access. */
export type AccessClass = keyof Calibration['classes'];

export interface CalibrationResult {
  /** Null: not known. */
  measured: Calibration | null;
  /** Where it is kept; null: it is not. */
  file: string | null;
  /** Why it is not known or could not be kept: sentences; empty: it is both. */
  reason: string;
}
