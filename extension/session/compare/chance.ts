// Whether chance explains a difference between two recordings.

/** What a recording says of a quantity, whose true value it only samples. */
export interface Estimate {
  value: number;
  /** Where the true value probably is, and how far from it: not quite `value` where samples are few, nor 0 where there is none. */
  centre: number;
  variance: number;
}

export interface Difference {
  /** After less before. */
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

/** `part` of `of` samples. By Agresti and Caffo (2000): a success and a failure more, so that few samples and none are treated right. */
export function proportion(part: number, of: number): Estimate {
  const count = of / SAMPLES_OF_ONE + 2;
  const centre = (part / SAMPLES_OF_ONE + 1) / count;
  return { value: of === 0 ? 0 : part / of, centre, variance: (centre * (1 - centre)) / count };
}

/** So many samples, each of which stands for `each`: a count of events, with one more for the same reason. */
export function amount(count: number, each: number): Estimate {
  const events = count / SAMPLES_OF_ONE + 1;
  const weight = each * SAMPLES_OF_ONE;
  return { value: count * each, centre: events * weight, variance: events * weight * weight };
}

export function differenceOf(before: Estimate, after: Estimate): Difference {
  const error = Math.sqrt(before.variance + after.variance);
  const centre = after.centre - before.centre;
  return {
    value: after.value - before.value,
    low: centre - INTERVAL * error,
    high: centre + INTERVAL * error,
    p: 2 * (1 - normal(Math.abs(centre) / error)),
    within: (margin) => Math.max(0, normal((margin - centre) / error) - normal((-margin - centre) / error)),
  };
}

/** The standard normal distribution, by Abramowitz and Stegun 7.1.26: exact to 2e-7. */
function normal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const upper = 0.5 * polynomial * Math.exp(-x * x);
  return z < 0 ? upper : 1 - upper;
}
