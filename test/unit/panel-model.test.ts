// The panel's table as data: order, ties, expanded rows.
import assert from 'node:assert/strict';
import { DEFAULT_SORT } from '../../extension/protocol/panel';
import { accessesOf, lineRows } from '../../webviews/panel/model';
import { plural } from '../../webviews/panel/format';
import { lineHoverText } from '../../extension/session/hover/hover-text';
import { reportText } from '../../extension/session/report/report-text';
import { access, cacheLine, heapData, panelLine, report, thread, unfolded } from './report-builder';

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

  it('names data as the report does: members of what has no name of its own', () => {
    const line = cacheLine(
      [
        access({ writes: 30, offset: 8, data: heapData('Queue', 0x404040, 'head', 8) }),
        access({ writes: 20, offset: 8, threads: [2], data: heapData('Queue', 0x404040, 'head', 8) }),
        access({
          writes: 10,
          offset: 24,
          data: { ...heapData('Slot[8]', 0x404050, 'hits', 8, { index: 1 }), object: '[stack]', how: 'stack' },
        }),
      ],
      { address: '0x404040' },
    );
    assert.equal(panelLine(line).objects, 'Queue.head, Slot[1].hits');
    assert.deepEqual(unfolded(line).names, ['Queue.head', 'Queue.head', 'Slot[1].hits']);
    const text = reportText(report([line]), { width: 100, path: 'x', folder: '' });
    assert.ok(text.includes(panelLine(line).objects));
    const [own] = line.accesses;
    assert.match(lineHoverText(report([line]), [{ cacheLine: line, access: own! }], 'contended'), /`Queue\.head`/);
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
    assert.equal(panelLine(first).objects, 'a+0, b+0');
    assert.deepEqual(
      accessesOf(first, 'contended').map(({ contended }) => contended),
      [30, 10],
    );
  });

  it('writes numbers', () => {
    assert.deepEqual([plural(1, 'read'), plural(1200, 'read')], ['1 read', '1,200 reads']);
  });
});
