// Pairs of runs: the order in which they run, the test that judges them, and the block for a pull request.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runs } from '../../extension/protocol/runs';
import { comparePairs } from '../../extension/session/runs/paired';
import { pullRequestText, type PullRequestFacts } from '../../extension/session/runs/pull-request';
import { runPairs, summarizePairs } from '../../extension/session/runs/repeat';

const zip = (before: readonly number[], after: readonly number[]) => before.map((one, i) => ({ before: one, after: after[i]! }));
const near = (value: number, wanted: number): void => assert.ok(Math.abs(value - wanted) < 1e-9, `${value} instead of ${wanted}`);

describe('pairs of runs', () => {
  // Expected values: scipy.stats.wilcoxon(log(before / after), mode='exact'), and the interval of R's wilcox.test(conf.int = TRUE).
  it('are judged by the exact signed-rank test and its interval', () => {
    const ten = comparePairs(
      zip([1.1, 1.21, 1.05, 1.3, 0.98, 1.17, 1.08, 1.25, 1.11, 1.02], [1, 1.02, 1.01, 1.04, 0.99, 1.03, 1, 1.05, 0.97, 1.06]),
    );
    near(ten.p, 0.009765625);
    near(ten.speedup.mid, 1.1105204538904394);
    near(ten.speedup.low, 1.0396039603960396);
    near(ten.speedup.high, 1.1726039399558574);
    const nine = comparePairs(
      zip([1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3], [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]),
    );
    near(nine.p, 0.0546875);
    near(nine.speedup.low, 0.9909978452920198);
    near(nine.speedup.high, 1.986968511867785);
  });

  it('say nothing sure where they are few, and nothing where they are equal', () => {
    const five = comparePairs(zip([2, 2.1, 2.2, 2.3, 2.4], [1, 1, 1, 1, 1]));
    near(five.p, 1 / 16);
    assert.deepEqual([five.speedup.low.toFixed(6), five.speedup.high.toFixed(6)], ['2.000000', '2.400000']);
    const equal = comparePairs(zip([1, 2, 3], [1, 2, 3]));
    assert.deepEqual(equal, { speedup: { low: 1, mid: 1, high: 1 }, p: 1 });
    const tied = comparePairs(zip([2, 1, 2, 2], [1, 2, 1, 1]));
    near(tied.p, 0.625); // ranks 2.5 each: 2 * P(W+ <= 2.5) = 2 * 5 / 16
  });

  it('take turns in going first, and leave the first pair out', async () => {
    const order: string[] = [];
    let clock = 0;
    const run = (command: readonly string[]): Promise<number> => {
      order.push(command.join(' '));
      return Promise.resolve(++clock);
    };
    const numbers: number[] = [];
    const pairs = await runPairs({ before: ['a', 'x'], after: ['b', 'x'] }, 3, run, (number) => numbers.push(number));
    assert.deepEqual(order, ['b x', 'a x', 'a x', 'b x', 'b x', 'a x', 'a x', 'b x']);
    assert.deepEqual(numbers, [0, 1, 2, 3]);
    assert.deepEqual(pairs, [
      { order: 'AB', beforeNs: 3, afterNs: 4, recorded: false },
      { order: 'BA', beforeNs: 6, afterNs: 5, recorded: false },
      { order: 'AB', beforeNs: 7, afterNs: 8, recorded: false },
    ]);
    assert.deepEqual(summarizePairs([...pairs, { order: 'AB', beforeNs: 900, afterNs: 1, recorded: true }]).median, {
      before: 6,
      after: 5,
      spread: { before: 4 / 6, after: 4 / 5 },
    });
  });

  it('end with the first run that fails', async () => {
    let runs = 0;
    const run = (): Promise<number> => (++runs === 3 ? Promise.reject(new Error('status 2')) : Promise.resolve(1));
    await assert.rejects(
      runPairs({ before: ['a'], after: ['b'] }, 5, run, () => undefined),
      /status 2/,
    );
    assert.equal(runs, 3);
  });
});

