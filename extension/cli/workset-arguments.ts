// The options of `cacheline workset`.
import { GENERAL, oneOf, parse, type Command } from './options';
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

export interface WorksetArguments extends Look {
  command: 'workset';
  path?: string;
  format: 'text' | 'json';
  analysis: Analysis;
}

export const WORKSET = {
  name: 'workset',
  brief: 'estimate working sets and classify misses',
  forms: ['[options] [RECORDING]'],
  about: [
    'Estimates how much memory the threads of a recorded program work on, by type and by allocation site, against the caches of the ' +
      'recorded machine. Says which classes of misses the samples show: false and true sharing, conflict, capacity. Upper bounds need ' +
      `heap blocks (cacheline record --heap). ${RECORDING_OPERAND}`,
  ],
  operands: 'files',
  groups: [
    {
      options: {
        ...INPUT,
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default) or json (schema cacheline-workset/1)' },
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
export function parseWorkset(args: readonly string[]): WorksetArguments | 'help' {
  const { values, positionals } = parse(WORKSET, args);
  if (values.help) return 'help';
  const format = oneOf('workset', '--format', values.format ?? 'text', FORMATS);
  const path = recordingOf('workset', values.input, positionals);
  return {
    command: 'workset',
    ...(path === undefined ? {} : { path }),
    format,
    analysis: analysisOf('workset', values),
    ...lookOf(WORKSET, values),
  };
}
