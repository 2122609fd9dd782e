// The grammar of `cacheline record`.
import assert from 'node:assert/strict';
import { parseArguments } from '../../extension/cli/arguments';
import type { RecordArguments } from '../../extension/cli/record-arguments';
import { ringBytes } from '../../extension/cli/ring-size';
import { refuses } from './refused-arguments';

const DEFAULTS: RecordArguments['params'] = { command: [], frequency: 499, durationSeconds: 0 };

const parsed = (...args: string[]): RecordArguments => parseArguments(['record', ...args]) as RecordArguments;
/** What goes to the engine. */
const params = (...args: string[]): RecordArguments['params'] => parsed(...args).params;

describe('arguments: record a program', () => {
  it('takes the program after --', () => {
    assert.deepEqual(parsed('--', './a.out', '-x', '--', 'y'), {
      command: 'record',
      force: false,
      keepsBinaries: true,
      params: { ...DEFAULTS, command: ['./a.out', '-x', '--', 'y'] },
    });
  });

  it('takes the program without -- as the first argument that is no option; its options stay its own', () => {
    assert.deepEqual(params('-F', '99', './a.out', '-F', '7', '--help', '-p', 'x'), {
      ...DEFAULTS,
      frequency: 99,
      frequencyGiven: true,
      command: ['./a.out', '-F', '7', '--help', '-p', 'x'],
    });
  });

  it('takes the short and the long forms', () => {
    const wanted: RecordArguments = {
      command: 'record',
      directory: 'out',
      force: true,
      keepsBinaries: true,
      params: {
        ...DEFAULTS,
        command: ['a'],
        frequency: 1000,
        frequencyGiven: true,
        durationSeconds: 2.5,
        callGraph: 'fp',
        cpus: [0, 1, 3],
        children: false,
        mode: 'user',
        ldlat: 50,
        ringBytes: 1 << 20,
      },
    };
    assert.deepEqual(
      parsed('-o', 'out', '--force', '-F1000', '--duration', '2.5', '-g', '-C0-1,3', '-iu', '-l', '50', '-m', '1M', '--', 'a'),
      wanted,
    );
    const long = ['--output=out', '--force', '--freq=1000', '--duration=2.5', '--call-graph=fp', '--cpu=3,0-1', '--no-inherit'];
    assert.deepEqual(parsed(...long, '--all-user', '--ldlat=50', '--mmap-pages=1024K', 'a'), wanted);
    assert.deepEqual(params('--frequency', '1000', 'a'), params('-F', '1000', 'a'));
    assert.equal(params('-F', '99999999', 'a').frequency, 99_999_999, 'lowered by the engine, which says so');
  });

  it('takes a program whose name begins with a dash after --, and empty arguments of a program', () => {
    assert.deepEqual(params('--', '-odd').command, ['-odd']);
    assert.deepEqual(params('a', '', 'b').command, ['a', '', 'b']);
  });

  it('takes heap blocks, with a sampling of their own', () => {
    assert.deepEqual(params('--heap', 'a'), { ...DEFAULTS, heap: { sampling: 64 }, command: ['a'] });
    assert.deepEqual(params('--heap', '--heap-sampling', '1', '--', 'a', '--heap'), {
      ...DEFAULTS,
      heap: { sampling: 1 },
      command: ['a', '--heap'],
    });
  });

  it('takes a collector and what only some of them use', () => {
    assert.deepEqual(params('--collector', 'pmu', '-k', '-c', '20000', '--phys-data', '--call-graph', 'lbr', 'a'), {
      ...DEFAULTS,
      command: ['a'],
      collector: 'pmu',
      mode: 'kernel',
      period: 20_000,
      physicalAddresses: true,
      callGraph: 'lbr',
    });
    for (const collector of ['auto', 'clock', 'agent'] as const) assert.equal(params('--collector', collector, 'a').collector, collector);
    assert.equal(params('-g', '--call-graph', 'dwarf', 'a').callGraph, 'dwarf');
  });

  it('keeps binaries, but with -N', () => {
    assert.equal(parsed('-N', 'a').keepsBinaries, false);
    assert.equal(parsed('--no-buildid-cache', '--', 'a', '-N').keepsBinaries, false);
    assert.equal(parsed('--', 'a', '-N').keepsBinaries, true);
  });

  it('takes watchpoints', () => {
    assert.deepEqual(params('--watch', 'total.cents', '--watch=0x4010:4', '--watch-budget', '2.5', 'a').watch, {
      expressions: ['total.cents', '0x4010:4'],
      confirm: false,
      budget: 0.025,
    });
    assert.deepEqual(params('--confirm', '-p', '5').watch, { expressions: [], confirm: true });
  });

  it('takes a control FIFO, and to begin with sampling off as perf writes it', () => {
    assert.deepEqual(params('--control', 'fifo:ctl', 'a').control, { command: 'ctl' });
    const wanted = { command: 'ctl', acknowledge: 'a/ck', startDisabled: true };
    for (const off of [['-D', '-1'], ['-D-1'], ['--delay', '-1'], ['--delay=-1']])
      assert.deepEqual(params('--control', 'fifo:ctl,a/ck', ...off, 'a').control, wanted, off.join(' '));
    assert.deepEqual(params('--', 'a', '-D', '-1').command, ['a', '-D', '-1']);
  });

  it('counts the pages of -m', () => {
    assert.equal(ringBytes('128', 4096), 512 << 10);
    assert.equal(ringBytes('1', 65_536), 65_536);
    assert.equal(ringBytes('4096B', 4096), 4096);
    assert.equal(ringBytes('64k', 4096), 64 << 10);
    assert.equal(ringBytes('1G', 4096), 1 << 30);
  });
});

