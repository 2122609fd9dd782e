// How to write the path of a source place.
import { basename, isAbsolute, relative } from 'node:path';
import type { SourcePlace } from '../../protocol/report';

export { isUnknownCaller, ownCallers, ownParts, ownPlace } from '../../protocol/own-place';

/** "src/a.c:12": relative where it lies below the folder, line left out where it is unknown. */
export function readablePlace({ file, line }: SourcePlace, folder: string): string {
  const path = readablePath(file, folder);
  return line > 0 ? `${path}:${line}` : path;
}

/** "a.c:12": for prose. */
export function shortPlace({ file, line }: SourcePlace): string {
  return line > 0 ? `${basename(file)}:${line}` : basename(file);
}

export function readablePath(path: string, folder: string): string {
  if (!isAbsolute(path) || folder === '') return path;
  const below = relative(folder, path);
  return below === '' || below === '..' || below.startsWith('../') ? path : below;
}
