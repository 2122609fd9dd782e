// `cacheline record --repeat N [--against PROGRAM]`: how long a program takes, or which of two builds is faster and by how much.
import { readdir, readFile, realpath, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NativeEngine } from '../engine/native';
import type { Advice } from '../protocol/advice';
import { EngineError } from '../protocol/engine';
import type { Report } from '../protocol/report';
import type { RunPair, Runs } from '../protocol/runs';
import { layoutText } from '../session/layout/layout-text';
import { readablePath } from '../session/lines/source-path';
import { DONE, programStatus } from '../session/record/exit-status';
import { recordProgram, type Recording } from '../session/record/profile';
import { createRunsFolder } from '../session/record/recording-folder';
import { firstWords } from '../session/report/first-words';
import { OtherLoad } from '../session/runs/other-load';
import { runPairs, summarizePairs, type Programs } from '../session/runs/repeat';
import { pullRequestText, type PullRequestFacts } from '../session/runs/pull-request';
import { RunFailed, timedRun } from '../session/runs/timed-run';
import type { RecordArguments, Repetition } from './record-arguments';
import { stopSignals, type StopSignals } from './stop-signals';
import { print, ProgressLine, say, tell } from './terminal';

/** Columns of the drawings of layouts in the block for a pull request. */
const LAYOUT_WIDTH = 100;
const RECORDINGS = { before: 'before.cacheline', after: 'after.cacheline' } as const;
const FILES = { runs: 'runs.json', block: 'pull-request.md' } as const;
type Which = keyof typeof RECORDINGS;

interface Recorded {
  pair: RunPair;
  reports: Record<Which, Report | null>;
}

/** @returns 0, or the status of the run that failed; then nothing is left on disk */
export async function repeat(engine: NativeEngine, args: RecordArguments, { count, against }: Repetition): Promise<number> {
  const [program = '', ...rest] = args.params.command;
  const programs: Programs = { before: args.params.command, after: against === undefined ? null : [against, ...rest] };
  const folder = await createRunsFolder({
    program,
    parent: process.cwd(),
    ...(args.directory === undefined ? {} : { directory: args.directory }),
  });
  const stopping = stopSignals(true, (name) => tell(`${name}: ending the runs`));
  try {
    const { pairs, otherLoad } = await run(programs, count, stopping);
    const { pair, reports } = await recordPair(engine, args, programs, folder, stopping);
    const advice = await firstAdvice(engine, join(folder, RECORDINGS.before));
    const facts = await factsOf(engine, { programs, pairs: [...pairs, pair], otherLoad, reports, advice });
    const text = pullRequestText(facts);
    await writeFile(join(folder, FILES.runs), `${JSON.stringify(facts.runs, null, 2)}\n`);
    await writeFile(join(folder, FILES.block), text);
    print(text);
    tell(`${FILES.runs}, ${FILES.block} and the recordings are in ${readablePath(folder, process.cwd())}.`);
    return DONE;
  } catch (error) {
    await abandon(folder);
    if (!(error instanceof RunFailed)) throw error;
    say(`${error.message}, so nothing is compared: the times of failed runs mean nothing.`);
    return error.status;
  }
}

/** Deletes what repeat() wrote, and the folder where nothing else is in it. */
async function abandon(folder: string): Promise<void> {
  for (const name of [...Object.values(RECORDINGS), ...Object.values(FILES)])
    await rm(join(folder, name), { recursive: true, force: true });
  if ((await readdir(folder)).length === 0) await rmdir(folder);
}

async function run(programs: Programs, count: number, stopping: StopSignals): Promise<Pick<Runs, 'pairs' | 'otherLoad'>> {
  const load = await OtherLoad.start();
  const line = new ProgressLine();
  const what = programs.after === null ? 'run' : 'pair of runs';
  try {
    const pairs = await runPairs(
      programs,
      count,
      async (command) => {
        const nanoseconds = await timedRun(command, stopping.signal);
        endIfAsked(stopping);
        return nanoseconds;
      },
      (number) => line.show(number === 0 ? `first ${what}, which is not counted` : `${what} ${number} of ${count}`),
    );
    return { pairs, otherLoad: await load.end() };
  } finally {
    line.clear();
  }
}

