// `cacheline workset`: working sets and classes of misses, as text or JSON.
import type { NativeEngine } from '../engine/native';
import { DONE } from '../session/record/exit-status';
import { explained } from '../session/workset/miss-classes';
import { worksetText } from '../session/workset/workset-text';
import { page } from './pager';
import { recordingPath, showingProgress } from './recording-input';
import { outputStyle, outputWidth, printAll } from './terminal';
import type { WorksetArguments } from './workset-arguments';

export async function workset(engine: NativeEngine, args: WorksetArguments): Promise<number> {
  const path = await recordingPath('workset', args.path, args.analysis);
  const params = { ...args.analysis, path };
  const document = explained(await showingProgress(path, (onProgress) => engine.call('workset', params, { onProgress })));
  if (args.format === 'json') {
    await printAll([JSON.stringify(document), '\n']);
    return DONE;
  }
  const text = [worksetText(document, { width: args.width ?? outputWidth(), style: outputStyle(), path })];
  if (args.pager) await page(text);
  else await printAll(text);
  return DONE;
}
