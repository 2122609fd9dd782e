// The options of `cacheline where`.
import type { WhereParams } from '../protocol/where';
import { HIGHEST_PID } from '../session/record/processes';
import { GENERAL, number, oneOf, parse, splitProgram, terminalOf, wrong, type Command, type TerminalChoice } from './options';

const FORMATS = ['text', 'json'] as const;

export interface WhereArguments extends TerminalChoice {
  command: 'where';
  params: WhereParams;
  /** A recording, which is read; there is nothing to look at then. */
  from?: string;
  format: 'text' | 'json';
  /** Of the result; absent: standard output. */
  output?: string;
  /** Of the drawing. */
  svg?: string;
}

const DEFAULT_SECONDS = 3;

export const WHERE = {
  name: 'where',
  brief: 'show where memory is and threads run',
  forms: ['[options] -p PID', '[options] [--] PROGRAM [ARGS]', '[options] --from RECORDING'],
  about: [
    "Says where memory is and where threads run: the machine's packages, NUMA nodes and caches, and who shares them; the memory of a " +
      'running process, or of PROGRAM and what it starts, by node; the time of its threads by CPU and node; and whether threads run far ' +
      'from their memory, with the numactl line that binds both.',
    'PROGRAM runs to its end and keeps its input, output and exit status; the result comes after its output. Ctrl-C ends it and shows ' +
      'what was seen.',
    'A RECORDING with data sources says how many of its loads another node answered, and what it kept of memory and threads.',
  ],
  program: 'operand',
  groups: [
    {
      options: {
        pid: { type: 'string', short: 'p', value: 'PID', help: 'a running process' },
        seconds: { type: 'string', value: 'S', help: `look at the process for S seconds, ${DEFAULT_SECONDS} by default` },
        from: {
          type: 'string',
          value: 'RECORDING',
          values: 'files',
          help: 'show what a recording says about memory and threads; nothing runs',
        },
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default) or json' },
        output: { type: 'string', short: 'o', value: 'FILE', values: 'files', help: 'write the result there, not to standard output' },
        svg: { type: 'string', value: 'FILE', values: 'files', help: 'also draw nodes, caches, memory and threads' },
        ...GENERAL.options,
      },
    },
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseWhere(args: readonly string[]): WhereArguments | 'help' {
  const { own, program } = splitProgram(args, WHERE);
  const { values } = parse(WHERE, own);
  if (values.help) return 'help';
  if (values.from !== undefined) {
    if (values.pid !== undefined || program.length > 0)
      throw wrong(`--from reads a recording: leave out '${values.pid ?? program[0] ?? ''}'.`, 'where');
    if (values.svg !== undefined) throw wrong('--svg draws a running program: it cannot be used with --from.', 'where');
  } else if (values.pid === undefined && program.length === 0) throw wrong('where needs a process (-p) or a program.', 'where');
  if (values.pid !== undefined && program.length > 0)
    throw wrong(`-p looks at a running process: leave out the program '${program[0] ?? ''}', or -p.`, 'where');
  if (values.seconds !== undefined && values.pid === undefined)
    throw wrong('--seconds needs -p: a program is watched until it ends.', 'where');
  for (const [option, file] of [
    ['-o', values.output],
    ['--from', values.from],
    ['--svg', values.svg],
  ] as const)
    if (file === '') throw wrong(`${option} needs a name.`, 'where');
  if (values.svg !== undefined && values.svg === values.output) throw wrong('-o and --svg name the same file.', 'where');
  return {
    command: 'where',
    ...(values.from === undefined ? {} : { from: values.from }),
    params:
      values.pid === undefined
        ? { command: program }
        : { pid: pidOf(values.pid), seconds: values.seconds === undefined ? DEFAULT_SECONDS : secondsOf(values.seconds) },
    format: oneOf('where', '--format', values.format ?? 'text', FORMATS),
    ...(values.output === undefined ? {} : { output: values.output }),
    ...(values.svg === undefined ? {} : { svg: values.svg }),
    ...terminalOf(WHERE, values),
  };
}

function pidOf(text: string): number {
  const fits = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= HIGHEST_PID;
  return number('where', '-p', text, `one process, a whole number from 1 to ${HIGHEST_PID}`, fits);
}

function secondsOf(text: string): number {
  return number('where', '--seconds', text, 'a number of seconds above 0', (value) => value > 0);
}
