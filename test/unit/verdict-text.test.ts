// Verdicts in words that say how sure they are, and of what is open only what was seen.
import assert from 'node:assert/strict';
import { recordLonger, verdictText } from '../../extension/session/report/verdict-text';

describe('verdict text', () => {
  const open = { value: null, low: 0, high: 1 };
  const of = (given: Partial<Parameters<typeof verdictText>[0]>): string =>
    verdictText({ verdict: 'mixed', verdictSure: false, falseShare: open, ...given });

  it('says that nothing was sampled that is waited for, and what to record then', () => {
    assert.match(of({}), /unknown which: no access that they wait for was sampled/);
    assert.match(recordLonger({ seconds: 2 }, open), /with stores/);
  });

  it('is the word alone where it is sure, mostly that where it is not, and open where samples leave all open', () => {
    assert.equal(of({ verdictSure: true, falseShare: { value: 0.5, low: 0.4, high: 0.6 } }), 'mixed');
    assert.equal(of({ verdict: 'false sharing', falseShare: { value: 0.85, low: 0.7, high: 1 } }), 'mostly false sharing');
    assert.equal(of({ falseShare: { value: 0.5, low: 0.1, high: 0.7 } }), 'mixed');
    for (const verdict of ['mixed', 'false sharing', 'true sharing'] as const)
      assert.match(of({ verdict, falseShare: { value: 0.5, low: 0.1, high: 0.9 } }), /too few samples to tell which/);
  });
});
