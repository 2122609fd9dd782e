// Types: which member the samples of a field belong to, sums of nested members, and where types are in the sources.
import assert from 'node:assert/strict';
import { typeTable } from '../../extension/session/report/report-types';
import { PLAIN } from '../../extension/session/text/terminal-text';
import { amountOfUse, cardOf, plainCard, twinsOf, useText, whoText, wholeTypes } from '../../extension/session/layout/type-heat';
import { sourceName, typeName } from '../../extension/session/layout/type-names';
import type { TypePlace } from '../../extension/session/layout/type-places';
import { access, cacheLine, report } from './report-builder';
import { typesOf, wholeTree } from './report-lookups';
import { field, layout, member, queueHeat, typeHeat } from './type-builder';

const at = (card: ReturnType<typeof cardOf>, name: string) => card.members.find((one) => one.member.name === name);

describe('members with samples', () => {
  it('take the fields of their name, and a structure those of all its members', () => {
    const card = cardOf(queueHeat());
    assert.equal(at(card, 'produced')?.use?.stores, 620);
    assert.equal(at(card, 'today.cents')?.use?.records, 70);
    assert.deepEqual(at(card, 'today')?.use, at(card, 'today.cents')?.use);
    assert.equal(at(card, 'today')?.leaf, false);
    assert.equal(at(card, 'today.euros')?.use, undefined);
    assert.equal(card.outside?.records, 3, 'the hole');
  });

  it('add up the elements of an array, with each thread once', () => {
    const of = layout('pool', 64, [member('slots', 0, 64, { type: 'Slot[4]' })]);
    const fields = [
      field('slots[0].count', 0, { stores: 5, writers: [1], readers: [2] }),
      field('slots[1].count', 16, { stores: 7, loads: 1, writers: [2], readers: [3] }),
    ];
    const use = at(cardOf(typeHeat(of, fields)), 'slots')?.use;
    assert.equal(use?.stores, 12);
    assert.deepEqual(
      [use.writers, use.readers],
      [
        [1, 2],
        [2, 3],
      ],
    );
  });

  it('take a field of an unknown path by its bytes, the narrowest member around them', () => {
    const of = layout('u', 16, [member('whole', 0, 16), member('low', 0, 8), member('high', 8, 8)]);
    const card = cardOf(typeHeat(of, [field('anything', 8, { loads: 4 })]));
    assert.equal(at(card, 'high')?.use?.loads, 4);
    assert.equal(at(card, 'whole')?.use, undefined);
    const between = cardOf(typeHeat(of, [field('anything', 4, { loads: 4 })]));
    assert.equal(at(between, 'whole')?.use?.loads, 4);
    const lost = cardOf(typeHeat(of, [field('anything', 12, { loads: 4 })]));
    assert.equal(lost.outside?.loads, 4, 'it ends behind the type');
  });

  it('take what the whole object did where it has one member alone', () => {
    const base = member('__atomic_base', 0, 8);
    const atomic = cardOf(
      typeHeat(layout('atomic', 8, [base, member('__atomic_base._M_i', 0, 8, { depth: 1 })]), [field('', 0, { stores: 9 })]),
    );
    assert.equal(at(atomic, '__atomic_base._M_i')?.use?.stores, 9);
    assert.equal(atomic.outside, undefined);
    const union = cardOf(typeHeat(layout('u', 8, [member('l', 0, 8), member('d', 0, 8)]), [field('', 0, { stores: 9 })]));
    assert.equal(union.outside?.stores, 9, 'either of two');
  });

  it('measure cycles by loads, and nothing where no latency is known', () => {
    const of = layout('pair', 16, [member('a', 0, 8), member('b', 8, 8)]);
    const hitm = { local: 3, remote: 4 };
    const card = cardOf(typeHeat(of, [field('a', 0, { loads: 10, meanCycles: 200, hitm }), field('b', 8, { loads: 10 })]));
    assert.equal(amountOfUse(at(card, 'a')?.use, 'latency'), 2000);
    assert.equal(amountOfUse(at(card, 'a')?.use, 'hitm'), 7);
    assert.equal(amountOfUse(at(card, 'a')?.use, 'remoteHitm'), 4);
    assert.equal(at(card, 'b')?.use?.loadCycles, null);
    assert.equal(amountOfUse(undefined, 'contended'), 0);
  });

  it('say who takes part', () => {
    assert.equal(whoText({ writers: [1, 2], readers: [3] }), '2 threads write and 1 reads');
    assert.equal(whoText({ writers: [1, 2], readers: [2, 3] }), '1 thread writes, 1 reads and writes and 1 reads');
    assert.equal(whoText({ writers: [], readers: [3, 4] }), '2 threads read');
    assert.equal(whoText({ writers: [1], readers: [] }), '1 thread writes');
    const line = cacheLine([access({ writes: 10 })]);
    const use = at(cardOf(queueHeat()), 'produced')?.use;
    assert.equal(use && useText({ ...use, contended: 5 }, 'contended', report([line])), '50% of contended samples, 1 thread writes');
    assert.equal(use && useText({ ...use, contended: 0 }, 'contended', report([line])), '1 thread writes');
  });
});

