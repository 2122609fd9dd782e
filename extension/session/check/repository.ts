// Places in a repository: recorded paths as paths below its root.
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, posix, relative } from 'node:path';
import type { CheckFinding } from '../../protocol/check';
import type { SourcePlace } from '../../protocol/report';

/** The folder with a `.git` above this one, this one included; itself where there is none. */
export function repositoryRoot(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return folder;
  }
}

/**
 * The place with a path relative to the root, for a file that is there. A path of another machine is found by the longest end of it, of two
 * parts at least, that names a file below the root.
 */
export function placeInRepository(place: SourcePlace | null, root: string): SourcePlace | undefined {
  if (place === null || place.file === '' || place.line < 1) return undefined;
  const { file, line } = place;
  const below = isAbsolute(file) ? relative(root, file) : posix.normalize(file);
  if (isBelow(below) && existsSync(join(root, below))) return { file: below, line };
  const parts = posix
    .normalize(file)
    .split('/')
    .filter((part) => part !== '' && part !== '..');
  for (let first = 1; first <= parts.length - 2; ++first) {
    const end = parts.slice(first).join('/');
    if (existsSync(join(root, end))) return { file: end, line };
  }
  return undefined;
}

/** Where the data is declared, else where it waits. */
export function findingPlace({ declared, accessed }: Pick<CheckFinding, 'declared' | 'accessed'>, root: string): SourcePlace | undefined {
  return placeInRepository(declared, root) ?? placeInRepository(accessed, root);
}

function isBelow(path: string): boolean {
  return path !== '' && path !== '..' && !path.startsWith('../') && !isAbsolute(path);
}
