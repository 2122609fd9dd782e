// The options of `cacheline report`: perf's own spellings where `perf c2c report` has them.
import type { CoalesceKey, Display } from '../protocol/report';
import { oneOf, parse, wrong, type Options } from './options';
import {
  analysisOf,
  INPUT_HELP,
  NAMES_HELP,
  PAGER_HELP,
  parseWidth,
  recordingOf,
  RECORDING_OPTIONS,
  SELECTION_HELP,
  type Analysis,
} from './recording-arguments';
import { parseTable, TABLE_HELP, type TableArguments } from './table-arguments';

export type ReportFormat = 'text' | 'json' | 'csv';

export interface ReportArguments {
  command: 'report';
  path?: string;
  format: ReportFormat;
  showAll: boolean;
  analysis: Analysis;
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
  /** A table instead of the report. */
  table?: TableArguments;
}

export const REPORT_HELP = `Usage: cacheline report [options] [RECORDING]

Prints which cache lines the threads of a recorded program compete for, through
which data and which code. RECORDING is a folder that "cacheline record" made or
a perf.data file; by default the newest *.cacheline in this folder, else
perf.data.

${INPUT_HELP}      --format FORMAT   text (default), json (schema cacheline-report/1) or csv
                        (the table of lines)
      --show-all        every line and access: those of one thread, and those
                        that perf c2c leaves out (under 0.1 % of the contended
                        loads)
  -g, --call-graph      who called the code, where the recording has call chains
                        (record --call-graph dwarf, or -g)
  -h, --help            this text

${TABLE_HELP}
${SELECTION_HELP}
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
${PAGER_HELP}
For recordings with data sources (perf c2c record, perf mem record):
  -d, --display WHAT    what lines are sorted by and shown for: tot (all HITMs),
                        lcl, rmt (local, remote HITMs) or peer (loads that
                        another core's cache answered); by default peer for Arm,
                        else tot

${NAMES_HELP}
--stdio and -f are taken, as perf has them, and change nothing here.
`;

const REPORT_OPTIONS = {
  ...RECORDING_OPTIONS,
  format: { type: 'string' },
  'show-all': { type: 'boolean' },
  by: { type: 'string' },
  bins: { type: 'string' },
  stats: { type: 'boolean' },
  'node-info': { type: 'boolean', short: 'N', multiple: true },
  'full-symbols': { type: 'boolean' },
  'no-source': { type: 'boolean' },
  display: { type: 'string', short: 'd' },
  coalesce: { type: 'string', short: 'c' },
  'double-cl': { type: 'boolean' },
  'call-graph': { type: 'boolean', short: 'g' },
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

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseReport(args: readonly string[]): ReportArguments | 'help' {
  const { values, positionals } = parse('report', args, REPORT_OPTIONS);
  if (values.help) return 'help';
  const table = parseTable(values);
  const format = oneOf('report', '--format', values.format ?? 'text', ['text', 'json', 'csv']);
  if (values.stats && format !== 'text') {
    throw wrong(
      `--stats shortens the text; --format ${format} has ${format === 'json' ? "them in 'stats' and 'shared'" : 'no statistics'}.`,
      'report',
    );
  }
  const path = recordingOf('report', values.input, positionals);
  const nodeInfo = values['node-info']?.filter(Boolean).length ?? 0;
  return {
    command: 'report',
    ...(path === undefined ? {} : { path }),
    format,
    showAll: values['show-all'] ?? false,
    analysis: { ...analysisOf('report', values), ...groupingOf(values) },
    ...(values.width === undefined ? {} : { width: parseWidth('report', values.width) }),
    statsOnly: values.stats ?? false,
    nodeInfo: nodeInfo === 0 ? 0 : nodeInfo === 1 ? 1 : 2,
    fullSymbols: values['full-symbols'] ?? false,
    source: !(values['no-source'] ?? false),
    pager: !(values['no-pager'] ?? false),
    dataSourceOptions: (Object.keys(DATA_SOURCE_OPTIONS) as (keyof typeof DATA_SOURCE_OPTIONS)[])
      .filter((name) => values[name] !== undefined)
      .map((name) => DATA_SOURCE_OPTIONS[name]),
    ...(table === undefined ? {} : { table }),
  };
}

type Values = ReturnType<typeof parse<typeof REPORT_OPTIONS>>['values'];

function groupingOf(values: Values): Analysis {
  return {
    ...(values.display === undefined ? {} : { display: oneOf('report', '-d', values.display, DISPLAYS) }),
    ...(values.coalesce === undefined ? {} : { coalesce: parseCoalesce(values.coalesce) }),
    ...(values['double-cl'] ? { doubleLine: true } : {}),
    ...(values['call-graph'] ? { callers: true } : {}),
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
