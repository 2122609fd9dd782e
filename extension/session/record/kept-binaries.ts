// The recorded program and its libraries, kept in the recording under their build ids: once they are built again, the files at their paths
// are others, and the older recording would lose its names.
import { constants, type BigIntStats } from 'node:fs';
import { copyFile, link, lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RecordingMeta } from '../../protocol/recording';
import { byteSize, enumerate, printable } from '../text/terminal-text';
import { codeOf, reasonOf } from './file-errors';

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
const NO_BUILD_ID = 'it has no build id to identify it (linkers write one with --build-id)';

/** Of one recording, from its first look until its end. */
export class BinaryKeeper {
  /** Which meta.json share() has seen. */
  private seen = '';
  private sharing = Promise.resolve();

  constructor(
    private readonly recording: string,
    private readonly mostCopied = MOST_COPIED_BYTES,
  ) {}

  /** While it is recorded: keeps what needs no copy, so that a recorder that is killed leaves it. What fails is told by end(). */
  look(): void {
    this.sharing = this.sharing.then(() => this.share());
    this.sharing.catch(() => undefined); // is handled: end() throws it
  }

  /**
   * Keeps what belongs to the user who records: as a clone that shares its blocks (FICLONE), else a hard link, else a copy. Programs that run
   * with another user's rights are left out. A file that is written in place later is no harm: lookup takes only what still has its build id.
   * @returns a sentence for each reason why some could not be kept
   */
  async end(): Promise<string[]> {
    await this.sharing;
    return this.keepAll(this.mostCopied);
  }

  private async share(): Promise<void> {
    const meta = await statOf(join(this.recording, 'meta.json'));
    const now = meta === undefined ? '' : `${meta.ino} ${meta.mtimeNs}`;
    if (now === this.seen) return;
    this.seen = now;
    await this.keepAll(0);
  }

  private async keepAll(mostCopied: number): Promise<string[]> {
    const reasons = new Map<string, string[]>();
    for (const binary of (await binariesOf(this.recording)).filter(isWanted)) {
      const why = await keep(binary, this.recording, mostCopied);
      if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), printable(binary.path)]);
    }
    return [...reasons].map(([why, paths]) => {
      const [are, lose] = paths.length === 1 ? ['is', 'loses its names when it is'] : ['are', 'loses their names when they are'];
      return `${enumerate(paths)} ${are} not kept in the recording, which ${lose} built again: ${why}`;
    });
  }
}

/** None where there is no meta.json, which says what was recorded. */
async function binariesOf(recording: string): Promise<Binary[]> {
  try {
    return (JSON.parse(await readFile(join(recording, 'meta.json'), 'utf8')) as RecordingMeta).binaries;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A file of a container (`root`) is gone with its process. */
function isWanted({ path, root }: Binary): boolean {
  return root === undefined && !SYSTEM_FOLDERS.test(path) && !OWN_AGENT.test(path);
}

/** @returns why not; undefined where it is kept (also by another path), or is not the user's */
async function keep({ path, buildId, size, mtimeNs }: Binary, recording: string, mostCopied: number): Promise<string | undefined> {
  try {
    const found = await statOf(path);
    if (!BUILD_ID.test(buildId)) return found !== undefined && isOwn(found) ? NO_BUILD_ID : undefined;
    const target = join(recording, KEPT_FOLDER, buildId.slice(0, 2), buildId.slice(2));
    const kept = await statOf(target);
    // A link that was written to since is spoilt; what was built in its place is another file.
    if (kept !== undefined && !(found !== undefined && isSameFile(kept, found))) return undefined;
    if (found === undefined) return 'it was deleted while it was recorded';
    if (!isOwn(found)) return undefined;
    if (found.size !== BigInt(size) || found.mtimeNs !== BigInt(mtimeNs)) return 'it was changed while it was recorded';
    if (kept !== undefined) return undefined;
    await mkdir(dirname(target), { recursive: true });
    return await put(path, target, size > mostCopied ? size : undefined);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return reasonOf(error);
  }
}

/**
 * A whole file at `target`, or none, also where this process is killed.
 * @param tooLarge its size, where it must not be copied
 * @returns why not
 */
async function put(path: string, target: string, tooLarge: number | undefined): Promise<string | undefined> {
  const part = `${target}.part`;
  await rm(part, { force: true });
  try {
    if (!(await shares(path, part))) {
      if (tooLarge !== undefined) return `it cannot be linked there, and ${byteSize(tooLarge)} are too much to copy`;
      await copyFile(path, part, constants.COPYFILE_EXCL);
    }
    await rename(part, target);
    return undefined;
  } finally {
    await rm(part, { force: true });
  }
}

function isOwn(file: BigIntStats): boolean {
  return file.isFile() && file.uid === BigInt(process.geteuid?.() ?? -1) && (file.mode & SET_ID_BITS) === 0n;
}

function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

/** False: the file systems can do neither. */
async function shares(path: string, target: string): Promise<boolean> {
  const clone = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE;
  for (const attempt of [() => copyFile(path, target, clone), () => link(path, target)]) {
    try {
      await attempt();
      return true;
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
    }
  }
  return false;
}

/** Undefined: there is none. */
async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What deleting the recording frees: files that have no other name any more. 0 where none are kept. */
export async function keptBytes(recording: string): Promise<number> {
  const files = await readdir(join(recording, KEPT_FOLDER), { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const sizes = files.filter((file) => file.isFile()).map((file) => lstat(join(file.parentPath, file.name)));
  return (await Promise.all(sizes)).reduce((sum, { size, nlink }) => sum + (nlink > 1 ? 0 : size), 0);
}
