// `cacheline diff`: what changed between two recordings, as text, JSON or Markdown.
import type { NativeEngine } from '../engine/native';
import { DIFF_TABLES, diffOf } from '../session/compare/diff';
import { diffMarkdown, diffText } from '../session/compare/diff-text';
import { sumsOf } from '../session/compare/sums';
import { DONE } from '../session/record/exit-status';
import type { DiffArguments } from './diff-arguments';
import { writeOutput } from './output-file';
import { page } from './pager';
import { recordingPath, showingProgress } from './recording-input';
import { outputStyle, outputWidth, printAll } from './terminal';

export async function diff(engine: NativeEngine, args: DiffArguments): Promise<number> {
  const [before, after] = [await sums(engine, args, args.before), await sums(engine, args, args.after)];
  const result = diffOf(before, after);
  const style = outputStyle(args.output);
  const text =
    args.format === 'json'
      ? `${JSON.stringify(result)}\n`
      : args.format === 'markdown'
        ? diffMarkdown(result)
        : diffText(result, { width: args.width ?? outputWidth(), style, showAll: args.showAll });
  if (args.output !== undefined) await writeOutput(args.output, text);
  else if (args.format === 'text' && args.pager) await page([text]);
  else await printAll([text]);
  return DONE;
}

async function sums(engine: NativeEngine, { analysis }: DiffArguments, recording: string) {
  const path = await recordingPath('diff', recording, analysis);
  return showingProgress(path, (onProgress) => sumsOf(engine, DIFF_TABLES, { ...analysis, path }, { onProgress }));
}
