// The filter of the panel: what its box completes is what the engine takes, and a filtered profile takes the place of the one before.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { NativeEngine, type NativeAddon } from '../../extension/engine/native';
import type { Engine } from '../../extension/protocol/engine';
import { OpenProfile } from '../../extension/session/profile/open-profile';
import { nameTerm, onlyTerm, termsOf, withoutTerm } from '../../extension/protocol/filter';
import { proposalsOf, TERMS } from '../../webviews/panel/filter-terms';
import { canSynthesize, compileWorker, synthesize } from './c2c/synth';
import { hasAddon } from './c2c/engine';
import { addonPath } from './command';
import { temporaryFolder } from './fixtures';

/** Values of terms that do not take any text. */
const VALUES: Record<string, string> = { 'time:': '0-50%', 'cpu:': '0-3,8' };

describe('the filter box', () => {
  const proposed = (filter: string): string[] => proposalsOf(filter).map(({ filter: whole }) => whole);

  it('completes keys and values of the last term', () => {
    assert.deepEqual(proposed('').length, TERMS.length);
    assert.deepEqual(proposed('ver'), ['verdict:']);
    assert.deepEqual(proposed('type:"a b" -m'), ['type:"a b" -member:', 'type:"a b" -mode:']);
    assert.deepEqual(proposed('mode:'), ['mode:user', 'mode:kernel']);
    assert.deepEqual(proposed('-verdict:t'), ['-verdict:true']);
    for (const whole of ['mode:user', 'object:x', 'nothing']) assert.deepEqual(proposed(whole), [], whole);
  });

  it('parts terms at spaces outside of quotation marks', () => {
    assert.deepEqual(termsOf(' type:"unsigned long"  -line:0x7f* contended>3 '), ['type:"unsigned long"', '-line:0x7f*', 'contended>3']);
    assert.deepEqual(termsOf(''), []);
    assert.deepEqual(termsOf('object:"a b'), ['object:"a b']);
  });

  it('adds a term of a row to what is set', () => {
    assert.equal(onlyTerm('', 'line:0x40'), 'line:0x40');
    assert.equal(onlyTerm('verdict:false line:0x80 -line:0x40 -line:0xc0', 'line:0x40'), 'verdict:false -line:0xc0 line:0x40');
    assert.equal(withoutTerm('line:0x40 contended>3', 'line:0x40'), 'contended>3 -line:0x40');
    assert.equal(withoutTerm('-line:0x40', 'line:0x40'), '-line:0x40');
    assert.equal(onlyTerm('type:"a b"', nameTerm('function:', 'f(int)')), 'type:"a b" function:f(int)');
  });

  it('writes names as terms that no name can break out of', () => {
    assert.equal(nameTerm('function:', 'push'), 'function:push');
    assert.equal(nameTerm('function:', 'ns::put(long, int*)'), 'function:"ns::put(long, int?)"');
    for (const name of ['a" verdict:true "b', 'a\nverdict:true', '" -line:*', '\u001b[1m x'])
      assert.deepEqual(termsOf(nameTerm('function:', name)).length, 1, JSON.stringify(name));
  });

  describe('with the engine', function () {
    this.timeout(60_000);
    const folder = temporaryFolder();
    before(function () {
      if (!hasAddon || !canSynthesize) this.skip();
    });

    it('knows every term that it completes', async () => {
      const binary = compileWorker(folder.path, { pie: false });
      const { file: path } = synthesize('intel', folder.path, { seed: 3, samples: 5000, lines: 40, binary });
      const engine = new NativeEngine(createRequire(__filename)(addonPath) as NativeAddon);
      const { handle } = await engine.call('open', { path, showAll: true });
      for (const { start, values = [VALUES[start] ?? (start.endsWith('>') ? '0' : '*')] } of TERMS)
        for (const value of values) await engine.call('filter', { handle, filter: start + value });
      await assert.rejects(engine.call('filter', { handle, filter: 'unknown:*' }), { kind: 'usage' });
      await engine.call('close', { handle });
    });
  });

  it('has one handle for the profiles of all filters, closed with the last one', async () => {
    const calls: unknown[] = [];
    const summary = { report: {}, counts: { lines: 9, selected: 2 } };
    const engine = {
      call: (method: string, params: { filter?: string; handle?: number }) => {
        calls.push([method, params.filter]);
        if (params.filter === 'bad') return Promise.reject(new Error('refused'));
        return Promise.resolve(method === 'open' ? { handle: 7, summary } : summary);
      },
    } as unknown as Engine;
    const { signal } = new AbortController();
    const first = await OpenProfile.open(engine, { path: 'r', showAll: false }, {});
    await assert.rejects(first.filtered('bad', signal), /refused/);
    const second = await first.filtered('verdict:true', signal);
    assert.deepEqual([first.filter, second.filter], ['', 'verdict:true']);
    assert.deepEqual(second.summary.report.selected, { lines: 2, of: 9 });
    await second.advice();
    await first.close();
    assert.deepEqual(calls.slice(1), [
      ['filter', 'bad'],
      ['filter', 'verdict:true'],
      ['advise', 'verdict:true'],
    ]);
    await second.close();
    assert.deepEqual(calls.at(-1), ['close', undefined]);
  });
});
