// The recorded program and its libraries, kept in the recording under their build ids: once they are built again, the files at their paths
// are others, and the older recording would lose its names.
import { constants, type BigIntStats } from 'node:fs';
import { copyFile, link, lstat, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RecordingMeta } from '../../protocol/recording';
import { byteSize, printable } from '../text/terminal-text';

/** In a recording's folder, laid out as /usr/lib/debug/.build-id. */
export const KEPT_FOLDER = '.build-id';

type Binary = RecordingMeta['binaries'][number];

/** Installed by packages, whose names and debug information are found by build id as ever. */
const SYSTEM_FOLDERS = /^\/(usr(?!\/local\/)|bin|sbin|lib[^/]*|nix|snap)\//;
const OWN_AGENT = /\/libcacheline_\w+\.so$/;
const BUILD_ID = /^[0-9a-f]{4,}$/;
const SET_ID_BITS = 0o6000n;
/** Of one file where the recording is on another file system, or links are not allowed. */
const MOST_COPIED_BYTES = 128 * 1024 * 1024;

/**
 * Keeps those that belong to the user who records: as a clone that shares its blocks (FICLONE), else a hard link, else a copy. Programs that run
 * with another user's rights are left out. A file that is written in place later is no harm: lookup takes only what still has its build id.
 * @returns a sentence for each that could not be kept
 */
export async function keepBinaries(recording: string, { mostCopied = MOST_COPIED_BYTES } = {}): Promise<string[]> {
  const sentences: string[] = [];
  for (const binary of (await binariesOf(recording)).filter(isWanted)) {
    const why = await keep(binary, join(recording, KEPT_FOLDER, binary.buildId.slice(0, 2), binary.buildId.slice(2)), mostCopied);
    if (why !== undefined)
      sentences.push(`${printable(binary.path)} is not kept in the recording, which loses its names when it is built again: ${why}`);
  }
  return sentences;
}

/** None where there is no meta.json, which says what was recorded. */
async function binariesOf(recording: string): Promise<Binary[]> {
  try {
    return (JSON.parse(await readFile(join(recording, 'meta.json'), 'utf8')) as RecordingMeta).binaries;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A file of a container (`root`) is gone with its process; what has no build id could not be told from others later. */
function isWanted({ path, buildId, root }: Binary): boolean {
  return BUILD_ID.test(buildId) && root === undefined && !SYSTEM_FOLDERS.test(path) && !OWN_AGENT.test(path);
}

/** @returns why not; undefined where it is kept (also by another path), or is not the user's */
async function keep({ path, size, mtimeNs }: Binary, target: string, mostCopied: number): Promise<string | undefined> {
  try {
    const found = await lstat(path, { bigint: true });
    if (!isOwn(found)) return undefined;
    if (found.size !== BigInt(size) || found.mtimeNs !== BigInt(mtimeNs)) return 'it was changed while it was recorded';
    await mkdir(dirname(target), { recursive: true });
    if (await shares(path, target)) return undefined;
    if (size > mostCopied) return `it cannot be linked there, and ${byteSize(size)} are too much to copy`;
    await copyFile(path, target, constants.COPYFILE_EXCL);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return code === 'EEXIST' ? undefined : message;
  }
}

function isOwn(file: BigIntStats): boolean {
  return file.isFile() && file.uid === BigInt(process.geteuid?.() ?? -1) && (file.mode & SET_ID_BITS) === 0n;
}

/** False: the file systems can do neither. Never writes into what is at `target`: that may be a link to a file of the user. */
async function shares(path: string, target: string): Promise<boolean> {
  const clone = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE;
  for (const attempt of [() => copyFile(path, target, clone), () => link(path, target)]) {
    try {
      await attempt();
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined || code === 'EEXIST') throw error;
    }
  }
  return false;
}

/** What deleting the recording frees: files that have no other name any more. 0 where none are kept. */
export async function keptBytes(recording: string): Promise<number> {
  const files = await readdir(join(recording, KEPT_FOLDER), { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const sizes = files.filter((file) => file.isFile()).map((file) => lstat(join(file.parentPath, file.name)));
  return (await Promise.all(sizes)).reduce((sum, { size, nlink }) => sum + (nlink > 1 ? 0 : size), 0);
}
