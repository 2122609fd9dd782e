// The options of `cacheline report --by`.
import { MOST_BINS, TABLE_KEYS, USUAL_BINS, type TableKey } from '../protocol/table';
import { number, wrong, type OptionGroup } from './options';

export interface TableArguments {
  /** One key, or two different ones. */
  by: TableKey[];
  /** Parts of the time; absent: not given. */
  bins?: number;
}

export const TABLE = {
  title: 'Tables (samples added up)',
  options: {
    by: {
      type: 'string',
      value: 'KEY[,KEY]',
      values: TABLE_KEYS,
      list: true,
      help:
        'a table by one key or two instead of the report: line, object, type, member, allocation, function (with who waits for whom), ' +
        'symbol (the function whose code it is, without inlined ones), source, file, thread, process, cpu, node, time',
    },
    bins: { type: 'string', value: 'N', help: `with --by time: how many parts to split the time into, ${USUAL_BINS} by default` },
  },
} as const satisfies OptionGroup;

const MOST_KEYS = 2;

/** Options of the report that say nothing of a table, as they are spelled. */
const OF_REPORTS = {
  coalesce: '-c',
  'call-graph': '-g',
  stats: '--stats',
  'node-info': '-N',
  'full-symbols': '--full-symbols',
  'no-source': '--no-source',
} as const;

export interface TableValues extends Partial<Record<keyof typeof OF_REPORTS, unknown>> {
  by?: string | undefined;
  bins?: string | undefined;
}

/**
 * @returns undefined where no table is asked for
 * @throws EngineError 'usage'
 */
export function parseTable(values: TableValues): TableArguments | undefined {
  if (values.by === undefined) {
    if (values.bins !== undefined) throw wrong('--bins splits the time of --by time: it needs --by.', 'report');
    return undefined;
  }
  for (const [name, spelled] of Object.entries(OF_REPORTS))
    if (values[name as keyof typeof OF_REPORTS] !== undefined)
      throw wrong(`${spelled} is for the report: it cannot be used with --by.`, 'report');
  const by = parseKeys(values.by);
  if (values.bins === undefined) return { by };
  if (!by.includes('time')) throw wrong(`--bins splits the time, which --by ${values.by} does not have.`, 'report');
  const wanted = `a whole number of parts from 1 to ${MOST_BINS}`;
  const bins = number('report', '--bins', values.bins, wanted, (value) => Number.isInteger(value) && value >= 1 && value <= MOST_BINS);
  return { by, bins };
}

function parseKeys(text: string): TableKey[] {
  const keys = text.split(',').map((name) => {
    const found = TABLE_KEYS.find((key) => key === name);
    if (found === undefined)
      throw wrong(`--by takes ${TABLE_KEYS.join(', ')}, or two of them separated by a comma, not '${name}'.`, 'report');
    return found;
  });
  if (keys.length > MOST_KEYS) throw wrong(`--by takes one key or two, not ${keys.length}: '${text}'.`, 'report');
  if (new Set(keys).size < keys.length) throw wrong(`--by takes two different keys, not '${text}'.`, 'report');
  return keys;
}
