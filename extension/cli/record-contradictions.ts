// Options of `cacheline record` that cannot go together, each with the sentence that says why and what to do instead.
import type { RecordValues } from './record-arguments';

/** @returns the first contradiction; undefined: there is none */
export function contradiction(values: RecordValues, program: readonly string[]): string | undefined {
  return rules(values, program).find(([applies]) => applies)?.[1];
}

function rules(values: RecordValues, [name]: readonly string[]): (readonly [boolean, string])[] {
  const given = (option: keyof RecordValues): boolean => values[option] !== undefined && values[option] !== false;
  const [pid, tid, system, cpu] = [given('pid'), given('tid'), given('all-cpus'), given('cpu')];
  const attached = pid ? '-p' : tid ? '-t' : system ? '-a' : name === undefined && cpu ? '-C' : undefined;
  const collector = values.collector ?? 'auto';
  const rate = given('freq') || given('frequency');
  const watch = given('watch') ? '--watch' : '--confirm';
  const watching = given('watch') || given('confirm');
  return [
    [pid && tid, '-p records processes and -t threads: give only one.'],
    [system && (pid || tid), `-a records the whole machine and ${attached} a part of it: give only one.`],
    [
      (pid || tid) && name !== undefined,
      `${attached} records what is already running, and '${name}' is a program to start: give only one. --duration ends a recording.`,
    ],
    [name === '' || (name === undefined && attached === undefined), 'There is no program to record, and no -p, -t or -a.'],
    [given('all-user') && given('all-kernel'), '-u and -k leave no sample: give only one, or neither to record both.'],
    [given('freq') && given('frequency'), '-F and --frequency are one option: give only one.'],
    [rate && given('count'), '-F asks for a rate and -c for a sample every so many events: give only one.'],
    [given('no-inherit') && attached !== undefined && !pid && !tid, '-a records every process: --no-inherit has no effect.'],
    [given('children') && !pid, '--children is about processes that are already running: it needs -p.'],
    [given('heap-sampling') && !given('heap'), '--heap-sampling says how --heap records: it needs --heap.'],
    [given('heap') && attached !== undefined, `--heap must be in the program from its start: give a program, not ${attached}.`],
    [
      collector === 'agent' && attached !== undefined,
      `The agent is loaded when a program starts: --collector agent needs a program, not ${attached}.`,
    ],
    [collector === 'agent' && cpu, 'The agent samples threads wherever they run: use --collector agent without -C.'],
    [collector === 'agent' && given('all-kernel'), 'The agent sees only user space: use --collector agent without -k.'],
    [collector === 'agent' && given('count'), 'The agent samples by time: --collector agent takes -F, not -c.'],
    [given('ldlat') && isClock(collector), `-l is for the memory PMU: --collector ${collector} sees no latency.`],
    [given('phys-data') && isClock(collector), `--phys-data is for the memory PMU: --collector ${collector} sees no physical address.`],
    [watching && attached !== undefined && !pid && !tid, `${watch} watches memory of a process: give a program or -p, not ${attached}.`],
    [given('watch-budget') && !watching, '--watch-budget says what --watch or --confirm may cost: it needs one of them.'],
    [given('against') && !given('repeat'), '--against names the other program for --repeat N: it needs --repeat.'],
    [values.against === '', '--against needs a program.'],
    [given('repeat') && attached !== undefined, `--repeat runs a program: use it without ${attached}.`],
    [given('repeat') && given('duration'), '--repeat measures how long runs take, which --duration would end: give only one.'],
    [given('repeat') && given('control'), '--repeat cannot use --control: nothing turns sampling on in its runs.'],
    [given('repeat') && given('force'), '--repeat replaces nothing: give an empty or a new folder with -o DIR instead of --force.'],
    [values.delay === '-1' && !given('control'), '-D -1 starts with sampling off, and without --control nothing can turn it on.'],
  ];
}

function isClock(collector: string): boolean {
  return collector === 'clock' || collector === 'agent';
}
