// `cacheline doctor`: what this machine can record, and why not the rest.
import type { NativeEngine } from '../engine/native';
import type { DoctorReport } from '../protocol/engine';
import { doctorText } from '../session/doctor-text';
import { DONE } from '../session/exit-status';
import type { DoctorArguments } from './arguments';
import { outputStyle, outputWidth, print } from './terminal';

export async function doctor(engine: NativeEngine, { format }: DoctorArguments): Promise<number> {
  const json = await engine.doctorText();
  if (format === 'json') print(json.endsWith('\n') ? json : `${json}\n`);
  else print(doctorText(JSON.parse(json) as DoctorReport, { width: outputWidth(), style: outputStyle() }));
  return DONE;
}
