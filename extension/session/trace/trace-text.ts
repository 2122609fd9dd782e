// `cacheline trace` as text: the steps of each path, one below the other, with a line where the object gets to another CPU.
import type { Trace, TracePath } from '../../protocol/trace';
import { percent } from '../../protocol/words';
import { count, padStart, plural, printable, shortenEnd, wrap, type Style } from '../text/terminal-text';
import { endText, eventsOf, membersText, subjectOf, timeText } from './trace-values';

export interface TextOptions {
  width: number;
  style: Style;
}

/** More of them are in the JSON document. */
const MOST_PATHS = 10;
const TIME_WIDTH = 10;
const MOST_FUNCTION = 40;

export function traceText(trace: Trace, options: TextOptions): string {
  const { width, style } = options;
  const variables = trace.paths.length > 0 && trace.paths.every(({ allocatedIn }) => allocatedIn === null);
  const what = plural(trace.instances, variables ? 'window of time' : 'object', variables ? 'windows of time' : 'objects');
  const facts = [
    `${what} followed`,
    `${plural(trace.accesses, 'access', 'accesses')} seen`,
    ...(trace.truncated > 0 ? [`${count(trace.truncated)} truncated`] : []),
    ...(trace.overhead === null ? [] : [`tracing took ${percent(trace.overhead)} of the time`]),
  ];
  const shown = trace.paths.slice(0, MOST_PATHS);
  const rest = trace.paths.slice(MOST_PATHS);
  const left = rest.reduce((sum, path) => sum + path.count, 0);
  return [
    style.bold(shortenEnd(printable(subjectOf(trace)), width)),
    ...wrap(`${facts.join(', ')}.`, width, '  '),
    ...trace.warnings.flatMap((warning) => wrap(printable(warning), width, '  ')),
    ...shown.flatMap((path, index) => pathLines(path, index, trace, options)),
    ...(rest.length > 0 ? ['', ...wrap(`${plural(rest.length, 'more path')} of ${plural(left, 'object')}; JSON has all.`, width)] : []),
    '',
  ].join('\n');
}

function pathLines(path: TracePath, index: number, { instances }: Trace, { width, style }: TextOptions): string[] {
  const events = eventsOf(path);
  const name = Math.min(MOST_FUNCTION, Math.max(0, ...events.map((event) => printable(event.function).length)));
  const head = `Path ${index + 1}: ${plural(path.count, path.allocatedIn === null ? 'window' : 'object')} (${percent(path.count / instances)})`;
  const end = endText(path);
  return [
    '',
    style.bold(head),
    ...events.flatMap((event) => {
      const start = `${padStart(timeText(event.ns), TIME_WIDTH)}  `;
      const called = shortenEnd(printable(event.function), name).padEnd(name);
      return [
        ...(event.cpuChanged ? [style.yellow(`${' '.repeat(TIME_WIDTH)}  ${rule('another CPU', width - TIME_WIDTH - 2)}`)] : []),
        ...wrap(
          `${event.verb} ${membersText(event.members.map(printable))}`.trimEnd() + costText(event.cost),
          width,
          `${start}${called}  `,
          ' '.repeat(TIME_WIDTH + name + 4),
        ),
      ];
    }),
    ...(end === '' ? [] : wrap(end, width, ' '.repeat(TIME_WIDTH + 2))),
  ];
}

function costText(cost: number | null): string {
  return cost === null ? '' : `; ${percent(cost)} of the samples`;
}

/** "--- another CPU -----". */
function rule(text: string, width: number): string {
  return `--- ${text} `.padEnd(Math.min(width, 60), '-');
}
