// The options of `cacheline trace`.
import type { TraceRequest } from '../protocol/engine';
import { number, oneOf, parse, wrong, type Options } from './options';

export interface TraceArguments {
  command: 'trace';
  /** What is recorded; absent: the trace of `from` is shown. */
  run?: { request: TraceRequest; program: string[]; directory?: string; force: boolean };
  from?: string;
  format: 'text' | 'json';
  /** Of the drawing. */
  svg?: string;
}

const DEFAULT_BUDGET = 2;
const DEFAULT_INSTANCES = 1000;
const MOST_INSTANCES = 1_000_000;

export const TRACE_HELP = `Usage: cacheline trace [options] TYPE[.MEMBER] -- PROGRAM [ARGS]
       cacheline trace [options] --from RECORDING

Runs PROGRAM and follows objects of one type from their allocation to their
free: which functions touch them on which CPUs, in which order, and how many
objects go the same way. TYPE is a struct, class or union of the program's debug
information, as for cacheline layout; MEMBER one of its members.

Objects are followed one at a time by the processor's debug registers. They are
those that malloc and new allocate, and variables with static storage, these for
20 ms at a time. The recording is kept; --from shows its trace again.

  -o, --output DIR      write the recording to exactly DIR; by default to
                        PROGRAM.cacheline, PROGRAM-2.cacheline, ... here
      --force           replace the recording that is there
      --budget PCT      of the time that tracing may cost, ${DEFAULT_BUDGET} by default; it
                        counts its own work alone, and the program loses more
      --instances N     objects to follow at most, ${DEFAULT_INSTANCES} by default
      --from RECORDING  show the trace of a recording, without a program
      --format FORMAT   text (default) or json
      --svg FILE        a drawing of the paths, too
  -h, --help            this text
`;

const TRACE_OPTIONS = {
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
  budget: { type: 'string' },
  instances: { type: 'string' },
  from: { type: 'string' },
  format: { type: 'string' },
  svg: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseTrace(args: readonly string[]): TraceArguments | 'help' {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const program = args.slice(end + 1);
  const { values, positionals } = parse('trace', args.slice(0, end), TRACE_OPTIONS);
  if (values.help) return 'help';
  const [type, extra] = positionals;
  if (extra !== undefined)
    throw wrong(`trace takes one type, and there is '${extra}' after '${type ?? ''}': the program comes behind --.`, 'trace');
  for (const [option, name] of [
    ['-o', values.output],
    ['--from', values.from],
    ['--svg', values.svg],
  ] as const)
    if (name === '') throw wrong(`${option} needs a name.`, 'trace');
  const shown = {
    command: 'trace' as const,
    format: oneOf('trace', '--format', values.format ?? 'text', ['text', 'json']),
    ...(values.svg === undefined ? {} : { svg: values.svg }),
  };
  if (values.from !== undefined) {
    if (type !== undefined || program.length > 0)
      throw wrong(`--from shows a trace that was recorded, and there is '${type ?? program[0] ?? ''}' besides.`, 'trace');
    for (const option of ['output', 'force', 'budget', 'instances'] as const)
      if (values[option] !== undefined) throw wrong(`--${option} is for running a program, not for --from.`, 'trace');
    return { ...shown, from: values.from };
  }
  if (type === undefined || type.trim() === '') throw wrong('There is no type to trace.', 'trace');
  if (program.length === 0) throw wrong('There is no program to trace: it comes behind --.', 'trace');
  return {
    ...shown,
    run: {
      request: {
        type,
        ...(values.budget === undefined ? {} : { budget: budgetOf(values.budget) }),
        ...(values.instances === undefined ? {} : { instances: instancesOf(values.instances) }),
      },
      program,
      ...(values.output === undefined ? {} : { directory: values.output }),
      force: values.force ?? false,
    },
  };
}

function budgetOf(text: string): number {
  return number('trace', '--budget', text, 'a percentage above 0, up to 100', (value) => value > 0 && value <= 100) / 100;
}

function instancesOf(text: string): number {
  const fits = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MOST_INSTANCES;
  return number('trace', '--instances', text, `a whole number from 1 to ${MOST_INSTANCES}`, fits);
}
