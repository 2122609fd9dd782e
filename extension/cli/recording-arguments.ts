// What the commands that read a recording have in common: which recording, which of its samples, where names come from.
import type { AnalyzeParams } from '../protocol/engine';
import { HIGHEST_PID } from '../session/record/processes';
import {
  decimal,
  GENERAL,
  HIGHEST_CPU,
  list,
  number,
  terminalOf,
  wrong,
  type Command,
  type CommandName,
  type ListLimits,
  type OptionGroup,
  type TerminalChoice,
  type ValuesOf,
} from './options';

/** What the engine is asked for beyond the recording; only what was given. */
export type Analysis = Omit<AnalyzeParams, 'path' | 'showAll' | 'tables'>;

/** What stands at the end of what these commands say of themselves. */
export const RECORDING_OPERAND =
  'RECORDING is a folder that "cacheline record" made, or a perf.data file. Without it, the newest *.cacheline in this folder is read, ' +
  'else perf.data.';

export const INPUT = {
  input: { type: 'string', short: 'i', value: 'FILE', values: 'files', help: 'the recording, as in perf' },
} as const satisfies OptionGroup['options'];

export const SELECTION = {
  title: 'Which samples count (verdicts are computed from these alone)',
  options: {
    user: { type: 'boolean', help: 'only samples taken in user mode' },
    kernel: { type: 'boolean', help: 'only samples taken in kernel mode' },
    time: {
      type: 'string',
      value: 'FROM,TO',
      help: 'only this window, in seconds since the first sample; leave out either end, or give shares: 10%-20%',
    },
    pid: { type: 'string', value: 'LIST', help: 'only these processes: 4711,4712' },
    tid: { type: 'string', value: 'LIST', help: 'only these threads' },
    cpu: { type: 'string', short: 'C', value: 'LIST', help: 'only these CPUs: 0-3,8' },
    filter: {
      type: 'string',
      value: 'TEXT',
      help:
        'terms that select samples (thread:writer* cpu:0-3 time:10-20% mode:user process:NAME) or the lines to show (verdict:false ' +
        'type:Queue member:head object:q function:push* file:pool.cpp hitm>100); -type:Log leaves out',
    },
  },
} as const satisfies OptionGroup;

export const NAMES = {
  title: 'Where names come from',
  options: {
    symfs: { type: 'string', value: 'DIR', values: 'folders', help: "a folder with the recorded machine's files under their paths" },
    vmlinux: { type: 'string', short: 'k', value: 'FILE', values: 'files', help: "the kernel's symbols" },
    debuginfod: {
      type: 'boolean',
      help: 'ask the servers in DEBUGINFOD_URLS for missing debug information; without this option no network is used',
    },
  },
} as const satisfies OptionGroup;

export const PAGER = {
  'no-pager': { type: 'boolean', help: 'do not page output' },
} as const satisfies OptionGroup['options'];

export const WIDTH = {
  width: { type: 'string', value: 'N', help: "columns of the text; by default the terminal's, else 80" },
} as const satisfies OptionGroup['options'];

export const LOOK = { title: 'How the text looks', options: { ...WIDTH, ...PAGER } } as const satisfies OptionGroup;

/** How a text looks. */
export interface Look extends TerminalChoice {
  /** Columns. */
  width?: number;
  pager: boolean;
}

/** Of the options that say which samples count and where names come from; absent: not given. */
export type SelectionValues = ValuesOf<{ groups: [typeof SELECTION, typeof NAMES] }>;

const PIDS: ListLimits = { highest: HIGHEST_PID, ranges: false };
const CPUS: ListLimits = { highest: HIGHEST_CPU, ranges: true };
const NARROWEST = 40;

/**
 * @returns undefined where none is named
 * @throws EngineError 'usage', as all here
 */
export function recordingOf(command: CommandName, input: string | undefined, positionals: readonly string[]): string | undefined {
  const [path, second] = input === undefined ? positionals : [input, ...positionals];
  if (second !== undefined) throw wrong(`${command} takes one recording, but '${second}' is a second.`, command);
  if (path === '') throw wrong('The name of the recording is empty.', command);
  return path;
}

export function analysisOf(command: CommandName, values: SelectionValues): Analysis {
  if (values.user && values.kernel) throw wrong('--user and --kernel leave no sample: give only one, or neither to keep both.', command);
  for (const name of ['symfs', 'vmlinux'] as const) if (values[name] === '') throw wrong(`The name after --${name} is empty.`, command);
  const { window, filter } = values.time === undefined ? {} : parseTime(command, values.time);
  const filters = [filter, values.filter].filter((text) => text !== undefined);
  return {
    ...(values.user ? { mode: 'user' as const } : values.kernel ? { mode: 'kernel' as const } : {}),
    ...(values.pid === undefined ? {} : { pids: list(command, '--pid', values.pid, PIDS) }),
    ...(values.tid === undefined ? {} : { tids: list(command, '--tid', values.tid, PIDS) }),
    ...(values.cpu === undefined ? {} : { cpus: list(command, '--cpu', values.cpu, CPUS) }),
    ...(window === undefined ? {} : { window }),
    ...(filters.length === 0 ? {} : { filter: filters.join(' ') }),
    ...(values.symfs === undefined ? {} : { symfs: values.symfs }),
    ...(values.vmlinux === undefined ? {} : { vmlinux: values.vmlinux }),
    ...(values.debuginfod ? { debuginfod: true } : {}),
  };
}

/** Seconds are a window; what shares are of the engine knows, as a term of its filter. */
function parseTime(command: CommandName, text: string): Pick<AnalyzeParams, 'window' | 'filter'> {
  const refuse = (): never => {
    throw wrong(
      `--time takes FROM,TO in seconds since the first sample (either may be left out), or shares such as 10%-20%, not '${text}'.`,
      command,
    );
  };
  const shares = /^([0-9.]+)%-([0-9.]+)%$/.exec(text);
  const [, from = '', to = ''] = shares ?? /^([0-9.]*),([0-9.]*)$/.exec(text) ?? refuse();
  const scale = shares === null ? 1 : 100;
  const [start, end] = [from, to].map((end) => (end === '' ? undefined : decimal(end) / scale));
  if ((start === undefined && end === undefined) || Number.isNaN(start) || Number.isNaN(end)) refuse();
  if (shares !== null && (end ?? 0) > 1) throw wrong(`--time ends at 100% of the recording, not at ${to}%.`, command);
  if (start !== undefined && end !== undefined && start >= end)
    throw wrong(`The window of --time ends before it begins: '${text}'.`, command);
  if (shares !== null) return { filter: `time:${from}-${to}%` };
  return { window: { ...(start === undefined ? {} : { from: start }), ...(end === undefined ? {} : { to: end }) } };
}

/** Of the options of LOOK, and of those that all commands have. */
export function lookOf(command: Command, values: ValuesOf<{ groups: [typeof LOOK, typeof GENERAL] }>): Look {
  const { width, 'no-pager': noPager = false } = values;
  return { ...(width === undefined ? {} : { width: parseWidth(command.name, width) }), pager: !noPager, ...terminalOf(command, values) };
}

/** Columns. */
export function parseWidth(command: CommandName, text: string): number {
  const wanted = `a whole number of columns from ${NARROWEST} up`;
  return number(command, '--width', text, wanted, (value) => Number.isSafeInteger(value) && value >= NARROWEST);
}
