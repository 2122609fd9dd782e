// The options of `cacheline diff`.
import { oneOf, parse, wrong, type Options } from './options';
import {
  analysisOf,
  NAMES_HELP,
  PAGER_HELP,
  parseWidth,
  RECORDING_OPTIONS,
  SELECTION_HELP,
  SELECTION_OPTIONS,
  type Analysis,
} from './recording-arguments';

export interface DiffArguments {
  command: 'diff';
  before: string;
  after: string;
  format: 'text' | 'json' | 'markdown';
  analysis: Analysis;
  /** Of the result; absent: standard output. */
  output?: string;
  showAll: boolean;
  width?: number;
  pager: boolean;
}

export const DIFF_HELP = `Usage: cacheline diff [options] BEFORE AFTER

Says what changed between two recordings: objects, types, members and functions
by name, what went, what came, what got better or worse, and where chance alone
explains the difference. BEFORE and AFTER are folders that "cacheline record"
made or perf.data files. The exit status does not depend on what is found.

      --format FORMAT   text (default), json (schema cacheline-diff/1) or
                        markdown
  -o, --output FILE     write the result there instead of to standard output
      --show-all        every entry, not the first ones of a kind
  -h, --help            this text

${SELECTION_HELP}
How the text looks:
      --width N         columns; by default the terminal's, else 80
${PAGER_HELP}
${NAMES_HELP}`;

const DIFF_OPTIONS = {
  ...SELECTION_OPTIONS,
  width: RECORDING_OPTIONS.width,
  'no-pager': RECORDING_OPTIONS['no-pager'],
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  'show-all': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseDiff(args: readonly string[]): DiffArguments | 'help' {
  const { values, positionals } = parse('diff', args, DIFF_OPTIONS);
  if (values.help) return 'help';
  const [before, after, third] = positionals;
  if (before === undefined || after === undefined)
    throw wrong(`diff takes two recordings, and there is ${before === undefined ? 'none' : `only '${before}'`}.`, 'diff');
  if (third !== undefined) throw wrong(`diff takes two recordings, and '${third}' is a third.`, 'diff');
  if (before === '' || after === '') throw wrong('The name of a recording is empty.', 'diff');
  if (values.output === '') throw wrong('-o needs the name of a file.', 'diff');
  return {
    command: 'diff',
    before,
    after,
    format: oneOf('diff', '--format', values.format ?? 'text', ['text', 'json', 'markdown']),
    analysis: analysisOf('diff', values),
    ...(values.output === undefined ? {} : { output: values.output }),
    showAll: values['show-all'] ?? false,
    ...(values.width === undefined ? {} : { width: parseWidth('diff', values.width) }),
    pager: !(values['no-pager'] ?? false),
  };
}
