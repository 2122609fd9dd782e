// `cacheline trace`: which functions touch the objects of a type, on which CPUs, in which order.
import { writeFile } from 'node:fs/promises';
import type { NativeEngine } from '../engine/native';
import { EngineError } from '../protocol/engine';
import type { Trace } from '../protocol/trace';
import { readablePath } from '../session/lines/source-path';
import { DONE, NOTHING_RECORDED, programStatus } from '../session/record/exit-status';
import { recordProgram, type Recording } from '../session/record/profile';
import { withCosts } from '../session/trace/trace-costs';
import { traceSvg } from '../session/trace/trace-svg';
import { traceText } from '../session/trace/trace-text';
import { plural } from '../session/text/terminal-text';
import { showingProgress } from './recording-input';
import { stopSignals } from './stop-signals';
import { outputStyle, outputWidth, print, ProgressLine, say, tell } from './terminal';
import type { TraceArguments } from './trace-arguments';

/** Samples a second and CPU: the recording is there for its mappings. */
const FREQUENCY = 99;

/** @returns the program's own exit status, 128+signal where it died of one; where that is 0 and no object was followed, NOTHING_RECORDED */
export async function trace(engine: NativeEngine, args: TraceArguments): Promise<number> {
  const recording = args.run === undefined ? undefined : await run(engine, args.run);
  const path = recording?.path ?? args.from ?? '';
  const trace = await engine.call('trace', { path });
  const result = args.costs === undefined ? trace : await costed(engine, trace, args.costs);
  if (args.format === 'json') print(`${JSON.stringify(result)}\n`);
  else print(traceText(result, { width: outputWidth(), style: outputStyle() }));
  if (args.svg !== undefined) await write(args.svg, traceSvg(result));
  if (recording === undefined) return DONE;
  const status = programStatus(recording.result);
  return status === DONE && result.instances === 0 ? NOTHING_RECORDED : status;
}

/** With what each step costs, by the samples of a recording. */
async function costed(engine: NativeEngine, trace: Trace, path: string): Promise<Trace> {
  const { report, tables } = await showingProgress(path, (onProgress) =>
    engine.call('sums', { path, by: [['type', 'function', 'member']] }, { onProgress }),
  );
  const result = withCosts(trace, tables[0] ?? [], report.samples.total);
  if (result.costReason !== null) say(`warning: no step has a cost: ${result.costReason}`);
  return result;
}

/** The result comes behind the program's own output. */
async function run(engine: NativeEngine, { request, program, directory, force }: NonNullable<TraceArguments['run']>): Promise<Recording> {
  const line = new ProgressLine();
  const stopping = stopSignals(true, (name) => line.show(`${name}: ending the trace`));
  const recording = await recordProgram(
    engine,
    {
      command: program,
      frequency: FREQUENCY,
      frequencyGiven: true,
      durationSeconds: 0,
      switches: false,
      stdio: 'inherit',
      trace: request,
      output: { parent: process.cwd(), force, ...(directory === undefined ? {} : { directory }) },
    },
    { stop: stopping.signal },
  ).finally(() => line.clear());
  for (const warning of recording.result.warnings) say(`warning: ${warning}`);
  const { instances = 0, hits = 0 } = recording.result.trace ?? {};
  tell(
    `${plural(instances, 'object')} followed in ${recording.result.seconds.toFixed(1)} s, ${plural(hits, 'access', 'accesses')}, ` +
      `recorded in ${readablePath(recording.path, process.cwd())}`,
  );
  return recording;
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new EngineError(
      'io',
      `${path} cannot be written: ${(error as Error).message}.`,
      'Name a file in a folder that you may write to.',
    );
  }
}
