// The text of `cacheline doctor`: what this machine can record, and why not the rest.
import { t } from '../../protocol/l10n';
import type { CollectorName, DoctorReport, SelfTest } from '../../protocol/engine';
import { calibrationLines } from './calibration-text';
import { machineFacts } from './machine-facts';
import { displayWidth, padEnd, PLAIN, printable, wrap, type Style } from '../text/terminal-text';

export const COLLECTOR_MEANING: Record<CollectorName, string> = {
  pmu: t('memory PMU: loads that hit a line modified in another core’s cache (HITM)'),
  clock: t('clock samples with decoded addresses: where threads spend their time'),
  watch: t('watchpoints: exactly who reads and writes a word'),
  agent: t('preloaded agent: clock samples where perf events are refused'),
};

/** Lines joined by newlines, with one at the end; none is wider than `width` columns. */
export function doctorText(
  { collectors, selfTests, calibration, machine }: DoctorReport,
  { width, style = PLAIN }: { width: number; style?: Style },
): string {
  const lines = [style.bold('Collectors')];
  for (const { name, usable, blockers, note = '' } of collectors) {
    const state = usable ? 'usable' : 'not usable';
    const [first = '', ...rest] = wrap(COLLECTOR_MEANING[name], width, `  ${padEnd(name, 6)} ${padEnd(state, 11)} `);
    lines.push(first.replace(state, usable ? style.green(state) : style.yellow(state)), ...rest);
    for (const { what, value, fix } of blockers) {
      lines.push(...wrap(printable(value === '' ? what : `${what}: ${value}`), width, '    - ', '      '));
      if (fix !== '') lines.push(...wrap(printable(fix), width, '      -> ', '         '));
    }
    if (note !== '') lines.push(...wrap(printable(note), width, '    '));
  }
  if (selfTests !== undefined) lines.push('', style.bold('Self-test'), ...selfTestLines(selfTests, width, style));
  if (calibration !== undefined) lines.push('', style.bold('Calibration'), ...calibrationLines(calibration, width, style));
  lines.push('', style.bold('Machine'), ...machineLines(machine, width));
  return `${lines.join('\n')}\n`;
}

function selfTestLines(selfTests: readonly SelfTest[], width: number, style: Style): string[] {
  if (selfTests.length === 0) return wrap(t('no collector is usable, so nothing was recorded'), width, '  ');
  return selfTests.flatMap(({ collector, passed, found }) => {
    const state = passed ? 'passed' : 'failed';
    const [first = '', ...rest] = wrap(printable(found), width, `  ${padEnd(collector, 6)} ${padEnd(state, 11)} `);
    return [first.replace(state, passed ? style.green(state) : style.yellow(state)), ...rest];
  });
}

function machineLines(machine: DoctorReport['machine'], width: number): string[] {
  const entries = machineFacts(machine);
  const widest = Math.max(0, ...entries.map(({ name }) => displayWidth(name)));
  return entries.flatMap(({ name, value }) => wrap(value, width, `  ${padEnd(name, widest)}  `));
}
