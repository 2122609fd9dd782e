// The grammar of `cacheline record`. Options are called as in `perf c2c record` and `perf record`, which fingers know.
import type { AttachTarget, HeapParams, RecordParams } from '../protocol/engine';
import { HIGHEST_PID } from '../session/record/processes';
import { COLLECTORS, DEFAULT_FREQUENCY } from '../session/record/recording-choices';
import { HIGHEST_CPU, list, number, oneOf, parse, splitProgram, terminalOf, wrong, type TerminalChoice, type ValuesOf } from './options';
import { contradiction } from './record-contradictions';
import { CALL_GRAPHS, DEFAULT_HEAP_SAMPLING, RECORD } from './record-options';
import { ringBytes } from './ring-size';

/** `--repeat`: so many runs, or pairs of runs of the program and another one. */
export interface Repetition {
  count: number;
  against?: string;
}

export interface RecordArguments extends TerminalChoice {
  command: 'record';
  directory?: string;
  force: boolean;
  repetition?: Repetition;
  /** In the recording: the program and its libraries. */
  keepsBinaries: boolean;
  params: Omit<RecordParams, 'outputDirectory' | 'stdio'>;
}

/** What the engine takes: it records as many as the kernel and the machine allow, and says so. */
const HIGHEST_FREQUENCY = 1_000_000_000;
const HIGHEST_PERIOD = 1_000_000_000_000;
/** What Intel's load latency facility compares with: 16 bits. */
const HIGHEST_LDLAT = 65_535;
const SPARSEST_HEAP_SAMPLING = 1_000_000;
/** The exact test of pairs takes time with the cube of their number. */
const MOST_RUNS = 200;

export type RecordValues = ValuesOf<typeof RECORD>;

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseRecord(args: readonly string[]): RecordArguments | 'help' {
  const { own, program } = splitProgram(args, RECORD);
  const { values } = parse(RECORD, own);
  if (values.help) return 'help';
  const why = contradiction(values, program);
  if (why !== undefined) throw wrong(why, 'record');
  if (values.output === '') throw wrong('-o needs the name of a folder.', 'record');
  return {
    command: 'record',
    ...(values.output === undefined ? {} : { directory: values.output }),
    force: values.force ?? false,
    keepsBinaries: !(values['no-buildid-cache'] ?? false),
    ...repetitionOf(values),
    ...terminalOf(RECORD, values),
    params: {
      command: program,
      ...targetOf(values, program),
      ...ratesOf(values),
      durationSeconds:
        values.duration === undefined
          ? 0
          : number('record', '--duration', values.duration, 'a number of seconds above 0', (value) => value > 0),
      ...(values['all-user'] ? { mode: 'user' as const } : values['all-kernel'] ? { mode: 'kernel' as const } : {}),
      ...callGraphOf(values),
      ...(values['no-switches'] ? { switches: false } : {}),
      ...(values.collector === undefined ? {} : { collector: oneOf('record', '--collector', values.collector, COLLECTORS) }),
      ...controlOf(values),
      ...watchOf(values),
      ...heapOf(values),
    },
  };
}

function targetOf(values: RecordValues, program: readonly string[]): Pick<RecordParams, 'attach' | 'cpus' | 'children' | 'descendants'> {
  const ids = { lowest: 1, highest: HIGHEST_PID, ranges: false };
  let attach: AttachTarget | undefined;
  if (values.pid !== undefined) attach = { kind: 'processes', ids: list('record', '-p', values.pid, ids) };
  else if (values.tid !== undefined) attach = { kind: 'threads', ids: list('record', '-t', values.tid, ids) };
  // As in perf, CPUs and nothing else are the whole machine on them.
  else if (values['all-cpus'] || program.length === 0) attach = { kind: 'system' };
  return {
    ...(attach === undefined ? {} : { attach }),
    ...(values.cpu === undefined ? {} : { cpus: list('record', '-C', values.cpu, { highest: HIGHEST_CPU, ranges: true }) }),
    ...(values['no-inherit'] ? { children: false } : {}),
    ...(values.children ? { descendants: true } : {}),
  };
}

