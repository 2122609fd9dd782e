// The options of `cacheline threads`.
import { GENERAL, number, oneOf, parse, type Command } from './options';
import {
  analysisOf,
  INPUT,
  LOOK,
  lookOf,
  RECORDING_OPERAND,
  recordingOf,
  SELECTION,
  type Analysis,
  type Look,
} from './recording-arguments';

const FORMATS = ['text', 'json'] as const;

export interface ThreadsArguments extends Look {
  command: 'threads';
  path?: string;
  format: 'text' | 'json';
  /** Parts of the window that times are told by. */
  bins?: number;
  analysis: Analysis;
}

/** What the engine takes. */
const MOST_BINS = 1000;

const { time, pid, tid } = SELECTION.options;

export const THREADS = {
  name: 'threads',
  brief: 'show what threads did over time',
  forms: ['[options] [RECORDING]'],
  about: [
    'Says what each thread of a recorded program did over time: ran, ran contended, could run but had no CPU, or was blocked; on which ' +
      `CPUs, and how unevenly the threads work. ${RECORDING_OPERAND}`,
  ],
  operands: 'files',
  groups: [
    {
      options: {
        ...INPUT,
        format: { type: 'string', value: 'FORMAT', values: FORMATS, help: 'text (default) or json (schema cacheline-threads/1)' },
        bins: {
          type: 'string',
          value: 'N',
          help: `how many parts to split the time into, at most ${MOST_BINS}; by default 60, and in the text as many as fit`,
        },
        ...GENERAL.options,
      },
    },
    { title: 'Which threads, and when', options: { time, pid, tid } },
    LOOK,
  ],
} as const satisfies Command;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseThreads(args: readonly string[]): ThreadsArguments | 'help' {
  const { values, positionals } = parse(THREADS, args);
  if (values.help) return 'help';
  const format = oneOf('threads', '--format', values.format ?? 'text', FORMATS);
  const path = recordingOf('threads', values.input, positionals);
  const fits = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MOST_BINS;
  return {
    command: 'threads',
    ...(path === undefined ? {} : { path }),
    format,
    ...(values.bins === undefined ? {} : { bins: number('threads', '--bins', values.bins, `a whole number from 1 to ${MOST_BINS}`, fits) }),
    analysis: analysisOf('threads', values),
    ...lookOf(THREADS, values),
  };
}
