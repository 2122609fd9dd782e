// The JSON of `cacheline diff` (cacheline-diff/1), as docs/outputs.md fixes it: what changed between two recordings.
import type { Evidence } from './report';
import type { Count, Share } from './values';

export type DiffKind = 'object' | 'type' | 'member' | 'function';

/** `gone`: nothing of it waits any more; `new`: nothing of it waited; `unsure`: chance alone can explain the difference. */
export type DiffStatus = 'gone' | 'new' | 'better' | 'worse' | 'same' | 'unsure';

/**
 * By what waiting is compared: `run`: the contended time of a whole run; `second`: that of a second, where the recordings are not of two
 * whole runs that do the same; `samples`: the share of all samples, where there are no times that mean the same.
 */
export type DiffUnit = 'run' | 'second' | 'samples';

/** What one recording says of an entry. null: this evidence cannot say. */
export interface DiffMeasure {
  /** Contended samples. */
  contended: Count;
  /** Contended samples over all samples of the recording. */
  programShare: Share;
  /** The time that the contended samples stand for, ns, in the whole recording. */
  contendedNs: Count | null;
  /**
   * The same for each second of the recording: several threads can wait for more than a second in one.
   * @minimum 0
   */
  contendedNsPerSecond: number | null;
  /**
   * Sampled loads that another core's modified line answered.
   * @minimum 0
   */
  hitmPerSecond: number | null;
}

/** One difference. Where an entry has no sample on one side, that side's numbers are 0. */
export interface DiffChange {
  status: DiffStatus;
  before: DiffMeasure;
  after: DiffMeasure;
  /**
   * That the status is right: for gone, new, better and worse the probability that chance makes no such difference, even if all that the
   * recording with less could not see were contended; for same that the true difference is a small one. Lower where names were matched by
   * guess.
   */
  confidence: Share;
}

export interface DiffEntry extends DiffChange {
  kind: DiffKind;
  /** After, where names differ. A member stands behind its type: "Worker.ticks". */
  name: string;
  /**
   * The name before, where it is another one and the data the same: by its variable or memory and the members that both layouts show. Of
   * several names the one with most samples. Else absent.
   */
  was?: string;
  /** A member with another name at the same place and of the same type: perhaps it was renamed. Else absent. */
  perhaps?: string;
  /** Of a type: so many different types carry the name (the larger number of both sides), and their sums are compared. Else absent. */
  types?: Count;
  /** Of a function: on which side no code of its own has these samples, only code into which it was inlined. Else absent. */
  inlined?: 'before' | 'after';
}

/** One of the recordings. */
export interface DiffSide {
  /** As it was asked for. */
  recording: string;
  /** Program and arguments; empty: not known. */
  command: string[];
  collector: string;
  evidence: Evidence[];
  samples: Count;
  contended: Count;
  /**
   * From the first sample to the last.
   * @minimum 0
   */
  seconds: number;
  /**
   * That the recorded run took; null: it was no whole run, or not the same one as the other.
   * @minimum 0
   */
  runSeconds: number | null;
  /** Of its samples, those of which nothing can be said; 0: less than 10%. */
  blindShare: Share;
}

/**
 * The document of `cacheline diff --format json`: what changed from one recording to the other. More fields may be added; these stay.
 * @id cacheline-diff-1.schema.json
 * @title cacheline-diff/1
 */
export interface Diff {
  schema: 'cacheline-diff/1';
  /** False: both count different things as contended, so that only what went and what came is told. */
  comparable: boolean;
  /** What the status words go by. */
  unit: DiffUnit;
  /** A clause: why that is not the waiting of a run; null: it is. */
  unitReason: string | null;
  before: DiffSide;
  after: DiffSide;
  /** All contended samples. */
  program: DiffChange;
  /** The subject of the first finding after, by its object or else its type; null: nothing waits any more. */
  remaining: {
    name: string;
    /** Of all contended samples after. */
    share: Share;
  } | null;
  /** By kind; the largest difference of the waiting first. */
  entries: DiffEntry[];
  /** In what the recordings differ, and what cannot be compared for that: sentences. */
  notes: string[];
}
