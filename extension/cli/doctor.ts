// `cacheline doctor`: what this machine can record, and why not the rest.
import type { NativeEngine } from '../engine/native';
import type { DoctorReport } from '../protocol/engine';
import { doctorText } from '../session/machine/doctor-text';
import { CHECK_FAILED, DONE } from '../session/record/exit-status';
import type { DoctorArguments } from './doctor-arguments';
import { outputStyle, outputWidth, print, ProgressLine } from './terminal';

export async function doctor(engine: NativeEngine, { format, selfTest, calibrate }: DoctorArguments): Promise<number> {
  const line = new ProgressLine();
  if (selfTest) line.show('recording a built-in program with each usable collector');
  const json = await engine.doctorText({ selfTest }).finally(() => line.clear());
  const report = JSON.parse(json) as DoctorReport;
  // Behind the self-test, whose programs would disturb it.
  if (calibrate) {
    line.show('measuring what contention costs here');
    report.calibration = await engine.call('calibrate', {}).finally(() => line.clear());
  }
  if (format === 'json') print(calibrate ? `${JSON.stringify(report)}\n` : json.endsWith('\n') ? json : `${json}\n`);
  if (format === 'text') print(doctorText(report, { width: outputWidth(), style: outputStyle() }));
  return report.selfTests?.some(({ passed }) => !passed) ? CHECK_FAILED : DONE;
}
