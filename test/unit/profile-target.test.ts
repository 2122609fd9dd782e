// From what people write (arguments, tasks, debug configurations, settings) to what the engine is asked for.
import assert from 'node:assert/strict';
import type { RecordResult } from '../../extension/protocol/engine';
import { configuredCommand } from '../../extension/session/record/debug-configuration';
import { resolveTarget } from '../../extension/session/record/launch';
import type { ProcessInfo } from '../../extension/session/record/processes';
import { attachRequest, processTarget, recordRequest, targetName, type ProfileTarget } from '../../extension/session/record/profile-target';
import { endText, failed, progressText, startText } from '../../extension/session/record/profile-words';
import { LaunchError, recordingChoices } from '../../extension/session/record/recording-choices';

const SETTINGS = { frequency: 499, collector: 'auto', confirm: false, attachDuration: 0 } as const;
const PROCESS: ProcessInfo = { pid: 7, name: 'server', uid: 0, user: 'root', threads: 2, commandLine: [], load: 0 };
const attached = (more: object = {}): ProfileTarget => ({ kind: 'process', pid: 7, name: 'server', ...more });
const program: ProfileTarget = { kind: 'program', program: '/w/a', args: ['1 2'], cwd: '/w', env: { A: 'b' } };

describe('recording choices', () => {
  it('are taken as they are', () => {
    const all = { duration: 2.5, frequency: 1000, collector: 'clock', confirm: true, watch: ['total.cents:8'], paused: true };
    assert.deepEqual(recordingChoices({ ...all, program: 'x' }), all);
    assert.deepEqual(recordingChoices({ watch: [] }), {});
  });

  it('that cannot be are refused by name', () => {
    for (const [name, values] of Object.entries({
      duration: [0, -1, NaN, Infinity, '3', null],
      frequency: [0, 2.5, 10_001, '499', null],
      collector: ['best', 5, null],
      confirm: ['yes', 1, null],
      watch: ['total', [5], [' '], null],
      paused: ['no', 0, null],
    }))
      for (const value of values)
        assert.throws(() => recordingChoices({ [name]: value }), { name: 'LaunchError', message: new RegExp(`"${name}"`) });
  });

  it('stay with a launch entry', () => {
    const target = resolveTarget({ program: 'a', duration: 3, confirm: true }, '/w');
    assert.deepEqual(target, { program: '/w/a', args: [], cwd: '/w', env: {}, duration: 3, confirm: true });
  });
});

describe('what is attached to', () => {
  it('is a number, or its digits as a debug configuration has them', () => {
    assert.deepEqual(attachRequest({ pid: 7, duration: 2 }), { pid: 7, duration: 2 });
    assert.deepEqual(attachRequest({ pid: '7' }), { pid: 7 });
    for (const pid of [0, -1, 1.5, '', '7x', '-1', 'server', undefined, null, 5_000_000])
      assert.throws(() => attachRequest({ pid }), /"pid" has to be the number of a process/);
    for (const value of [undefined, null, 7, 'x']) assert.throws(() => attachRequest(value), LaunchError);
  });

  it('has to run', () => {
    assert.deepEqual(processTarget({ pid: 7, duration: 2 }, PROCESS), attached({ duration: 2 }));
    assert.throws(() => processTarget({ pid: 7 }, undefined), /no process 7 .*ended.*Attach to Process/);
  });

  it('becomes a request without a command, until it is stopped or as long as was asked for', () => {
    const request = recordRequest(attached(), SETTINGS, '/w');
    assert.deepEqual(request, {
      command: [],
      attach: { kind: 'processes', ids: [7] },
      durationSeconds: 0,
      frequency: 499,
      frequencyGiven: false,
      collector: 'auto',
      stdio: 'capture',
      output: { parent: '/w', program: 'server' },
    });
    assert.equal(recordRequest(attached(), { ...SETTINGS, attachDuration: 20 }, '/w').durationSeconds, 20);
    assert.equal(recordRequest(attached({ duration: 2 }), { ...SETTINGS, attachDuration: 20 }, '/w').durationSeconds, 2);
  });

  it('names its folder, whatever it calls itself', () => {
    const folder = (name: string): string | undefined => recordRequest(attached({ name }), SETTINGS, '/w').output.program;
    assert.equal(folder('../../etc/x'), '_.._etc_x');
    assert.equal(folder('a b\n\u202ec'), 'a_b_c');
    assert.equal(folder('..'), 'process-7');
    assert.equal(folder('///'), '_');
    assert.equal(folder(''), 'process-7');
    assert.equal(folder('x'.repeat(500))?.length, 64);
  });
});

