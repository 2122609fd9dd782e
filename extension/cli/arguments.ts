// The command line's grammar: what each command takes, its help, and one clear sentence for what it does not take.
import { ADVISE, parseAdvise, type AdviseArguments } from './advise-arguments';
import { CHECK, parseCheck, type CheckArguments } from './check-arguments';
import { COMPLETIONS, parseCompletions, type CompletionsArguments } from './completions-arguments';
import { DIFF, parseDiff, type DiffArguments } from './diff-arguments';
import { DOCTOR, parseDoctor, type DoctorArguments } from './doctor-arguments';
import { EXPORT, parseExport, type ExportArguments } from './export-arguments';
import { commandHelp, generalHelp } from './help';
import { LAYOUT, parseLayout, type LayoutArguments } from './layout-arguments';
import { COMMAND_NAMES, wrong, type Command, type CommandName } from './options';
import { parseRecord, type RecordArguments } from './record-arguments';
import { RECORD } from './record-options';
import { parseReport, REPORT, type ReportArguments } from './report-arguments';
import { parseThreads, THREADS, type ThreadsArguments } from './threads-arguments';
import { parseTrace, TRACE, type TraceArguments } from './trace-arguments';
import { parseWhere, WHERE, type WhereArguments } from './where-arguments';
import { parseWorkset, WORKSET, type WorksetArguments } from './workset-arguments';

type CommandArguments =
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
  | CompletionsArguments;

export type Arguments = CommandArguments | { command: 'help'; text: string } | { command: 'version' };

type Parser = (args: readonly string[]) => CommandArguments | 'help';

const GRAMMAR: Record<CommandName, { command: Command; parse: Parser }> = {
  record: { command: RECORD, parse: parseRecord },
  report: { command: REPORT, parse: parseReport },
  advise: { command: ADVISE, parse: parseAdvise },
  threads: { command: THREADS, parse: parseThreads },
  workset: { command: WORKSET, parse: parseWorkset },
  diff: { command: DIFF, parse: parseDiff },
  check: { command: CHECK, parse: parseCheck },
  export: { command: EXPORT, parse: parseExport },
  trace: { command: TRACE, parse: parseTrace },
  layout: { command: LAYOUT, parse: parseLayout },
  where: { command: WHERE, parse: parseWhere },
  doctor: { command: DOCTOR, parse: parseDoctor },
  completions: { command: COMPLETIONS, parse: parseCompletions },
};

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = COMMAND_NAMES.map((name) => GRAMMAR[name].command);

/**
 * @param args without the interpreter and the script
 * @throws EngineError 'usage' with one sentence and where to read more
 */
export function parseArguments(args: readonly string[]): Arguments {
  const [name, ...rest] = args;
  switch (name) {
    case '--help':
    case '-h':
    case 'help':
      return { command: 'help', text: rest[0] === undefined ? generalHelp(COMMANDS) : commandHelp(grammarOf(rest[0]).command) };
    case '--version':
    case '-V':
      return { command: 'version' };
    case undefined:
      throw wrong('No command was given.');
    default: {
      const { command, parse } = grammarOf(name);
      const parsed = parse(rest);
      return parsed === 'help' ? { command: 'help', text: commandHelp(command) } : parsed;
    }
  }
}

function grammarOf(name: string): (typeof GRAMMAR)[CommandName] {
  const found = COMMAND_NAMES.find((known) => known === name);
  if (found === undefined) throw wrong(`Unknown command '${name}'.`);
  return GRAMMAR[found];
}