describe('places of types', () => {
  const shared = { object: 'queue', offset: 0, definition: { file: '/src/program.c', line: 20 }, type: 'struct queue' };
  const index = typesOf(report([cacheLine([access({ writes: 3, data: shared })])], { types: [queueHeat()] }));
  const on = (line: number) =>
    index
      .get('/src/program.c')
      ?.get(line)
      ?.map(({ what }) => what) ?? [];

  it('are definitions, members, and variables of the type', () => {
    assert.deepEqual(on(10), ['type']);
    assert.deepEqual(on(11), ['member']);
    assert.deepEqual(on(3), ['inner']);
    assert.deepEqual(on(20), ['variable']);
    assert.deepEqual(on(99), []);
    assert.equal(index.get('/src/program.c')?.get(12)?.[0]?.member?.member.name, 'limit');
  });

  it('count members of anonymous structures as the type’s own', () => {
    const members = [member('', 0, 16, { line: 11 }), member('a', 0, 8, { depth: 1, line: 12 })];
    const places = typesOf(report([], { types: [typeHeat(layout('t', 16, members), [])] }));
    assert.equal(places.get('/src/program.c')?.get(12)?.[0]?.what, 'member');
  });

  it('are in the file that a member says where it is not the type’s', () => {
    const members = [member('inherited', 0, 8, { line: 2, file: '/src/base.h' }), member('own', 8, 8, { line: 12 })];
    const places = typesOf(report([], { types: [typeHeat(layout('t', 16, members), [])] }));
    assert.equal(places.get('/src/base.h')?.get(2)?.[0]?.member?.member.name, 'inherited');
    assert.deepEqual([...(places.get('/src/program.c')?.keys() ?? [])], [10, 12]);
  });

  it('of a type inside of others have the sum over all of its instances, and count once in tables and the tree', async () => {
    const money = layout('money', 16, [member('euros', 0, 8, { line: 3 }), member('cents', 8, 8, { line: 4 })], { line: 2 });
    const alone = typeHeat(money, [field('cents', 8, { stores: 5, writers: [12] })]);
    const all = typeHeat(money, [field('cents', 8, { loads: 20, stores: 55, writers: [11, 12, 13] })], { nested: true });
    const made = report([], { types: [queueHeat(), alone, all] });
    const places = typesOf(made).get('/src/program.c') ?? new Map<number, TypePlace[]>();
    assert.deepEqual(
      places.get(2)?.map(({ card }) => card.heat),
      [all],
    );
    assert.deepEqual(
      places.get(4)?.map(({ what, card }) => [what, card.heat?.records]),
      [
        ['member', 75],
        ['inner', 1003],
      ],
    );
    const table = typeTable(made, { width: 120, style: PLAIN, folder: '' }, true).join('\n');
    assert.equal(table.match(/\bmoney\b/g)?.length, 1);
    assert.deepEqual(
      (await wholeTree(made, 'contended')).map(({ label }) => label),
      ['struct queue', 'struct money'],
    );
  });

  it('are none without a line', () => {
    const nowhere = layout('t', 8, [member('a', 0, 8)], { line: 0 });
    assert.equal(typesOf(report([], { types: [typeHeat(nowhere, [])] })).size, 0);
    assert.equal(typesOf(report([])).size, 0);
  });

  it('strip from a type what declarations add', () => {
    assert.equal(typeName('const struct Worker[8]'), 'Worker');
    assert.equal(typeName('volatile ns::Ring<int[4]>'), 'ns::Ring<int[4]>');
    assert.equal(sourceName('ns::Ring<std::pair<int, long>>'), 'Ring');
    assert.equal(sourceName('struct queue'), 'queue');
    assert.equal(sourceName('(anonymous)'), '');
  });

  it('have twins where a header is not compiled alike everywhere', () => {
    const [one, other] = [1, 8].map((length) => layout('Twin', 16, [member('a', 0, length, { type: `char[${length}]` })]));
    assert.deepEqual(twinsOf(one!, [one!, other!, layout('Else', 16, []), { ...one! }, { ...other! }]), [other]);
  });

  it('of one size and place are told apart by their members', () => {
    const [one, other] = ['a', 'b'].map((name) => typeHeat(layout('Twin', 8, [member(name, 0, 8)]), []));
    assert.equal(wholeTypes(report([], { types: [one!, other!] })).length, 2);
    assert.equal(wholeTypes(report([], { types: [one!, { ...one!, nested: true }] })).length, 1);
  });

  it('plain cards have no uses', () => {
    const card = plainCard(queueHeat().layout);
    assert.ok(card.members.every(({ use }) => use === undefined));
    assert.equal(card.members.filter(({ leaf }) => !leaf).length, 1);
  });
});
