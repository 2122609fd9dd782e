// Which data of two builds is the same though its type has another name, what is not, and which advice layouts show to be followed.
import assert from 'node:assert/strict';
import type { Advice } from '../../extension/protocol/advice';
import type { DiffEntry } from '../../extension/protocol/diff';
import type { Layout, LayoutMember } from '../../extension/protocol/layout';
import { DIFF_TABLES, diffOf } from '../../extension/session/compare/diff';
import { followed as followedIn } from '../../extension/session/compare/followed';
import { sameData } from '../../extension/session/compare/same-data';
import type { Sums } from '../../extension/session/compare/sums';
import { advice } from './advice-builder';
import { sums, type Waits } from './sums-builder';
import { layout, member, typeHeat } from './type-builder';

const inside = (name: string, members: LayoutMember[]): LayoutMember[] =>
  members.map((one) => ({ ...one, name: `${name}.${one.name}`, depth: one.depth + 1 }));

const descriptor = [member('tag', 0, 8), member('state', 8, 4, { type: 'atomic_int' }), member('lock', 16, 16, { type: 'Lock' })];
const lock = [member('held', 0, 4, { type: 'atomic_int' }), member('waiters', 8, 8)];
const DESCRIPTOR = layout('Desc', 32, [...descriptor, ...inside('lock', lock)]);
const LOCK = layout('Lock', 16, lock);
const PADDED = layout('DescPadded', 64, [
  member('desc', 0, 32, { type: 'Desc' }),
  ...inside('desc', DESCRIPTOR.members),
  member('pad', 0, 64, { type: 'char[64]' }),
]);

interface Recorded {
  rows: Waits[];
  layouts: Layout[];
}

const recording = ({ rows, layouts }: Recorded): Sums =>
  sums(DIFF_TABLES, rows, { types: layouts.map((one) => typeHeat(one, [])), samples: 2000 });

const entriesOf = (before: Recorded, after: Recorded, kind: DiffEntry['kind']): [string, string | undefined, string][] =>
  diffOf(recording(before), recording(after))
    .entries.filter((entry) => entry.kind === kind)
    .map(({ name, was, status }) => [name, was, status]);

const waits = (object: string, type: string, name: string, contended: number, more: Partial<Waits> = {}): Waits => ({
  ...{ object, type, member: name, contended },
  ...more,
});

