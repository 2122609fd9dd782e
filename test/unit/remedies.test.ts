// What a report says of a pattern: who waits for whom, and which remedy it proposes.
import assert from 'node:assert/strict';
import type { Access, CacheLine, Verdict } from '../../extension/protocol/report';
import { meaningOf, waitsText } from '../../extension/session/report/remedies';
import { access, cacheLine, heapData, memoryAccess, memoryLine } from './report-builder';

type Fields = Parameters<typeof access>[0];
type Wait = [word: number, cause: number, share: number, falseShare: number, sameStep?: number];

const data = (name: string, offset: number, object = 'queue'): Access['data'] => ({
  ...{ object, offset, definition: null, how: 'global', type: object, field: name, fieldOffset: offset, index: null },
});

/** By default 20 writes by 'work'. Its word is the one of its offset. */
function use(name: string, offset: number, threads: number[], fields: Fields = { writes: 20 }): Access {
  const codeAddress = `0x${offset}${threads.join('')}`;
  return access({ offset, threads, data: data(name, offset), codeAddress, word: offset / 8, ...fields });
}

/** One instruction that uses elements of an array. */
function element(index: number, threads: number[], fields: Fields = { writes: 20 }): Access {
  const offset = 8 * index;
  const of = { ...data('', offset, 'slots'), type: 'long[8]', index };
  return access({ offset, threads, data: of, codeAddress: '0x9', word: index, ...fields });
}

/** `groups`: of the words, one each eight bytes. */
function waiting(verdict: Verdict, accesses: Access[], groups: number[], waits: Wait[], fields: Partial<CacheLine> = {}): CacheLine {
  return cacheLine(accesses, {
    verdict,
    words: groups.map((group, i) => ({ offset: 8 * i, size: 8, group })),
    waits: waits.map(([word, cause, share, falseShare, sameStep = 0]) => ({ word, cause, share, falseShare, sameStep })),
    ...fields,
  });
}

/** The last sentence or two: without what the pattern means, and who waits. */
const remedyOf = (verdict: Verdict, lines: CacheLine[], go = false): string => meaningOf(verdict, lines, go).at(-1) ?? '';
const remedy = (verdict: Verdict, ...line: [Access[], number[], Wait[]]): string => remedyOf(verdict, [waiting(verdict, ...line)]);

const ELEMENTS = /^The same code uses several elements of an array here/;
const SHARED = /^Moving data apart does not help here; sharing less often/;

describe('who waits for whom', () => {
  const reader = use('reader1', 16, [3], { reads: 30, symbol: 'reader' });
  const lock = use('lock0', 0, [1, 2], { writes: 400, locked: true, symbol: 'lock_thd' });
  const victims: CacheLine['victims'] = [{ words: [2], threads: [3], contended: 30, falseShare: 1, access: 1, cause: 0 }];

  it('is said of the victim with most samples', () => {
    const line = waiting('mixed', [lock, reader], [0, 0, 1], [], { victims });
    assert.match(waitsText(line), /^'reader' .*'queue\.reader1'.* nobody writes.* 'lock_thd' .*'queue\.lock0'/);
    for (const storesLater of ['always', 'sometimes'] as const) {
      const storing = waiting('mixed', [lock, { ...reader, storesLater }], [0, 0, 1], [], { victims });
      assert.doesNotMatch(waitsText(storing), /nobody writes/, 'its stores need not have samples');
    }
    const loads = use('lock0', 0, [1, 2], { reads: 400, symbol: 'lock_thd' });
    const stored = waiting('mixed', [{ ...loads, storesLater: 'always' }, reader], [0, 0, 1], [], { victims });
    assert.match(waitsText(stored), /because 'lock_thd' writes 'queue\.lock0'/);
    assert.ok(meaningOf('mixed', [line]).includes(waitsText(line)));
  });

  it('does not call unwritten what somebody writes, nor name one function twice', () => {
    const written = use('reader1', 16, [2], { writes: 1, symbol: 'reader' });
    const line = waiting('mixed', [lock, { ...reader, symbol: 'lock_thd' }, written], [0, 0, 1], [], { victims });
    assert.match(waitsText(line), /^'lock_thd' .*'queue\.reader1' .* another thread .*'queue\.lock0'/);
    assert.doesNotMatch(waitsText(line), /nobody|'lock_thd'.*'lock_thd'/);
  });

  it('is not said where it is not listed, or nobody is a victim', () => {
    assert.equal(waitsText(waiting('mixed', [lock, reader], [0, 0, 1], [])), '');
    const unlisted = [{ ...victims[0]!, cause: null }];
    assert.equal(waitsText(waiting('mixed', [lock, reader], [0, 0, 1], [], { victims: unlisted })), '');
  });
});

