// The command line's grammar: what each command takes, its help, and one clear sentence for what it does not take.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { EngineError } from '../protocol/engine';

export interface RecordArguments {
  command: 'record';
  program: string[];
  directory?: string;
  force: boolean;
  frequency: number;
  durationSeconds: number;
  callchains: boolean;
}

export interface ReportArguments {
  command: 'report';
  path?: string;
  format: 'text' | 'json';
  showAll: boolean;
  width?: number;
}

export interface DoctorArguments {
  command: 'doctor';
  format: 'text' | 'json';
}

export type Arguments = RecordArguments | ReportArguments | DoctorArguments | { command: 'help'; text: string } | { command: 'version' };

export const DEFAULT_FREQUENCY = 499;
const HIGHEST_FREQUENCY = 1_000_000;
const NARROWEST = 40;

const GENERAL_HELP = `cacheline finds false sharing and cache-line contention in C, C++, Rust and Go.

Usage:
  cacheline record [options] -- PROGRAM [ARGS]   run a program and record it
  cacheline report [options] [RECORDING]         which lines its threads fight over
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
  -h, --help            this text
`,
  report: `Usage: cacheline report [options] [RECORDING]

Prints which cache lines the threads of a recorded program compete for, through
which data and which code. RECORDING is a folder that "cacheline record" made or a
perf.data file; by default the newest *.cacheline in this folder, else perf.data.

      --format FORMAT   text (default) or json (schema cacheline-report/1)
      --show-all        every line and access, those of one thread too
      --width N         columns of the text; by default the terminal's, else 80
  -h, --help            this text
`,
  doctor: `Usage: cacheline doctor [options]

Prints which collectors this machine can use, and what blocks the others with the
command or setting that changes it.

      --format FORMAT   text (default) or json
  -h, --help            this text
`,
};

type CommandName = keyof typeof HELP;
type Options = NonNullable<ParseArgsConfig['options']>;

const RECORD_OPTIONS = {
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
  frequency: { type: 'string', short: 'F' },
  duration: { type: 'string' },
  'call-graph': { type: 'boolean', short: 'g' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

const REPORT_OPTIONS = {
  format: { type: 'string' },
  'show-all': { type: 'boolean' },
  width: { type: 'string' },
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
    case 'report':
      return parseReport(rest);
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
  };
}

function parseReport(args: readonly string[]): Arguments {
  const { values, positionals } = parse('report', args, REPORT_OPTIONS);
  if (values.help) return { command: 'help', text: HELP.report };
  const [path, second] = positionals;
  if (second !== undefined) throw wrong(`report takes one recording, and '${second}' is a second.`, 'report');
  if (path === '') throw wrong('The name of the recording is empty.', 'report');
  return {
    command: 'report',
    ...(path === undefined ? {} : { path }),
    format: format('report', values.format),
    showAll: values['show-all'] ?? false,
    ...(values.width === undefined
      ? {}
      : {
          width: number(
            'report',
            '--width',
            values.width,
            `a whole number of columns from ${NARROWEST} up`,
            (value) => Number.isSafeInteger(value) && value >= NARROWEST,
          ),
        }),
  };
}

function parseDoctor(args: readonly string[]): Arguments {
  const { values, positionals } = parse('doctor', args, DOCTOR_OPTIONS);
  if (values.help) return { command: 'help', text: HELP.doctor };
  const [extra] = positionals;
  if (extra !== undefined) throw wrong(`doctor takes no argument, and there is '${extra}'.`, 'doctor');
  return { command: 'doctor', format: format('doctor', values.format) };
}

/** Our options end at `--` or at the first argument that is none: what follows belongs to the program. */
function splitProgram(args: readonly string[]): { own: string[]; program: string[] } {
  const { tokens } = parseArgs({ args: [...args], options: RECORD_OPTIONS, allowPositionals: true, strict: false, tokens: true });
  const end = tokens.find(({ kind }) => kind !== 'option');
  if (end === undefined) return { own: [...args], program: [] };
  return { own: args.slice(0, end.index), program: args.slice(end.kind === 'option-terminator' ? end.index + 1 : end.index) };
}

function parse<O extends Options>(command: CommandName, args: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    // Node adds advice about its own syntax after the first sentence.
    throw wrong(`${message.split(/\. |\n/)[0]?.replace(/\.$/, '') ?? message}.`, command);
  }
}

function number(command: CommandName, option: string, text: string, wanted: string, fits: (value: number) => boolean): number {
  const value = /^[0-9]*\.?[0-9]+$/.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(value) || !fits(value)) throw wrong(`${option} takes ${wanted}, not '${text}'.`, command);
  return value;
}

function format(command: CommandName, text: string | undefined): 'text' | 'json' {
  if (text === undefined || text === 'text' || text === 'json') return text ?? 'text';
  throw wrong(`--format is text or json, not '${text}'.`, command);
}

function isCommand(name: string | undefined): name is CommandName {
  return name !== undefined && Object.hasOwn(HELP, name);
}

function wrong(message: string, command?: CommandName): EngineError {
  return new EngineError('usage', message, `See: cacheline ${command === undefined ? '' : `${command} `}--help`);
}
