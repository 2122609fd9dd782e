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
    [pid && tid, '-p records processes and -t threads: give one of them.'],
    [system && (pid || tid), `-a records the whole machine and ${attached} a part of it: give one of them.`],
    [
      (pid || tid) && name !== undefined,
      `${attached} records what already runs, and '${name}' is a program to start: give one of them; --duration ends a recording.`,
    ],
    [name === '' || (name === undefined && attached === undefined), 'There is no program to record, and no -p, -t or -a.'],
    [given('all-user') && given('all-kernel'), '-u and -k leave no sample: give one of them, or none for both.'],
    [given('freq') && given('frequency'), '-F and --frequency are one option: give one of them.'],
    [rate && given('count'), '-F asks for a rate and -c for a sample every so many events: give one of them.'],
    [given('no-inherit') && attached !== undefined && !pid && !tid, '-a records every process, so that --no-inherit leaves nothing out.'],
    [given('children') && !pid, '--children is about processes that run already: it goes with -p.'],
    [given('heap-sampling') && !given('heap'), '--heap-sampling says how --heap records, and there is no --heap.'],
    [
      given('heap') && attached !== undefined,
      `--heap has to be in the program from its start: it goes with a program, not with ${attached}.`,
    ],
    [
      collector === 'agent' && attached !== undefined,
      `The agent is loaded into a program at its start: --collector agent goes with a program, not with ${attached}.`,
    ],
    [collector === 'agent' && cpu, 'The agent samples threads wherever they run: --collector agent goes without -C.'],
    [collector === 'agent' && given('all-kernel'), 'The agent sees user space only: --collector agent goes without -k.'],
    [collector === 'agent' && given('count'), 'The agent samples by time: --collector agent takes -F, not -c.'],
    [given('ldlat') && isClock(collector), `-l is for the memory PMU: --collector ${collector} sees no latency.`],
    [given('phys-data') && isClock(collector), `--phys-data is for the memory PMU: --collector ${collector} sees no physical address.`],
    [watching && attached !== undefined && !pid && !tid, `${watch} watches memory of a process: give a program or -p, not ${attached}.`],
    [given('watch-budget') && !watching, '--watch-budget says what --watch or --confirm may cost, and there is neither.'],
    [
      given('against') && !given('repeat'),
      '--against is the other program of the runs that --repeat N asks for, and there is no --repeat.',
    ],
    [values.against === '', '--against needs a program.'],
    [given('repeat') && attached !== undefined, `--repeat runs a program: it goes without ${attached}.`],
    [given('repeat') && given('duration'), '--repeat measures how long runs take, which --duration would end: give one of them.'],
    [given('repeat') && given('control'), '--repeat goes without --control: nothing turns sampling on in its runs.'],
    [given('repeat') && given('force'), '--repeat replaces nothing: give an empty or a new folder with -o DIR instead of --force.'],
    [values.delay === '-1' && !given('control'), '-D -1 begins with sampling off, and without --control nothing could turn it on.'],
  ];
}

function isClock(collector: string): boolean {
  return collector === 'clock' || collector === 'agent';
}
