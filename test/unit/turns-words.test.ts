// What a report begins with where threads took turns on one CPU.
import assert from 'node:assert/strict';
import type { TakenTurns } from '../../extension/protocol/report';
import { panelWords } from '../../extension/session/report/first-words';
import { plainWords } from '../../extension/session/report/plain-words';
import { turnsWords } from '../../extension/session/report/turns-words';
import { access, cacheLine, report } from './report-builder';

const turns: TakenTurns = { basis: 'switches', samples: 184, lines: 2, oneCore: 0, threads: 3 };

describe('words about threads that took turns', () => {
  it('come first, and say what to do', () => {
    const [first = '', second = ''] = plainWords({ ...report([]), turns });
    assert.equal(first, 'Threads took turns on one CPU; nothing was contended in this run. Record again where 3 threads can run at once.');
    assert.match(second, /^184 samples are at 2 cache lines .*context switches show/);
  });

  it('say what they are known by', () => {
    assert.match(turnsWords({ ...report([]), turns: { ...turns, basis: 'samples' } })[1] ?? '', /CPUs of samples say .*not recorded/);
  });

  it('tell one core from one CPU', () => {
    assert.match(
      turnsWords({ ...report([]), turns: { ...turns, oneCore: 2 } })[0] ?? '',
      /^Threads ran on the CPUs of one core; .* cores\.$/,
    );
    assert.match(turnsWords({ ...report([]), turns: { ...turns, oneCore: 1 } })[0] ?? '', /^Threads took turns on one CPU/);
  });

  it('are not there where lines are contended, or threads did not take turns', () => {
    const contended = report([cacheLine([0, 8].map((offset, which) => access({ offset, writes: 50, threads: [1 + which] })))]);
    assert.deepEqual(turnsWords({ ...contended, turns }), []);
    const whole = report([cacheLine([access({ offset: 0, writes: 400, threads: [1] })], { verdict: 'private', contended: 0 })]);
    const quiet = { ...whole, samples: { ...whole.samples, contended: 0 } };
    assert.ok(turnsWords({ ...quiet, turns }).length > 0);
    assert.deepEqual(turnsWords(quiet), []);
    for (const none of [null, { ...turns, lines: 0 }, { ...turns, samples: 3 }])
      assert.deepEqual(turnsWords({ ...quiet, turns: none }), []);
  });

  it('have a button in the panel', () => {
    const shown = (of: TakenTurns | null) => {
      const none = report([]);
      const whole = { ...none, turns: of, samples: { ...none.samples, total: 400 } };
      return panelWords({
        report: whole,
        first: { lines: [], total: 0 },
        contendedLines: 0,
      } as unknown as Parameters<typeof panelWords>[0]);
    };
    assert.equal(shown(turns).again, true);
    assert.match(shown(turns).summary, /^Threads took turns on one CPU;/);
    assert.equal(shown(null).again, undefined);
  });
});
