// The options of `cacheline report`: perf's own spellings where `perf c2c report` has them.
import type { AnalyzeParams } from '../protocol/engine';
import type { CoalesceKey, Display } from '../protocol/report';
import { HIGHEST_PID } from '../session/record/processes';
import { decimal, HIGHEST_CPU, list, number, oneOf, parse, wrong, type ListLimits, type Options } from './options';

export type ReportFormat = 'text' | 'json' | 'csv';

export interface ReportArguments {
  command: 'report';
  path?: string;
  format: ReportFormat;
  showAll: boolean;
  /** What the engine is asked for beyond that; only what was given. */
  analysis: Omit<AnalyzeParams, 'path' | 'showAll'>;
  /** How the text looks. */
  width?: number;
  statsOnly: boolean;
  /** 0: ids of the nodes; 1: with their CPU counts and shares; 2: with their CPU lists. */
  nodeInfo: 0 | 1 | 2;
  fullSymbols: boolean;
  source: boolean;
  pager: boolean;
  /** Options given that mean something only for recordings with data sources and that the engine does not know of. */
  dataSourceOptions: string[];
}

export const REPORT_HELP = `Usage: cacheline report [options] [RECORDING]

Prints which cache lines the threads of a recorded program compete for, through
which data and which code. RECORDING is a folder that "cacheline record" made or
a perf.data file; by default the newest *.cacheline in this folder, else
perf.data.

  -i, --input FILE      the recording, as perf spells it
      --format FORMAT   text (default), json (schema cacheline-report/1) or csv
                        (the table of lines)
      --show-all        every line and access: those of one thread, and those
                        that perf c2c leaves out (under 0.1 % of the contended
                        loads)
  -g, --call-graph      who called the code, where the recording has call chains
                        (record --call-graph dwarf, or -g)
  -h, --help            this text

Which samples count (verdicts are computed from these alone):
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

How samples are grouped:
  -c, --coalesce KEYS   what makes two rows of one offset: any of tid,pid,
                        iaddr,dso; by default iaddr
      --double-cl       take two neighbour lines for one: what the adjacent-line
                        prefetcher moves together

How the text looks:
      --width N         columns; by default the terminal's, else 80
      --stats           the statistics alone, without lines
  -N, --node-info       of the NUMA nodes, also how many CPUs and which shares;
                        twice (-NN): which CPUs
      --full-symbols    names of functions in full in tables, however long
      --no-source       tables without source files and lines
      --no-pager        never through $PAGER (by default less, on a terminal)

For recordings with data sources (perf c2c record, perf mem record):
  -d, --display WHAT    what lines are sorted by and shown for: tot (all HITMs),
                        lcl, rmt (local, remote HITMs) or peer (loads that
                        another core's cache answered); by default peer for Arm,
                        else tot

Where names come from:
      --symfs DIR       a folder in which the recorded machine's files lie under
                        their paths
  -k, --vmlinux FILE    the kernel's symbols
      --debuginfod      ask the servers in DEBUGINFOD_URLS for what is missing;
                        no network is used without it

--stdio and -f are taken, as perf has them, and change nothing here.
`;

