// The table of options of `cacheline record`.
import type { CallGraph } from '../protocol/engine';
import { COLLECTORS, DEFAULT_FREQUENCY } from '../session/record/recording-choices';
import { GENERAL, type Command, type Options } from './options';

export const DEFAULT_HEAP_SAMPLING = 64;
export const CALL_GRAPHS: readonly CallGraph[] = ['fp', 'dwarf', 'lbr'];

/** Where a recording goes. */
export const RECORDING_FOLDER = {
  output: {
    type: 'string',
    short: 'o',
    value: 'DIR',
    values: 'folders',
    help: 'write the recording to exactly DIR; by default to PROGRAM.cacheline, PROGRAM-2.cacheline, ... here',
  },
  force: { type: 'boolean', help: 'replace the recording that is there' },
} as const satisfies Options;

export const RECORD = {
  name: 'record',
  brief: 'run a program and record it',
  forms: ['[options] [--] PROGRAM [ARGS]', '[options] -p PID | -t TID | -a [[--] PROGRAM [ARGS]]'],
  about: [
    'Runs PROGRAM and records it, or records what is already running. The program keeps its input, output and exit status. Ctrl-C ends the ' +
      'recording and keeps it.',
  ],
  program: 'operand',
  groups: [
    {
      options: {
        ...RECORDING_FOLDER,
        ...GENERAL.options,
      },
    },
    {
      title: 'What to record',
      options: {
        pid: { type: 'string', short: 'p', value: 'LIST', help: 'running processes, with all their threads, new ones too' },
        tid: { type: 'string', short: 't', value: 'LIST', help: 'running threads' },
        'all-cpus': { type: 'boolean', short: 'a', help: 'the whole machine; with PROGRAM: while it runs' },
        cpu: { type: 'string', short: 'C', value: 'LIST', help: 'only what happens on these CPUs: 0-3,8' },
        children: { type: 'boolean', help: 'with -p: also the child processes that are already running' },
        'no-inherit': { type: 'boolean', short: 'i', help: 'leave out the processes that the target starts' },
        'all-user': { type: 'boolean', short: 'u', help: 'only what happens in user space' },
        'all-kernel': { type: 'boolean', short: 'k', help: 'only what happens in the kernel' },
        duration: { type: 'string', value: 'S', help: 'end the recording, and PROGRAM, after S seconds' },
        delay: { type: 'string', short: 'D', value: '-1', help: 'start with sampling off, for --control to turn on' },
        control: {
          type: 'string',
          value: 'fifo:CTL[,ACK]',
          help: 'read enable, disable, stop and ping from the FIFO CTL, one a line, and answer ack to the FIFO ACK',
        },
      },
    },
    {
      title: 'How',
      options: {
        collector: {
          type: 'string',
          value: 'NAME',
          values: COLLECTORS,
          help: 'auto (default: the best that this machine allows), pmu, clock or agent; see cacheline doctor',
        },
        freq: {
          type: 'string',
          short: 'F',
          value: 'HZ',
          help:
            `samples per second per CPU (agent: per thread); by default ${DEFAULT_FREQUENCY}, memory PMU 4000, agent 250; also spelled ` +
            '--frequency',
        },
        frequency: { type: 'string' },
        count: { type: 'string', short: 'c', value: 'N', help: 'one sample every N events instead (clock: N ns)' },
        ldlat: { type: 'string', short: 'l', value: 'CYCLES', help: 'ignore faster loads; 30 by default (memory PMU)' },
        'phys-data': { type: 'boolean', help: 'record physical addresses, where permitted (memory PMU)' },
        'mmap-pages': { type: 'string', short: 'm', value: 'SIZE', help: "each CPU's buffer: pages, or with B, K, M or G: 512K" },
        callers: { type: 'boolean', short: 'g', help: 'record call chains, by frame pointers' },
        'call-graph': { type: 'string', value: 'HOW', values: CALL_GRAPHS, help: 'record call chains: fp, dwarf or lbr' },
        'no-switches': { type: 'boolean', help: 'do not record when threads are on a CPU; cacheline threads needs these times' },
        'no-buildid-cache': {
          type: 'boolean',
          short: 'N',
          help: 'do not keep the program and its libraries in the recording; once they are built again, it loses their names',
        },
        heap: {
          type: 'boolean',
          help:
            'record heap blocks too, where they are allocated and when they are freed: up to 20,000 at once and 10,000 per second of a ' +
            "thread's CPU time, half as many below 64 bytes",
        },
        'heap-sampling': {
          type: 'string',
          value: 'N',
          help: `above these limits, record 1 in N blocks below 64 bytes; ${DEFAULT_HEAP_SAMPLING} by default`,
        },
      },
    },
    {
      title: 'Watchpoints, which tell exactly who reads and writes a word',
      options: {
        watch: {
          type: 'string',
          multiple: true,
          value: 'EXPR[:LEN]',
          help:
            'watch a symbol, a member of a global (total.cents), an element behind a pointer (slots[3].count) or an address; may be repeated. On some virtual ' +
            'machines, watchpoints can end the program by SIGTRAP',
        },
        confirm: { type: 'boolean', help: 'watch the words that the samples make suspect' },
        'watch-budget': { type: 'string', value: 'PCT', help: "share of the program's time that watching may cost; 10 by default" },
      },
    },
    {
      title: 'How long it takes (taskset -c LIST cacheline record ... binds all runs to CPUs)',
      options: {
        repeat: {
          type: 'string',
          value: 'N',
          help: 'run PROGRAM N times, after a first run that is not counted, then record it once; into PROGRAM.runs or DIR',
        },
        against: {
          type: 'string',
          value: 'PROGRAM',
          values: 'files',
          help: 'with --repeat: run another build in turn with it, with the same arguments, and compare them',
        },
      },
    },
  ],
} as const satisfies Command;
