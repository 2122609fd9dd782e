// Blocks that the texts of all recordings share: fields of the head, binaries with something missing, lists.
import type { Report } from '../../protocol/report';
import { joinArguments } from '../record/launch';
import { percent } from '../../protocol/words';
import { count, plural, printable, wrap, type Style } from '../text/terminal-text';

const NAME_WIDTH = 11;

/** "Name       text", wrapped under itself. */
export function headField(name: string, text: string, { width, style }: { width: number; style: Style }): string[] {
  const [first = '', ...rest] = wrap(printable(text), width, ' '.repeat(NAME_WIDTH));
  return [style.bold(name.padEnd(NAME_WIDTH)) + first.slice(NAME_WIDTH), ...rest];
}

/** The recorded command and how it ended, or what was attached to. */
export function programText({ command, program, target, interrupted }: NonNullable<Report['recording']>): string {
  const attached = target === undefined || target.kind === 'command' ? '' : attachedText(target);
  if (command.length === 0) return attached;
  let how = 'how it ended is unknown';
  if (program !== null && program.exitStatus !== null) how = `exit status ${program.exitStatus}`;
  if (program !== null && program.signal !== null) how = `ended by signal ${program.signal}`;
  const beside = attached === '' ? '' : `${attached}, while this ran: `;
  return `${beside}${joinArguments(command)} (${how}${interrupted ? '; the recording was stopped early' : ''})`;
}

function attachedText({ kind, ids, cpus }: NonNullable<NonNullable<Report['recording']>['target']>): string {
  const [one, many] = kind === 'processes' ? ['process', 'processes'] : ['thread', 'threads'];
  const what = kind === 'system' ? 'the whole machine' : `${ids.length === 1 ? one : many} ${ids.join(', ')}, attached to`;
  return cpus.length === 0 ? what : `${what}, on CPU ${cpus.join(', ')}`;
}

/** "499 samples per second per CPU"; the agent's timers are those of threads. */
export function rateText({ collector, frequency, period = 0 }: NonNullable<Report['recording']>): string {
  if (period > 0) return `a sample every ${plural(period, collector === 'pmu' ? 'event' : 'nanosecond')}`;
  return `${plural(frequency, 'sample')} per second per ${collector === 'agent' ? 'thread' : 'CPU'}`;
}

/** The collector, why this one, and why none of the others. */
export function collectorFields({ collector, recording }: Report, layout: { width: number; style: Style }): string[] {
  const reason = recording?.collectorReason || 'the recording does not say why this one';
  return [
    ...headField('Collector', `${collector}: ${reason}`, layout),
    ...(recording?.notTaken ?? []).flatMap((other) => headField('Not used', `${other.collector}: ${other.reason}`, layout)),
  ];
}

export function machineText({ hostname, kernel, cpu, cpus }: NonNullable<Report['recording']>['machine'], lineSize: number): string {
  return `${hostname || 'unknown host'}, Linux ${kernel || 'unknown'}, ${plural(cpus, 'CPU')}${cpu === '' ? '' : ` (${cpu})`}, ${lineSize}-byte cache lines`;
}

/** Binaries whose samples could not be named in full, by what is wrong with them; but not what a warning says. */
export function binaryStates({ binaries, warnings }: Report, width: number): string[] {
  return titledList(
    'Binaries with something missing',
    binaries
      .filter(({ path, status }) => status !== 'ok' && !warnings.some((warning) => warning.startsWith(`${path}: ${status}`)))
      .map(({ path, status, detail }) => `${path}: ${status}${detail === '' ? '' : `: ${detail}`}`),
    width,
  );
}

export function titledList(title: string, items: readonly string[], width: number): string[] {
  return items.length === 0 ? [] : [title, ...items.flatMap((item) => wrap(printable(item), width, '  '))];
}

export function shareText(part: number, whole: number): string {
  return whole === 0 ? 'none' : percent(part / whole);
}

/** Behind the other counts of samples. */
export function leftOutByFilters({ filtered = 0 }: Report['samples']): string {
  return filtered === 0 ? '' : `, ${count(filtered)} more left out by the filters`;
}

/** Blocks with an empty line between two of them, and a newline at the end. */
export function joinBlocks(blocks: readonly (readonly string[])[]): string {
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}
