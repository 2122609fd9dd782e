// Where a recording is written: never over what is there, and with `force` only over another recording.
import { t } from '../../protocol/l10n';
import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { EngineError } from '../../protocol/engine';
import { codeOf, reasonOf } from './file-errors';
import { KEPT_FOLDER } from './kept-binaries';

export interface FolderRequest {
  program: string;
  /** The folder in which PROGRAM.cacheline is made, and that `directory` is relative to. */
  parent: string;
  /** Exactly this folder. */
  directory?: string;
  /** Replaces the recording that is there. */
  force?: boolean;
}

/** An empty folder for one recording. Exactly one of keep() and abandon() ends its use. */
export interface RecordingFolder {
  path: string;
  /** Something was recorded: a recording it replaces is deleted. */
  keep(): Promise<void>;
  /** Nothing was recorded: everything is as it was before. */
  abandon(): Promise<void>;
}

export const SUFFIX = '.cacheline';
/** Everything a recording may hold. Nothing else is ever moved or deleted. */
const RECORDING_FILES: ReadonlySet<string> = new Set([
  'perf.data',
  'meta.json',
  'allocations',
  'blocked.jsonl',
  'watch.data',
  'watch.jsonl',
  'trace.jsonl',
  'trace.box',
  'agent',
  KEPT_FOLDER,
]);
/** Of a name that a process gave itself. */
const MAX_NAME = 64;
/** While meta.json is replaced, its new text lies beside it. */
const PART_SUFFIX = '.new';

/** What a recording of a running process is called: a process may call itself anything. */
export function attachedName({ name, pid }: { name: string; pid: number }): string {
  const safe = name
    .replace(/[^\w.+@=-]+/g, '_')
    .replace(/^\.+/, '')
    .slice(0, MAX_NAME);
  return /\w/.test(safe) ? safe : `process-${pid}`;
}

/** @throws EngineError 'usage' where the folder holds something, 'io' where it cannot be made. */
export async function createRecordingFolder({ program, parent, directory, force = false }: FolderRequest): Promise<RecordingFolder> {
  const name = basename(program) || 'program';
  const wanted = directory === undefined ? join(resolve(parent), name + SUFFIX) : resolve(parent, directory);
  try {
    if (directory === undefined && !force) return newFolder(await makeNumbered(wanted.slice(0, -SUFFIX.length), SUFFIX), true);
    return await useFolder(wanted, force);
  } catch (error) {
    throw error instanceof EngineError ? error : cannotMake(wanted, error);
  }
}

const RUNS_SUFFIX = '.runs';

/**
 * A folder for several recordings: PROGRAM.runs in `parent`, or exactly `directory`, which is empty or not there yet.
 * @returns its path
 * @throws EngineError as createRecordingFolder
 */
export async function createRunsFolder({ program, parent, directory }: Omit<FolderRequest, 'force'>): Promise<string> {
  const wanted =
    directory === undefined ? join(resolve(parent), (basename(program) || 'program') + RUNS_SUFFIX) : resolve(parent, directory);
  try {
    if (directory === undefined) return await makeNumbered(wanted.slice(0, -RUNS_SUFFIX.length), RUNS_SUFFIX);
    await makeFolder(wanted);
    if ((await readdir(wanted)).length > 0)
      throw new EngineError('usage', `The folder ${wanted} is not empty.`, 'Choose another with -o DIR.');
    return wanted;
  } catch (error) {
    throw error instanceof EngineError ? error : cannotMake(wanted, error);
  }
}

function cannotMake(folder: string, error: unknown): EngineError {
  return new EngineError(
    'io',
    t("The recording's folder {0} cannot be made: {1}.", folder, reasonOf(error)),
    codeOf(error) === 'ENOSPC' ? 'Free space there, or choose another folder with -o DIR.' : 'Choose another folder with -o DIR.',
  );
}

/** mkdir decides, so that two recordings that start together get two folders. Rejects with the system's error. */
async function makeNumbered(stem: string, suffix: string): Promise<string> {
  for (let number = 1; ; ++number) {
    const path = `${stem}${number === 1 ? '' : `-${number}`}${suffix}`;
    try {
      await mkdir(path);
      return path;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/**
 * The folder and those above it. Node's own recursive mkdir never ends where the system says ENOENT below a folder that exists, as in /proc.
 * Rejects with the system's error.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || (await isThere(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(path);
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function useFolder(path: string, force: boolean): Promise<RecordingFolder> {
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) {
    await makeFolder(path);
    return newFolder(path, true);
  }
  if (!found.isDirectory()) throw new EngineError('usage', `${path} exists and is not a folder.`, 'Choose another folder with -o DIR.');
  const entries = await readdir(path, { withFileTypes: true });
  if (entries.length === 0) return newFolder(path, false);
  if (!force) {
    throw new EngineError(
      'usage',
      `The folder ${path} is not empty.`,
      'Choose another with -o DIR, or replace the recording in it with --force.',
    );
  }
  const foreign = entries.find(
    (entry) => !(entry.name === KEPT_FOLDER ? entry.isDirectory() : entry.isFile() && isRecordingFile(entry.name)),
  );
  if (foreign !== undefined) {
    throw new EngineError(
      'usage',
      `The folder ${path} holds ${foreign.name}, which is not part of a recording: --force replaces only recordings.`,
      'Choose another folder with -o DIR.',
    );
  }
  return replacingFolder(
    path,
    entries.map((entry) => entry.name),
  );
}

function newFolder(path: string, made: boolean): RecordingFolder {
  return {
    path,
    keep: () => Promise.resolve(),
    abandon: async () => {
      await removeRecording(path);
      if (made) await removeIfEmpty(path);
    },
  };
}

/** The old recording is set aside until there is a new one: a mistyped program must not cost it. */
async function replacingFolder(path: string, files: readonly string[]): Promise<RecordingFolder> {
  const aside = await mkdtemp(`${await realpath(path)}.replaced-`);
  for (const file of files) await rename(join(path, file), join(aside, file));
  return {
    path,
    keep: async () => {
      await removeRecording(aside);
      await rmdir(aside);
    },
    abandon: async () => {
      await removeRecording(path);
      for (const file of files) await rename(join(aside, file), join(path, file));
      await rmdir(aside);
    },
  };
}

async function removeRecording(path: string): Promise<void> {
  for (const file of await readdir(path)) if (isRecordingFile(file)) await rm(join(path, file), { recursive: file === KEPT_FOLDER });
}

async function removeIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    // Something else was put there meanwhile: it is not ours to delete.
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}

/** Whether a file or folder of this name in a recording's folder is part of the recording. */
export function isRecordingFile(name: string): boolean {
  return RECORDING_FILES.has(name.endsWith(PART_SUFFIX) ? name.slice(0, -PART_SUFFIX.length) : name);
}
