// The rows of the panel's table: which there are with some lines expanded, and where they stand.
import assert from 'node:assert/strict';
import { lineRow, type LineRow } from '../../webviews/panel/model';
import { HEIGHT, RowList } from '../../webviews/panel/row-list';
import type { CacheLine } from '../../extension/protocol/report';
import { access, cacheLine, panelLine, unfolded } from './report-builder';

const line = (address: number, accesses: number): CacheLine =>
  cacheLine(
    Array.from({ length: accesses }, () => access({ writes: 1 })),
    { address: `0x${address.toString(16)}` },
  );

describe('the list of rows', () => {
  const [first, third] = [line(1, 2), line(3, 3)];
  const lines = [first, line(2, 1), undefined, third, undefined].map((one) => one && lineRow(panelLine(one)));
  const lineAt = (place: number): LineRow | undefined => lines[place];
  const all = (list: RowList): string[] => Array.from({ length: list.length }, (_, index) => list.at(index).kind);

  it('has a row for each line, and below an expanded one its details and accesses', () => {
    assert.deepEqual(all(new RowList(5, lineAt)), ['line', 'line', 'missing', 'line', 'missing']);
    const list = new RowList(
      5,
      lineAt,
      [
        [0, unfolded(first)],
        [3, unfolded(third)],
      ],
      'contended',
    );
    assert.deepEqual(all(list), [
      ...['line', 'detail', 'access', 'access'],
      ...['line', 'missing'],
      ...['line', 'detail', 'access', 'access', 'access'],
      'missing',
    ]);
    const ids = Array.from({ length: list.length }, (_, index) => list.at(index).id);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(
      ids.map((_, index) => list.placeOf(index)),
      [0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 4],
    );
    const isExpanded = (index: number): boolean => {
      const row = list.at(index);
      return row.kind === 'line' && row.expanded;
    };
    assert.deepEqual([0, 4, 6].map(isExpanded), [true, false, true]);
  });

  it('has an expanded line without its accesses until they come', () => {
    const list = new RowList(5, lineAt, [
      [0, undefined],
      [3, unfolded(third)],
    ]);
    assert.deepEqual(all(list), [...['line', 'line', 'missing'], ...['line', 'detail', 'access', 'access', 'access'], 'missing']);
    const row = list.at(0);
    assert.ok(row.kind === 'line' && row.expanded);
    for (let index = 0; index < list.length; index++) assert.equal(list.indexAt(list.topOf(index)), index);
  });

  it('has rows one below the other, details as high as they were measured', () => {
    const heights = new Map([[`${unfolded(first).id} detail`, 111]]);
    const list = new RowList(5, lineAt, [[0, unfolded(first)]], 'contended', heights);
    let top = 0;
    for (let index = 0; index < list.length; index++) {
      assert.equal(list.topOf(index), top);
      const height = list.heightOf(list.at(index));
      assert.deepEqual([list.indexAt(top), list.indexAt(top + height - 1)], [index, index]);
      top += height;
    }
    assert.equal(list.height, top);
    assert.equal(top, 5 * HEIGHT.line + 111 + 2 * HEIGHT.access);
    assert.deepEqual([list.indexAt(-50), list.indexAt(top + 50)], [0, list.length - 1]);
  });
});
