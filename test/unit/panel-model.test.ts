// The panel's table as data: order, ties, expanded rows.
import assert from 'node:assert/strict';
import { DEFAULT_SORT } from '../../extension/protocol/panel';
import { accessesOf, lineRows } from '../../webviews/panel/model';
import { plural } from '../../webviews/panel/format';
import { access, cacheLine, panelLine, thread } from './report-builder';

const data = (object: string) => ({ object, offset: 0, definition: null });
const lines = [
  cacheLine([access({ writes: 10, data: data('b') }), access({ reads: 30, threads: [2], data: data('a') })], { address: '0x40' }),
  cacheLine([access({ writes: 90, data: data('c') })], { address: '0x7fffffffffffffc0', verdict: 'mixed' }),
  cacheLine([access({ writes: 40, contended: 40, data: data('d') })], { address: '0x7fffffffffffff80', verdict: 'true sharing' }),
];

const addresses = (key: string, descending: boolean): string[] =>
  lineRows(lines.map(panelLine), { key, descending }, 'contended').map(({ line }) => line.address);

describe('panel model', () => {
  it('sorts by contention first, ties by address', () => {
    assert.deepEqual(
      lineRows(lines.map(panelLine), DEFAULT_SORT, 'contended').map(({ line }) => line.address),
      ['0x7fffffffffffffc0', '0x40', '0x7fffffffffffff80'],
    );
    assert.deepEqual(addresses('share', false), ['0x40', '0x7fffffffffffff80', '0x7fffffffffffffc0']);
  });

  it('compares addresses of 64 bits exactly', () => {
    assert.deepEqual(addresses('address', false), ['0x40', '0x7fffffffffffff80', '0x7fffffffffffffc0']);
  });

  it('sorts verdicts by how bad they are', () => {
    assert.deepEqual(addresses('verdict', true), ['0x40', '0x7fffffffffffffc0', '0x7fffffffffffff80']);
  });

  it('does not change the report’s own order', () => {
    const panel = lines.map(panelLine);
    lineRows(panel, { key: 'address', descending: true }, 'contended');
    assert.equal(panel[0]?.address, '0x40');
  });

  it('counts competing threads that write and that read; who does both counts in both', () => {
    const uses = [
      { ...thread(1), loads: 5, stores: 5 },
      { ...thread(2), loads: 5, stores: 0 },
      { ...thread(3, false), loads: 0, stores: 9 },
    ];
    const [row] = lineRows([panelLine(cacheLine([access({ writes: 1 })], { threads: uses }))], DEFAULT_SORT, 'contended');
    assert.deepEqual([row?.line.writers, row?.line.readers], [1, 2]);
  });

  it('names the hottest data first, and sorts accesses by what they cost', () => {
    const [first] = lines;
    assert.ok(first);
    assert.equal(panelLine(first).objects, 'a, b');
    assert.deepEqual(
      accessesOf(first, 'contended').map(({ contended }) => contended),
      [30, 10],
    );
  });

  it('writes numbers', () => {
    assert.deepEqual([plural(1, 'read'), plural(1200, 'read')], ['1 read', '1,200 reads']);
  });
});
