// The file of -o: a result is there as a whole or not at all.
import { access, constants, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EngineError } from '../protocol/engine';
import { print, type TextParts } from './terminal';

/**
 * Writes beside the file and renames; into what is no regular file (a FIFO, /dev/stdout) directly.
 * @throws EngineError 'io'
 */
export async function writeOutput(path: string, content: string | TextParts): Promise<void> {
  let beside: string | undefined;
  try {
    const target = await realpath(path).catch(() => path);
    const found = await stat(target).catch(() => undefined);
    const replaced = found === undefined || found.isFile();
    const file = await open(replaced ? `${target}.${process.pid}.part` : target, replaced ? 'wx' : 'w', found?.mode);
    if (replaced) beside = `${target}.${process.pid}.part`;
    try {
      for (const part of typeof content === 'string' ? [content] : content) await file.writeFile(part);
    } finally {
      await file.close();
    }
    if (beside !== undefined) await rename(beside, target);
  } catch (error) {
    if (beside !== undefined) await rm(beside, { force: true });
    throw cannotWrite(path, error);
  }
}

/**
 * Before long work: that a file can be made there.
 * @throws EngineError 'io'
 */
export async function checkOutput(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !found.isFile()) return;
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
}

function cannotWrite(path: string, error: unknown): EngineError {
  return new EngineError('io', `${path} cannot be written: ${(error as Error).message}.`, 'Name a file in a folder that you may write to.');
}

/** To the file, or to standard output where there is none. */
export async function printTo(path: string | undefined, text: string): Promise<void> {
  if (path === undefined) print(text);
  else await writeOutput(path, text);
}
