// Whether chance explains the difference of two shares of samples.

/** So many samples of a recording count. */
export interface Proportion {
  part: number;
  of: number;
}

export interface Difference {
  /** Of the shares: after less before. */
  value: number;
  /** Its 95% interval. */
  low: number;
  high: number;
  /** Two-sided: how probable so large a difference is where there is none. */
  p: number;
  /** That the true difference is at most `margin` in size. */
  within: (margin: number) => number;
}

/**
 * Samples are not independent: threads contend in phases, and two runs of one program differ more than two halves of one run. So many
 * samples count as one (docs/design/compare.md has the measurement).
 */
const SAMPLES_OF_ONE = 4;

/** Standard deviations of a 95% interval. */
const INTERVAL = 1.96;

/** By Agresti and Caffo (2000): a success and a failure more on either side, so that few samples and none are treated right. */
export function differenceOf(before: Proportion, after: Proportion): Difference {
  const [a, b] = [smoothed(before), smoothed(after)];
  const error = Math.sqrt(a.variance + b.variance);
  const centre = b.share - a.share;
  return {
    value: shareOf(after) - shareOf(before),
    low: Math.max(-1, centre - INTERVAL * error),
    high: Math.min(1, centre + INTERVAL * error),
    p: 2 * (1 - normal(Math.abs(centre) / error)),
    within: (margin) => Math.max(0, normal((margin - centre) / error) - normal((-margin - centre) / error)),
  };
}

export function shareOf({ part, of }: Proportion): number {
  return of === 0 ? 0 : part / of;
}

function smoothed({ part, of }: Proportion): { share: number; variance: number } {
  const count = of / SAMPLES_OF_ONE + 2;
  const share = (part / SAMPLES_OF_ONE + 1) / count;
  return { share, variance: (share * (1 - share)) / count };
}

/** The standard normal distribution, by Abramowitz and Stegun 7.1.26: exact to 2e-7. */
function normal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const upper = 0.5 * polynomial * Math.exp(-x * x);
  return z < 0 ? upper : 1 - upper;
}
