// The command line's grammar: what each command takes, its help, and one clear sentence for what it does not take.
import { ADVISE_HELP, parseAdvise, type AdviseArguments } from './advise-arguments';
import { CHECK_HELP, parseCheck, type CheckArguments } from './check-arguments';
import { DIFF_HELP, parseDiff, type DiffArguments } from './diff-arguments';
import { EXPORT_HELP, parseExport, type ExportArguments } from './export-arguments';
import { LAYOUT_HELP, parseLayout, type LayoutArguments } from './layout-arguments';
import { oneOf, parse, wrong, type CommandName, type Options } from './options';
import { parseRecord, RECORD_HELP, type RecordArguments } from './record-arguments';
import { parseReport, REPORT_HELP, type ReportArguments } from './report-arguments';
import { parseThreads, THREADS_HELP, type ThreadsArguments } from './threads-arguments';
import { parseTrace, TRACE_HELP, type TraceArguments } from './trace-arguments';
import { parseWhere, WHERE_HELP, type WhereArguments } from './where-arguments';
import { parseWorkset, WORKSET_HELP, type WorksetArguments } from './workset-arguments';

export interface DoctorArguments {
  command: 'doctor';
  format: 'text' | 'json';
  selfTest: boolean;
  calibrate: boolean;
}

export type Arguments =
  | RecordArguments
  | ReportArguments
  | AdviseArguments
  | ThreadsArguments
  | WorksetArguments
  | DiffArguments
  | CheckArguments
  | ExportArguments
  | TraceArguments
  | LayoutArguments
  | WhereArguments
  | DoctorArguments
  | { command: 'help'; text: string }
  | { command: 'version' };

const GENERAL_HELP = `cacheline finds false sharing and cache-line contention in C, C++, Rust and Go.

Usage:
  cacheline record [options] -- PROGRAM [ARGS]   run a program and record it
  cacheline report [options] [RECORDING]         which lines threads fight over
  cacheline advise [options] [RECORDING]         what to change, with the edit
  cacheline threads [options] [RECORDING]        what threads did over time
  cacheline workset [options] [RECORDING]        working sets, classes of misses
  cacheline diff [options] BEFORE AFTER          what changed between two
  cacheline check [options] [RECORDING]          passes or fails, for CI
  cacheline export --to FORMAT -o FILE           as pprof, SARIF, CSV, Markdown
  cacheline trace [options] TYPE -- PROGRAM      who touches a type's objects
  cacheline layout [options] TYPE --in BINARY    how a type lies on cache lines
  cacheline where [options] -p PID | -- PROGRAM  where memory and threads are
  cacheline doctor [options]                     what this machine can record

  cacheline COMMAND --help                       the options of a command
  cacheline --version
`;

const HELP = {
  record: RECORD_HELP,
  report: REPORT_HELP,
  advise: ADVISE_HELP,
  threads: THREADS_HELP,
  workset: WORKSET_HELP,
  diff: DIFF_HELP,
  check: CHECK_HELP,
  export: EXPORT_HELP,
  trace: TRACE_HELP,
  layout: LAYOUT_HELP,
  where: WHERE_HELP,
  doctor: `Usage: cacheline doctor [options]

Prints which collectors this machine can use, and what blocks the others with
the command or setting that changes it.

      --self-test       record a built-in contended program with each usable
                        collector and show what it found; 1 where one missed it
      --calibrate       measure for half a second what contention costs here,
                        and keep it for the recordings made on this CPU model
      --format FORMAT   text (default) or json
  -h, --help            this text
`,
} satisfies Record<CommandName, string>;

const DOCTOR_OPTIONS = {
  format: { type: 'string' },
  'self-test': { type: 'boolean' },
  calibrate: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @param args without the interpreter and the script
 * @throws EngineError 'usage' with one sentence and where to read more
 */
export function parseArguments(args: readonly string[]): Arguments {
  const [command, ...rest] = args;
  switch (command) {
    case 'record': {
      const parsed = parseRecord(rest);
      return parsed === 'help' ? { command: 'help', text: RECORD_HELP } : parsed;
    }
    case 'report': {
      const parsed = parseReport(rest);
      return parsed === 'help' ? { command: 'help', text: REPORT_HELP } : parsed;
    }
    case 'advise': {
      const parsed = parseAdvise(rest);
      return parsed === 'help' ? { command: 'help', text: ADVISE_HELP } : parsed;
    }
    case 'threads': {
      const parsed = parseThreads(rest);
      return parsed === 'help' ? { command: 'help', text: THREADS_HELP } : parsed;
    }
    case 'workset': {
      const parsed = parseWorkset(rest);
      return parsed === 'help' ? { command: 'help', text: WORKSET_HELP } : parsed;
    }
    case 'diff': {
      const parsed = parseDiff(rest);
      return parsed === 'help' ? { command: 'help', text: DIFF_HELP } : parsed;
    }
    case 'check': {
      const parsed = parseCheck(rest);
      return parsed === 'help' ? { command: 'help', text: CHECK_HELP } : parsed;
    }
    case 'export': {
      const parsed = parseExport(rest);
      return parsed === 'help' ? { command: 'help', text: EXPORT_HELP } : parsed;
    }
    case 'trace': {
      const parsed = parseTrace(rest);
      return parsed === 'help' ? { command: 'help', text: TRACE_HELP } : parsed;
    }
    case 'layout': {
      const parsed = parseLayout(rest);
      return parsed === 'help' ? { command: 'help', text: LAYOUT_HELP } : parsed;
    }
    case 'where': {
      const parsed = parseWhere(rest);
      return parsed === 'help' ? { command: 'help', text: WHERE_HELP } : parsed;
    }
    case 'doctor':
      return parseDoctor(rest);
    case '--help':
    case '-h':
    case 'help':
      if (rest[0] === undefined) return { command: 'help', text: GENERAL_HELP };
      if (!isCommand(rest[0])) throw wrong(`There is no command '${rest[0]}'.`);
      return { command: 'help', text: HELP[rest[0]] };
    case '--version':
    case '-V':
      return { command: 'version' };
    case undefined:
      throw wrong('There is no command.');
    default:
      throw wrong(`There is no command '${command}'.`);
  }
}

function parseDoctor(args: readonly string[]): Arguments {
  const { values, positionals } = parse('doctor', args, DOCTOR_OPTIONS);
  if (values.help) return { command: 'help', text: HELP.doctor };
  const [extra] = positionals;
  if (extra !== undefined) throw wrong(`doctor takes no argument, and there is '${extra}'.`, 'doctor');
  return {
    command: 'doctor',
    format: oneOf('doctor', '--format', values.format ?? 'text', ['text', 'json']),
    selfTest: values['self-test'] ?? false,
    calibrate: values.calibrate ?? false,
  };
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(HELP, name);
}
