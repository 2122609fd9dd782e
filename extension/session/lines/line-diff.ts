// Where the lines of one text are in a later one: common ends first, then lines that are unique in both (patience diff).

/**
 * For each line of `before` its index in `after`, or -1 where it is not there any more. Lines are compared without the
 * white space around them, so that indenting does not lose them.
 */
export function mapLines(before: readonly string[], after: readonly string[]): Int32Array {
  const map = new Int32Array(before.length).fill(-1);
  const left = before.map((line) => line.trim());
  const right = after.map((line) => line.trim());
  const work: [number, number, number, number][] = [[0, left.length, 0, right.length]];
  for (let part = work.pop(); part; part = work.pop()) {
    let [a0, a1, b0, b1] = part;
    while (a0 < a1 && b0 < b1 && left[a0] === right[b0]) map[a0++] = b0++;
    while (a0 < a1 && b0 < b1 && left[a1 - 1] === right[b1 - 1]) map[--a1] = --b1;
    if (a0 === a1 || b0 === b1) continue;
    const anchors = increasing(uniquePairs(left, right, a0, a1, b0, b1));
    let [a, b] = [a0, b0];
    for (const [anchorA, anchorB] of anchors) {
      work.push([a, anchorA, b, anchorB]);
      map[anchorA] = anchorB;
      [a, b] = [anchorA + 1, anchorB + 1];
    }
    if (anchors.length > 0) work.push([a, a1, b, b1]);
  }
  return map;
}

/** Blocks that were moved past each other are found one at a time. */
const MAX_PASSES = 4;

/**
 * The same, also of lines that moved past others: what is left on both sides is compared again. These lines have to be the same,
 * and to hold a word: brackets are everywhere.
 * @param wanted lines of `before` that are asked for
 * @returns line of `before` to line of `after`, of the wanted ones
 */
export function mapMovedLines(before: readonly string[], after: readonly string[], wanted: Iterable<number>): Map<number, number> {
  const map = mapLines(before, after);
  const asked = [...wanted];
  const texts = new Set(asked.flatMap((line) => ((map[line] ?? -1) < 0 ? [wordy(before[line])] : [])));
  texts.delete('');
  const taken = new Set(map);
  const from = texts.size > 0 ? before.flatMap((text, line) => ((map[line] ?? -1) < 0 && texts.has(text.trim()) ? [line] : [])) : [];
  const to = texts.size > 0 ? after.flatMap((text, line) => (!taken.has(line) && texts.has(text.trim()) ? [line] : [])) : [];
  for (const [line, now] of pairMoved(before, from, after, to)) map[line] = now;
  return new Map(asked.map((line) => [line, map[line] ?? -1] as const).filter(([, now]) => now >= 0));
}

/** Pairs of equal lines, each with a word, of these lines of `before` and these of `after`: runs first, then what is left. */
export function pairMoved(
  before: readonly string[],
  from: readonly number[],
  after: readonly string[],
  to: readonly number[],
): Map<number, number> {
  const pairs = new Map<number, number>();
  let left = from.filter((line) => wordy(before[line]) !== '');
  let free = [...to];
  for (let pass = 0; pass < MAX_PASSES && left.length > 0 && free.length > 0; ++pass) {
    const texts = [left.map((line) => before[line] ?? ''), free.map((line) => after[line] ?? '')] as const;
    const map = mapLines(...texts);
    const found = new Set(map);
    for (const [index, line] of left.entries()) {
      const now = free[map[index] ?? -1];
      if (now !== undefined) pairs.set(line, now);
    }
    if (pairs.size === 0) break;
    left = left.filter((line) => !pairs.has(line));
    free = free.filter((_, index) => !found.has(index));
  }
  return pairs;
}

function wordy(text = ''): string {
  return /[\p{L}_]/u.test(text) ? text.trim() : '';
}

/** Pairs (index in left, index in right) of lines that occur once in each range, in the order of left. */
function uniquePairs(
  left: readonly string[],
  right: readonly string[],
  a0: number,
  a1: number,
  b0: number,
  b1: number,
): [number, number][] {
  const once = (lines: readonly string[], from: number, to: number): Map<string, number> => {
    const seen = new Map<string, number>();
    for (let i = from; i < to; ++i) seen.set(lines[i] ?? '', seen.has(lines[i] ?? '') ? -1 : i);
    return seen;
  };
  const inRight = once(right, b0, b1);
  const pairs: [number, number][] = [];
  for (const [line, a] of once(left, a0, a1)) {
    const b = inRight.get(line) ?? -1;
    if (line !== '' && a >= 0 && b >= 0) pairs.push([a, b]);
  }
  return pairs.sort((x, y) => x[0] - y[0]);
}

/** The longest subsequence whose second numbers increase too. */
function increasing(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = []; // tails[n]: index of the pair that ends the best run of n + 1 pairs
  const previous = new Int32Array(pairs.length).fill(-1);
  const second = (index: number | undefined): number => pairs[index ?? -1]?.[1] ?? -1;
  for (let i = 0; i < pairs.length; ++i) {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (second(tails[middle]) < second(i)) low = middle + 1;
      else high = middle;
    }
    previous[i] = tails[low - 1] ?? -1;
    tails[low] = i;
  }
  const run: [number, number][] = [];
  for (let i = tails.at(-1) ?? -1; i >= 0; i = previous[i] ?? -1) {
    const pair = pairs[i];
    if (pair) run.push(pair);
  }
  return run.reverse();
}