describe('arguments: record what runs already', () => {
  it('takes processes, threads, the machine and CPUs', () => {
    assert.deepEqual(params('-p', '17,5'), { ...DEFAULTS, attach: { kind: 'processes', ids: [5, 17] } });
    assert.deepEqual(params('--pid=17'), params('-p', '17'));
    assert.deepEqual(params('-t', '18', '-C', '1'), { ...DEFAULTS, attach: { kind: 'threads', ids: [18] }, cpus: [1] });
    assert.deepEqual(params('-a'), { ...DEFAULTS, attach: { kind: 'system' } });
    assert.deepEqual(params('--all-cpus', '--', 'a', 'b'), { ...DEFAULTS, attach: { kind: 'system' }, command: ['a', 'b'] });
  });

  it('takes CPUs alone for the machine on them, as perf does, and with a program as a filter', () => {
    assert.deepEqual(params('-C', '0-1'), { ...DEFAULTS, attach: { kind: 'system' }, cpus: [0, 1] });
    assert.deepEqual(params('-C', '0', 'a'), { ...DEFAULTS, cpus: [0], command: ['a'] });
  });
});

describe('arguments: record refuses', () => {
  const no = (message: RegExp, ...args: string[]): void => refuses(['record', ...args], message);

  it('values that it cannot use', () => {
    no(/no program/);
    no(/no program/, '--');
    no(/no program/, '--', '');
    no(/no program/, '-g');
    no(/-o/, '-o', '', 'a');
    no(/-o/, '-o');
    for (const rate of ['0', '-1', '1.5', 'fast', '', '1e3', '1000000001', '0x10']) no(/-F/, `-F${rate}`, '--', 'a');
    for (const seconds of ['0', '-1', 'abc', 'Infinity']) no(/--duration/, `--duration=${seconds}`, '--', 'a');
    for (const count of ['0', '1.5', 'x', '1000000000001']) no(/-c takes/, `--count=${count}`, 'a');
    for (const cycles of ['0', '65536', 'x']) no(/-l takes/, `--ldlat=${cycles}`, 'a');
    for (const size of ['0', '3', '100B', '3M', '2G', 'x', '1T', '', '128,128']) no(/-m takes a power of two/, `--mmap-pages=${size}`, 'a');
    for (const ids of ['', '0', 'x', '1,', '1-3', '4194305']) no(/-p takes/, `--pid=${ids}`);
    no(/-t takes/, '-t', 'self');
    no(/-C takes/, '-C', '3-1', 'a');
    no(/--collector is auto, pmu, clock or agent, not 'ebpf'/, '--collector', 'ebpf', 'a');
    no(/--call-graph is fp, dwarf or lbr, not 'dwarf,8192'/, '--call-graph', 'dwarf,8192', 'a');
    for (const control of ['fifo:', 'fd:3', 'ctl', 'fifo:a,b,c', 'fifo:a,']) no(/--control takes fifo:/, `--control=${control}`, 'a');
    no(/-D takes -1/, '-D', '500', '--control', 'fifo:c', 'a');
    no(/-D takes -1/, '-D', '100', 'a');
    no(/two different FIFOs, not 'ctl' twice/, '--control', 'fifo:ctl,ctl', 'a');
    no(/--duration takes a number of seconds above 0, not '-5'/, '--duration', '-5', 'a');
    no(/-F takes .*, not '-5'/, '-F', '-5', 'a');
    no(/-p takes .*, not '-1'/, '-p', '-1');
    no(/--watch-budget takes .*, not '-.5'/, '--confirm', '--watch-budget', '-.5', 'a');
    for (const percent of ['0', '101', 'x']) no(/--watch-budget takes/, '--confirm', `--watch-budget=${percent}`, 'a');
    no(/--watch needs/, '--watch', ' ', 'a');
    no(/frequncy/, '--frequncy', '9', '--', 'a');
    no(/force/, '--force=yes', '--', 'a');
    for (const sampling of ['0', '-1', '1.5', 'few', '', '1000001']) no(/--heap-sampling/, '--heap', `--heap-sampling=${sampling}`, 'a');
  });

  it('options that contradict each other, in one sentence', () => {
    no(/-p records processes and -t threads/, '-p', '1', '-t', '2');
    no(/-a records the whole machine and -p a part/, '-a', '-p', '1');
    no(/-a records the whole machine and -t a part/, '-a', '-t', '1');
    no(/'sleep' is a program to start/, '-p', '1', '--', 'sleep', '5');
    no(/'sleep' is a program to start/, '-t', '1', 'sleep');
    no(/-u and -k leave no sample/, '-uk', 'a');
    no(/one option/, '-F', '1', '--frequency', '2', 'a');
    no(/-F asks for a rate and -c/, '-F', '99', '-c', '1', 'a');
    no(/-F asks for a rate and -c/, '--frequency', '99', '-c', '1', 'a');
    no(/--no-inherit has no effect/, '-a', '-i');
    no(/--no-inherit has no effect/, '-C', '0', '-i');
    no(/needs --heap/, '--heap-sampling', '8', 'a');
    for (const target of [
      ['-p', '1'],
      ['-t', '1'],
      ['-a', 'a'],
    ]) {
      no(new RegExp(`--heap must be in the program from its start.*${target[0]}`), '--heap', ...target);
      no(new RegExp(`--collector agent needs a program, not ${target[0]}`), '--collector', 'agent', ...target);
    }
    no(/agent without -C/, '--collector', 'agent', '-C', '0', 'a');
    no(/agent without -k/, '--collector', 'agent', '-k', 'a');
    no(/agent takes -F, not -c/, '--collector', 'agent', '-c', '5', 'a');
    for (const collector of ['clock', 'agent']) {
      no(new RegExp(`--collector ${collector} sees no latency`), '--collector', collector, '-l', '5', 'a');
      no(new RegExp(`--collector ${collector} sees no physical`), '--collector', collector, '--phys-data', 'a');
    }
    no(/--watch watches memory of a process.*not -a/, '--watch', 'x', '-a', 'a');
    no(/--confirm watches memory of a process.*not -C/, '--confirm', '-C', '0');
    no(/--watch-budget says what/, '--watch-budget', '5', 'a');
    no(/without --control/, '-D', '-1', 'a');
  });
});