const REPORT_OPTIONS = {
  input: { type: 'string', short: 'i' },
  format: { type: 'string' },
  'show-all': { type: 'boolean' },
  width: { type: 'string' },
  stats: { type: 'boolean' },
  'node-info': { type: 'boolean', short: 'N', multiple: true },
  'full-symbols': { type: 'boolean' },
  'no-source': { type: 'boolean' },
  'no-pager': { type: 'boolean' },
  display: { type: 'string', short: 'd' },
  coalesce: { type: 'string', short: 'c' },
  'double-cl': { type: 'boolean' },
  'call-graph': { type: 'boolean', short: 'g' },
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
  stdio: { type: 'boolean' },
  force: { type: 'boolean', short: 'f' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/** Meaningless without data sources, and nothing that the engine sees, which refuses the others: as the help spells them. */
const DATA_SOURCE_OPTIONS = {
  stats: '--stats',
  'node-info': '-N',
} as const satisfies Partial<Record<keyof typeof REPORT_OPTIONS, string>>;

const DISPLAYS: readonly Display[] = ['tot', 'lcl', 'rmt', 'peer'];
const COALESCE_KEYS: readonly CoalesceKey[] = ['tid', 'pid', 'iaddr', 'dso'];
const PIDS: ListLimits = { highest: HIGHEST_PID, ranges: false };
const CPUS: ListLimits = { highest: HIGHEST_CPU, ranges: true };
const NARROWEST = 40;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseReport(args: readonly string[]): ReportArguments | 'help' {
  const { values, positionals } = parse('report', args, REPORT_OPTIONS);
  if (values.help) return 'help';
  const format = oneOf('report', '--format', values.format ?? 'text', ['text', 'json', 'csv']);
  if (values.stats && format !== 'text') {
    throw wrong(
      `--stats shortens the text; --format ${format} has ${format === 'json' ? "them in 'stats' and 'shared'" : 'no statistics'}.`,
      'report',
    );
  }
  const path = recordingOf(values.input, positionals);
  const nodeInfo = values['node-info']?.filter(Boolean).length ?? 0;
  return {
    command: 'report',
    ...(path === undefined ? {} : { path }),
    format,
    showAll: values['show-all'] ?? false,
    analysis: analysisOf(values),
    ...(values.width === undefined ? {} : { width: parseWidth(values.width) }),
    statsOnly: values.stats ?? false,
    nodeInfo: nodeInfo === 0 ? 0 : nodeInfo === 1 ? 1 : 2,
    fullSymbols: values['full-symbols'] ?? false,
    source: !(values['no-source'] ?? false),
    pager: !(values['no-pager'] ?? false),
    dataSourceOptions: (Object.keys(DATA_SOURCE_OPTIONS) as (keyof typeof DATA_SOURCE_OPTIONS)[])
      .filter((name) => values[name] !== undefined)
      .map((name) => DATA_SOURCE_OPTIONS[name]),
  };
}

function recordingOf(input: string | undefined, positionals: readonly string[]): string | undefined {
  const [path, second] = input === undefined ? positionals : [input, ...positionals];
  if (second !== undefined) throw wrong(`report takes one recording, and '${second}' is a second.`, 'report');
  if (path === '') throw wrong('The name of the recording is empty.', 'report');
  return path;
}

type Values = ReturnType<typeof parse<typeof REPORT_OPTIONS>>['values'];

function analysisOf(values: Values): ReportArguments['analysis'] {
  if (values.user && values.kernel) throw wrong('--user and --kernel leave no sample: give one of them, or none for both.', 'report');
  for (const name of ['symfs', 'vmlinux'] as const) if (values[name] === '') throw wrong(`The name after --${name} is empty.`, 'report');
  const { window, filter } = values.time === undefined ? {} : parseTime(values.time);
  const filters = [filter, values.filter].filter((text) => text !== undefined);
  return {
    ...(values.display === undefined ? {} : { display: oneOf('report', '-d', values.display, DISPLAYS) }),
    ...(values.coalesce === undefined ? {} : { coalesce: parseCoalesce(values.coalesce) }),
    ...(values['double-cl'] ? { doubleLine: true } : {}),
    ...(values['call-graph'] ? { callers: true } : {}),
    ...(values.user ? { mode: 'user' as const } : values.kernel ? { mode: 'kernel' as const } : {}),
    ...(values.pid === undefined ? {} : { pids: list('report', '--pid', values.pid, PIDS) }),
    ...(values.tid === undefined ? {} : { tids: list('report', '--tid', values.tid, PIDS) }),
    ...(values.cpu === undefined ? {} : { cpus: list('report', '--cpu', values.cpu, CPUS) }),
    ...(window === undefined ? {} : { window }),
    ...(filters.length === 0 ? {} : { filter: filters.join(' ') }),
    ...(values.symfs === undefined ? {} : { symfs: values.symfs }),
    ...(values.vmlinux === undefined ? {} : { vmlinux: values.vmlinux }),
    ...(values.debuginfod ? { debuginfod: true } : {}),
  };
}

/** perf takes `offset` too, which is always there. */
function parseCoalesce(text: string): CoalesceKey[] {
  const keys = text
    .split(',')
    .filter((key) => key !== 'offset')
    .map((key) => {
      const found = COALESCE_KEYS.find((known) => known === key);
      if (found === undefined) throw wrong(`-c takes a list of ${COALESCE_KEYS.join(', ')}, and '${key}' is none of them.`, 'report');
      return found;
    });
  if (keys.length === 0) throw wrong(`-c needs one of ${COALESCE_KEYS.join(', ')} beside offset.`, 'report');
  return [...new Set(keys)];
}

/** Seconds are a window; what shares are of the engine knows, as a term of its filter. */
function parseTime(text: string): Pick<AnalyzeParams, 'window' | 'filter'> {
  const refuse = (): never => {
    throw wrong(
      `--time takes FROM,TO in seconds since the first sample, either may be absent, or shares as 10%-20%, not '${text}'.`,
      'report',
    );
  };
  const shares = /^([0-9.]+)%-([0-9.]+)%$/.exec(text);
  const [, from = '', to = ''] = shares ?? /^([0-9.]*),([0-9.]*)$/.exec(text) ?? refuse();
  const scale = shares === null ? 1 : 100;
  const [start, end] = [from, to].map((end) => (end === '' ? undefined : decimal(end) / scale));
  if ((start === undefined && end === undefined) || Number.isNaN(start) || Number.isNaN(end)) refuse();
  if (shares !== null && (end ?? 0) > 1) throw wrong(`--time ends at 100% of the recording, not at ${to}%.`, 'report');
  if (start !== undefined && end !== undefined && start >= end)
    throw wrong(`The window of --time ends before it begins: '${text}'.`, 'report');
  if (shares !== null) return { filter: `time:${from}-${to}%` };
  return { window: { ...(start === undefined ? {} : { from: start }), ...(end === undefined ? {} : { to: end }) } };
}

function parseWidth(text: string): number {
  const wanted = `a whole number of columns from ${NARROWEST} up`;
  return number('report', '--width', text, wanted, (value) => Number.isSafeInteger(value) && value >= NARROWEST);
}
