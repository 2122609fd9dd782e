// The options of `cacheline export`.
import { GENERAL, oneOf, parse, terminalOf, wrong, type Command, type TerminalChoice } from './options';
import { analysisOf, INPUT, NAMES, RECORDING_OPERAND, recordingOf, SELECTION, type Analysis } from './recording-arguments';

const EXPORT_FORMATS = ['pprof', 'sarif', 'csv', 'markdown', 'json'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportArguments extends TerminalChoice {
  command: 'export';
  path?: string;
  to: ExportFormat;
  /** Absent: standard output. */
  output?: string;
  analysis: Analysis;
}

export const EXPORT = {
  name: 'export',
  brief: 'write pprof, SARIF, CSV, Markdown or JSON',
  forms: ['[options] [RECORDING] --to FORMAT -o FILE'],
  about: [`Writes a recording in a format that other programs read. ${RECORDING_OPERAND}`],
  operands: 'files',
  groups: [
    {
      options: {
        ...INPUT,
        to: {
          type: 'string',
          value: 'FORMAT',
          values: EXPORT_FORMATS,
          help:
            'pprof: contended samples, with member and type as the innermost frames, for "go tool pprof" and other readers of its ' +
            'profiles; sarif: all contended data, for code scanning; csv: the table of cache lines; markdown: tables for an issue or a ' +
            'pull request; json: the report (schema cacheline-report/1)',
        },
        output: { type: 'string', short: 'o', value: 'FILE', values: 'files', help: 'by default standard output' },
        ...GENERAL.options,
      },
    },
    SELECTION,
    NAMES,
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseExport(args: readonly string[]): ExportArguments | 'help' {
  const { values, positionals } = parse(EXPORT, args);
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
    ...terminalOf(EXPORT, values),
  };
}