function whole(option: string, text: string, what: string, highest: number, lowest = 1): number {
  const fits = (value: number): boolean => Number.isInteger(value) && value >= lowest && value <= highest;
  return number('record', option, text, `a whole number of ${what} from ${lowest} to ${highest}`, fits);
}

type Rates = Pick<RecordParams, 'frequency' | 'frequencyGiven' | 'period' | 'ldlat' | 'physicalAddresses' | 'ringBytes'>;

function ratesOf(values: RecordValues): Rates {
  const frequency = values.freq ?? values.frequency;
  return {
    ...(frequency === undefined
      ? { frequency: DEFAULT_FREQUENCY }
      : { frequency: whole('-F', frequency, 'samples per second', HIGHEST_FREQUENCY), frequencyGiven: true }),
    ...(values.count === undefined ? {} : { period: whole('-c', values.count, 'events', HIGHEST_PERIOD) }),
    ...(values.ldlat === undefined ? {} : { ldlat: whole('-l', values.ldlat, 'cycles', HIGHEST_LDLAT) }),
    ...(values['phys-data'] ? { physicalAddresses: true } : {}),
    ...(values['mmap-pages'] === undefined ? {} : { ringBytes: ringBytes(values['mmap-pages']) }),
  };
}

function callGraphOf(values: RecordValues): Pick<RecordParams, 'callGraph'> {
  const how = values['call-graph'] ?? (values.callers ? 'fp' : undefined);
  return how === undefined ? {} : { callGraph: oneOf('record', '--call-graph', how, CALL_GRAPHS) };
}

function controlOf({ control, delay }: RecordValues): Pick<RecordParams, 'control'> {
  if (delay !== undefined && delay !== '-1') throw wrong(`-D takes -1, to begin with sampling off, not '${delay}'.`, 'record');
  if (control === undefined) return {};
  const [, command, acknowledge] = /^fifo:([^,]+)(?:,([^,]+))?$/.exec(control) ?? [];
  if (command === undefined) throw wrong(`--control takes fifo:CTL or fifo:CTL,ACK, not '${control}'.`, 'record');
  if (command === acknowledge) throw wrong(`--control needs two different FIFOs, not '${command}' twice.`, 'record');
  return {
    control: {
      command,
      ...(acknowledge === undefined ? {} : { acknowledge }),
      ...(delay === undefined ? {} : { startDisabled: true }),
    },
  };
}

function watchOf(values: RecordValues): Pick<RecordParams, 'watch'> {
  const expressions = values.watch ?? [];
  if (expressions.length === 0 && !values.confirm) return {};
  if (expressions.some((expression) => expression.trim() === '')) throw wrong('--watch needs what to watch.', 'record');
  const percent = values['watch-budget'];
  const fits = (value: number): boolean => value > 0 && value <= 100;
  return {
    watch: {
      expressions,
      confirm: values.confirm ?? false,
      ...(percent === undefined
        ? {}
        : { budget: number('record', '--watch-budget', percent, 'a percentage above 0, up to 100', fits) / 100 }),
    },
  };
}

function repetitionOf({ repeat, against }: RecordValues): Pick<RecordArguments, 'repetition'> {
  if (repeat === undefined) return {};
  const count = whole('--repeat', repeat, 'runs', MOST_RUNS);
  return { repetition: { count, ...(against === undefined ? {} : { against }) } };
}

function heapOf(values: RecordValues): { heap?: HeapParams } {
  if (!values.heap) return {};
  const sampling = values['heap-sampling'];
  return {
    heap: {
      sampling: sampling === undefined ? DEFAULT_HEAP_SAMPLING : whole('--heap-sampling', sampling, 'blocks', SPARSEST_HEAP_SAMPLING),
    },
  };
}
