// What the commands that read a recording have in common: which recording, which of its samples, where names come from.
import type { AnalyzeParams } from '../protocol/engine';
import { HIGHEST_PID } from '../session/record/processes';
import { decimal, HIGHEST_CPU, list, number, wrong, type CommandName, type ListLimits, type Options } from './options';

/** What the engine is asked for beyond the recording; only what was given. */
export type Analysis = Omit<AnalyzeParams, 'path' | 'showAll' | 'tables'>;

export const INPUT_HELP = `  -i, --input FILE      the recording, as perf spells it
`;

export const SELECTION_HELP = `Which samples count (verdicts are computed from these alone):
      --user, --kernel  only samples taken in this mode
      --time FROM,TO    only samples of this window, in seconds since the first;
                        either may be absent. Or as shares: 10%-20%
      --pid LIST        only these processes: 4711,4712
      --tid LIST        only these threads
  -C, --cpu LIST        only these CPUs: 0-3,8
      --filter TEXT     terms that select samples (thread:writer* cpu:0-3
                        time:10-20% mode:user process:NAME) or the lines to
                        show (verdict:false type:Queue member:head object:q
                        function:push* file:pool.cpp hitm>100); -type:Log
                        leaves out
`;

export const NAMES_HELP = `Where names come from:
      --symfs DIR       a folder in which the recorded machine's files lie under
                        their paths
  -k, --vmlinux FILE    the kernel's symbols
      --debuginfod      ask the servers in DEBUGINFOD_URLS for what is missing;
                        no network is used without it
`;

export const PAGER_HELP = `      --no-pager        never through $PAGER (by default less, on a terminal)
`;

/** Which samples count, and where names come from. */
export const SELECTION_OPTIONS = {
  user: { type: 'boolean' },
  kernel: { type: 'boolean' },
  time: { type: 'string' },
  pid: { type: 'string' },
  tid: { type: 'string' },
  cpu: { type: 'string', short: 'C' },
  filter: { type: 'string' },
  symfs: { type: 'string' },
  vmlinux: { type: 'string', short: 'k' },
  debuginfod: { type: 'boolean' },
} as const satisfies Options;

export const RECORDING_OPTIONS = {
  ...SELECTION_OPTIONS,
  input: { type: 'string', short: 'i' },
  width: { type: 'string' },
  'no-pager': { type: 'boolean' },
} as const satisfies Options;

/** Of RECORDING_OPTIONS; absent: not given. */
export type RecordingValues = {
  [Name in keyof typeof RECORDING_OPTIONS]?: (typeof RECORDING_OPTIONS)[Name]['type'] extends 'string' ? string : boolean;
};

const PIDS: ListLimits = { highest: HIGHEST_PID, ranges: false };
const CPUS: ListLimits = { highest: HIGHEST_CPU, ranges: true };
const NARROWEST = 40;

/**
 * @returns undefined where none is named
 * @throws EngineError 'usage', as all here
 */
export function recordingOf(command: CommandName, input: string | undefined, positionals: readonly string[]): string | undefined {
  const [path, second] = input === undefined ? positionals : [input, ...positionals];
  if (second !== undefined) throw wrong(`${command} takes one recording, and '${second}' is a second.`, command);
  if (path === '') throw wrong('The name of the recording is empty.', command);
  return path;
}

export function analysisOf(command: CommandName, values: RecordingValues): Analysis {
  if (values.user && values.kernel) throw wrong('--user and --kernel leave no sample: give one of them, or none for both.', command);
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
      `--time takes FROM,TO in seconds since the first sample, either may be absent, or shares as 10%-20%, not '${text}'.`,
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

/** Columns. */
export function parseWidth(command: CommandName, text: string): number {
  const wanted = `a whole number of columns from ${NARROWEST} up`;
  return number(command, '--width', text, wanted, (value) => Number.isSafeInteger(value) && value >= NARROWEST);
}
