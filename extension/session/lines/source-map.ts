// Which file of this machine a path of a recording means: what the setting says, else the workspace file that ends most
// like it. Paths are POSIX paths; recordings are made on Linux.
import { posix } from 'node:path';

/** A folder of the recorded machine (or one file) and what it is here. */
export interface PathPair {
  from: string;
  to: string;
}

/** How many of the last path segments two paths have in common. */
function commonSuffix(a: string, b: string): number {
  const left = segments(a);
  const right = segments(b);
  let count = 0;
  while (count < left.length && count < right.length && left.at(-1 - count) === right.at(-1 - count)) ++count;
  return count;
}

/** The candidates with the longest common suffix; none where none shares even the file name. */
export function bestSuffixMatches(path: string, candidates: readonly string[]): string[] {
  const counts = candidates.map((candidate) => commonSuffix(path, candidate));
  const most = Math.max(0, ...counts);
  return most === 0 ? [] : candidates.filter((_, index) => counts[index] === most);
}

/**
 * What is left of two paths without their common end: where the recorded tree was, and where it is here. For a path of
 * which nothing is left (recorded relative, or from the root) the pair is the file itself.
 */
export function pairOf(path: string, match: string): PathPair {
  const count = commonSuffix(path, match);
  const from = withoutLast(path, count);
  const to = withoutLast(match, count);
  return from === '' || from === '/' || to === '' || to === '/' ? { from: path, to: match } : { from, to };
}

/** The path with the longest `from` that it is or lies below replaced; undefined where there is none. */
export function mapPath(path: string, pairs: readonly PathPair[]): string | undefined {
  const best = pairs
    .filter(({ from }) => from !== '' && isBelow(path, from))
    .reduce<PathPair | undefined>((longest, pair) => (longest && longest.from.length >= pair.from.length ? longest : pair), undefined);
  if (!best) return undefined;
  const rest = path.slice(trimmed(best.from).length);
  return posix.normalize(trimmed(best.to) + rest);
}

/**
 * Which of several equally good candidates goes with the other files of the recording.
 * @param pairs of files that had one candidate only
 * @returns undefined where not exactly one of them does
 */
export function agreeing(path: string, candidates: readonly string[], pairs: readonly PathPair[]): string | undefined {
  const agreed = candidates.filter((candidate) => pairs.some((pair) => mapPath(path, [pair]) === candidate));
  return agreed.length === 1 ? agreed[0] : undefined;
}

/** The folders that these files lie in, without those below others of them; the root and its folders stand for themselves alone. */
export function topFolders(files: Iterable<string>): string[] {
  const folders = [...new Set([...files].map((file) => posix.dirname(file)))];
  return folders.filter((folder) => !folders.some((other) => other !== folder && covers(other, folder))).sort();
}

/** Whether who agrees to a folder agrees to this one, too. */
export function covers(agreed: string, folder: string): boolean {
  return folder === agreed || (segments(agreed).length > 1 && isBelow(folder, agreed));
}

export function isBelow(path: string, folder: string): boolean {
  const start = trimmed(folder);
  return path === start || path.startsWith(`${start}/`);
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, '');
}

function withoutLast(path: string, count: number): string {
  const parts = segments(path);
  const start = posix.isAbsolute(path) ? '/' : '';
  return start + parts.slice(0, parts.length - count).join('/');
}

function segments(path: string): string[] {
  return posix
    .normalize(path)
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.');
}
