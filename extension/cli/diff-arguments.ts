// The options of `cacheline diff`.
import { GENERAL, oneOf, parse, wrong, type Command } from './options';
import { analysisOf, LOOK, NAMES, lookOf, SELECTION, type Analysis, type Look } from './recording-arguments';

const FORMATS = ['text', 'json', 'markdown'] as const;

export interface DiffArguments extends Look {
  command: 'diff';
  before: string;
  after: string;
  format: (typeof FORMATS)[number];
  analysis: Analysis;
  /** Of the result; absent: standard output. */
  output?: string;
  showAll: boolean;
}

export const DIFF = {
  name: 'diff',
  brief: 'compare two recordings',
  forms: ['[options] BEFORE AFTER'],
  about: [
    'Says what changed between two recordings: which objects, types, members and functions are gone, new, better or worse, and where ' +
      'chance alone explains the difference. BEFORE and AFTER are folders that "cacheline record" made, or perf.data files. The exit ' +
      'status does not depend on what is found.',
  ],
  operands: 'files',
  groups: [
    {
      options: {
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default), json (schema cacheline-diff/1) or markdown' },
        output: { type: 'string', short: 'o', value: 'FILE', values: 'files', help: 'write the result there, not to standard output' },
        'show-all': { type: 'boolean', help: 'every entry, not only the first ones of a kind' },
        ...GENERAL.options,
      },
    },
    SELECTION,
    LOOK,
    NAMES,
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseDiff(args: readonly string[]): DiffArguments | 'help' {
  const { values, positionals } = parse(DIFF, args);
  if (values.help) return 'help';
  const [before, after, third] = positionals;
  if (before === undefined || after === undefined)
    throw wrong(`diff takes two recordings, but there is ${before === undefined ? 'none' : `only '${before}'`}.`, 'diff');
  if (third !== undefined) throw wrong(`diff takes two recordings, but '${third}' is a third.`, 'diff');
  if (before === '' || after === '') throw wrong('The name of a recording is empty.', 'diff');
  if (values.output === '') throw wrong('-o needs the name of a file.', 'diff');
  return {
    command: 'diff',
    before,
    after,
    format: oneOf('diff', '--format', values.format ?? 'text', FORMATS),
    analysis: analysisOf('diff', values),
    ...(values.output === undefined ? {} : { output: values.output }),
    showAll: values['show-all'] ?? false,
    ...lookOf(DIFF, values),
  };
}
