// `cacheline threads`: what threads did over time, as text or JSON.
import type { NativeEngine } from '../engine/native';
import type { ThreadsDocument } from '../protocol/threads';
import { DONE } from '../session/record/exit-status';
import { imbalanceOf } from '../session/threads/imbalance';
import { threadsText } from '../session/threads/threads-text';
import { page } from './pager';
import { recordingPath, showingProgress } from './recording-input';
import { outputStyle, outputWidth, printAll } from './terminal';
import type { ThreadsArguments } from './threads-arguments';

/** More than a text has room for: its lanes are made of them, however wide it is. */
const BINS_OF_TEXT = 600;

export async function threads(engine: NativeEngine, args: ThreadsArguments): Promise<number> {
  const path = await recordingPath('threads', args.path, args.analysis);
  const bins = args.bins ?? (args.format === 'text' ? BINS_OF_TEXT : undefined);
  const params = { ...args.analysis, path, showAll: false, ...(bins === undefined ? {} : { bins }) };
  const list = await showingProgress(path, (onProgress) => engine.call('threads', params, { onProgress }));
  const document: ThreadsDocument = { ...list, imbalance: imbalanceOf(list) };
  if (args.format === 'json') {
    await printAll([JSON.stringify(document), '\n']);
    return DONE;
  }
  const text = [threadsText(document, { width: args.width ?? outputWidth(), style: outputStyle(), path })];
  if (args.pager) await page(text);
  else await printAll(text);
  return DONE;
}
