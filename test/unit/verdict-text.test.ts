// Verdicts in words that say how sure they are, and of what is open only what was seen.
import assert from 'node:assert/strict';
import { verdictText } from '../../extension/session/report/verdict-text';
import { access, cacheLine } from './report-builder';

describe('verdict text', () => {
  const open = { value: null, low: 0, high: 1 };
  const of = (given: Partial<Parameters<typeof verdictText>[0]>): string =>
    verdictText({ verdict: 'mixed', verdictSure: false, falseShare: open, stores: 0, ...given });

  it('says that no write was sampled where none was', () => {
    assert.match(of({}), /unknown which: no write was sampled/);
    assert.match(verdictText(cacheLine([access({ reads: 7 })], { verdict: 'mixed', verdictSure: false, falseShare: open })), /no write/);
  });

  it('says that samples cannot tell where a few writes were', () => {
    for (const stores of [1, 2]) assert.match(of({ stores }), /^true or false sharing \(these samples cannot tell which\)$/);
    const line = cacheLine([access({ reads: 6 }), access({ writes: 1, offset: 8 })], {
      verdict: 'mixed',
      verdictSure: false,
      falseShare: open,
    });
    assert.equal(line.stores.total, 1);
    assert.match(verdictText(line), /cannot tell which/);
  });

  it('is the word alone where it is sure, and mostly that where it is not', () => {
    assert.equal(of({ verdictSure: true, falseShare: { value: 0.5, low: 0.4, high: 0.6 } }), 'mixed');
    assert.equal(of({ verdict: 'false sharing', falseShare: { value: 0.85, low: 0.7, high: 1 }, stores: 9 }), 'mostly false sharing');
    assert.equal(of({ falseShare: { value: 0.5, low: 0.1, high: 0.7 }, stores: 9 }), 'mixed');
    assert.match(of({ falseShare: { value: 0.5, low: 0.1, high: 0.9 }, stores: 9 }), /cannot tell which/);
  });
});
