// What a comparison says happened: how long a run takes and how much of it waits, what that goes by, and how sure it is.
import assert from 'node:assert/strict';
import type { Blind } from '../../extension/protocol/blindness';
import type { Diff } from '../../extension/protocol/diff';
import type { RecordingMeta } from '../../extension/protocol/recording';
import { DIFF_TABLES, diffOf } from '../../extension/session/compare/diff';
import { details, elapsedText, headline } from '../../extension/session/compare/headline';
import { intelReport } from './pmu-reports';
import { schemaErrors } from './schemas';
import { sums, wholeRun, type SumsOptions, type Waits } from './sums-builder';

const waits = (contended: number, type = 'WorkerStats'): Waits => ({ type, member: 'requests', contended });

/** A recording of a run that took so long. */
const run = (seconds: number, samples: number, more: Partial<RecordingMeta> = {}): SumsOptions => ({
  samples,
  seconds,
  more: { recording: wholeRun({ durationSeconds: seconds, ...more }) },
});

function diff(before: Waits[], one: SumsOptions, after: Waits[], two: SumsOptions): Diff {
  const result = diffOf(sums(DIFF_TABLES, before, one), sums(DIFF_TABLES, after, two));
  assert.deepEqual(schemaErrors('cacheline-diff-1', result), []);
  return result;
}

const blind = (share: number): Blind => ({ share, reasons: [{ reason: 'noInstruction', what: 'code', share }] });

