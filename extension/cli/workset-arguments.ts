// The options of `cacheline workset`.
import { oneOf, parse, type Options } from './options';
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

export interface WorksetArguments {
  command: 'workset';
  path?: string;
  format: 'text' | 'json';
  analysis: Analysis;
  /** How the text looks. */
  width?: number;
  pager: boolean;
}

export const WORKSET_HELP = `Usage: cacheline workset [options] [RECORDING]

Estimates how much memory the threads of a recorded program work on, by type and
by allocation site, against the caches of the recorded machine; and says which
classes of misses the samples show: false and true sharing, conflict, capacity.
RECORDING is a folder that "cacheline record" made or a perf.data file; by
default the newest *.cacheline in this folder, else perf.data. Upper bounds need
heap blocks: cacheline record --heap.

${INPUT_HELP}      --format FORMAT   text (default) or json (schema cacheline-workset/1)
  -h, --help            this text

${SELECTION_HELP}
How the text looks:
      --width N         columns; by default the terminal's, else 80
${PAGER_HELP}
${NAMES_HELP}`;

const WORKSET_OPTIONS = {
  ...RECORDING_OPTIONS,
  format: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseWorkset(args: readonly string[]): WorksetArguments | 'help' {
  const { values, positionals } = parse('workset', args, WORKSET_OPTIONS);
  if (values.help) return 'help';
  const format = oneOf('workset', '--format', values.format ?? 'text', ['text', 'json']);
  const path = recordingOf('workset', values.input, positionals);
  return {
    command: 'workset',
    ...(path === undefined ? {} : { path }),
    format,
    analysis: analysisOf('workset', values),
    ...(values.width === undefined ? {} : { width: parseWidth('workset', values.width) }),
    pager: !(values['no-pager'] ?? false),
  };
}
