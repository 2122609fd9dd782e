// Which file of this machine a path of a recording means: the path itself, or the workspace file that ends most like it.
import { posix } from 'node:path';

/** How many of the last path segments two paths have in common. */
export function commonSuffix(a: string, b: string): number {
  const left = segments(a);
  const right = segments(b);
  let count = 0;
  while (count < left.length && count < right.length && left.at(-1 - count) === right.at(-1 - count)) ++count;
  return count;
}

/** The candidate with the longest common suffix, or undefined where none shares the file name or two are equally like it. */
export function bestSuffixMatch(path: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestCount = 0;
  let tied = false;
  for (const candidate of candidates) {
    const count = commonSuffix(path, candidate);
    if (count > bestCount) [best, bestCount, tied] = [candidate, count, false];
    else if (count === bestCount) tied = true;
  }
  return tied ? undefined : best;
}

function segments(path: string): string[] {
  return posix
    .normalize(path)
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.');
}
