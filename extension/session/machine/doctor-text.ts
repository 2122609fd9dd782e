// The text of `cacheline doctor`: what this machine can record, and why not the rest.
import { t } from '../../protocol/l10n';
import type { CollectorName, DoctorReport, SelfTest } from '../../protocol/engine';
import { calibrationLines } from './calibration-text';
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

function machineLines(machine: Record<string, unknown>, width: number): string[] {
  const entries = machineFacts(machine);
  const widest = Math.max(0, ...entries.map(({ name }) => displayWidth(name)));
  return entries.flatMap(({ name, value }) => wrap(value, width, `  ${padEnd(name, widest)}  `));
}

/** In the order of the report, as words and made printable. */
export function machineFacts(machine: Record<string, unknown>): { name: string; value: string }[] {
  return Object.entries(machine).map(([name, value]) => ({ name: printable(words(name)), value: printable(valueText(value)) }));
}

/** "lineSize" as "line size". */
function words(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
}

function valueText(value: unknown): string {
  if (value === null || value === '') return t('none known');
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (Array.isArray(value)) return value.length === 0 ? t('none') : value.map(valueText).join(', ');
  if (typeof value === 'object') {
    return Object.entries(value)
      .map(([name, inner]) => `${words(name)} ${valueText(inner)}`)
      .join(', ');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