describe('the same data of two builds', () => {
  const before: Recorded = {
    rows: [waits('descriptors', 'Desc', 'state', 600), waits('descriptors', 'Lock', 'held', 200), waits('other', 'Lock', 'held', 100)],
    layouts: [DESCRIPTOR, LOCK],
  };
  const after: Recorded = {
    rows: [waits('descriptors', 'DescPadded', 'desc.state', 150), waits('other', 'Lock', 'held', 100)],
    layouts: [PADDED, LOCK],
  };

  it('is one entry where a fix has wrapped the elements of an array, and where parts of them were named alone', () => {
    assert.deepEqual(entriesOf(before, after, 'type'), [
      ['DescPadded', 'Desc', 'better'],
      ['Lock', undefined, 'same'],
    ]);
    assert.deepEqual(entriesOf(before, after, 'member'), [
      ['DescPadded.desc.state', 'Desc.state', 'better'],
      ['Desc.lock.held', undefined, 'gone'],
      ['Lock.held', undefined, 'same'],
    ]);
    assert.deepEqual(entriesOf(after, before, 'type'), [
      ['Desc', 'DescPadded', 'worse'],
      ['Lock', undefined, 'same'],
    ]);
    assert.deepEqual(entriesOf(before, before, 'type'), [
      ['Desc', undefined, 'same'],
      ['Lock', undefined, 'same'],
    ]);
  });

  it('is that of a variable whose type was renamed, or whose numbers got a type', () => {
    const renamed = layout('Record', 64, [...DESCRIPTOR.members, member('pad', 32, 32, { type: 'char[32]' })]);
    assert.deepEqual(entriesOf(before, { rows: [waits('descriptors', 'Record', 'state', 500)], layouts: [renamed] }, 'type')[0], [
      'Record',
      'Desc',
      'better',
    ]);
    const slot = layout('Slot', 64, [member('count', 0, 8, { type: 'atomic_long' }), member('pad', 8, 56, { type: 'char[56]' })]);
    const numbers: Recorded = { rows: [waits('counters', 'atomic_long', 'counters', 900)], layouts: [] };
    const slots: Recorded = { rows: [waits('counters', 'Slot', 'count', 0)], layouts: [slot] };
    assert.deepEqual(entriesOf(numbers, slots, 'type'), [['Slot', 'atomic_long', 'gone']]);
    assert.deepEqual(entriesOf(numbers, slots, 'member'), [['Slot.count', 'atomic_long.counters', 'gone']]);
    assert.deepEqual(entriesOf(slots, numbers, 'type'), [['atomic_long', 'Slot', 'new']]);
  });

  describe('in memory without a name', () => {
    const heap = (type: string, name: string, contended: number, allocation?: string): Waits =>
      waits(`${type}[8] (heap)`, type, name, contended, allocation === undefined ? {} : { allocation });
    const old = (allocation?: string): Recorded => ({ rows: [heap('Desc', 'state', 800, allocation)], layouts: [DESCRIPTOR] });
    const fixed = (allocation?: string): Recorded => ({ rows: [heap('DescPadded', 'desc.state', 0, allocation)], layouts: [PADDED] });

    it('is what came with all members of what went', () => {
      assert.deepEqual(entriesOf(old(), fixed(), 'type'), [['DescPadded', 'Desc', 'gone']]);
      assert.deepEqual(entriesOf(old(), fixed(), 'object'), [['DescPadded (heap)', 'Desc (heap)', 'gone']]);
      assert.deepEqual(entriesOf(old('make (/src/a.c:10)'), fixed('make (/src/a.c:14)'), 'type'), [['DescPadded', 'Desc', 'gone']]);
    });

    it('is all that one function allocates', () => {
      const both: Recorded = {
        rows: [heap('DescPadded', 'desc.state', 100, 'make (/src/a.c:14)'), heap('Desc', 'state', 50, 'make (/src/a.c:14)')],
        layouts: [PADDED, DESCRIPTOR],
      };
      assert.deepEqual(entriesOf(old('make (/src/a.c:10)'), both, 'type'), [['DescPadded', 'Desc', 'better']]);
      assert.deepEqual(entriesOf(old('other (/src/a.c:10)'), both, 'type').length, 2);
    });

    it('is not what another function allocates, what is still there, or one of several', () => {
      const apart = (one: Recorded, other: Recorded): void =>
        assert.deepEqual(
          entriesOf(one, other, 'type').map(([name, was]) => [name, was]),
          [['Desc', undefined]],
        );
      apart(old('make (/src/a.c:10)'), fixed('other (/src/a.c:10)'));
      apart(old(), { rows: [...fixed().rows, heap('Desc', 'state', 0)], layouts: [PADDED, DESCRIPTOR] });
      const twin = { ...PADDED, name: 'Twin' };
      apart(old(), { rows: [...fixed().rows, heap('Twin', 'desc.state', 0)], layouts: [PADDED, twin] });
      const counter = layout('Desc', 8, [member('count', 0, 8)]);
      apart(
        { rows: [heap('Desc', 'count', 800)], layouts: [counter] },
        { rows: [heap('Total', 'count', 0)], layouts: [layout('Total', 64, [member('count', 0, 8)])] },
      );
    });

    it('has no count of elements and no thread in its name', () => {
      const stack = (thread: number, count: string): Recorded => ({
        rows: [waits(`Desc${count} (stack of worker ${thread})`, 'Desc', 'state', 300)],
        layouts: [DESCRIPTOR],
      });
      assert.deepEqual(entriesOf(stack(17, '[2]'), stack(4711, ''), 'object'), [['Desc (stack of worker)', undefined, 'same']]);
    });
  });

  it('is not known of a name that several types have', () => {
    const twice = { ...before, layouts: [DESCRIPTOR, layout('Desc', 8, [member('one', 0, 8)]), LOCK] };
    assert.ok(entriesOf(twice, after, 'type').every(([, was]) => was !== 'Desc'));
  });

  it('is not what has other members, though it is called the same', () => {
    const other = layout('Other', 64, [member('first', 0, 8), member('second', 8, 8)]);
    const result = entriesOf(before, { rows: [waits('descriptors', 'Other', 'first', 700)], layouts: [other] }, 'type');
    assert.deepEqual(result.map(([name, was]) => [name, was]).sort(), [
      ['Desc', undefined],
      ['Lock', undefined],
      ['Other', undefined],
    ]);
  });
});

