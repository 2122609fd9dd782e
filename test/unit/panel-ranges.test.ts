// Lines that the panel's page asks for as they come into view, and what the engine sorts them by.
import assert from 'node:assert/strict';
import { lineOrder } from '../../extension/session/profile/line-order';
import { CHUNK, Ranges } from '../../webviews/panel/ranges';
import { lineRow, visibleRows } from '../../webviews/panel/model';
import { access, cacheLine, panelLine } from './report-builder';

const order = { version: 3, key: 'share', descending: true };
const line = (address: number) => panelLine(cacheLine([access({ writes: 1 })], { address: `0x${address.toString(16)}` }));

describe('ranges of lines', () => {
  it('are asked for once, in whole chunks', () => {
    const ranges = new Ranges(order, 1000);
    assert.deepEqual(ranges.requests([5, 7, CHUNK, CHUNK + 1]), [
      { ...order, offset: 0, count: CHUNK },
      { ...order, offset: CHUNK, count: CHUNK },
    ]);
    assert.deepEqual(ranges.requests([6, CHUNK + 9, 999]), [{ ...order, offset: 800, count: CHUNK }]);
    assert.deepEqual(ranges.requests([]), []);
  });

  it('stand at their places, also those that came before', () => {
    const ranges = new Ranges(order, CHUNK + 3);
    assert.equal(ranges.lines().length, CHUNK + 3);
    ranges.requests([0, CHUNK]);
    const last = ranges.with({ type: 'lines', ...order, offset: CHUNK, lines: [line(1), line(2), line(3)] });
    const all = last?.with({ type: 'lines', ...order, offset: 0, lines: [line(9)] });
    assert.deepEqual(
      all?.lines().flatMap((one, place) => (one ? [[place, one.address]] : [])),
      [
        [0, '0x9'],
        [CHUNK, '0x1'],
        [CHUNK + 1, '0x2'],
        [CHUNK + 2, '0x3'],
      ],
    );
    assert.deepEqual(all.requests([0, CHUNK]), [], 'they are not asked for again');
  });

  it('of another report or order are not taken', () => {
    const ranges = new Ranges(order, 10);
    for (const other of [{ version: 2 }, { key: 'address' }, { descending: false }])
      assert.equal(ranges.with({ type: 'lines', ...order, ...other, offset: 0, lines: [] }), undefined);
  });

  it('that are missing have rows of their own', () => {
    const rows = visibleRows([undefined, lineRow(line(1), 'contended'), undefined], new Set(), 'contended');
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['missing', 'line', 'missing'],
    );
    assert.equal(new Set(rows.map(({ id }) => id)).size, 3);
  });

  it('are sorted by the engine as the columns say', () => {
    assert.deepEqual(lineOrder('share', true, 'remoteHitm'), { sort: 'hitm.remote', descending: true });
    assert.deepEqual(lineOrder('samples', false, 'contended'), { sort: 'records', descending: false });
    assert.deepEqual(lineOrder('cycles.p95', true, 'hitm'), { sort: 'address', descending: false });
    assert.deepEqual(lineOrder('<b>', true, 'hitm'), { sort: 'address', descending: false });
  });
});
