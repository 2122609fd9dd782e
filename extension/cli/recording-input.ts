// The recording that a command reads, and the files that its options name.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../protocol/engine';
import { SUFFIX } from '../session/record/recording-folder';
import { wrong, type CommandName } from './options';
import type { Analysis } from './recording-arguments';
import { ProgressLine, tell } from './terminal';

/** A short analysis shows no progress. */
const PROGRESS_AFTER_MS = 500;

/**
 * What was named, else the newest recording here, which is said.
 * @throws EngineError 'usage' where what an option names is not there, 'unreadable' where there is no recording
 */
export async function recordingPath(command: CommandName, path: string | undefined, analysis: Analysis): Promise<string> {
  await checkFiles(command, analysis);
  if (path !== undefined) return path;
  const newest = await newestRecording(process.cwd());
  tell(`reading ${newest}`);
  return newest;
}

/** Shows on a terminal how much of the recording is read. @param task gets what takes the share, 0 to 1 */
export async function showingProgress<T>(path: string, task: (onProgress: (share: number) => void) => Promise<T>): Promise<T> {
  const line = new ProgressLine();
  const started = performance.now();
  try {
    return await task((share) => {
      if (performance.now() - started > PROGRESS_AFTER_MS) line.show(`reading ${path}: ${Math.floor(share * 100)}%`);
    });
  } finally {
    line.clear();
  }
}

async function checkFiles(command: CommandName, { symfs, vmlinux, debuginfod }: Analysis): Promise<void> {
  for (const [option, path, kind] of [
    ['--symfs', symfs, 'folder'],
    ['--vmlinux', vmlinux, 'file'],
  ] as const) {
    if (path === undefined) continue;
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || found.isDirectory() !== (kind === 'folder')) throw wrong(`${option} names no ${kind}: '${path}'.`, command);
  }
  if (debuginfod && (process.env['DEBUGINFOD_URLS'] ?? '').trim() === '') {
    throw wrong('--debuginfod asks the servers that DEBUGINFOD_URLS names, and it names none.', command);
  }
}

/**
 * The *.cacheline folder that was written to last, else perf.data.
 * @throws EngineError 'unreadable' where there is neither
 */
async function newestRecording(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  let newest: { name: string; time: number } | undefined;
  for (const { name } of entries.filter((entry) => entry.name.endsWith(SUFFIX) && !entry.isFile())) {
    const found = await lastWritten(join(folder, name, 'perf.data'));
    if (found !== undefined && (newest === undefined || found > newest.time)) newest = { name, time: found };
  }
  if (newest !== undefined) return newest.name;
  if (entries.some(({ name }) => name === 'perf.data')) return 'perf.data';
  throw new EngineError(
    'unreadable',
    `There is no recording in ${folder}: no *${SUFFIX} folder with a perf.data in it, and no perf.data.`,
    'Make one with: cacheline record -- PROGRAM',
  );
}

async function lastWritten(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined;
    throw error;
  }
}