describe('a remedy by what waits for what', () => {
  const own = [use('a', 0, [1]), use('b', 8, [2])];

  it('parts groups that are used differently, and says what that ends', () => {
    assert.match(
      remedy(
        'false sharing',
        own,
        [0, 1],
        [
          [0, 1, 0.5, 1],
          [1, 0, 0.5, 1],
        ],
      ),
      /'queue\.a' and 'queue\.b' .* ends it\.$/,
    );
    const descriptor = [use('state', 0, [1, 2]), use('tag', 8, [1, 2], { reads: 60, symbol: 'lookUp' })];
    assert.match(
      remedy(
        'mixed',
        descriptor,
        [0, 1],
        [
          [1, 0, 0.6, 1],
          [0, 1, 0.15, 1],
          [0, 0, 0.25, 0],
        ],
      ),
      /'queue\.tag' and 'queue\.state' .* ends most of the waiting\. .* remains .*'queue\.state', .*sharing less often/,
    );
  });

  it('parts what few samples wait for, too, where there are victims', () => {
    const line = waiting(
      'mixed',
      [use('lock', 0, [1, 2], { writes: 950 }), use('limit', 8, [3], { reads: 50 })],
      [0, 1],
      [
        [0, 0, 0.94, 0],
        [1, 0, 0.06, 1],
      ],
    );
    assert.match(
      remedyOf('mixed', [line]),
      /^A cache line for each of 'queue\.lock' and 'queue\.limit' .* ends a small part of the waiting/,
    );
  });

  it('names of each group the two hottest, of many groups three', () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) => use(name, 8 * i, [i], { writes: 20 + i }));
    const text = remedy('false sharing', many, [0, 0, 0, 1, 2, 3], [[0, 3, 1, 1]]);
    assert.match(
      text,
      /^A cache line for each of 'queue\.c', 'queue\.b', …, 'queue\.f', 'queue\.e' and 1 other \(alignas, padding\) ends it\.$/,
    );
  });

  it('never parts a message that is used as a whole, or a record and its lock', () => {
    const message = [0, 1, 2].flatMap((i) => [
      use(`w${i}`, 8 * i, [1], { writes: 5 }),
      use(`w${i}`, 8 * i, [2], { reads: 20, symbol: 'take' }),
    ]);
    const waits: Wait[] = [0, 1, 2].flatMap((i) => [0, 1, 2].map((j): Wait => [i, j, 1 / 9, 0]));
    assert.match(remedy('true sharing', message, [0, 0, 0], waits), SHARED);
    const record = [use('lock', 0, [1, 2], { writes: 90, symbol: 'spin_lock' }), use('count', 8, [1, 2], { writes: 20, symbol: 'update' })];
    const line = waiting(
      'true sharing',
      record,
      [0, 0],
      [
        [0, 0, 0.6, 0],
        [0, 1, 0.2, 0],
        [1, 0, 0.2, 0],
      ],
      { flags: ['lock'] },
    );
    assert.match(remedyOf('true sharing', [line]), SHARED);
  });

  it('parts two words that the same threads write, but no function both', () => {
    const words = [use('hits', 0, [1, 2], { writes: 50, symbol: 'hit' }), use('misses', 8, [1, 2], { writes: 50, symbol: 'miss' })];
    const waits: Wait[] = [
      [0, 0, 0.25, 0],
      [0, 1, 0.25, 0],
      [1, 0, 0.25, 0],
      [1, 1, 0.25, 0],
    ];
    assert.match(
      remedy('true sharing', words, [0, 0], waits),
      /^'queue\.hits' and 'queue\.misses' .* different functions.* up to 50\.0% of the waiting/,
    );
    const together = [...words, use('misses', 8, [1], { reads: 1, symbol: 'hit' })];
    assert.match(remedy('true sharing', together, [0, 0], waits), SHARED);
    const few: Wait[] = [
      [0, 0, 0.46, 0],
      [0, 1, 0.04, 0],
      [1, 0, 0.04, 0],
      [1, 1, 0.46, 0],
    ];
    assert.match(remedy('true sharing', words, [0, 0], few), SHARED);
    const slots = [
      element(0, [1, 2], { writes: 20, symbol: 'put', codeAddress: '0x8' }),
      element(1, [1, 2], { reads: 20, symbol: 'take' }),
    ];
    assert.match(remedy('true sharing', slots, [0, 0], waits), SHARED);
    const members = [use('slots[6]', 0, [1, 2], { writes: 20, symbol: 'put' }), use('slots[7]', 8, [1, 2], { reads: 20, symbol: 'take' })];
    assert.match(remedy('true sharing', members, [0, 0], waits), SHARED);
  });

  it('does not say that nothing helps where that is not known', () => {
    const line = (high: number): CacheLine =>
      waiting('true sharing', own, [0, 0], [[0, 0, 1, 0]], { verdictSure: false, falseShare: { value: 0.1, low: 0, high } });
    assert.match(remedyOf('true sharing', [line(0.9)]), /cannot tell/);
    assert.match(remedyOf('true sharing', [line(0.3)]), SHARED);
  });

  it('does not say that parting helps in part where perhaps none of the waiting is false', () => {
    const line = (low: number): CacheLine =>
      waiting(
        'mixed',
        own,
        [0, 1],
        [
          [0, 0, 0.5, 0],
          [1, 0, 0.5, 1],
        ],
        { verdictSure: false, falseShare: { value: 0.5, low, high: 1 } },
      );
    assert.match(remedyOf('mixed', [line(0)]), /cannot tell/);
    assert.match(remedyOf('mixed', [line(0.1)]), /^A cache line for each of .* ends part of the waiting/);
    assert.match(remedyOf('mixed', [line(0), line(0.1)]), / ends part of the waiting/, 'surely some on another line');
  });

  it('adds up all lines', () => {
    const apart = waiting('mixed', own, [0, 1], [[0, 1, 1, 1]]);
    const shared = waiting('mixed', [use('n', 0, [1, 2], { writes: 120 })], [0], [[0, 0, 1, 0]]);
    assert.match(remedyOf('mixed', [{ ...apart, contended: 130 }, shared]), / ends part of the waiting/);
  });

  it('does not part words that the same code uses in one step', () => {
    const ring = [use('tail', 0, [1], { writes: 20 }), use('head', 8, [2], { writes: 20 })];
    const waits = (sameStep: number): Wait[] => [
      [0, 1, 0.5, 1, sameStep],
      [1, 0, 0.4, 1, sameStep],
      [1, 1, 0.1, 0],
    ];
    assert.match(remedy('false sharing', ring, [0, 1], waits(1)), /'queue\.tail' and 'queue\.head' in one step.* private copy/);
    assert.match(remedy('mixed', ring, [0, 1], waits(0.95)), / in one step/, 'what is left is not worth it');
    const read = [use('buckets', 0, [1], { reads: 20 }), use('count', 8, [2], { writes: 20 })];
    assert.doesNotMatch(remedy('false sharing', read, [0, 1], waits(1)), /in one step|private copy/, 'nobody writes one of them');
    const both = [use('tail', 0, [1, 2], { writes: 20 }), use('head', 8, [1, 2], { writes: 20 })];
    assert.doesNotMatch(remedy('mixed', both, [0, 1], waits(1)), /in one step|private copy/, 'the same threads write both');
    assert.match(
      remedy('false sharing', ring, [0, 1], waits(0.5)),
      /'queue\.tail' and 'queue\.head' .* ends part of the waiting\. .* remains .*'queue\.tail' and 'queue\.head'/,
    );
    assert.match(remedy('false sharing', ring, [0, 1], waits(0)), /ends most of the waiting/);
  });

  it('says what the pattern says where nothing is listed or known', () => {
    assert.match(remedyOf('true sharing', []), SHARED);
    assert.match(remedyOf('false sharing', [cacheLine(own)]), /each thread’s data/);
    assert.match(remedyOf('mixed', [cacheLine(own, { verdict: 'mixed' })]), /helps in part/);
  });

  it('names the member alone where the object has a long name', () => {
    const ring = 'alloc::sync::ArcInner<main::Ring<main::Job>>';
    const at = (name: string, base: number, threads: number[]): Access =>
      access({ writes: 20, offset: base, threads, word: base / 8, data: heapData(ring, 0, name, base) });
    const line: [Access[], number[], Wait[]] = [[at('data.tail', 0, [1]), at('data.head', 8, [2])], [0, 1], [[0, 1, 1, 1]]];
    assert.match(remedy('false sharing', ...line), /^A cache line for each of 'data\.tail' and 'data\.head' /);
  });
});

