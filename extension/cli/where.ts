// `cacheline where`: where the memory of a process lies and where its threads run.
import type { NativeEngine } from '../engine/native';
import type { Where } from '../protocol/where';
import { DONE, programStatus } from '../session/record/exit-status';
import { recordedWhere } from '../session/where/recorded-where';
import { whereSvg } from '../session/where/where-svg';
import { whereText } from '../session/where/where-text';
import { printTo, writeOutput } from './output-file';
import { showingProgress } from './recording-input';
import { stopSignals } from './stop-signals';
import { outputStyle, outputWidth, ProgressLine } from './terminal';
import type { WhereArguments } from './where-arguments';

/** @returns the program's own exit status, 128+signal where it died of one; 0 for a running process and a recording */
export async function where(engine: NativeEngine, args: WhereArguments): Promise<number> {
  const { params, svg } = args;
  if (args.from !== undefined) {
    const path = args.from;
    const report = await showingProgress(path, (onProgress) => engine.call('analyze', { path, showAll: false }, { onProgress }));
    await show(recordedWhere(report), args);
    return DONE;
  }
  const line = new ProgressLine();
  const stopping = stopSignals(params.command !== undefined, (name) => line.show(`${name}: ending`));
  const outcome = await engine
    .call('where', params, {
      signal: stopping.signal,
      // What a program prints would come right behind it.
      onProgress: (seconds) => {
        if (params.pid !== undefined && !stopping.asked()) line.show(`looking at process ${params.pid} for ${seconds.toFixed(1)} s`);
      },
    })
    .finally(() => line.clear());
  await show(outcome.where, args);
  if (svg !== undefined) await writeOutput(svg, whereSvg(outcome.where));
  return programStatus(outcome);
}

async function show(result: Where, { format, output }: WhereArguments): Promise<void> {
  const style = outputStyle(output);
  await printTo(output, format === 'json' ? `${JSON.stringify(result)}\n` : whereText(result, { width: outputWidth(), style }));
}
