// The options of `cacheline trace`.
import type { TraceRequest } from '../protocol/engine';
import { RECORDING_FOLDER } from './record-options';
import { GENERAL, number, oneOf, parse, terminalOf, wrong, type Command, type TerminalChoice } from './options';

const FORMATS = ['text', 'json'] as const;

export interface TraceArguments extends TerminalChoice {
  command: 'trace';
  /** What is recorded; absent: the trace of `from` is shown. */
  run?: { request: TraceRequest; program: string[]; directory?: string; force: boolean };
  from?: string;
  /** A recording whose samples say what steps cost. */
  costs?: string;
  format: 'text' | 'json';
  /** Of the drawing. */
  svg?: string;
}

const DEFAULT_BUDGET = 2;
const DEFAULT_INSTANCES = 1000;
const MOST_INSTANCES = 1_000_000;

export const TRACE = {
  name: 'trace',
  brief: "show who touches a type's objects",
  forms: ['[options] TYPE[.MEMBER] -- PROGRAM [ARGS]', '[options] --from RECORDING'],
  about: [
    'Runs PROGRAM and follows objects of one type from their allocation to their free: which functions touch them, on which CPUs, in ' +
      "which order, and how many objects take the same path. TYPE is a struct, class or union of the program's debug information, as for " +
      'cacheline layout; MEMBER is one of its members.',
    "The processor's debug registers follow one object at a time: those that malloc and new allocate, and variables with static storage, " +
      'each of these for 20 ms. The recording is kept; --from shows its trace again.',
  ],
  program: 'separator',
  groups: [
    {
      options: {
        ...RECORDING_FOLDER,
        budget: {
          type: 'string',
          value: 'PCT',
          help: `share of the time that tracing may cost, ${DEFAULT_BUDGET} by default; what context switches cost more is not counted`,
        },
        instances: { type: 'string', value: 'N', help: `follow at most N objects, ${DEFAULT_INSTANCES} by default` },
        from: { type: 'string', value: 'RECORDING', values: 'files', help: 'show the trace of a recording, without a program' },
        costs: {
          type: 'string',
          value: 'RECORDING',
          values: 'files',
          help: 'say what each step costs, from the samples of another recording',
        },
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default) or json' },
        svg: { type: 'string', value: 'FILE', values: 'files', help: 'also draw the paths' },
        ...GENERAL.options,
      },
    },
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseTrace(args: readonly string[]): TraceArguments | 'help' {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const program = args.slice(end + 1);
  const { values, positionals } = parse(TRACE, args.slice(0, end));
  if (values.help) return 'help';
  const [type, extra] = positionals;
  if (extra !== undefined) throw wrong(`trace takes one type, but '${extra}' follows '${type ?? ''}': put the program after --.`, 'trace');
  for (const [option, name] of [
    ['-o', values.output],
    ['--from', values.from],
    ['--costs', values.costs],
    ['--svg', values.svg],
  ] as const)
    if (name === '') throw wrong(`${option} needs a name.`, 'trace');
  const shown = {
    command: 'trace' as const,
    format: oneOf('trace', '--format', values.format ?? 'text', FORMATS),
    ...(values.svg === undefined ? {} : { svg: values.svg }),
    ...(values.costs === undefined ? {} : { costs: values.costs }),
    ...terminalOf(TRACE, values),
  };
  if (values.from !== undefined) {
    if (type !== undefined || program.length > 0)
      throw wrong(`--from shows a recorded trace: leave out '${type ?? program[0] ?? ''}'.`, 'trace');
    for (const option of ['output', 'force', 'budget', 'instances'] as const)
      if (values[option] !== undefined) throw wrong(`--${option} is for running a program, not for --from.`, 'trace');
    return { ...shown, from: values.from };
  }
  if (type === undefined || type.trim() === '') throw wrong('trace needs a type.', 'trace');
  if (program.length === 0) throw wrong('trace needs a program, after --.', 'trace');
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
