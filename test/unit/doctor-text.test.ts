// The text of `cacheline doctor`.
import assert from 'node:assert/strict';
import type { DoctorReport } from '../../extension/protocol/engine';
import { doctorText } from '../../extension/session/machine/doctor-text';
import { COLOURED, displayWidth } from '../../extension/session/text/terminal-text';
import { matchGolden } from './golden';
import { schemaErrors } from './schemas';

const report: DoctorReport = {
  collectors: [
    {
      name: 'pmu',
      usable: false,
      note: 'It has run on no real memory PMU\u001b[2J yet',
      blockers: [
        {
          what: 'memory PMU',
          value: 'none under /sys/bus/event_source/devices (breakpoint, cpu, software, tracepoint)',
          fix: 'Record on bare metal, or on a virtual machine whose host passes a PMU with load-latency events through',
        },
      ],
    },
    { name: 'clock', usable: true, blockers: [] },
    {
      name: 'watch',
      usable: false,
      blockers: [{ what: 'kernel.perf_event_paranoid', value: '4\u001b[2J', fix: 'sudo sysctl kernel.perf_event_paranoid=2' }],
    },
    { name: 'agent', usable: false, blockers: [{ what: 'not supported by this version', value: '', fix: '' }] },
  ],
  selfTests: [
    {
      collector: 'clock',
      passed: true,
      samples: 497,
      found: 'false sharing between 2 threads at queue.consumed and queue.produced, 367 of 497 samples',
    },
    { collector: 'agent', passed: false, samples: 0, found: 'the contended line of \u001b[2J was not found in 0 samples' },
  ],
  machine: {
    hostname: 'build7',
    kernel: '6.18.2',
    cpu: null,
    cpus: 2,
    lineSize: 64,
    hypervisor: '',
    pmus: ['breakpoint', 'cpu', 'software', 'tracepoint'],
    capabilities: [],
    perfEventParanoid: 2,
    initialUserNamespace: true,
  },
};

describe('doctor text', () => {
  it('matches the schema in JSON', () => assert.deepEqual(schemaErrors('cacheline-doctor', report), []));

  it('says nothing of self-tests that were not asked for, and why there are none', () => {
    const without = { ...report };
    delete without.selfTests;
    assert.doesNotMatch(doctorText(without, { width: 80 }), /Self-test/);
    assert.match(doctorText({ ...without, selfTests: [] }, { width: 80 }), /\nSelf-test\n {2}no collector is usable/);
  });

  it('at 80 columns', () => matchGolden('doctor-80.txt', doctorText(report, { width: 80 })));

  it('is never wider than the width, and marks nothing but the states', () => {
    for (let width = 40; width < 200; width += 7) {
      const text = doctorText(report, { width });
      for (const line of text.split('\n')) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
      const coloured = doctorText(report, { width, style: COLOURED });

      assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), text);
      assert.match(coloured, /\u001b\[32musable/);
      assert.match(coloured, /\u001b\[33mfailed/);
    }
  });
});