describe('a remedy of elements', () => {
  const both = [element(0, [1, 2]), element(1, [1, 2])];
  const alike: Wait[] = [
    [0, 0, 0.5, 0],
    [1, 1, 0.5, 0],
  ];

  it('is an alignment where each thread has its own', () => {
    const line = waiting('false sharing', [element(0, [1]), element(1, [2])], [0, 1], [[0, 1, 1, 1]]);
    assert.match(remedyOf('false sharing', [line]), /^Each thread .*'slots'.*alignas\(64\).* ends it\.$/);
    const other = waiting('false sharing', [element(0, [1]), use('n', 8, [2])], [0, 1], [[0, 1, 1, 1]]);
    assert.match(remedyOf('false sharing', [other]), /^A cache line for each/);
    const shared = waiting('false sharing', [element(0, [1, 3]), element(1, [2])], [0, 1], [[0, 1, 1, 1]]);
    assert.match(remedyOf('false sharing', [shared]), /^A cache line for each/);
  });

  it('tells of tasks where several threads use each', () => {
    assert.match(remedy('true sharing', both, [0, 0], alike), ELEMENTS);
    assert.match(remedy('true sharing', [...both, use('n', 16, [1, 2], { writes: 39 })], [0, 0, 0], alike), ELEMENTS, 'most of it');
    assert.match(remedy('true sharing', [...both, use('n', 16, [1, 2], { writes: 41 })], [0, 0, 0], alike), SHARED);
    assert.match(remedyOf('true sharing', [waiting('true sharing', both, [0, 0], alike)], true), SHARED, 'goroutines are told of');
  });

  it('needs two elements, of a known index, by one instruction', () => {
    const shared = (...accesses: Access[]): string => remedy('true sharing', accesses, [0, 0], alike);
    assert.match(shared(element(0, [1, 2])), SHARED);
    assert.match(shared(element(0, [1, 2]), use('n', 8, [1, 2], { writes: 20, codeAddress: '0x9' })), SHARED);
    assert.match(shared(element(0, [1, 2]), element(1, [1, 2], { writes: 20, codeAddress: '0x8' })), SHARED);
  });

  it('is not that of locks', () => {
    const lock = (index: number): Access => {
      const one = element(index, [1, 2]);
      return { ...one, data: { ...one.data, field: '__data.__lock' } };
    };
    assert.match(remedy('true sharing', [lock(0), lock(1)], [0, 0], alike), SHARED);
  });
});