describe('the block for a pull request', () => {
  const runs: Runs = {
    schema: 'cacheline-runs/1',
    before: ['./a'],
    after: ['./b'],
    cpus: '0-3',
    otherLoad: 0,
    pairs: Array.from({ length: 6 }, () => ({ order: 'AB', beforeNs: 2e9, afterNs: 5e8, recorded: false })),
    median: { before: 2e9, after: 5e8, spread: { before: 0.02, after: 0.01 } },
    speedup: { low: 3.9, mid: 4, high: 4.1 },
    p: 0.03125,
    predicted: { low: 3, mid: 3.5, high: 5, type: 'Worker', object: 'workers', basis: 'clock, calibrated' },
    contendedShare: { before: 0.9, after: 0 },
    samples: { before: 100, after: 25 },
  };
  const finding = "90.0% of the samples wait at '<b>x</b>'.";

  it('has the finding, both times, the gain and what was predicted', () => {
    const text = pullRequestText({ runs, finding, advice: undefined, layout: null });
    assert.match(text, /^\*\*Finding:\*\* 90\.0% of the samples wait at '&#60;b&#62;x&#60;\/b&#62;'\.$/m);
    assert.match(text, /^\| Median run time \| 2\.000 s \| 500\.0 ms \|$/m);
    assert.match(text, /^\| Samples at a contended cache line \| 90\.0% \| 0\.0% \|$/m);
    assert.match(text, /4\.00 times as fast \(3\.90 to 4\.10\) in 6 pairs of runs in turn on CPUs 0-3 .*p = 0\.031/);
    assert.match(text, /Predicted from the first recording alone: 3\.50 times as fast \(3\.00 to 5\.00\)/);
    assert.doesNotMatch(text, /Chance|Other programs/);
  });

  describe('is what docs/pull-request.md shows', () => {
    const words = (text: string): string => text.replace(/\s+/g, ' ').trim();
    const sections = readFileSync(join(__dirname, '../../docs/pull-request.md'), 'utf8').split('\n---\n');

    /** @param recorded nanoseconds of the recorded pair; the rest is of the nine other ones */
    function assertShown(shown: string, recorded: readonly [number, number], of: Partial<Runs>, layout: PullRequestFacts['layout']): void {
      const [beforeNs, afterNs] = recorded;
      const pairs = Array.from({ length: 9 }, () => ({ order: 'AB' as const, beforeNs: 1e9, afterNs: 1e9, recorded: false }));
      const text = pullRequestText({
        runs: { ...runs, cpus: '0-1', pairs: [...pairs, { order: 'AB', beforeNs, afterNs, recorded: true }], p: 0.00390625, ...of },
        finding: /\*\*Finding:\*\* (.*?) \*\*Advice/.exec(words(shown))?.[1] ?? '',
        advice: undefined,
        layout,
      });
      assert.equal(words(shown).replace(/\*\*Advice:.*?(?=\|)/, ''), words(text));
    }

    it('of an array', () => {
      const of = {
        median: { before: 1.301e9, after: 247.9e6, spread: { before: 0.385, after: 0.679 } },
        speedup: { low: 3.36, mid: 4.99, high: 5.36 },
        predicted: { low: 3.79, mid: 4.65, high: 6.01, type: 'atomic_long', object: 'counters', basis: 'clock, calibrated' },
        contendedShare: { before: 0.996, after: 0 },
      };
      assertShown(sections[1] ?? '', [1.346e9, 257.2e6], of, null);
    });

    it('of a structure, with its layout before and after', () => {
      const shown = sections[3] ?? '';
      const [before = '', after = ''] = [...shown.matchAll(/```c\n(.*?)```/gs)].map(([, text]) => text);
      assert.match(before, /^struct directory::Table \{\n[^]*?line  0 /m);
      assert.match(after, /alignas\(64\) uint32_t mask;/);
      const of = {
        median: { before: 372.2e6, after: 243.6e6, spread: { before: 0.453, after: 0.169 } },
        speedup: { low: 1.46, mid: 1.59, high: 1.78 },
        predicted: {
          low: 1,
          mid: 4.77,
          high: 7.35,
          type: 'directory::Table',
          object: 'directory::table',
          basis: 'clock, calibrated, bound',
        },
        contendedShare: { before: 0.993, after: 0 },
      };
      assertShown(shown, [438.9e6, 236.9e6], of, { name: 'directory::Table', before, after });
    });
  });

  it('says where chance or other programs may explain the difference', () => {
    const text = pullRequestText({ runs: { ...runs, p: 0.3, otherLoad: 1.26 }, finding, advice: undefined, layout: null });
    assert.match(text, /Chance may explain this difference: run more pairs\./);
    assert.match(text, /Other programs used 1\.3 processors meanwhile/);
  });

  it('keeps a layout in its code block whatever names hold', () => {
    const layout = { name: 'T<`>', before: 'struct T {\n```\n# no heading\n', after: null };
    const text = pullRequestText({ runs, finding, advice: undefined, layout });
    assert.match(text, /<details><summary>Layout of T&#60;&#96;&#62;<\/summary>/);
    assert.match(text, /^````c\nstruct T \{\n```\n# no heading\n````$/m);
    assert.match(text, /^After: the debug information does not have it\.$/m);
  });

  it('shows a layout once where only the place of its definition changed', () => {
    const of = (before: string, after: string): string =>
      pullRequestText({ runs, finding, advice: undefined, layout: { name: 'T', before, after } });
    const drawn = (place: string, size: number): string => `/* ${place} */\nstruct T {\n  long a; /* 0 ${size} */\n};\n`;
    assert.match(of(drawn('a.c:3', 8), drawn('a folder/\n   b.c:4', 8)), /^After: the same\.$/m);
    assert.doesNotMatch(of(drawn('a.c:3', 8), drawn('a.c:3', 64)), /the same/);
  });

  it('of one program has its times alone', () => {
    const alone = {
      ...runs,
      after: null,
      speedup: null,
      p: null,
      median: { before: 2e9, after: null, spread: { before: 0.02, after: null } },
    };
    const text = pullRequestText({ runs: alone, finding, advice: undefined, layout: null });
    assert.match(text, /^\| Median run time \| 2\.000 s \|$/m);
    assert.doesNotMatch(text, /Measured/);
  });
});