/** A program that catches the signal may end well, but in another time. */
function endIfAsked(stopping: StopSignals): void {
  if (stopping.asked()) throw new EngineError('cancelled', 'The runs were ended, so nothing is compared.');
}

async function recordPair(
  engine: NativeEngine,
  { params, keepsBinaries }: RecordArguments,
  programs: Programs,
  folder: string,
  stopping: StopSignals,
): Promise<Recorded> {
  const record = async (which: Which, command: readonly string[]): Promise<Recording> => {
    const recording = await recordProgram(
      engine,
      { ...params, command: [...command], stdio: 'inherit', keepsBinaries, output: { parent: folder, directory: RECORDINGS[which] } },
      { stop: stopping.signal },
    );
    endIfAsked(stopping);
    for (const warning of recording.result.warnings) say(`warning: ${warning}`);
    const status = programStatus(recording.result);
    if (status !== DONE) throw new RunFailed(command[0] ?? '', status, null);
    return recording;
  };
  const before = await record('before', programs.before);
  const after = programs.after === null ? null : await record('after', programs.after);
  const nanoseconds = ({ result }: Recording): number => Math.round(result.seconds * 1e9);
  return {
    pair: {
      order: after === null ? 'A' : 'AB',
      beforeNs: nanoseconds(before),
      afterNs: after === null ? null : nanoseconds(after),
      recorded: true,
    },
    reports: { before: await reportOf(engine, before), after: after === null ? null : await reportOf(engine, after) },
  };
}

const reportOf = (engine: NativeEngine, { path }: Recording): Promise<Report> => engine.call('analyze', { path, showAll: false });

/** Of the most contended data that a change of layout helps. */
async function firstAdvice(engine: NativeEngine, path: string): Promise<Advice | undefined> {
  const { advice } = await engine.call('advise', { path, showAll: false });
  return advice.find(({ way }) => way !== 'none');
}

async function factsOf(
  engine: NativeEngine,
  facts: Pick<Runs, 'pairs' | 'otherLoad'> & Pick<Recorded, 'reports'> & { programs: Programs; advice: Advice | undefined },
): Promise<PullRequestFacts> {
  const { programs, pairs, otherLoad, reports, advice } = facts;
  const speedup = advice?.predicted.speedup ?? null;
  const share = (report: Report | null): number | null =>
    report === null || report.samples.total === 0 ? null : report.samples.contended / report.samples.total;
  const runs: Runs = {
    schema: 'cacheline-runs/1',
    before: [...programs.before],
    after: programs.after === null ? null : [...programs.after],
    cpus: await usableCpus(),
    otherLoad,
    pairs,
    ...summarizePairs(pairs),
    predicted:
      advice === undefined || speedup === null
        ? null
        : { ...speedup, type: advice.subject.type, object: advice.subject.object, basis: advice.predicted.basis },
    contendedShare: { before: share(reports.before), after: share(reports.after) },
    samples: { before: reports.before?.samples.total ?? 0, after: reports.after?.samples.total ?? null },
  };
  const [finding = ''] = reports.before === null ? [] : firstWords(reports.before);
  return { runs, finding, advice, layout: await layoutsOf(engine, advice, programs) };
}

/** Of the type that is to be changed, in the binaries of both programs. */
async function layoutsOf(
  engine: NativeEngine,
  advice: Advice | undefined,
  { before, after }: Programs,
): Promise<PullRequestFacts['layout']> {
  const change = advice?.change;
  if (after === null || (change?.kind !== 'members' && change?.kind !== 'align-type')) return null;
  const { name, binary } = change.type;
  // A type of a library is in the same library of both programs.
  const isOwn = (await realpath(before[0] ?? '').catch(() => '')) === binary;
  const drawn = async (file: string): Promise<string | null> => {
    const { layouts } = await engine.call('layout', { binary: file, name });
    return layouts.length === 0 ? null : layoutText(layouts, { width: LAYOUT_WIDTH, folder: process.cwd() });
  };
  return { name, before: await drawn(binary), after: await drawn(isOwn ? (after[0] ?? '') : binary) };
}

/** @returns null where the kernel does not say */
async function usableCpus(): Promise<string | null> {
  return /^Cpus_allowed_list:\s*(\S+)/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1] ?? null;
}
