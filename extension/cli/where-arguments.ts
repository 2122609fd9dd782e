// The options of `cacheline where`.
import type { WhereParams } from '../protocol/where';
import { HIGHEST_PID } from '../session/record/processes';
import { number, oneOf, parse, splitProgram, wrong, type Options } from './options';

export interface WhereArguments {
  command: 'where';
  params: WhereParams;
  format: 'text' | 'json';
  /** Of the result; absent: standard output. */
  output?: string;
  /** Of the drawing. */
  svg?: string;
}

const DEFAULT_SECONDS = 3;

export const WHERE_HELP = `Usage: cacheline where [options] -p PID
       cacheline where [options] [--] PROGRAM [ARGS]

Says where memory is and where threads run: the machine's packages, NUMA nodes,
caches and who shares them; the memory of a running process, or of PROGRAM and
what it starts, by node; the time of its threads by CPU and node; and whether
threads run far from their memory, with the numactl line that binds both.

PROGRAM runs to its end; its input, output and exit status stay its own, and the
result comes behind its output. Ctrl-C ends it, and what was seen is shown.

  -p, --pid PID         a running process
      --seconds S       look at it for S seconds, ${DEFAULT_SECONDS} by default
      --format FORMAT   text (default) or json
  -o, --output FILE     write the result there instead of to standard output
      --svg FILE        a drawing of nodes, caches, memory and threads, too
  -h, --help            this text
`;

const WHERE_OPTIONS = {
  pid: { type: 'string', short: 'p' },
  seconds: { type: 'string' },
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  svg: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseWhere(args: readonly string[]): WhereArguments | 'help' {
  const { own, program } = splitProgram(args, WHERE_OPTIONS);
  const { values } = parse('where', own, WHERE_OPTIONS);
  if (values.help) return 'help';
  if (values.pid === undefined && program.length === 0) throw wrong('There is no process (-p) and no program to look at.', 'where');
  if (values.pid !== undefined && program.length > 0)
    throw wrong(`-p looks at a running process, and there is the program '${program[0] ?? ''}' besides.`, 'where');
  if (values.seconds !== undefined && values.pid === undefined)
    throw wrong('--seconds is for -p: a program is looked at to its end.', 'where');
  for (const [option, file] of [
    ['-o', values.output],
    ['--svg', values.svg],
  ] as const)
    if (file === '') throw wrong(`${option} needs the name of a file.`, 'where');
  if (values.svg !== undefined && values.svg === values.output) throw wrong('-o and --svg name the same file.', 'where');
  return {
    command: 'where',
    params:
      values.pid === undefined
        ? { command: program }
        : { pid: pidOf(values.pid), seconds: values.seconds === undefined ? DEFAULT_SECONDS : secondsOf(values.seconds) },
    format: oneOf('where', '--format', values.format ?? 'text', ['text', 'json']),
    ...(values.output === undefined ? {} : { output: values.output }),
    ...(values.svg === undefined ? {} : { svg: values.svg }),
  };
}

function pidOf(text: string): number {
  const fits = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= HIGHEST_PID;
  return number('where', '-p', text, `one process, a whole number from 1 to ${HIGHEST_PID}`, fits);
}

function secondsOf(text: string): number {
  return number('where', '--seconds', text, 'a number of seconds above 0', (value) => value > 0);
}
