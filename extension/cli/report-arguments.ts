// The options of `cacheline report`: perf's own spellings where `perf c2c report` has them.
import type { CoalesceKey, Display } from '../protocol/report';
import { GENERAL, oneOf, parse, wrong, type Command, type ValuesOf } from './options';
import {
  analysisOf,
  INPUT,
  NAMES,
  PAGER,
  lookOf,
  RECORDING_OPERAND,
  recordingOf,
  SELECTION,
  WIDTH,
  type Analysis,
  type Look,
} from './recording-arguments';
import { parseTable, TABLE, type TableArguments } from './table-arguments';

const FORMATS = ['text', 'json', 'csv'] as const;
type ReportFormat = (typeof FORMATS)[number];

export interface ReportArguments extends Look {
  command: 'report';
  path?: string;
  format: ReportFormat;
  showAll: boolean;
  analysis: Analysis;
  statsOnly: boolean;
  /** 0: ids of the nodes; 1: with their CPU counts and shares; 2: with their CPU lists. */
  nodeInfo: 0 | 1 | 2;
  fullSymbols: boolean;
  source: boolean;
  /** Options given that mean something only for recordings with data sources and that the engine does not know of. */
  dataSourceOptions: string[];
  /** A table instead of the report. */
  table?: TableArguments;
}

const DISPLAYS: readonly Display[] = ['tot', 'lcl', 'rmt', 'peer'];
const COALESCE_KEYS: readonly CoalesceKey[] = ['tid', 'pid', 'iaddr', 'dso'];

export const REPORT = {
  name: 'report',
  brief: 'show which cache lines threads fight over',
  forms: ['[options] [RECORDING]'],
  about: [
    `Prints which cache lines the threads of a recorded program compete for, through which data and which code. ${RECORDING_OPERAND}`,
  ],
  operands: 'files',
  groups: [
    {
      options: {
        ...INPUT,
        format: {
          type: 'string',
          value: 'FORMAT',
          values: FORMATS,
          help: 'text (default), json (schema cacheline-report/1) or csv (the table of lines)',
        },
        'show-all': {
          type: 'boolean',
          help: 'every line and access: also those of one thread, and those that perf c2c leaves out (under 0.1% of the contended loads)',
        },
        'call-graph': {
          type: 'boolean',
          short: 'g',
          help: 'show who called the code, where the recording has call chains (record --call-graph dwarf, or -g)',
        },
        ...GENERAL.options,
      },
    },
    TABLE,
    SELECTION,
    {
      title: 'How samples are grouped',
      options: {
        coalesce: {
          type: 'string',
          short: 'c',
          value: 'KEYS',
          values: COALESCE_KEYS,
          list: true,
          help: 'what splits the accesses at one offset into rows: any of tid,pid,iaddr,dso; by default iaddr',
        },
        'double-cl': {
          type: 'boolean',
          help: 'treat two neighbour lines as one: what the adjacent-line prefetcher moves together',
        },
      },
    },
    {
      title: 'How the text looks',
      options: {
        ...WIDTH,
        stats: { type: 'boolean', help: 'only the statistics, without lines' },
        'node-info': {
          type: 'boolean',
          short: 'N',
          multiple: true,
          help: 'also show how many CPUs and which shares each NUMA node has; twice (-NN): which CPUs',
        },
        'full-symbols': { type: 'boolean', help: 'do not shorten the names of functions in tables' },
        'no-source': { type: 'boolean', help: 'leave source files and lines out of tables' },
        ...PAGER,
      },
    },
    {
      title: 'For recordings with data sources (perf c2c record, perf mem record)',
      options: {
        display: {
          type: 'string',
          short: 'd',
          value: 'WHAT',
          values: DISPLAYS,
          help:
            'what to sort and show lines by: tot (all HITMs), lcl, rmt (local, remote HITMs) or peer (loads that the cache of another core ' +
            'answered); by default peer for Arm, else tot',
        },
      },
    },
    NAMES,
    { options: { stdio: { type: 'boolean' }, force: { type: 'boolean', short: 'f' } } },
  ],
  notes: ['--stdio and -f are accepted for compatibility with perf, and change nothing.'],
} as const satisfies Command;

/** Meaningless without data sources, and nothing that the engine sees, which refuses the others: as the help spells them. */
const DATA_SOURCE_OPTIONS = {
  stats: '--stats',
  'node-info': '-N',
} as const satisfies Partial<Record<keyof Values, string>>;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseReport(args: readonly string[]): ReportArguments | 'help' {
  const { values, positionals } = parse(REPORT, args);
  if (values.help) return 'help';
  const table = parseTable(values);
  const format = oneOf('report', '--format', values.format ?? 'text', FORMATS);
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
    statsOnly: values.stats ?? false,
    nodeInfo: nodeInfo === 0 ? 0 : nodeInfo === 1 ? 1 : 2,
    fullSymbols: values['full-symbols'] ?? false,
    source: !(values['no-source'] ?? false),
    dataSourceOptions: (Object.keys(DATA_SOURCE_OPTIONS) as (keyof typeof DATA_SOURCE_OPTIONS)[])
      .filter((name) => values[name] !== undefined)
      .map((name) => DATA_SOURCE_OPTIONS[name]),
    ...(table === undefined ? {} : { table }),
    ...lookOf(REPORT, values),
  };
}

type Values = ValuesOf<typeof REPORT>;

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
      if (found === undefined) throw wrong(`-c takes a list of ${COALESCE_KEYS.join(', ')}, not '${key}'.`, 'report');
      return found;
    });
  if (keys.length === 0) throw wrong(`-c needs one of ${COALESCE_KEYS.join(', ')} beside offset.`, 'report');
  return [...new Set(keys)];
}
