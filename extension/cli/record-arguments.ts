// The grammar of `cacheline record`. Options are called as in `perf c2c record` and `perf record`, which fingers know.
import type { AttachTarget, CallGraph, HeapParams, RecordParams } from '../protocol/engine';
import { HIGHEST_PID } from '../session/record/processes';
import { COLLECTORS, DEFAULT_FREQUENCY } from '../session/record/recording-choices';
import { HIGHEST_CPU, list, number, oneOf, parse, splitProgram, wrong, type Options } from './options';
import { contradiction } from './record-contradictions';
import { ringBytes } from './ring-size';

/** `--repeat`: so many runs, or pairs of runs of the program and another one. */
export interface Repetition {
  count: number;
  against?: string;
}

export interface RecordArguments {
  command: 'record';
  directory?: string;
  force: boolean;
  repetition?: Repetition;
  params: Omit<RecordParams, 'outputDirectory' | 'stdio'>;
}

/** What the engine takes: it records as many as the kernel and the machine allow, and says so. */
const HIGHEST_FREQUENCY = 1_000_000_000;
const HIGHEST_PERIOD = 1_000_000_000_000;
/** What Intel's load latency facility compares with: 16 bits. */
const HIGHEST_LDLAT = 65_535;
export const DEFAULT_HEAP_SAMPLING = 64;
const SPARSEST_HEAP_SAMPLING = 1_000_000;
/** The exact test of pairs takes time with the cube of their number. */
const MOST_RUNS = 200;

export const RECORD_HELP = `Usage: cacheline record [options] [--] PROGRAM [ARGS]
       cacheline record [options] -p PID | -t TID | -a [[--] PROGRAM [ARGS]]

Runs PROGRAM and records it, or records what runs already. The program's input,
output and exit status stay its own. Ctrl-C ends the recording and keeps it.

  -o, --output DIR      write the recording to exactly DIR; by default to
                        PROGRAM.cacheline, PROGRAM-2.cacheline, ... here
      --force           replace the recording that is there

What is recorded:
  -p, --pid LIST        running processes, with all their threads, new ones too
  -t, --tid LIST        running threads
  -a, --all-cpus        the whole machine; with PROGRAM: while it runs
  -C, --cpu LIST        only what happens on these CPUs, as 0-3,8
      --children        with -p: also their child processes that run already
  -i, --no-inherit      not the processes that the target starts
  -u, --all-user        only what happens in user space
  -k, --all-kernel      only what happens in the kernel
      --duration S      end the recording, and PROGRAM, after S seconds
  -D, --delay -1        begin with sampling off, for --control to turn on
      --control fifo:CTL[,ACK]
                        read enable, disable, stop and ping from the FIFO CTL, a
                        line each, and answer ack to the FIFO ACK

How:
      --collector NAME  auto (default: the strongest that this machine allows),
                        pmu, clock or agent; cacheline doctor says which work
  -F, --freq HZ         samples a second and CPU (agent: and thread); by default
                        ${DEFAULT_FREQUENCY}, memory PMU 4000, agent 250 (--frequency)
  -c, --count N         a sample every N events instead (clock: N ns)
  -l, --ldlat CYCLES    no loads that are faster, 30 by default (memory PMU)
      --phys-data       physical addresses, where permitted (memory PMU)
  -m, --mmap-pages SIZE each CPU's buffer: pages, or with B, K, M or G: 512K
  -g                    call chains, by frame pointers
      --call-graph HOW  call chains: fp, dwarf or lbr
      --no-switches     not when threads run and when they are off their CPUs
                        (cacheline threads)
      --heap            record heap blocks too: where allocated, when freed; up
                        to 20,000 at once and 10,000 a second of a thread's CPU
                        time, and half as many below 64 bytes
      --heap-sampling N above that 1 in N below 64 bytes, ${DEFAULT_HEAP_SAMPLING} by default

Watchpoints, which tell exactly who reads and writes a word. On some virtual
machines they can end the program by SIGTRAP:
      --watch EXPR[:LEN] watch a symbol, a member of a global (total.cents), an
                        element behind a pointer (slots[3].count) or an
                        address; may be repeated
      --confirm         watch the words that the samples make suspect
      --watch-budget PCT of the program's time that watching may cost; by
                        default 10

How long it takes (taskset -c LIST cacheline record … binds all runs to CPUs):
      --repeat N        run PROGRAM N times, behind a first run that is not
                        counted, then record it once; into PROGRAM.runs or DIR
      --against PROGRAM with --repeat: run another build in turn with it, with
                        the same arguments, and compare them
  -h, --help            this text
`;

const RECORD_OPTIONS = {
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
  pid: { type: 'string', short: 'p' },
  tid: { type: 'string', short: 't' },
  'all-cpus': { type: 'boolean', short: 'a' },
  cpu: { type: 'string', short: 'C' },
  children: { type: 'boolean' },
  'no-inherit': { type: 'boolean', short: 'i' },
  'all-user': { type: 'boolean', short: 'u' },
  'all-kernel': { type: 'boolean', short: 'k' },
  duration: { type: 'string' },
  delay: { type: 'string', short: 'D' },
  control: { type: 'string' },
  collector: { type: 'string' },
  freq: { type: 'string', short: 'F' },
  frequency: { type: 'string' },
  count: { type: 'string', short: 'c' },
  ldlat: { type: 'string', short: 'l' },
  'phys-data': { type: 'boolean' },
  'mmap-pages': { type: 'string', short: 'm' },
  callers: { type: 'boolean', short: 'g' },
  'call-graph': { type: 'string' },
  'no-switches': { type: 'boolean' },
  heap: { type: 'boolean' },
  'heap-sampling': { type: 'string' },
  watch: { type: 'string', multiple: true },
  confirm: { type: 'boolean' },
  'watch-budget': { type: 'string' },
  repeat: { type: 'string' },
  against: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options;

export type RecordValues = ReturnType<typeof parse<typeof RECORD_OPTIONS>>['values'];

const CALL_GRAPHS: readonly CallGraph[] = ['fp', 'dwarf', 'lbr'];

/**
 * @returns 'help' where that was asked for
 * @throws EngineError 'usage'
 */
export function parseRecord(args: readonly string[]): RecordArguments | 'help' {
  const { own, program } = splitProgram(args, RECORD_OPTIONS);
  const { values } = parse('record', own, RECORD_OPTIONS);
  if (values.help) return 'help';
  const why = contradiction(values, program);
  if (why !== undefined) throw wrong(why, 'record');
  if (values.output === '') throw wrong('-o needs the name of a folder.', 'record');
  return {
    command: 'record',
    ...(values.output === undefined ? {} : { directory: values.output }),
    force: values.force ?? false,
    ...repetitionOf(values),
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
      : { frequency: whole('-F', frequency, 'samples a second', HIGHEST_FREQUENCY), frequencyGiven: true }),
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
  if (command === acknowledge) throw wrong(`--control needs two FIFOs, and '${command}' is given twice.`, 'record');
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
