// Runs of one program, or of two in pairs, first without a recording and then with one.
import type { RunPair, Runs } from '../../protocol/runs';
import { comparePairs, medianOf } from './paired';

/** Runs a command to its end. @returns nanoseconds */
export type Run = (command: readonly string[]) => Promise<number>;

export interface Programs {
  before: readonly string[];
  /** Null: `before` alone is run. */
  after: readonly string[] | null;
}

/**
 * So many pairs, behind one that is left out: caches and file systems are cold in it. The two programs of a pair take turns in going first
 * (ABBA), so that neither gains by what changes over time.
 * @param run rejects to end it
 * @param note called before each pair with its number; 0 is the one that is left out
 */
export async function runPairs(programs: Programs, count: number, run: Run, note: (number: number) => void): Promise<RunPair[]> {
  const pairs: RunPair[] = [];
  for (let number = 0; number <= count; ++number) {
    note(number);
    const pair = await runPair(programs, number % 2 === 1 ? 'AB' : 'BA', run);
    if (number > 0) pairs.push(pair);
  }
  return pairs;
}

async function runPair({ before, after }: Programs, order: 'AB' | 'BA', run: Run): Promise<RunPair> {
  if (after === null) return { order: 'A', beforeNs: await run(before), afterNs: null, recorded: false };
  const first = await run(order === 'AB' ? before : after);
  const second = await run(order === 'AB' ? after : before);
  return order === 'AB'
    ? { order, beforeNs: first, afterNs: second, recorded: false }
    : { order, beforeNs: second, afterNs: first, recorded: false };
}

/** What the runs without a recording say. */
export function summarizePairs(pairs: readonly RunPair[]): Pick<Runs, 'median' | 'speedup' | 'p'> {
  const plain = pairs.filter(({ recorded }) => !recorded);
  const before = plain.map(({ beforeNs }) => beforeNs);
  const after = plain.flatMap(({ afterNs }) => afterNs ?? []);
  const compared =
    after.length === 0
      ? null
      : comparePairs(plain.flatMap(({ beforeNs, afterNs }) => (afterNs === null ? [] : [{ before: beforeNs, after: afterNs }])));
  return {
    median: {
      before: Math.round(medianOf(before)),
      after: after.length === 0 ? null : Math.round(medianOf(after)),
      spread: { before: spreadOf(before), after: after.length === 0 ? null : spreadOf(after) },
    },
    speedup: compared?.speedup ?? null,
    p: compared?.p ?? null,
  };
}

/** From the least to the most, over the median. */
function spreadOf(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / medianOf(values);
}
