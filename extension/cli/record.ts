// `cacheline record`: records a program, running processes or the machine. Standard output belongs to the program alone.
import { NativeEngine } from '../engine/native';
import type { RecordProgress, RecordResult } from '../protocol/engine';
import { DONE, NOTHING_RECORDED, programStatus } from '../session/record/exit-status';
import { joinArguments } from '../session/record/launch';
import { recordProgram, type Recording } from '../session/record/profile';
import { readCpuInfo, watchHazard } from '../session/record/watch-hazard';
import { readablePath } from '../session/lines/source-path';
import { byteSize, count, plural } from '../session/text/terminal-text';
import type { RecordArguments } from './record-arguments';
import { describeAttached } from './attached';
import { stopSignals } from './stop-signals';
import { ProgressLine, say, tell } from './terminal';

/**
 * @returns the program's own exit status, 128+signal where it died of one; where that is 0 and a recording with nothing in it is no accident,
 * and without a program, whether anything was recorded
 */
export async function record(engine: NativeEngine, args: RecordArguments): Promise<number> {
  const { result } = await recordHere(engine, args);
  return isEmpty(result, args.params) ? NOTHING_RECORDED : programStatus(result);
}

/** Records into this folder, and says on standard error how and what. */
export async function recordHere(engine: NativeEngine, args: RecordArguments): Promise<Recording> {
  const { params } = args;
  const attached = params.attach === undefined ? undefined : await describeAttached(params.attach, params.cpus);
  const hazard = watchHazard(params, await readCpuInfo());
  if (hazard !== undefined) say(`warning: ${hazard}.`);
  const line = new ProgressLine();
  let announced = attached === undefined;
  const announce = (): void => {
    if (!announced) tell(`recording ${attached?.text ?? ''}`);
    announced = true;
  };
  const stopping = stopSignals(params.command.length > 0, (name) => line.show(`${name}: ending the recording`));
  try {
    const recording = await recordProgram(
      engine,
      {
        ...params,
        stdio: 'inherit',
        keepsBinaries: args.keepsBinaries,
        output: {
          parent: process.cwd(),
          force: args.force,
          ...(args.directory === undefined ? {} : { directory: args.directory }),
          ...(attached === undefined ? {} : { program: attached.name }),
        },
      },
      {
        stop: stopping.signal,
        onProgress: (progress) => {
          announce();
          // No progress line yet: what the program prints would come right behind it.
          if (progress.chosen !== undefined) {
            sayCollector(progress.chosen);
            return;
          }
          for (const sentence of progress.news ?? []) {
            line.clear();
            tell(sentence);
          }
          if (!stopping.asked()) line.show(progressText(progress));
        },
      },
    );
    line.clear();
    announce();
    summarize(recording, args);
    return recording;
  } finally {
    line.clear();
  }
}

/** Where nothing was recorded of what should have been. A program that ended before its first sample was due was recorded well. */
function isEmpty(result: RecordResult, { command }: RecordArguments['params']): boolean {
  if (result.samples > 0) return false;
  if (command.length === 0) return true;
  const nothing = (result.watch?.hits ?? 0) === 0 && (result.heap?.blocks ?? 0) === 0;
  return nothing && programStatus(result) === DONE && result.samplesWereDue;
}

function progressText({ elapsedSeconds, samples, lost, bytes }: RecordProgress): string {
  const lostText = lost > 0 ? `, ${count(lost)} lost` : '';
  return `recording ${elapsedSeconds.toFixed(1)} s, ${plural(samples, 'sample')}, ${byteSize(bytes)}${lostText} (Ctrl-C stops and keeps it)`;
}

function sayCollector({ collector, collectorReason, notTaken }: NonNullable<RecordProgress['chosen']>): void {
  tell(`collector ${collector}: ${collectorReason}`);
  for (const other of notTaken) tell(`not used: ${other.collector}: ${other.reason}`);
}

function summarize({ path, result }: Recording, { params }: RecordArguments): void {
  const { collector, watch, heap } = result;
  for (const warning of [...result.warnings, ...withoutEffect(params, collector)]) say(`warning: ${warning}`);
  if (result.durationReached)
    tell(`the duration of ${params.durationSeconds} s was reached${params.command.length === 0 ? '' : ', so the program was stopped'}`);
  const shown = readablePath(path, process.cwd());
  const more = [
    ...(watch === null ? [] : [`${plural(watch.hits, 'access', 'accesses')} of ${plural(watch.words, 'word')} watched`]),
    ...(heap === null ? [] : [plural(heap.blocks, 'heap block')]),
  ].map((text) => `, ${text}`);
  tell(
    `${plural(result.samples, 'sample')} in ${result.seconds.toFixed(1)} s, ${count(result.lost)} lost${more.join('')}, recorded in ${shown}; ` +
      `next: cacheline report ${joinArguments([...(params.callGraph === undefined || collector === 'agent' ? [] : ['-g']), shown])}`,
  );
}

/** What was asked of a memory PMU that was not taken. */
function withoutEffect({ ldlat, physicalAddresses }: RecordArguments['params'], collector: string): string[] {
  if (collector === 'pmu') return [];
  return [...(ldlat === undefined ? [] : ['-l']), ...(physicalAddresses ? ['--phys-data'] : [])].map(
    (option) => `${option} is for the memory PMU and had no effect on ${collector} samples`,
  );
}
