// The options of `cacheline advise`.
import { GENERAL, oneOf, parse, wrong, type Command } from './options';
import {
  analysisOf,
  INPUT,
  LOOK,
  NAMES,
  lookOf,
  RECORDING_OPERAND,
  recordingOf,
  SELECTION,
  type Analysis,
  type Look,
} from './recording-arguments';

const FORMATS = ['text', 'json'] as const;

export interface AdviseArguments extends Look {
  command: 'advise';
  path?: string;
  format: 'text' | 'json';
  /** The edits alone. */
  patch: boolean;
  analysis: Analysis;
}

export const ADVISE = {
  name: 'advise',
  brief: 'say what to change, with the edit',
  forms: ['[options] [RECORDING]'],
  about: [
    'Says what to change about the data that threads compete for: what is shared and why, which layout ends it, what that costs and gains, ' +
      `and the edit of the source where one is safe. ${RECORDING_OPERAND}`,
  ],
  operands: 'files',
  groups: [
    {
      options: {
        ...INPUT,
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default) or json (schema cacheline-advice/1)' },
        patch: {
          type: 'boolean',
          help: 'print only the edits, as a diff that "git apply" takes in the folder of the sources; without an edit, nothing',
        },
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
export function parseAdvise(args: readonly string[]): AdviseArguments | 'help' {
  const { values, positionals } = parse(ADVISE, args);
  if (values.help) return 'help';
  const format = oneOf('advise', '--format', values.format ?? 'text', FORMATS);
  const patch = values.patch ?? false;
  if (patch && format === 'json') throw wrong("--patch prints a diff; --format json has it in 'edit' of each advice.", 'advise');
  const path = recordingOf('advise', values.input, positionals);
  return {
    command: 'advise',
    ...(path === undefined ? {} : { path }),
    format,
    patch,
    analysis: analysisOf('advise', values),
    ...lookOf(ADVISE, values),
  };
}
