// Names of what accesses touched: objects, members, elements, blocks, and how they are known.
import assert from 'node:assert/strict';
import { addressOf, dataText, howKnown, objectName, typesAndFields, usedText, withoutMembers } from '../../extension/session/data-text';
import { objectsOf } from '../../extension/session/sharing-facts';
import type { Access, DataName } from '../../extension/protocol/report';
import { access, cacheLine } from './report-builder';

const data = (fields: Partial<DataName>): DataName => ({ object: 'shared', offset: 0, definition: null, ...fields });
const ADDRESS = 0x404048n;
const text = (fields: Partial<DataName>): string => dataText(data(fields), () => ADDRESS);

const heap = { object: '[heap]', offset: 72, how: 'code', type: 'Worker', base: '0x404040', fieldOffset: 8, index: null } as const;
const block = { size: 192, function: 'make_workers', file: '/src/pool.cpp', line: 41 };

describe('data text', () => {
  it('names members of variables', () => {
    assert.equal(text({ how: 'global', type: 'Shared', field: 'today.cents', fieldOffset: 16, index: null }), 'shared.today.cents');
    assert.equal(text({ how: 'global', type: 'Shared', field: 'slots[2].count', fieldOffset: 16, index: 2 }), 'shared.slots[2].count');
    assert.equal(text({ how: 'global', type: 'Worker[8]', field: 'count', fieldOffset: 16, index: 2 }), 'shared[2].count');
    assert.equal(text({ how: 'global', type: 'long[4][4]', field: '[2]', fieldOffset: 16, index: 1 }), 'shared[1][2]');
    assert.equal(text({ how: 'global', type: 'long', field: '', fieldOffset: 0, index: null }), 'shared');
  });

  it('calls a lock by its member, not by what glibc makes it of', () => {
    const lock = (type: string, field: string, more: Partial<DataName> = {}): string =>
      text({ how: 'global', type, field, fieldOffset: 8, index: null, ...more });
    const owner = '__data.__owner | __size[8] | __align';
    assert.equal(lock('Pool', `lock._M_mutex.${owner}`), 'shared.lock (mutex)');
    assert.equal(lock('Pool', `lock.${owner}`), 'shared.lock (mutex)');
    assert.equal(lock('pthread_mutex_t', owner, { fieldOffset: 8 }), 'shared (mutex)');
    assert.equal(lock('pthread_mutex_t[8]', owner, { index: 3 }), 'shared[3] (mutex)');
    assert.equal(lock('Queue', 'full.__data.__wseq.__value64'), 'shared.full (condition variable)');
    assert.equal(lock('Queue', 'full._M_cond._M_cond.__data.__wseq'), 'shared.full (condition variable)');
    assert.equal(lock('Map', 'guard._M_impl._M_rwlock.__data.__readers'), 'shared.guard (read-write lock)');
    assert.equal(lock('Map', 'guard.__data.__readers'), 'shared.guard (read-write lock)');
    assert.equal(lock('Own', 'my__data.__mine'), 'shared.my__data.__mine', 'somebody else’s');
  });

  it('says which bytes of a heap block', () => {
    const found = { object: '[heap]', how: 'allocation', type: '', base: '0x404040', allocation: block } as const;
    assert.equal(text(found), 'byte 8 of 192 bytes allocated in make_workers');
    const at = (offset: number): Access => access({ offset, writes: 1, data: data(found) });
    const [use] = objectsOf(cacheLine([at(0), at(16)]));
    assert.ok(use);
    assert.equal(usedText(use), 'bytes 0 to 16 of 192 bytes allocated in make_workers');
  });

  it('names a member of an element of which nobody knows which it is', () => {
    const verbs = { type: 'Verbs', field: 'verb[?].hits', fieldOffset: null, index: null, base: null } as const;
    assert.equal(text({ ...verbs, object: '[heap]', offset: 696, how: 'code' }), 'Verbs.verb[?].hits');
    const [use] = objectsOf(cacheLine([access({ writes: 1, data: data({ ...verbs, object: '[heap]', offset: 696, how: 'code' }) })]));
    assert.equal(usedText(use!), 'Verbs.verb[?].hits');
  });

  it('falls back to offsets: holes, unknown types, reports of older versions', () => {
    assert.equal(text({ offset: 12, how: 'global', type: 'Shared', field: '', fieldOffset: null }), 'shared+12');
    assert.equal(text({ offset: 12, how: 'global', type: '', field: '', fieldOffset: null }), 'shared+12');
    assert.equal(text({ offset: 12 }), 'shared+12');
  });

  it('names memory without a name by its type, and by its block where only that is known', () => {
    assert.equal(text({ ...heap, field: 'count' }), 'Worker.count');
    assert.equal(objectName(data({ ...heap, field: 'count' })), 'Worker (heap)');
    assert.equal(objectName(data({ ...heap, how: 'stack', object: '[stack]' })), 'Worker (stack)');
    assert.equal(objectName(data({ ...heap, object: '[kernel]' })), 'Worker (kernel)');
    assert.equal(text({ ...heap, type: 'Worker[4]', field: 'count', index: 3 }), 'Worker[3].count');
    const unknown = { ...heap, how: 'allocation', type: '', fieldOffset: null, allocation: block } as const;
    assert.equal(objectName(data(unknown)), '192 bytes allocated in make_workers');
    assert.equal(text(unknown), 'byte 8 of 192 bytes allocated in make_workers');
    assert.equal(objectName(data({ ...heap, type: '', how: 'unknown' })), '[heap]');
    assert.equal(text({ ...heap, object: 'data.mdb', field: 'count' }), 'Worker.count', 'in a mapped file');
    assert.equal(objectName(data({ ...heap, object: 'data.mdb', field: 'count' })), 'Worker (data.mdb)');
    assert.equal(objectName(data({ ...heap, object: 'data.mdb', type: '', how: 'unknown' })), 'data.mdb');
  });

  const member = (index: number, field: string, offset: number): ReturnType<typeof access> =>
    access({ writes: 10 - index, offset, data: data({ how: 'global', type: 'Worker[8]', field, fieldOffset: offset, offset, index }) });

  it('lists the members of a line, and elements as ranges where they are many', () => {
    const [few] = objectsOf(cacheLine([member(0, 'count', 0), member(1, 'count', 16)]));
    assert.equal(usedText(few!), 'shared[0].count, shared[1].count');
    const [many] = objectsOf(cacheLine([0, 1, 2, 3].map((index) => member(index, 'count', 16 * index))));
    assert.equal(usedText(many!), 'shared[0..3].count');
    const inside = [0, 1, 2, 3].map((index) =>
      access({ writes: 1, offset: index, data: data({ ...heap, field: `slots[${index}].hits`, fieldOffset: 8 * index, index }) }),
    );
    assert.equal(usedText(objectsOf(cacheLine(inside))[0]!), 'Worker.slots[0..3].hits');
    const fields = ['a', 'b', 'c', 'd'].map((field, i) => member(0, field, 8 * i));
    assert.equal(usedText(objectsOf(cacheLine(fields))[0]!), 'shared[0].a, shared[0].b, shared[0].c, 1 other member');
    fields[3]!.contended = 99;
    const [hottest] = objectsOf(cacheLine(fields));
    assert.equal(usedText(hottest!), 'shared[0].d, shared[0].a, shared[0].b, 1 other member');
    assert.equal(usedText(hottest!, 4), 'sh…d[0].d, [0].a, [0].b, 1 other member', 'the name is written once where room is scarce');
    const [hole] = objectsOf(cacheLine([member(0, 'count', 0), access({ data: data({ offset: 12 }) })]));
    assert.equal(usedText(hole!), 'shared+0..12');
  });

  it('says once of which classes the members are not known', () => {
    const inside = data({ type: 'Stat', field: '', fieldOffset: null, incomplete: 'Stat' });
    const line = cacheLine([access({ data: inside }), access({ offset: 8, data: { ...inside, offset: 8 } }), member(0, 'count', 16)]);
    const [sentence = '', ...others] = withoutMembers(line);
    assert.match(sentence, /^Stat: the debug information does not say which members of it lie here; /);
    assert.deepEqual(others, []);
    assert.equal(
      dataText({ ...inside, offset: 8 }, () => 0n),
      'shared+8',
      'and where in the object',
    );
  });

  it('says how objects are known that no symbol names, and why a type is not', () => {
    const line = cacheLine([
      access({ writes: 9, data: data({ ...heap, field: 'count', because: 'pointer `worker` in run', allocation: block }) }),
      access({ writes: 5, data: data({ ...heap, how: 'unknown', type: '', fieldOffset: null, because: 'no variable leads to it' }) }),
      access({ writes: 1, data: data({ how: 'global', type: 'long', because: 'variable `shared` covers the address' }) }),
    ]);
    assert.deepEqual(howKnown(line), [
      'Worker at 0x404040: pointer `worker` in run; 192 bytes allocated in make_workers (pool.cpp:41)',
      '[heap]: type unknown: no variable leads to it',
    ]);
    const known = (because: string, reads: number, more: Partial<DataName> = {}): Access =>
      access({ reads, data: data({ ...heap, because, ...more }) });
    assert.deepEqual(
      howKnown(cacheLine([known('pointer `a`', 1), known('pointer `b`', 2), known('pointer `b`', 2, { base: '0x404080' })])),
      ['Worker at 0x404040: pointer `b`', 'Worker at 0x404080: pointer `b`'],
      'one reason for an object',
    );
    const blocks = [96, 64].map((size) => known('a block', size, { how: 'allocation', type: '', allocation: { ...block, size } }));
    assert.equal(howKnown(cacheLine(blocks)).length, 2, 'two blocks without a type');
    const callers = [
      { function: 'start', file: '/src/main.cpp', line: 7 },
      { function: 'main', file: '', line: 0 },
    ];
    const passedOn = data({ ...heap, because: 'pointer `worker` in run', allocation: { ...block, callers } });
    assert.deepEqual(howKnown(cacheLine([access({ writes: 1, data: passedOn })])), [
      'Worker at 0x404040: pointer `worker` in run; 192 bytes allocated in make_workers (pool.cpp:41), called from start (main.cpp:7) from main',
    ]);
    assert.deepEqual(typesAndFields(line), { types: ['Worker', 'long'], fields: ['count'] });
    assert.equal(addressOf(line, access({ offset: 8 })), ADDRESS);
  });
});
