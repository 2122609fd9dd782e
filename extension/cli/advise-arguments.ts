// The options of `cacheline advise`.
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

export interface AdviseArguments {
  command: 'advise';
  path?: string;
  format: 'text' | 'json';
  /** The edits alone. */
  patch: boolean;
  analysis: Analysis;
  /** How the text looks. */
  width?: number;
  pager: boolean;
}

export const ADVISE_HELP = `Usage: cacheline advise [options] [RECORDING]

Says for the data that threads of a recorded program compete for what to change:
what is shared and why, which layout ends it, what that costs and gains, and the
edit of the source where one is safe. RECORDING is a folder that "cacheline
record" made or a perf.data file; by default the newest *.cacheline in this
folder, else perf.data.

${INPUT_HELP}      --format FORMAT   text (default) or json (schema cacheline-advice/1)
      --patch           only the edits, as a diff that "git apply" takes in the
                        folder of the sources; without an edit nothing
  -h, --help            this text

${SELECTION_HELP}
How the text looks:
      --width N         columns; by default the terminal's, else 80
${PAGER_HELP}
${NAMES_HELP}`;

const ADVISE_OPTIONS = {
  ...RECORDING_OPTIONS,
  format: { type: 'string' },
  patch: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseAdvise(args: readonly string[]): AdviseArguments | 'help' {
  const { values, positionals } = parse('advise', args, ADVISE_OPTIONS);
  if (values.help) return 'help';
  const format = oneOf('advise', '--format', values.format ?? 'text', ['text', 'json']);
  const patch = values.patch ?? false;
  if (patch && format === 'json') throw wrong("--patch prints a diff; --format json has it in 'edit' of each advice.", 'advise');
  const path = recordingOf('advise', values.input, positionals);
  return {
    command: 'advise',
    ...(path === undefined ? {} : { path }),
    format,
    patch,
    analysis: analysisOf('advise', values),
    ...(values.width === undefined ? {} : { width: parseWidth('advise', values.width) }),
    pager: !(values['no-pager'] ?? false),
  };
}
