// Whether one program is faster than another, from pairs of runs: Wilcoxon's signed-rank test and the confidence interval that belongs to it
// (Hodges and Lehmann, 1963). Neither needs times to follow a normal distribution, which they never do.
import type { Speedup } from '../../protocol/runs';

/** Two-sided. */
const SIGNIFICANCE = 0.05;

export interface PairedResult {
  speedup: Speedup;
  /** How likely a difference like this is by chance, 0 to 1. */
  p: number;
}

/** @param pairs times of the two programs, above 0, of one pair or more */
export function comparePairs(pairs: readonly { before: number; after: number }[]): PairedResult {
  const differences = pairs.map(({ before, after }) => Math.log(before / after));
  const averages = walshAverages(differences);
  const cut = Math.max(0, lowestRankSums(pairs.length) - 1);
  const at = (index: number): number => Math.exp(averages[index] ?? 0);
  return {
    speedup: { low: at(cut), mid: Math.exp(medianOf(averages)), high: at(averages.length - 1 - cut) },
    p: signedRankTest(differences),
  };
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return ((sorted[middle] ?? 0) + (sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? 0)) / 2;
}

/** The means of all pairs of values, of each with itself too, ascending. */
function walshAverages(values: readonly number[]): number[] {
  const averages: number[] = [];
  values.forEach((value, i) => {
    for (const other of values.slice(i)) averages.push((value + other) / 2);
  });
  return averages.sort((a, b) => a - b);
}

/** How many of the lowest rank sums of so many differences together have a probability of at most SIGNIFICANCE / 2. */
function lowestRankSums(count: number): number {
  const ways = rankSums(Array.from({ length: count }, (_, i) => i + 1));
  const all = 2 ** count;
  let below = 0;
  for (const [sums, each] of ways.entries()) {
    below += each;
    if (below / all > SIGNIFICANCE / 2) return sums;
  }
  return ways.length;
}

/** By sum, how many subsets of the ranks, whole numbers, have it. */
function rankSums(ranks: readonly number[]): number[] {
  const ways = new Array<number>(ranks.reduce((sum, rank) => sum + rank, 0) + 1).fill(0);
  ways[0] = 1;
  for (const rank of ranks) for (let sum = ways.length - 1; sum >= rank; --sum) ways[sum] = (ways[sum] ?? 0) + (ways[sum - rank] ?? 0);
  return ways;
}

/** @returns the two-sided probability of rank sums at least as uneven, 1 where nothing differs */
function signedRankTest(differences: readonly number[]): number {
  const other = differences.filter((value) => value !== 0).sort((a, b) => Math.abs(a) - Math.abs(b));
  // Twice the ranks, so that the mean rank of equal ones is whole.
  const ranks = other.map((value) => {
    const first = other.findIndex((one) => Math.abs(one) === Math.abs(value));
    const last = other.findLastIndex((one) => Math.abs(one) === Math.abs(value));
    return first + last + 2;
  });
  const [positive, negative] = [1, -1].map((sign) =>
    ranks.reduce((sum, rank, i) => (Math.sign(other[i] ?? 0) === sign ? sum + rank : sum), 0),
  );
  const lower = Math.min(positive ?? 0, negative ?? 0);
  const ways = rankSums(ranks);
  const below = ways.slice(0, lower + 1).reduce((sum, each) => sum + each, 0);
  return Math.min(1, (2 * below) / 2 ** other.length);
}
