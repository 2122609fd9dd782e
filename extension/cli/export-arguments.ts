// The options of `cacheline export`.
import { oneOf, parse, wrong, type Options } from './options';
import {
  analysisOf,
  INPUT_HELP,
  NAMES_HELP,
  recordingOf,
  RECORDING_OPTIONS,
  SELECTION_HELP,
  SELECTION_OPTIONS,
  type Analysis,
} from './recording-arguments';

export const EXPORT_FORMATS = ['pprof', 'sarif', 'csv', 'markdown', 'json'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportArguments {
  command: 'export';
  path?: string;
  to: ExportFormat;
  /** Absent: standard output. */
  output?: string;
  analysis: Analysis;
}

export const EXPORT_HELP = `Usage: cacheline export [options] [RECORDING] --to FORMAT -o FILE

Writes a recording in a format that other programs read. RECORDING is a folder
that "cacheline record" made or a perf.data file; by default the newest
*.cacheline in this folder, else perf.data.

${INPUT_HELP}      --to FORMAT       pprof: contended samples, with member and type as the
                        innermost frames, for "go tool pprof" and what reads
                        its profiles
                        sarif: all contended data, for code scanning
                        csv: the table of cache lines
                        markdown: tables for an issue or a pull request
                        json: the report (schema cacheline-report/1)
  -o, --output FILE     by default standard output
  -h, --help            this text

${SELECTION_HELP}
${NAMES_HELP}`;

const EXPORT_OPTIONS = {
  ...SELECTION_OPTIONS,
  input: RECORDING_OPTIONS.input,
  to: { type: 'string' },
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseExport(args: readonly string[]): ExportArguments | 'help' {
  const { values, positionals } = parse('export', args, EXPORT_OPTIONS);
  if (values.help) return 'help';
  if (values.to === undefined) throw wrong(`export needs --to ${EXPORT_FORMATS.join('|')}.`, 'export');
  if (values.output === '') throw wrong('-o needs the name of a file.', 'export');
  const path = recordingOf('export', values.input, positionals);
  return {
    command: 'export',
    ...(path === undefined ? {} : { path }),
    to: oneOf('export', '--to', values.to, EXPORT_FORMATS),
    ...(values.output === undefined ? {} : { output: values.output }),
    analysis: analysisOf('export', values),
  };
}
