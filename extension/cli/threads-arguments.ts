// The options of `cacheline threads`.
import { number, oneOf, parse, type Options } from './options';
import { analysisOf, INPUT_HELP, PAGER_HELP, parseWidth, recordingOf, RECORDING_OPTIONS, type Analysis } from './recording-arguments';

export interface ThreadsArguments {
  command: 'threads';
  path?: string;
  format: 'text' | 'json';
  /** Parts of the window that times are told by. */
  bins?: number;
  analysis: Analysis;
  /** How the text looks. */
  width?: number;
  pager: boolean;
}

/** What the engine takes. */
const MOST_BINS = 1000;

export const THREADS_HELP = `Usage: cacheline threads [options] [RECORDING]

Says what each thread of a recorded program did over time: ran, ran contended,
could run but had no CPU, or was blocked; on which CPUs, and how unevenly the
threads work. RECORDING is a folder that "cacheline record" made or a perf.data
file; by default the newest *.cacheline in this folder, else perf.data.

${INPUT_HELP}      --format FORMAT   text (default) or json (schema cacheline-threads/1)
      --bins N          parts of the time, at most ${MOST_BINS}; by default 60, and in
                        the text as many as there is room for
  -h, --help            this text

Which threads, and when:
      --time FROM,TO    only this window, in seconds since the first sample;
                        either may be absent. Or as shares: 10%-20%
      --pid LIST        only these processes: 4711,4712
      --tid LIST        only these threads

How the text looks:
      --width N         columns; by default the terminal's, else 80
${PAGER_HELP}`;

const THREADS_OPTIONS = {
  input: RECORDING_OPTIONS.input,
  time: RECORDING_OPTIONS.time,
  pid: RECORDING_OPTIONS.pid,
  tid: RECORDING_OPTIONS.tid,
  width: RECORDING_OPTIONS.width,
  'no-pager': RECORDING_OPTIONS['no-pager'],
  format: { type: 'string' },
  bins: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseThreads(args: readonly string[]): ThreadsArguments | 'help' {
  const { values, positionals } = parse('threads', args, THREADS_OPTIONS);
  if (values.help) return 'help';
  const format = oneOf('threads', '--format', values.format ?? 'text', ['text', 'json']);
  const path = recordingOf('threads', values.input, positionals);
  const fits = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MOST_BINS;
  return {
    command: 'threads',
    ...(path === undefined ? {} : { path }),
    format,
    ...(values.bins === undefined ? {} : { bins: number('threads', '--bins', values.bins, `a whole number from 1 to ${MOST_BINS}`, fits) }),
    analysis: analysisOf('threads', values),
    ...(values.width === undefined ? {} : { width: parseWidth('threads', values.width) }),
    pager: !(values['no-pager'] ?? false),
  };
}
