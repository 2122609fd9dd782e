// `cacheline check`: whether a program waits for cache lines more than it may. For CI.
import { appendFile, open } from 'node:fs/promises';
import { version } from '../../package.json';
import type { NativeEngine } from '../engine/native';
import { EngineError } from '../protocol/engine';
import { baselineOf, checkOf, type Baseline } from '../session/check/check';
import { readAcceptances, readBaseline } from '../session/check/check-files';
import { checkMarkdown, checkText, githubCommands } from '../session/check/check-text';
import { repositoryRoot } from '../session/check/repository';
import { sarifLog } from '../session/check/sarif';
import { sumsOf, type Sums } from '../session/compare/sums';
import { CHECK_FAILED, COULD_NOT_LOOK, DONE, programStatus, UNREADABLE } from '../session/record/exit-status';
import type { CheckArguments } from './check-arguments';
import { checkOutput, printTo } from './output-file';
import { recordHere } from './record';
import { parseRecord } from './record-arguments';
import { recordingPath, showingProgress } from './recording-input';
import { outputStyle, outputWidth, say } from './terminal';

/** @returns 0 where nothing is found, 1 where something is, 5 where nothing is and it could not look, 3 where the program failed */
export async function check(engine: NativeEngine, args: CheckArguments): Promise<number> {
  // First: a program may run for long before a mistake in these is found.
  if (args.output !== undefined) await checkOutput(args.output);
  const accept = args.accept === undefined ? undefined : await readAcceptances(args.accept);
  const baseline = args.baseline === undefined ? undefined : await baselineAt(engine, args.baseline, args);
  const recorded = args.program.length === 0 ? undefined : await recordProgram(engine, args.program);
  const sums = await sumsAt(engine, recorded?.path ?? args.path, args);
  const result = checkOf(sums, {
    ...(args.maxContended === undefined ? {} : { maxContended: args.maxContended }),
    ...(args.failOn === undefined ? {} : { failOn: args.failOn }),
    ...(baseline === undefined ? {} : { baseline }),
    ...(accept === undefined ? {} : { accept }),
    allowBlind: args.allowBlind,
    programStatus: recorded?.status ?? DONE,
    today: new Date().toISOString().slice(0, 10),
  });
  const root = repositoryRoot(process.cwd());
  const style = outputStyle(args.output);
  const texts: Record<CheckArguments['format'], () => string> = {
    text: () => checkText(result, { root, width: args.width ?? outputWidth(), style }),
    json: () => `${JSON.stringify(result)}\n`,
    sarif: () => `${JSON.stringify(sarifLog(result, { version, root }))}\n`,
    github: () => githubCommands(result, { root }),
  };
  await printTo(args.output, texts[args.format]());
  if (args.format === 'github') await summarize(checkMarkdown(result, { root }));
  if (result.failed) return CHECK_FAILED;
  if (result.noPass !== null) {
    const programFailed = (recorded?.status ?? DONE) !== DONE;
    say(`There is no new finding, but this is not a pass: ${result.noPass}.${programFailed ? '' : ' --allow-blind makes it pass.'}`);
    return programFailed ? UNREADABLE : COULD_NOT_LOOK;
  }
  return DONE;
}

async function recordProgram(engine: NativeEngine, program: readonly string[]): Promise<{ path: string; status: number }> {
  const recordArguments = parseRecord(['--', ...program]);
  if (recordArguments === 'help') throw new Error('a program is no option');
  const { path, result } = await recordHere(engine, recordArguments);
  return { path, status: programStatus(result) };
}

async function sumsAt(engine: NativeEngine, recording: string | undefined, { analysis }: CheckArguments): Promise<Sums> {
  const path = await recordingPath('check', recording, analysis);
  return showingProgress(path, (onProgress) => sumsOf(engine, [], { ...analysis, path }, { onProgress }));
}

/** A folder, and a file that begins as perf's do, is a recording. */
async function baselineAt(engine: NativeEngine, path: string, args: CheckArguments): Promise<Baseline> {
  const isRecording = await startOf(path).then(
    (start) => /^(PERFILE2|2ELIFREP|PERFFILE)$/.test(start),
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'EISDIR') return true;
      throw new EngineError('unreadable', `The baseline ${path} cannot be read: ${(error as Error).message}.`, BASELINE_HINT);
    },
  );
  return isRecording ? baselineOf(await sumsAt(engine, path, args)) : readBaseline(path);
}

async function startOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const BASELINE_HINT = 'Make one with: cacheline check RECORDING --format json -o FILE.';

/** GitHub shows it with the step. */
async function summarize(markdown: string): Promise<void> {
  const file = process.env['GITHUB_STEP_SUMMARY'] ?? '';
  if (file === '') return;
  try {
    await appendFile(file, `${markdown}\n`);
  } catch (error) {
    throw new EngineError('io', `The summary ${file} cannot be written: ${(error as Error).message}.`, 'GITHUB_STEP_SUMMARY names it.');
  }
}
