// How long runs of a program, or of two builds of it in turn, took: runs.json of `cacheline record --repeat` (docs/outputs.md, "Runs").
import type { Factor } from './advice';
import type { Count, Positive, Share } from './values';

/** @minimum 0 */
type Ratio = number;

/** Of elapsed time, before over after: above 1 the second program is faster. */
export interface Speedup {
  low: Factor;
  mid: Factor;
  high: Factor;
}

export interface RunPair {
  /** Which program ran first. Of one program alone: "A". */
  order: 'A' | 'AB' | 'BA';
  /** Nanoseconds. */
  beforeNs: Positive;
  /** Nanoseconds; null: one program alone was run. */
  afterNs: Positive | null;
  /** Whether the runs were recorded, which costs them time: they are in no median, speedup or test. */
  recorded: boolean;
}

/**
 * The document runs.json of `cacheline record --repeat`. More fields may be added; these stay.
 * @id cacheline-runs-1.schema.json
 * @title cacheline-runs/1
 */
export interface Runs {
  schema: 'cacheline-runs/1';
  /** Program and arguments. */
  before: string[];
  /** Null: one program alone was run. */
  after: string[] | null;
  /** That the runs could use, as the kernel lists them: "0-3,8"; null: it does not say. */
  cpus: string | null;
  /** Processors that other programs used during the runs without a recording, on average. */
  otherLoad: Ratio;
  /** In the order in which they ran. One pair more ran before the first of them, and is left out. */
  pairs: RunPair[];
  /** Nanoseconds of the runs without a recording; `spread`: from the fastest to the slowest, over the median. */
  median: { before: Positive; after: Positive | null; spread: { before: Ratio; after: Ratio | null } };
  /** With its bounds at 95% confidence, or as near as so few pairs come; null: one program alone was run. */
  speedup: Speedup | null;
  /** How likely a difference like this is by chance (Wilcoxon's signed-rank test, two-sided, exact); null: one program alone was run. */
  p: Share | null;
  /**
   * What the advice on the first program promised; null: it promised nothing. `basis` is that of the advice: where it ends with "bound",
   * `mid` means nothing.
   */
  predicted: (Speedup & { type: string; object: string; basis: string }) | null;
  /** Contended samples over all samples of the recorded runs; null: nothing was sampled. */
  contendedShare: { before: Share | null; after: Share | null };
  /** Of all samples. */
  samples: { before: Count; after: Count | null };
}
