// The command line's grammar: what each command takes, its help, and one clear sentence for what it does not take.
import { parseArgs } from 'node:util';
import type { HeapParams } from '../protocol/engine';
import { LAYOUT_HELP, parseLayout, type LayoutArguments } from './layout-arguments';
import { number, oneOf, parse, wrong, type CommandName, type Options } from './options';
import { parseReport, REPORT_HELP, type ReportArguments } from './report-arguments';

export interface RecordArguments {
  command: 'record';
  program: string[];
  directory?: string;
  force: boolean;
  frequency: number;
  durationSeconds: number;
  callchains: boolean;
  heap?: HeapParams;
}

export interface DoctorArguments {
  command: 'doctor';
  format: 'text' | 'json';
}

export type Arguments =
  RecordArguments | ReportArguments | LayoutArguments | DoctorArguments | { command: 'help'; text: string } | { command: 'version' };

export const DEFAULT_FREQUENCY = 499;
const HIGHEST_FREQUENCY = 1_000_000;
export const DEFAULT_HEAP_SAMPLING = 64;
const SPARSEST_HEAP_SAMPLING = 1_000_000;

const GENERAL_HELP = `cacheline finds false sharing and cache-line contention in C, C++, Rust and Go.

Usage:
  cacheline record [options] -- PROGRAM [ARGS]   run a program and record it
  cacheline report [options] [RECORDING]         which lines its threads fight over
  cacheline layout [options] TYPE --in BINARY    how a type lies on cache lines
  cacheline doctor [options]                     what this machine can record

  cacheline COMMAND --help                       the options of a command
  cacheline --version
`;

const HELP = {
  record: `Usage: cacheline record [options] [--] PROGRAM [ARGS]

Runs PROGRAM and records it. Its input, output and exit status stay its own.
Ctrl-C ends the recording and keeps it.

  -o, --output DIR      write the recording to exactly DIR; by default it goes to
                        PROGRAM.cacheline, PROGRAM-2.cacheline, ... in this folder
      --force           replace the recording that is there
  -F, --frequency HZ    samples a second and CPU, ${DEFAULT_FREQUENCY} by default
      --duration S      end the program and the recording after S seconds
  -g, --call-graph      record call chains (frame pointers)
      --heap            record heap blocks too: where allocated, when freed; all of
                        64 bytes and more, up to 50,000 a second and thread
      --heap-sampling N record 1 in N of the smaller ones, ${DEFAULT_HEAP_SAMPLING} by default, 1: all
  -h, --help            this text
`,
  report: REPORT_HELP,
  layout: LAYOUT_HELP,
  doctor: `Usage: cacheline doctor [options]

Prints which collectors this machine can use, and what blocks the others with the
command or setting that changes it.

      --format FORMAT   text (default) or json
  -h, --help            this text
`,
} satisfies Record<CommandName, string>;

const RECORD_OPTIONS = {
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
  frequency: { type: 'string', short: 'F' },
  duration: { type: 'string' },
  'call-graph': { type: 'boolean', short: 'g' },
  heap: { type: 'boolean' },
  'heap-sampling': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

const DOCTOR_OPTIONS = { format: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const satisfies Options;

/**
 * @param args without the interpreter and the script
 * @throws EngineError 'usage' with one sentence and where to read more
 */
export function parseArguments(args: readonly string[]): Arguments {
  const [command, ...rest] = args;
  switch (command) {
    case 'record':
      return parseRecord(rest);
    case 'report': {
      const parsed = parseReport(rest);
      return parsed === 'help' ? { command: 'help', text: REPORT_HELP } : parsed;
    }
    case 'layout': {
      const parsed = parseLayout(rest);
      return parsed === 'help' ? { command: 'help', text: LAYOUT_HELP } : parsed;
    }
    case 'doctor':
      return parseDoctor(rest);
    case '--help':
    case '-h':
    case 'help':
      return { command: 'help', text: isCommand(rest[0]) ? HELP[rest[0]] : GENERAL_HELP };
    case '--version':
    case '-V':
      return { command: 'version' };
    case undefined:
      throw wrong('There is no command.');
    default:
      throw wrong(`There is no command '${command}'.`);
  }
}

function parseRecord(args: readonly string[]): Arguments {
  const { own, program } = splitProgram(args);
  const { values } = parse('record', own, RECORD_OPTIONS);
  if (values.help) return { command: 'help', text: HELP.record };
  const [name] = program;
  if (name === undefined || name === '') throw wrong('There is no program to record.', 'record');
  if (values.output === '') throw wrong('-o needs the name of a folder.', 'record');
  return {
    command: 'record',
    program,
    ...(values.output === undefined ? {} : { directory: values.output }),
    force: values.force ?? false,
    frequency:
      values.frequency === undefined
        ? DEFAULT_FREQUENCY
        : number(
            'record',
            '-F',
            values.frequency,
            `a whole number of samples a second from 1 to ${HIGHEST_FREQUENCY}`,
            (value) => Number.isInteger(value) && value >= 1 && value <= HIGHEST_FREQUENCY,
          ),
    durationSeconds:
      values.duration === undefined
        ? 0
        : number('record', '--duration', values.duration, 'a number of seconds above 0', (value) => value > 0),
    callchains: values['call-graph'] ?? false,
    ...heapOf(values.heap ?? false, values['heap-sampling']),
  };
}

function heapOf(heap: boolean, sampling: string | undefined): { heap?: HeapParams } {
  if (sampling !== undefined && !heap) throw wrong('--heap-sampling says how --heap records, and there is no --heap.', 'record');
  if (!heap) return {};
  if (sampling === undefined) return { heap: { sampling: DEFAULT_HEAP_SAMPLING } };
  const wanted = `a whole number of blocks from 1 to ${SPARSEST_HEAP_SAMPLING}`;
  const fits = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= SPARSEST_HEAP_SAMPLING;
  return { heap: { sampling: number('record', '--heap-sampling', sampling, wanted, fits) } };
}

function parseDoctor(args: readonly string[]): Arguments {
  const { values, positionals } = parse('doctor', args, DOCTOR_OPTIONS);
  if (values.help) return { command: 'help', text: HELP.doctor };
  const [extra] = positionals;
  if (extra !== undefined) throw wrong(`doctor takes no argument, and there is '${extra}'.`, 'doctor');
  return { command: 'doctor', format: oneOf('doctor', '--format', values.format ?? 'text', ['text', 'json']) };
}

/** Our options end at `--` or at the first argument that is none: what follows belongs to the program. */
function splitProgram(args: readonly string[]): { own: string[]; program: string[] } {
  const { tokens } = parseArgs({ args: [...args], options: RECORD_OPTIONS, allowPositionals: true, strict: false, tokens: true });
  const end = tokens.find(({ kind }) => kind !== 'option');
  if (end === undefined) return { own: [...args], program: [] };
  return { own: args.slice(0, end.index), program: args.slice(end.kind === 'option-terminator' ? end.index + 1 : end.index) };
}

function isCommand(name: string | undefined): name is CommandName {
  return name !== undefined && Object.hasOwn(HELP, name);
}