describe('the headline of a comparison', () => {
  it('says how much faster a run is and how much less it waits, where the share of samples stays', () => {
    const before = run(4.72, 4720);
    const after = run(3.78, 3540);
    const result = diff([waits(3000), waits(984, 'Queue')], before, [waits(1900), waits(1120, 'Queue')], after);
    assert.deepEqual([result.unit, result.unitReason, result.program.status], ['run', null, 'better']);
    assert.ok(Math.abs(result.program.before.programShare - result.program.after.programShare) < 0.01);
    assert.match(
      headline(result),
      /^1\.25 times as fast; 24% less waiting a run \((>99\.9|99\.\d)% sure\); most of what remains: workerstats\.$/,
    );
    assert.match(details(result), /in a run: 7\.97 s before, 6\.04 s after\. .* 84\.4% of all samples .* 85\.3% after/);
    assert.match(elapsedText(result), /took 4\.72 s before, 3\.78 s after/);
    const back = diff([waits(1900), waits(1120, 'Queue')], after, [waits(3000), waits(984, 'Queue')], before);
    assert.match(
      headline(back),
      /^A run takes 1\.25 times as long; 32% more waiting a run \(.* sure\); most of the waiting: workerstats\.$/,
    );
    assert.equal(back.program.status, 'worse');
  });

  it('says what is gone, new, the same, and manifold', () => {
    const long = run(4, 4000);
    assert.match(headline(diff([waits(3000)], long, [], run(1, 1000))), /^4 times as fast; the waiting is gone \(>99\.9% sure\)\.$/);
    assert.match(
      headline(diff([], run(1, 1000), [waits(3000)], long)),
      /^A run takes 4 times as long; the waiting is new \(>99\.9% sure\); most of the waiting: workerstats\.$/,
    );
    assert.match(
      headline(diff([waits(12_000)], run(4, 16_000), [waits(12_040)], run(4.1, 16_040))),
      /^A run takes as long as before; as much waiting a run as before;/,
    );
    assert.match(headline(diff([waits(1000)], long, [waits(3000)], long)), /; 3 times as much waiting a run \(/);
    assert.equal(headline(diff([], long, [], long)), 'A run takes as long as before; no sample was contended before or after.');
    const spread = ['A', 'B', 'C'].map((type) => waits(200, type));
    assert.match(
      headline(
        diff(
          spread.map((one) => ({ ...one, contended: 400 })),
          long,
          spread,
          long,
        ),
      ),
      /the largest part of what remains: a \(33\.3%\)\.$/,
    );
  });

  it('goes by a second, and says why, where there are no two whole runs that do the same', () => {
    const whole = run(4, 4000);
    const ended = { exitStatus: 0, signal: null, cpuSeconds: 1 };
    const cases: [Partial<RecordingMeta>, string][] = [
      [{ interrupted: true }, 'the recording after ended before its program'],
      [{ target: { kind: 'processes', ids: [7], cpus: [], children: false } }, 'the recording after is of something that already ran'],
      [{ target: { kind: 'system', ids: [], cpus: [], children: true } }, 'the recording after is of something that already ran'],
      [{ program: { ...ended, exitStatus: 1 } }, 'the program of the recording after failed'],
      [{ program: { ...ended, exitStatus: null, signal: 11 } }, 'the program of the recording after failed'],
      [{ program: null }, 'the recording after is incomplete'],
      [{ command: ['./server', '9'] }, 'the programs had different arguments'],
    ];
    for (const [more, reason] of cases) {
      // Half the time, and as much waiting in each second: a run of half the length waits half as long.
      const result = diff([waits(2000)], whole, [waits(1000)], run(2, 2000, more));
      assert.deepEqual([result.unit, result.unitReason, result.program.status], ['second', reason, 'same'], reason);
      assert.deepEqual([result.before.runSeconds, result.after.runSeconds, elapsedText(result)], [null, null, '']);
      assert.ok(headline(result).startsWith(`As much waiting each second as before (not by the run: ${reason});`), headline(result));
    }
    const both = run(2, 2000, { interrupted: true });
    const less = diff([waits(1000)], both, [waits(500)], { ...both, samples: 4000, seconds: 4 });
    assert.equal(less.unitReason, 'the recording before ended before its program');
    assert.match(headline(less), /^75% less waiting each second \((>99\.9|99\.\d)% sure; not by the run: the recording before ended/);
    const bare = diff([waits(1000)], { seconds: 2 }, [waits(500)], { seconds: 2 });
    assert.match(bare.unitReason ?? '', /does not say whether it is of a whole run/);
    const part = diffOf({ ...sums(DIFF_TABLES, [waits(1000)], whole), window: true }, sums(DIFF_TABLES, [waits(500)], whole));
    assert.deepEqual([part.unit, part.unitReason], ['second', 'only a part of the recording before was chosen']);
  });

  it('goes by the share of samples where times do not compare or there are none', () => {
    const machine = { hostname: 'b', kernel: '6.1', cpu: 'B', cpus: 64, lineSize: 64 };
    const other = diff([waits(2000)], run(4, 4000), [waits(400)], run(1, 1000, { machine }));
    assert.deepEqual([other.unit, other.unitReason, other.program.status], ['samples', 'the machines differ', 'better']);
    assert.match(headline(other), /^20% less waiting by its share of all samples \(.* sure; not by the run: the machines differ\)/);
    const { evidence, collector, c2c } = intelReport();
    const pmu = (seconds: number): SumsOptions => ({
      samples: 4000,
      seconds,
      more: { evidence, collector, c2c: c2c!, recording: wholeRun({ durationSeconds: seconds }) },
    });
    const memory = diff([waits(2000)], pmu(4), [waits(1000)], pmu(2));
    assert.match(
      headline(memory),
      /^2 times as fast; 50% less waiting by its share of all samples \(>99\.9% sure; not by the run: accesses were sampled, not time\)/,
    );
  });

  it('has no number where a recording has no sample, or its samples no period', () => {
    const attached = run(2, 2000, { interrupted: true });
    const none = diff([waits(1000)], attached, [], { ...attached, samples: 0, seconds: 0 });
    assert.match(headline(none), /^The waiting is gone|^Whether there is less or more waiting by its share/);
    assert.deepEqual([none.unit, diff([waits(1000)], run(2, 2000), [], { ...run(1, 0), seconds: 0 }).program.status], ['samples', 'gone']);
    const table = sums(DIFF_TABLES, [waits(1000)], run(2, 2000));
    for (const rows of table.tables) for (const row of rows) row.contendedNs = null;
    const untimed = diffOf(table, sums(DIFF_TABLES, [waits(100)], run(1, 1000)));
    assert.match(
      headline(untimed),
      /^2 times as fast; 80% less waiting by its share of all samples \(.*; not by the run: samples do not say how much time/,
    );
  });

  it('is as sure as chance allows even if all that was not seen were contended', () => {
    const long = run(4, 1000);
    const unseen = (share: number): SumsOptions => ({ ...long, more: { ...long.more, blind: blind(share) } });
    const gone = (share: number): Diff['program'] => diff([waits(970)], long, [], unseen(share)).program;
    assert.equal(gone(0.17).status, 'gone');
    assert.ok(gone(0.17).confidence > 0.999, `${gone(0.17).confidence}`);
    assert.ok(gone(0.6).confidence > 0.99, 'it fell at least from 97% to 60%');
    assert.equal(gone(0.95).status, 'unsure', 'nearly all of it may still be there');
    const less = (share: number): string => diff([waits(400)], long, [waits(100)], unseen(share)).program.status;
    assert.deepEqual([less(0), less(0.1), less(0.5)], ['better', 'better', 'unsure']);
    const come = (share: number): string => diff([], unseen(share), [waits(400)], long).program.status;
    assert.deepEqual([come(0.1), come(0.5)], ['new', 'unsure']);
    assert.equal(diff([], long, [waits(400)], unseen(0.5)).program.status, 'new', 'what is there was seen');
  });

  it('weighs samples by the time that each stands for', () => {
    const slow = run(4, 400, { frequency: 50 });
    const table = sums(DIFF_TABLES, [waits(300)], slow);
    for (const rows of table.tables) for (const row of rows) row.contendedNs = row.contended * 20_000_000;
    const result = diffOf(table, sums(DIFF_TABLES, [waits(3000)], run(4, 4000)));
    assert.equal(result.program.status, 'same', JSON.stringify(result.program));
  });
});
