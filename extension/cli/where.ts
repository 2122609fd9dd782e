// `cacheline where`: where the memory of a process lies and where its threads run.
import type { NativeEngine } from '../engine/native';
import { programStatus } from '../session/record/exit-status';
import { whereSvg } from '../session/where/where-svg';
import { whereText } from '../session/where/where-text';
import { printTo, writeOutput } from './output-file';
import { stopSignals } from './stop-signals';
import { outputStyle, outputWidth, ProgressLine } from './terminal';
import type { WhereArguments } from './where-arguments';

/** @returns the program's own exit status, 128+signal where it died of one; 0 for a running process */
export async function where(engine: NativeEngine, { params, format, output, svg }: WhereArguments): Promise<number> {
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
  const style = outputStyle(output);
  const text = format === 'json' ? `${JSON.stringify(outcome.where)}\n` : whereText(outcome.where, { width: outputWidth(), style });
  await printTo(output, text);
  if (svg !== undefined) await writeOutput(svg, whereSvg(outcome.where));
  return programStatus(outcome);
}
