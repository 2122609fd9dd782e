// Reports that are too long for one string.
import assert from 'node:assert/strict';
import { headOf, linesOf, reportOf } from '../../extension/engine/report-pieces';

const head = '{"collector":"pmu","lines":[';
const tail = '],"linesLeftOut":2}';

describe('pieces of a report', () => {
  it('make up the report, its head and its lines', () => {
    const pieces = [head, '{"address":"0x40"},{"address":"0x80"}', ',{"address":"0xc0"}', tail];
    assert.deepEqual(reportOf(pieces), JSON.parse(pieces.join('')));
    assert.deepEqual(headOf(pieces), { collector: 'pmu', lines: [], linesLeftOut: 2 });
    assert.deepEqual(
      [...linesOf(pieces)].map(({ address }) => address),
      ['0x40', '0x80', '0xc0'],
    );
  });

  it('may be without lines', () => {
    assert.deepEqual(reportOf([head, tail]), { collector: 'pmu', lines: [], linesLeftOut: 2 });
    assert.deepEqual([...linesOf([head, tail])], []);
  });

  it('that no object should hold are refused with a sentence, and can be read one by one', () => {
    const line = `{"address":"${'x'.repeat(50e6)}"}`;
    const pieces = [head, line, ...Array<string>(8).fill(`,${line}`), tail];
    assert.throws(() => reportOf(pieces), { kind: 'usage', message: /takes 0\.5 GB as JSON/, nextStep: /--show-all/ });
    assert.equal(headOf(pieces).collector, 'pmu');
    const [first] = linesOf(pieces);
    assert.equal(first?.address.length, 50e6);
  });
});
