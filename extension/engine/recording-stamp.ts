// Tells that a recording on disk is another one than before: an open profile answers of what was read, and is not mixed with newer files.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../protocol/engine';

/** Of a `.cacheline` folder's perf.data, or of the file itself: changes where it is written or replaced; empty: there is none. */
export async function recordingStamp(path: string): Promise<string> {
  for (const file of [join(path, 'perf.data'), path]) {
    const found = await stat(file).catch(() => undefined); // absent: who reads it says so
    if (found?.isFile() === true) return `${found.ino} ${found.size} ${found.mtimeMs}`;
  }
  return '';
}

/** Rejects with EngineError where the recording is not the one that had this stamp. */
export async function requireStamp(path: string, stamp: string): Promise<void> {
  const now = await recordingStamp(path);
  if (now === stamp) return;
  throw now === ''
    ? new EngineError('io', `${path} was deleted after it was opened.`, 'Put it back, or close what shows it.')
    : new EngineError('io', `${path} has changed since it was opened.`, 'Open it again with "Cacheline: Open Recording".');
}