describe('advice that was followed', () => {
  const followed = (given: Advice, before: Sums, after: Sums): boolean | undefined =>
    followedIn(given, before, after, sameData(before, after));
  const reference = (of: Layout): NonNullable<Advice['change'] & { kind: 'members' }>['type'] => ({
    ...{ name: of.name, binary: '/src/program', size: of.size, align: of.align },
    definition: { file: '/src/program.c', line: 10 },
    members: of.members
      .filter(({ depth }) => depth === 0)
      .map(({ name, type, offset, size, bitSize, line }) => ({ name, type, offset, size, bitSize, line })),
  });
  const subject = { type: 'Desc', object: '', members: ['state'] };
  const was = recording({ rows: [waits('descriptors', 'Desc', 'state', 600)], layouts: [DESCRIPTOR] });
  const now = (of: Layout, name = 'state'): Sums => recording({ rows: [waits('descriptors', of.name, name, 10)], layouts: [of] });

  it('is recognised by where members are, also inside of another type', () => {
    const change: Advice['change'] = {
      ...{ kind: 'members', type: reference(DESCRIPTOR), alignment: 64 },
      order: [
        { member: 0, startsLine: false },
        { member: 1, startsLine: true },
        { member: 2, startsLine: false },
      ],
    };
    const given = advice({ subject, way: 'align', change });
    const parted = layout('Desc', 128, [
      descriptor[0]!,
      { ...descriptor[1]!, offset: 64 },
      { ...descriptor[2]!, offset: 72 },
      ...inside('lock', lock),
    ]);
    const half = layout('Desc', 128, [descriptor[0]!, { ...descriptor[1]!, offset: 8 }, { ...descriptor[2]!, offset: 64 }]);
    assert.deepEqual(
      [now(parted), now(half), was].map((sums) => followed(given, was, sums)),
      [true, false, false],
    );
    const around = layout('Around', 128, [member('desc', 0, 128, { type: 'Desc' }), ...inside('desc', parted.members)]);
    assert.equal(followed(given, was, now(around, 'desc.state')), true);
    assert.equal(followed(given, was, now(layout('Else', 64, [member('one', 0, 8)]), 'one')), undefined);
  });

  it('is recognised by the size of objects', () => {
    const given = advice({ subject, way: 'align', change: { kind: 'align-type', type: reference(DESCRIPTOR), alignment: 64 } });
    const aligned = layout('Desc', 64, DESCRIPTOR.members, { align: 64 });
    const large = layout('Desc', 64, DESCRIPTOR.members, { align: 8 });
    assert.deepEqual(
      [aligned, large, DESCRIPTOR].map((of) => followed(given, was, now(of))),
      [true, false, false],
    );
    assert.equal(followed(given, was, now(PADDED, 'desc.state')), true);
  });

  it('is not known of copies for threads and of variables', () => {
    assert.equal(followed(advice({ subject, way: 'per-thread', change: null }), was, was), undefined);
    const change: Advice['change'] = { kind: 'align-variables', binary: '/src/program', variables: [], alignment: 64 };
    assert.equal(followed(advice({ subject, way: 'align', change }), was, was), undefined);
  });
});
