// The options of `cacheline layout`.
import { number, oneOf, parse, wrong, type Options } from './options';

export interface LayoutArguments {
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

export const LAYOUT_HELP = `Usage: cacheline layout [options] TYPE --in BINARY
       cacheline layout --list --in BINARY

Prints how a type lies on cache lines: offsets, sizes, holes, padding, and the
members that cross from one line into the next. TYPE is a struct, class, union
or Rust enum of the binary's debug information: with its scopes, as in
ns::Pool<Worker, 64>, or without, as in Worker: then all called so are printed.

      --in BINARY       a program or shared library, compiled with -g
      --list            all types with names: size, lines, where they are
                        defined
      --expand          the members of members too
      --line-size N     bytes of a cache line, ${DEFAULT_LINE_SIZE} by default
      --format FORMAT   text (default) or json
      --no-pager        never through $PAGER (by default less, on a terminal)
  -h, --help            this text
`;

const LAYOUT_OPTIONS = {
  in: { type: 'string' },
  list: { type: 'boolean' },
  expand: { type: 'boolean' },
  'line-size': { type: 'string' },
  format: { type: 'string' },
  'no-pager': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/** @throws EngineError 'usage' */
export function parseLayout(args: readonly string[]): LayoutArguments | 'help' {
  const { values, positionals } = parse('layout', args, LAYOUT_OPTIONS);
  if (values.help) return 'help';
  const [type, extra] = positionals;
  if (extra !== undefined)
    throw wrong(`layout takes one type, and there is '${extra}' after '${type ?? ''}': a name with spaces needs quotes.`, 'layout');
  if (values.list) {
    if (type !== undefined) throw wrong(`--list lists all types, and there is '${type}' besides.`, 'layout');
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
    format: oneOf('layout', '--format', values.format ?? 'text', ['text', 'json']),
    pager: values['no-pager'] !== true,
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
