// Sources on this machine's disk, at the paths that were recorded; and the folder that a patch of them is for.
import { t } from '../../protocol/l10n';
import { existsSync, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { UnreadableSource, type LocatedSources } from './advice-edits';

/** Bytes: no source of a person is larger. */
const LARGEST_SOURCE = 16 << 20;

/** When the binaries of a recording were built, as it says itself. */
export type BuiltAt = ReadonlyMap<string, number>;

export class DiskSources implements LocatedSources {
  /** @param built in ms since 1970; of others the file's own time counts */
  constructor(private readonly built: BuiltAt) {}

  /** Rejects with UnreadableSource. */
  async read(file: string): Promise<string | undefined> {
    try {
      const found = await stat(file);
      if (!found.isFile()) throw new UnreadableSource(t('{0} is not a file: make the change by hand.', file));
      if (found.size > LARGEST_SOURCE)
        throw new UnreadableSource(t('{0} has {1} bytes, which is too large to edit: make the change by hand.', file, found.size));
      return await readFile(file, 'utf8');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      if (code === undefined) throw error;
      throw new UnreadableSource(t('{0} cannot be read ({1}): make it readable, or make the change by hand.', file, message));
    }
  }

  /** Without symbolic links, through which `git apply` writes nothing. */
  pathOf(file: string): string {
    return realpathSync(file);
  }

  async isNewer(file: string, binary: string): Promise<boolean> {
    const [changed, built] = await Promise.all([modified(file), this.built.get(binary) ?? modified(binary)]);
    return changed !== undefined && built !== undefined && changed > built;
  }
}

/** In ms since 1970; undefined: not there. */
async function modified(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

/**
 * From the `meta.json` of a recording; nothing where there is none, or none that can be understood: the analysis has said so.
 * @param recording a folder, or a perf.data file
 */
export async function builtAtOf(recording: string): Promise<BuiltAt> {
  const folder = (await stat(recording)).isDirectory() ? recording : dirname(recording);
  let text: string;
  try {
    text = await readFile(join(folder, 'meta.json'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return new Map();
  }
  const times = new Map<string, number>();
  for (const { path, mtimeNs } of binariesOf(text))
    if (typeof path === 'string' && typeof mtimeNs === 'string' && /^\d+$/.test(mtimeNs)) times.set(path, Number(mtimeNs) / 1e6);
  return times;
}

function binariesOf(text: string): { path?: unknown; mtimeNs?: unknown }[] {
  let meta: unknown;
  try {
    meta = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
  const { binaries } = (typeof meta === 'object' && meta !== null ? meta : {}) as { binaries?: unknown };
  return Array.isArray(binaries) ? (binaries as unknown[]).filter((one): one is object => typeof one === 'object' && one !== null) : [];
}

/**
 * Where `git apply` takes a patch of these files: the reader's folder where it holds them all, else the repository that does, else the
 * folder that they have in common.
 * @param files absolute
 * @param folder absolute
 */
export function patchFolder(files: readonly string[], folder: string): string {
  if (files.every((file) => isBelow(file, folder))) return folder;
  let common = dirname(files[0] ?? folder);
  while (!files.every((file) => isBelow(file, common))) common = dirname(common);
  for (let above = common; ; above = dirname(above)) {
    if (existsSync(join(above, '.git'))) return above;
    if (dirname(above) === above) return common;
  }
}

function isBelow(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return path !== '' && path !== '..' && !path.startsWith('../');
}
