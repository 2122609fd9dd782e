// The line in full below the panel's table: which threads act alike, bars by offset, who waits for whom, and what lies on the bytes.
import assert from 'node:assert/strict';
import type { LineDetail } from '../../extension/protocol/panel-detail';
import type { CacheLine } from '../../extension/protocol/report';
import { linePieces } from '../../extension/session/layout/line-pieces';
import { MOST_GROUPS, offsetBars, threadGroups, waitMatrix } from '../../webviews/panel/detail-model';
import { access, cacheLine, readerBesideWriter } from './report-builder';

const detailOf = (line: CacheLine): LineDetail => ({
  ...{ id: '1', line, size: 64, verdict: '', reasons: [], pieces: [], hidden: 0, hasSource: false, hasCard: false },
  accesses: line.accesses.map(({ data }) => ({ name: data.field ?? data.object, inlined: [], chains: [] })),
});

describe('a line in full', () => {
  it('has a colour for the threads that made the same accesses', () => {
    const line = cacheLine([
      access({ writes: 5, threads: [2, 1] }),
      access({ writes: 9, threads: [3], offset: 8 }),
      access({ reads: 1, threads: [1, 2], offset: 16 }),
    ]);
    const { groups, of } = threadGroups(line);
    assert.deepEqual(groups, [
      { name: 't3 3', samples: 9 },
      { name: 't1, t2, 2 threads', samples: 6 },
    ]);
    assert.deepEqual(of, [1, 0, 1]);
  });

  it('has as many colours as there are, and one for all others', () => {
    const line = cacheLine(Array.from({ length: 9 }, (_, tid) => access({ writes: 20 - tid, threads: [tid + 1], offset: tid })));
    const { groups, of } = threadGroups(line);
    assert.equal(groups.length, MOST_GROUPS + 1);
    assert.deepEqual(groups.at(-1), { name: 'other threads', samples: 14 + 13 + 12 });
    assert.deepEqual(of, [0, 1, 2, 3, 4, 5, 6, 6, 6]);
    const { groups: same } = threadGroups({ ...line, threads: line.threads.map((thread) => ({ ...thread, comm: 'worker' })) });
    assert.deepEqual(
      same.map(({ name }) => name),
      ['worker, 9 threads'],
      'names tell them apart where ids are too many',
    );
  });

  it('has a bar for each offset, no wider than up to the next', () => {
    const line = cacheLine([
      access({ writes: 5, width: 16 }),
      access({ reads: 3, threads: [2], width: 4 }),
      access({ reads: 2, offset: 4, width: 0 }),
    ]);
    const bars = offsetBars(detailOf(line), [0, 1, 0]);
    assert.deepEqual(
      bars.map(({ offset, width, samples }) => [offset, width, samples]),
      [
        [0, 4, 8],
        [4, 1, 2],
      ],
    );
    assert.deepEqual(bars[0]?.parts, [
      { group: 0, reads: 0, writes: 5 },
      { group: 1, reads: 3, writes: 0 },
    ]);
  });

  it('says who waits for whom, word by word', () => {
    const { line } = readerBesideWriter();
    const waits = waitMatrix(detailOf(line));
    assert.deepEqual(waits?.words, [
      { name: 'produced', offset: 0 },
      { name: 'limit', offset: 8 },
    ]);
    assert.deepEqual(
      waits.shares.map((row) => row.map((wait) => wait?.share)),
      [
        [undefined, undefined],
        [1, undefined],
      ],
    );
    assert.equal(waitMatrix(detailOf({ ...line, waits: [] })), undefined);
    assert.equal(waitMatrix(detailOf({ ...line, words: [] })), undefined, 'words that are not there are not guessed');
  });

  it('draws data of unknown type where it was accessed, each once', () => {
    const data = { object: 'a', offset: 0, definition: null };
    const line = cacheLine([
      access({ writes: 5, data }),
      access({ reads: 5, data }),
      access({ reads: 1, offset: 60, width: 8, data: { ...data, object: 'b' } }),
    ]);
    const { pieces } = linePieces(line, 64, () => undefined);
    assert.deepEqual(
      pieces.map(({ of, start, end }) => [of, start, end]),
      [
        ['a', 0, 8],
        ['b', 60, 64],
      ],
    );
  });
});