describe('what is started', () => {
  it('becomes a request with its own choices before the settings', () => {
    assert.deepEqual(recordRequest(program, SETTINGS, '/r'), {
      command: ['/w/a', '1 2'],
      workingDirectory: '/w',
      environment: ['A=b'],
      durationSeconds: 0,
      frequency: 499,
      frequencyGiven: false,
      collector: 'auto',
      stdio: 'capture',
      output: { parent: '/r' },
    });
    const own = { ...program, duration: 4, frequency: 499, collector: 'agent', confirm: true } as const;
    const request = recordRequest(own, { ...SETTINGS, frequency: 100, attachDuration: 9 }, '/r');
    assert.equal(request.durationSeconds, 4);
    assert.equal(request.frequency, 499);
    assert.equal(request.frequencyGiven, true);
    assert.equal(request.collector, 'agent');
    assert.deepEqual(request.watch, { expressions: [], confirm: true });
    assert.equal(recordRequest({ ...own, confirm: false }, { ...SETTINGS, confirm: true }, '/r').watch, undefined);
    const watched = recordRequest({ ...program, watch: ['total'] }, SETTINGS, '/r').watch;
    assert.deepEqual(watched, { expressions: ['total'], confirm: false });
  });
});

describe('debug configurations', () => {
  it('are the command with its argument', () => {
    const launch = { type: 'cacheline', request: 'launch', name: 'x', program: 'a', args: ['1'], duration: 3 };
    assert.deepEqual(configuredCommand(launch, '/w'), {
      command: 'cacheline.profile',
      argument: { program: '/w/a', args: ['1'], cwd: '/w', env: {}, duration: 3 },
    });
    assert.deepEqual(configuredCommand({ request: 'attach', pid: '12', collector: 'clock' }, undefined), {
      command: 'cacheline.attach',
      argument: { pid: 12, collector: 'clock' },
    });
  });

  it('without a program or process ask for it', () => {
    assert.deepEqual(configuredCommand({ request: 'launch' }, '/w'), { command: 'cacheline.profile', argument: undefined });
    assert.deepEqual(configuredCommand({ request: 'attach' }, '/w'), { command: 'cacheline.attach', argument: undefined });
  });

  it('that cannot be are refused', () => {
    assert.throws(() => configuredCommand({ request: 'start', program: 'a' }, '/w'), /"request" has to be "launch" or "attach".*"start"/);
    assert.throws(() => configuredCommand({}, '/w'), /"request"/);
    assert.throws(() => configuredCommand({ request: 'launch', program: 5 }, '/w'), /"program"/);
    assert.throws(() => configuredCommand({ request: 'launch', program: 'a', args: '-x' }, '/w'), /"args"/);
    assert.throws(() => configuredCommand({ request: 'attach', pid: 'server' }, '/w'), /"pid"/);
  });
});

describe('words about a recording', () => {
  const result = (more: Partial<RecordResult>): RecordResult => ({
    ...{ exitStatus: null, signal: null, interrupted: false, durationReached: false, samples: 1, lost: 0, bytes: 1, seconds: 1 },
    ...{
      programCpuSeconds: 1,
      samplesWereDue: true,
      collector: 'clock',
      collectorReason: '',
      notTaken: [],
      watch: null,
      heap: null,
      warnings: [],
    },
    ...more,
  });

  it('tell a program that ends from a process that goes on', () => {
    assert.equal(targetName(program), 'a');
    assert.equal(startText(program), "> /w/a '1 2'    (in /w)");
    assert.equal(startText(attached({ name: 'a\u001b' })), '> attached to a\\x1b (process 7)');
    const now = { phase: 'recording', path: '', elapsedSeconds: 1.26, samples: 1200, lost: 3, bytes: 0 } as const;
    assert.equal(progressText(program, now), '1.3 s, 1,200 samples, 3 lost. Cancel ends the program and keeps what was recorded.');
    assert.equal(
      progressText(attached(), { ...now, lost: 0 }),
      '1.3 s, 1,200 samples. Cancel ends the recording and shows it; the process keeps running.',
    );
    assert.equal(progressText(program, { phase: 'analyzing', share: 0.5 }), 'analyzing, 50%');
  });

  it('say how it ended', () => {
    assert.equal(endText(program, result({ exitStatus: 0 })), '');
    assert.equal(endText(program, result({ exitStatus: 3 })), 'The program ended with exit status 3.');
    assert.equal(endText(program, result({ signal: 11 })), 'The program was killed by signal 11.');
    assert.equal(endText(program, result({ signal: 15, interrupted: true })), 'The recording was stopped before the program ended.');
    assert.equal(
      endText(program, result({ interrupted: true, durationReached: true })),
      'The duration is over, so the program was stopped.',
    );
    assert.equal(endText(attached(), result({ interrupted: true })), '');
    assert.equal(endText(attached(), result({})), 'The process ended.');
    assert.deepEqual(
      [result({ exitStatus: 0 }), result({ exitStatus: 1 }), result({ signal: 9 }), result({ signal: 15, interrupted: true })].map(failed),
      [false, true, true, false],
    );
  });
});
