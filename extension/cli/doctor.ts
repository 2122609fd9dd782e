// `cacheline doctor`: what this machine can record, and why not the rest.
import type { NativeEngine } from '../engine/native';
import type { DoctorReport } from '../protocol/engine';
import { doctorText } from '../session/machine/doctor-text';
import { CHECK_FAILED, DONE } from '../session/record/exit-status';
import type { DoctorArguments } from './arguments';
import { outputStyle, outputWidth, print, ProgressLine } from './terminal';

export async function doctor(engine: NativeEngine, { format, selfTest }: DoctorArguments): Promise<number> {
  const line = new ProgressLine();
  if (selfTest) line.show('recording a built-in program with each usable collector');
  const json = await engine.doctorText({ selfTest }).finally(() => line.clear());
  if (format === 'json') print(json.endsWith('\n') ? json : `${json}\n`);
  const report = JSON.parse(json) as DoctorReport;
  if (format === 'text') print(doctorText(report, { width: outputWidth(), style: outputStyle() }));
  return report.selfTests?.some(({ passed }) => !passed) ? CHECK_FAILED : DONE;
}
