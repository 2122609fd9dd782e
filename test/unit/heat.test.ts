// Heat of source lines: what counts where, the five steps, and the text after a line.
import assert from 'node:assert/strict';
import { heatStep } from '../../extension/protocol/heat-scale';
import { heatText, isFrom, type LineHeat } from '../../extension/session/profile/heat';
import { access, cacheLine, report, thread } from './report-builder';
import { accessesAt, heatsOf } from './report-lookups';

describe('heat', () => {
  it('adds up the accesses of a source line over cache lines', () => {
    const heat = heatsOf(
      report([
        cacheLine([access({ line: 5, writes: 30 }), access({ line: 6, reads: 50, threads: [2] })]),
        cacheLine([access({ line: 5, writes: 20 })], { address: '0x404080' }),
      ]),
      'contended',
    );
    const lines = heat.get('/src/program.c') ?? [];
    assert.deepEqual(
      lines.map(({ line, amount, share }) => ({ line, amount, share })),
      [
        { line: 5, amount: 50, share: 0.5 },
        { line: 6, amount: 50, share: 0.5 },
      ],
    );
  });

  it('credits every place of an inline chain, each once', () => {
    const inner = { function: 'fetch_add', file: '/usr/include/atomic_base.h', line: 618 };
    const outer = { function: 'bump', file: '/src/program.c', line: 9 };
    const chain = access({ file: inner.file, line: inner.line, inlined: [inner, outer, { ...outer, function: 'recursion' }], writes: 10 });
    const heat = heatsOf(report([cacheLine([chain])]), 'contended');
    assert.equal(heat.get('/src/program.c')?.[0]?.amount, 10);
    assert.equal(heat.get('/usr/include/atomic_base.h')?.[0]?.amount, 10);
  });

  it('leaves out lines without contended samples and accesses without a source line', () => {
    const quiet = access({ line: 3, reads: 10, contended: 0 });
    const unknown = access({ file: '', line: 0, writes: 10 });
    const shared = report([cacheLine([quiet, unknown])]);
    assert.deepEqual([...heatsOf(shared, 'contended').keys()], []);
    assert.deepEqual(accessesAt(shared, '/src/program.c', 3).length, 1);
  });

  it('counts who writes and who reads of the threads that compete: one may do both', () => {
    const line = cacheLine(
      [
        access({ line: 4, writes: 10, threads: [1, 2] }),
        access({ line: 4, reads: 10, threads: [2, 3] }),
        access({ line: 4, reads: 10, threads: [9] }),
      ],
      { threads: [thread(1), thread(2), thread(3), thread(9, false)] },
    );
    const [hot] = heatsOf(report([line]), 'contended').get('/src/program.c') ?? [];
    assert.deepEqual([hot?.writers, hot?.readers, hot?.both], [2, 2, 1]);
  });

  it('counts for a share of the whole; what only stores for what it causes', () => {
    assert.ok(isFrom({ amount: 5, caused: 0 }, 100, 5));
    assert.ok(!isFrom({ amount: 5, caused: 0 }, 100, 5.1));
    assert.ok(isFrom({ amount: 0, caused: 30 }, 100, 30));
    assert.ok(isFrom({ amount: 1, caused: 0 }, 1_000_000, 0), 'from 0 on: all');
  });

  it('has five steps with fixed bounds', () => {
    const steps = [0.001, 0.0199, 0.02, 0.0499, 0.05, 0.149, 0.15, 0.299, 0.3, 1].map(heatStep);
    assert.deepEqual(steps, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
  });

  it('says share and threads', () => {
    const text = (fields: Partial<LineHeat>): string =>
      heatText({ measure: 'contended', amount: 100, share: 1, writers: 0, readers: 0, both: 0, caused: 0, ...fields });
    assert.equal(text({ share: 0.312, writers: 2 }), '31% of contended samples, 2 threads write');
    assert.equal(text({ share: 0.5, writers: 1, readers: 3 }), '50% of contended samples, 1 thread writes and 3 read');
    assert.equal(
      text({ share: 0.5, writers: 2, readers: 3, both: 1 }),
      '50% of contended samples, 1 thread writes, 1 reads and writes and 2 read',
    );
    assert.equal(text({ share: 0.001, readers: 1 }), '<1% of contended samples, 1 thread reads');
    assert.equal(text({}), '100% of contended samples');
    assert.equal(text({ measure: 'hitm', amount: 1312, share: 0.78, writers: 2 }), '1,312 HITMs (78%), 2 threads write');
    assert.equal(text({ measure: 'remoteHitm', amount: 1, share: 0.001 }), '1 remote HITM (<1%)');
    assert.equal(text({ measure: 'peer', amount: 30 }), '30 peer hits (100%)');
    assert.equal(text({ measure: 'latency', amount: 5000.4, share: 0.25 }), '25% of load cycles');
    assert.equal(
      text({ measure: 'hitm', amount: 0, share: 0, caused: 312, writers: 1 }),
      'stores to lines with 312 HITMs, 1 thread writes',
    );
  });
});
