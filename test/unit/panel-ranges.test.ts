// Lines that the panel's page asks for as they come into view, and what the engine sorts them by.
import assert from 'node:assert/strict';
import { LINES_OF_SCREEN as CHUNK } from '../../extension/protocol/panel';
import { lineOrder } from '../../extension/session/profile/line-order';
import { Ranges } from '../../webviews/panel/ranges';
import { access, cacheLine, panelLine } from './report-builder';

const order = { version: 3, key: 'share', descending: true };
const line = (address: number) => panelLine(cacheLine([access({ writes: 1 })], { address: `0x${address.toString(16)}` }));

describe('ranges of lines', () => {
  const came = (ranges: Ranges, chunk: number): Ranges =>
    ranges.with({ type: 'lines', ...order, offset: chunk * CHUNK, lines: [line(chunk)] }) ?? assert.fail();

  it('are asked for once, in whole chunks, and those around them when they are here', () => {
    const ranges = new Ranges(order, 10 * CHUNK);
    const offsets = (of: Ranges, first: number, last: number): number[] => of.missing(first, last).map(({ offset }) => offset / CHUNK);
    const around = (of: Ranges, first: number, last: number): number[] => of.around(first, last).map(({ offset }) => offset / CHUNK);
    assert.deepEqual(ranges.missing(5, 7), [{ ...order, offset: 0, count: CHUNK }]);
    assert.deepEqual(offsets(ranges, 6, CHUNK + 9), [1]);
    assert.deepEqual(offsets(ranges, 0, CHUNK), []);
    assert.deepEqual(offsets(came(ranges, 0), 6, CHUNK), []);
    assert.deepEqual(around(came(ranges, 0), 6, CHUNK), [], 'not before these are here');
    assert.deepEqual(around(came(came(ranges, 0), 1), 6, CHUNK), [2, 3]);
    assert.deepEqual(around(came(ranges, 9), 9 * CHUNK, 10 * CHUNK - 1), [8, 7]);
    assert.deepEqual(around(came(ranges, 5), 5 * CHUNK, 5 * CHUNK), [6, 7, 4, 3]);
    assert.deepEqual(offsets(ranges, 0, -1), []);
  });

  it('begin with the lines that came with the report', () => {
    const lines = Array.from({ length: 2 * CHUNK }, (_, index) => line(index));
    const ranges = Ranges.from(order, 10 * CHUNK, lines);
    assert.equal(ranges.at(2 * CHUNK - 1), lines.at(-1));
    assert.deepEqual(
      ranges.around(0, CHUNK).map(({ offset }) => offset),
      [2 * CHUNK, 3 * CHUNK],
    );
    assert.deepEqual(
      Ranges.from(order, 10 * CHUNK, [])
        .missing(0, 1)
        .map(({ offset }) => offset),
      [0],
    );
  });

  it('stand at their places, also those that came before', () => {
    const ranges = new Ranges(order, CHUNK + 3);
    ranges.missing(0, CHUNK);
    const last = ranges.with({ type: 'lines', ...order, offset: CHUNK, lines: [line(1), line(2), line(3)] });
    const all = last?.with({ type: 'lines', ...order, offset: 0, lines: [line(9)] });
    assert.deepEqual(
      all?.sent().map(([place, { address }]) => [place, address]),
      [
        [0, '0x9'],
        [CHUNK, '0x1'],
        [CHUNK + 1, '0x2'],
        [CHUNK + 2, '0x3'],
      ],
    );
    assert.equal(all.at(CHUNK + 2)?.address, '0x3');
    assert.equal(all.at(1), undefined);
    assert.deepEqual(all.missing(0, CHUNK), [], 'they are not asked for again');
  });

  it('that are far from what came last are let go, and asked for again', () => {
    let ranges = new Ranges(order, 1000 * CHUNK);
    for (let chunk = 0; chunk <= 400; chunk++) {
      ranges.missing(chunk * CHUNK, chunk * CHUNK);
      ranges = came(ranges, chunk);
    }
    assert.equal(ranges.sent().length, 400);
    assert.equal(ranges.at(0), undefined);
    assert.deepEqual(
      ranges.missing(0, 1).map(({ offset }) => offset),
      [0],
    );
  });

  it('stay with another metric, and what has not come is asked for again', () => {
    const ranges = new Ranges(order, 10 * CHUNK);
    ranges.missing(0, CHUNK);
    const other = came(ranges, 0).as(4);
    assert.deepEqual([other.at(0)?.address, other.order.version], ['0x0', 4]);
    assert.deepEqual(other.missing(0, CHUNK), [{ ...order, version: 4, offset: CHUNK, count: CHUNK }]);
  });

  it('of another report or order are not taken', () => {
    const ranges = new Ranges(order, 10);
    for (const other of [{ version: 2 }, { key: 'address' }, { descending: false }])
      assert.equal(ranges.with({ type: 'lines', ...order, ...other, offset: 0, lines: [] }), undefined);
  });

  it('are sorted by the engine as the columns say', () => {
    assert.deepEqual(lineOrder('share', true, 'remoteHitm'), { sort: 'hitm.remote', descending: true });
    assert.deepEqual(lineOrder('samples', false, 'contended'), { sort: 'records', descending: false });
    assert.deepEqual(lineOrder('cycles.p95', true, 'hitm'), { sort: 'address', descending: false });
    assert.deepEqual(lineOrder('<b>', true, 'hitm'), { sort: 'address', descending: false });
  });
});
