// The options of `cacheline layout`.
import { GENERAL, number, oneOf, parse, terminalOf, wrong, type Command, type TerminalChoice } from './options';
import { PAGER } from './recording-arguments';

const FORMATS = ['text', 'json'] as const;

export interface LayoutArguments extends TerminalChoice {
  command: 'layout';
  binary: string;
  /** Absent: list all types. */
  type?: string;
  expand: boolean;
  /** Bytes. */
  lineSize: number;
  format: 'text' | 'json';
  pager: boolean;
}

const DEFAULT_LINE_SIZE = 64;
const LEAST_LINE_SIZE = 16;
const LARGEST_LINE_SIZE = 4096;

export const LAYOUT = {
  name: 'layout',
  brief: 'show how a type lies on cache lines',
  forms: ['[options] TYPE --in BINARY', '--list --in BINARY'],
  about: [
    'Prints how a type lies on cache lines: offsets, sizes, holes, padding, and the members that cross from one line into the next. TYPE ' +
      "is a struct, class, union or Rust enum of the binary's debug information. Give its scopes (ns::Pool<Worker, 64>), or leave them " +
      'out (Worker) to print all types of that name.',
  ],
  groups: [
    {
      options: {
        in: { type: 'string', value: 'BINARY', values: 'files', help: 'a program or shared library, compiled with -g' },
        list: { type: 'boolean', help: 'list all types that have names: size, lines, where they are defined' },
        expand: { type: 'boolean', help: 'show the members of members too' },
        'line-size': { type: 'string', value: 'N', help: `bytes of a cache line, ${DEFAULT_LINE_SIZE} by default` },
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default) or json' },
        ...PAGER,
        ...GENERAL.options,
      },
    },
  ],
} as const satisfies Command;

/** @throws EngineError 'usage' */
export function parseLayout(args: readonly string[]): LayoutArguments | 'help' {
  const { values, positionals } = parse(LAYOUT, args);
  if (values.help) return 'help';
  const [type, extra] = positionals;
  if (extra !== undefined)
    throw wrong(`layout takes one type, but '${extra}' follows '${type ?? ''}': quote a name with spaces.`, 'layout');
  if (values.list) {
    if (type !== undefined) throw wrong(`--list lists all types: leave out '${type}'.`, 'layout');
    for (const option of ['expand', 'line-size'] as const)
      if (values[option] !== undefined) throw wrong(`--${option} is for the layout of one type, not for --list.`, 'layout');
  } else if (type === undefined || type.trim() === '') {
    throw wrong('There is no type to lay out.', 'layout');
  }
  if (values.in === undefined || values.in === '') throw wrong('--in has to name the binary with the debug information.', 'layout');
  return {
    command: 'layout',
    binary: values.in,
    ...(type === undefined ? {} : { type }),
    expand: values.expand ?? false,
    lineSize: values['line-size'] === undefined ? DEFAULT_LINE_SIZE : lineSize(values['line-size']),
    format: oneOf('layout', '--format', values.format ?? 'text', FORMATS),
    pager: values['no-pager'] !== true,
    ...terminalOf(LAYOUT, values),
  };
}

function lineSize(text: string): number {
  return number(
    'layout',
    '--line-size',
    text,
    `a power of two from ${LEAST_LINE_SIZE} to ${LARGEST_LINE_SIZE}`,
    (value) => value >= LEAST_LINE_SIZE && value <= LARGEST_LINE_SIZE && Number.isInteger(Math.log2(value)),
  );
}
