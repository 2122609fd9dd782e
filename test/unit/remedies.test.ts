// Which remedy a report proposes, where two could be meant or the samples do not say enough.
import assert from 'node:assert/strict';
import type { Access, CacheLine, Verdict } from '../../extension/protocol/report';
import { meaningOf } from '../../extension/session/remedies';
import { access, cacheLine, memoryAccess, memoryLine } from './report-builder';

type Fields = Parameters<typeof access>[0];

const data = (name: string, offset: number): Access['data'] => ({
  ...{ object: 'queue', offset, definition: null, how: 'global', type: 'queue', field: name, fieldOffset: offset, index: null },
});

/** By default 20 writes. */
function use(name: string, offset: number, threads: number[], fields: Fields = { writes: 20 }): Access {
  return access({ offset, threads, data: data(name, offset), codeAddress: `0x${offset}${threads.join('')}`, ...fields });
}

/** One instruction that uses elements of an array. */
function element(index: number, threads: number[], fields: Fields = { writes: 20 }): Access {
  const offset = 8 * index;
  return access({ offset, threads, data: { ...data(`slots[${index}]`, offset), index }, codeAddress: '0x9', ...fields });
}

const remedyOf = (verdict: Verdict, lines: CacheLine[], go = false): string => meaningOf(verdict, lines, go)[1] ?? '';
const remedy = (verdict: Verdict, accesses: Access[]): string => remedyOf(verdict, [cacheLine(accesses, { verdict })]);

const ELEMENTS = /^The same code uses several elements of an array here/;
const SHARED = /^Moving data apart does not help here/;
const MIXED = /helps in part; the shared bytes stay contended\.$/;
const APART = / are used by different threads: a cache line for each/;

describe('a remedy of elements that one instruction uses', () => {
  const both = [element(0, [1, 2]), element(1, [1, 2])];

  it('is named where each is used by several threads', () => {
    assert.match(remedy('true sharing', both), ELEMENTS);
    assert.match(remedy('true sharing', [...both, use('n', 16, [1, 2], { writes: 39 })]), ELEMENTS, 'most of it');
    assert.match(remedy('true sharing', [...both, use('n', 16, [1, 2], { writes: 41 })]), SHARED);
  });

  it('gives way to what the threads show', () => {
    assert.match(remedy('true sharing', [element(0, [1, 3]), element(1, [2, 4])]), APART);
    const reads = [element(0, [1, 2], { reads: 20 }), element(1, [1, 2], { reads: 20 })];
    assert.match(remedy('mixed', [...reads, use('own', 16, [1])]), /^The bytes that threads share here .* are only read/);
    assert.match(remedyOf('true sharing', [cacheLine(both)], true), SHARED, 'goroutines are told of');
  });

  it('needs two elements, of a known index, by one instruction', () => {
    assert.match(remedy('true sharing', [element(0, [1, 2])]), SHARED);
    assert.match(remedy('true sharing', [element(0, [1, 2]), use('n', 8, [1, 2], { writes: 20, codeAddress: '0x9' })]), SHARED);
    assert.match(remedy('true sharing', [element(0, [1, 2]), element(1, [1, 2], { writes: 20, codeAddress: '0x8' })]), SHARED);
  });

  it('is not that of elements of one thread each, nor of locks', () => {
    assert.match(remedy('true sharing', [element(0, [1]), element(1, [2]), use('n', 16, [1, 2])]), SHARED);
    const lock = (index: number): Access => {
      const one = element(index, [1, 2]);
      return { ...one, data: { ...one.data, field: '__data.__lock' } };
    };
    assert.match(remedy('true sharing', [lock(0), lock(1)]), SHARED);
  });
});

describe('a remedy by who uses which bytes', () => {
  const tail = use('tail', 0, [1, 3]);
  const head = use('head', 8, [2, 4]);

  it('is that of more than half, with the names of the hottest line', () => {
    const [first, second] = [cacheLine([tail, head]), cacheLine([use('low', 0, [1, 3], { writes: 30 }), use('high', 8, [2, 4])])];
    assert.match(remedyOf('true sharing', [first, second]), /^'queue\.low' and 'queue\.high' are used/);
    const shared = cacheLine([use('n', 0, [1, 2], { writes: 30 })]);
    const read = cacheLine([use('n', 0, [1, 2]), use('mask', 8, [1, 2], { reads: 10 })]);
    assert.match(remedyOf('true sharing', [first, shared, read]), SHARED);
  });

  it('is only of accesses that count for the contention', () => {
    const quiet = { ...use('tail', 0, [2], { reads: 50 }), contended: 0 };
    assert.match(remedy('true sharing', [tail, head, quiet]), APART);
  });

  it('needs samples of the threads that compete, not of others', () => {
    const line = cacheLine([
      use(
        'tail',
        0,
        [1, 3, ...Array(20).keys()].map((tid, i) => (i < 2 ? tid : tid + 100)),
      ),
      head,
    ]);
    for (const thread of line.threads) thread.competes = thread.tid < 100;
    assert.match(remedyOf('true sharing', [line]), APART);
  });

  it('is not told from loads alone: a HITM has a writer that was not sampled', () => {
    const load = (name: string, offset: number): Access =>
      memoryAccess({ offset, hitm: [0, 30], threads: [1, 2], data: data(name, offset), codeAddress: `0x${offset}` });
    const line = memoryLine([load('flag', 0), load('mask', 8)]);
    assert.match(remedyOf('true sharing', [line]), SHARED);
    assert.match(remedyOf('mixed', [line]), MIXED);
  });

  it('does not call shared what one thread reads, nor ended what several write', () => {
    assert.match(remedy('mixed', [use('own', 0, [1]), use('other', 8, [2], { reads: 20 })]), MIXED);
    assert.match(remedy('mixed', [use('n', 0, [1, 2]), use('mask', 8, [1, 2], { reads: 20 }), use('own', 16, [1])]), MIXED);
  });

  it('takes a store of unknown width for one byte', () => {
    const four = [use('tail', 0, [1, 3], { writes: 20, width: 0 }), use('head', 4, [2, 4], { writes: 20, width: 0 })];
    assert.match(remedy('true sharing', four), APART);
  });

  it('does not part what one access goes over, whoever writes it', () => {
    const ring = [use('tail', 0, [1]), use('head', 8, [2])];
    const read = use('tail', 0, [1, 2], { reads: 4 });
    assert.match(remedy('true sharing', [...ring, read]), /are written by different threads/);
    assert.match(remedy('true sharing', [...ring, { ...read, width: 16 }]), SHARED);
  });

  it('names of each part the two hottest, and where it has no member the object', () => {
    const more = [use('a', 0, [1, 3], { writes: 9 }), use('b', 8, [1, 3], { writes: 30 }), use('c', 16, [1, 3]), use('d', 24, [2, 4])];
    assert.match(remedy('true sharing', more), /^'queue\.b', 'queue\.c', … and 'queue\.d' are used/);
    const long = 'a_variable_whose_name_is_longer_than_is_shown_with_it';
    const plain = { ...use('', 32, [5, 6]), data: { ...data('', 0), object: long, how: 'stack' as const } };
    assert.ok(remedy('true sharing', [tail, plain]).startsWith(`'queue.tail' and '${long}' are used`));
  });
});