describe('a lock of pthreads', () => {
  const lock = memoryAccess({ hitm: [0, 60], threads: [1, 2], data: { ...data('__data.__lock', 0, 'lock'), type: 'pthread_mutex_t' } });

  it('has nobody who waits for another', () => {
    const words: CacheLine['words'] = [0, 1].map((group) => ({ offset: 8 * group, size: 8, group }));
    const owner = { ...lock, offset: 8, data: { ...data('__data.__owner', 8, 'lock'), type: 'pthread_mutex_t' } };
    const victims = [{ words: [0], threads: [1], contended: 60, falseShare: 1, access: 0, cause: 1 }];
    assert.equal(waitsText({ ...memoryLine([lock, owner]), words, victims }), '');
  });

  it('is one of the things that get a cache line, though some of its words are only read', () => {
    const ofLock = (field: string, at: number, more: Fields): Access =>
      use('', at, [1, 2], { ...more, data: { ...data(`lock.__data.${field}`, at), field: `lock.__data.${field}` } });
    const accesses = [use('peeks', 24, [3]), ofLock('__lock', 0, { writes: 20, locked: true }), ofLock('__kind', 16, { reads: 12 })];
    const waits: Wait[] = [
      [3, 0, 0.5, 1],
      [0, 3, 0.3, 1],
      [2, 3, 0.2, 1],
    ];
    assert.match(remedy('false sharing', accesses, [0, 1, 2, 3], waits), /'queue\.lock \(mutex\)' and 'queue\.peeks' .* ends it\.$/);
  });

  it('is told as one, unless there is data that threads only write beside it', () => {
    const hits = memoryAccess({ offset: 48, stores: [0, 0, 900], threads: [3], contended: 0, data: data('', 0, 'hits') });
    assert.match(meaningOf('false sharing', [memoryLine([lock])]).join(' '), /turns at a lock of pthreads/);
    assert.match(remedyOf('false sharing', [memoryLine([lock, hits])]), /each thread’s data/);
  });
});
