// What the page of "Check This Machine" is sent, and what it may ask for.
import assert from 'node:assert/strict';
import type { DoctorReport } from '../../extension/protocol/engine';
import { machineView, parseMachineMessage } from '../../extension/session/machine/machine-view';

const REPORT: DoctorReport = {
  collectors: [
    {
      name: 'clock',
      usable: false,
      blockers: [
        { what: 'kernel.perf_event_paranoid', value: '4\u001b[2J', fix: 'sudo sysctl kernel.perf_event_paranoid=1, or run as root' },
        { what: 'seccomp', value: '', fix: 'Start the container with `docker run --cap-add PERFMON`.' },
        { what: 'memory PMU', value: 'none', fix: 'Record on bare metal' },
      ],
    },
    { name: 'agent', usable: true, blockers: [], note: 'It has \u001b[2J run' },
  ],
  machine: {
    hostname: 'build7',
    kernel: '6.18.2',
    cpu: null,
    cpus: 2,
    lineSize: 64,
    pmus: ['cpu', 'msr'],
    memlockBytes: null,
    maxSampleRate: 100_000,
  },
};

describe('machine view', () => {
  it('has the command of each fix that has one, and no characters that hide', () => {
    const { collectors, facts, selfTest } = machineView(REPORT, { state: 'none' });
    const [clock, agent] = collectors;
    assert.deepEqual(
      clock?.blockers.map(({ value, command }) => [value, command]),
      [
        ['4\\x1b[2J', 'sudo sysctl kernel.perf_event_paranoid=1'],
        ['', 'docker run --cap-add PERFMON'],
        ['none', ''],
      ],
    );
    assert.match(clock.meaning, /clock samples/);
    assert.deepEqual([agent?.name, agent?.usable, agent?.blockers, agent?.note], ['agent', true, [], 'It has \\x1b[2J run']);
    assert.deepEqual(facts, [
      { name: 'host name', value: 'build7' },
      { name: 'kernel', value: '6.18.2' },
      { name: 'CPU', value: 'none known' },
      { name: 'CPUs online', value: '2' },
      { name: 'cache line size', value: '64 bytes' },
      { name: 'PMUs', value: 'cpu, msr' },
      { name: 'limit of locked memory', value: 'unlimited' },
      { name: 'kernel.perf_event_max_sample_rate', value: '100,000 samples a second' },
    ]);
    assert.deepEqual(selfTest, { state: 'none' });
  });

  it('knows the messages of its page, and no others', () => {
    for (const message of [
      { type: 'ready' },
      { type: 'selfTest' },
      { type: 'copy', collector: 'clock', blocker: 1 },
      { type: 'error', message: 'x' },
    ])
      assert.deepEqual(parseMachineMessage({ ...message, more: 1 }), message);
    for (const message of [
      undefined,
      null,
      'ready',
      {},
      { type: 'run' },
      { type: 'copy', collector: 'toString', blocker: 0 },
      { type: 'copy', collector: 'clock', blocker: '0' },
      { type: 'copy', collector: 'clock', text: 'rm' },
      { type: 'error' },
    ])
      assert.equal(parseMachineMessage(message), undefined, JSON.stringify(message));
  });
});
