// Names of what accesses touched: objects, members, elements, blocks, and how they are known.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  addressOf,
  dataText,
  howKnown,
  objectName,
  typesAndFields,
  usedText,
  withoutMembers,
} from '../../extension/session/report/data-text';
import { objectsOf } from '../../extension/session/report/sharing-facts';
import type { Access, DataName } from '../../extension/protocol/report';
import { access, cacheLine } from './report-builder';

const data = (fields: Partial<DataName>): DataName => ({ object: 'shared', offset: 0, definition: null, ...fields });
const ADDRESS = 0x404048n;
const text = (fields: Partial<DataName>): string => dataText(data(fields), () => ADDRESS);

const heap = { object: '[heap]', offset: 72, how: 'code', type: 'Worker', base: '0x404040', fieldOffset: 8, index: null } as const;
const block = { size: 192, function: 'make_workers', file: '/src/pool.cpp', line: 41 };

/** Rows at 0x404040, 0x404048, …; `object`: what sums call it. The engine's test of its tables reads the same cases. */
interface Case {
  what: string;
  rows: { data: Partial<DataName>; text: string; object?: string }[];
  line?: string;
}
const cases = JSON.parse(readFileSync(join(__dirname, '../fixtures/data-names.json'), 'utf8')) as Case[];

describe('data text of the cases that the engine has, too', () => {
  for (const { what, rows, line } of cases) {
    it(what, () => {
      const accesses = rows.map((row, i) => access({ offset: 8 * i, writes: 1, data: data(row.data) }));
      const all = cacheLine(accesses, { address: '0x404040' });
      for (const [i, row] of rows.entries()) {
        const one = accesses[i]!;
        assert.equal(
          dataText(one.data, () => addressOf(all, one)),
          row.text,
        );
        if (row.object !== undefined) assert.equal(objectName(one.data), row.object);
      }
      if (line !== undefined)
        assert.equal(
          objectsOf(all)
            .map((use) => usedText(use))
            .join(', '),
          line,
        );
    });
  }
});

describe('data text', () => {
  it('names members of variables', () => {
    assert.equal(text({ how: 'global', type: 'Shared', field: 'today.cents', fieldOffset: 16, index: null }), 'shared.today.cents');
    assert.equal(text({ how: 'global', type: 'Shared', field: 'slots[2].count', fieldOffset: 16, index: 2 }), 'shared.slots[2].count');
    assert.equal(text({ how: 'global', type: 'Worker[8]', field: 'count', fieldOffset: 16, index: 2 }), 'shared[2].count');
    assert.equal(text({ how: 'global', type: 'long[4][4]', field: '[2]', fieldOffset: 16, index: 1 }), 'shared[1][2]');
    assert.equal(text({ how: 'global', type: 'long', field: '', fieldOffset: 0, index: null }), 'shared');
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

  it('names unnamed memory by its type, and by its block where only that is known', () => {
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
