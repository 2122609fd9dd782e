// The tree of contended data: what hangs under what, in which order, and what a click opens.
import assert from 'node:assert/strict';
import type { ObjectSum } from '../../extension/protocol/report';
import { contendedTree, emptyTreeText, type TreeSource } from '../../extension/session/profile/contended-tree';
import { ReportProfile } from '../../extension/session/profile/report-profile';
import { ShownProfile } from '../../extension/session/profile/shown-profile';
import { access, cacheLine, report } from './report-builder';
import { typesOf, wholeTree, type WholeNode } from './report-lookups';
import { field, layout, member, queueHeat, typeHeat } from './type-builder';

const QUEUE = { object: 'queue', definition: { file: '/src/program.c', line: 20 }, type: 'struct queue' };
const HOT = { file: '/src/program.c', line: 40, symbol: 'produce' };

function example() {
  const produce = access({ ...HOT, writes: 620, threads: [11], data: { ...QUEUE, offset: 0, field: 'produced', fieldOffset: 0 } });
  const again = access({ ...HOT, line: 41, writes: 20, threads: [11], data: { ...QUEUE, offset: 0, field: 'produced', fieldOffset: 0 } });
  const poll = access({ offset: 8, line: 50, symbol: 'consume', reads: 310, threads: [12], data: { ...QUEUE, offset: 8, field: 'limit' } });
  const other = access({ line: 60, writes: 100, data: { object: 'loose', offset: 0, definition: null } });
  return report([cacheLine([poll, produce, again]), cacheLine([other], { address: '0x405000', verdict: 'true sharing' })], {
    types: [queueHeat()],
  });
}

const labels = (nodes: readonly WholeNode[]): string[] => nodes.map(({ label }) => label);

describe('tree of contended data', () => {
  let type: WholeNode;
  let object: WholeNode;
  before(async () => {
    [type, object] = (await wholeTree(example(), 'contended')) as [WholeNode, WholeNode];
  });

  it('begins with types, the hottest first, and objects of unknown type beside them', () => {
    assert.deepEqual([type.kind, type.label], ['type', 'struct queue']);
    assert.match(type.description, /^false sharing, 9\d% of contended samples, 2 threads write and 1 reads/);
    assert.deepEqual(type.place, { file: '/src/program.c', line: 10 });
    assert.deepEqual([object.kind, object.label], ['object', 'loose']);
    assert.match(object.description, /^type unknown, 100 contended samples \(10%\)$/);
    assert.deepEqual(object.place, { file: '/src/program.c', line: 60 }, 'it has no definition: where it is accessed');
  });

  it('has fields under a type, lines under a field, accesses under a line', () => {
    assert.deepEqual(labels(type.children), ['produced', 'limit', 'today.cents', 'no member']);
    const produced = type.children[0]!;
    assert.deepEqual(produced.place, { file: '/src/program.c', line: 11 });
    assert.match(produced.description, /^bytes 0–7, \d+% of contended samples, 1 thread writes$/);
    const line = produced.children[0]!;
    assert.deepEqual([line.kind, line.label], ['line', '0x404040']);
    assert.match(line.description, /^false sharing, 640 contended samples/);
    assert.deepEqual(labels(line.children), ['produce program.c:40', 'produce program.c:41']);
    assert.deepEqual(line.place, line.children[0]?.place, 'a line opens its hottest access');
    assert.match(line.children[0]!.description, /^write of byte 0, 620 samples, thread 11/);
  });

  it('says everything of a node as one text', () => {
    assert.match(type.text, /^type struct queue: false sharing/);
    assert.match(type.children[0]!.children[0]!.text, /^cache line 0x404040: /);
    assert.equal(type.step, 5);
    assert.equal(type.children.at(-1)?.step, 1, '3 of 1,050');
  });

  describe('of variables that are declared with another name of their type', () => {
    const variable = (type: string, fieldName: string, at: number, line: number) =>
      access({
        writes: 9,
        offset: at,
        data: { object: type, offset: at, definition: { file: '/src/v.c', line }, type, field: fieldName, fieldOffset: at },
      });
    const queue = typeHeat(layout('queue', 16, [member('head', 0, 8), member('tail', 8, 8)]), [
      field('head', 0, { stores: 9 }),
      field('tail', 8, { stores: 9 }),
    ]);
    const stack = typeHeat(layout('stack', 16, [member('head', 0, 8), member('depth', 8, 8)], { line: 30 }), [
      field('head', 0, { stores: 9 }),
    ]);
    const under = async (accesses: ReturnType<typeof access>[]) => {
      const made = report([cacheLine(accesses)], { types: [queue, stack] });
      const found = (await wholeTree(made, 'contended')).map((node) => [node.label, node.children.map(({ children }) => children.length)]);
      return { found: Object.fromEntries(found) as Record<string, number[]>, index: typesOf(made).get('/src/v.c') };
    };

    it('has the accesses under the one type that they all fit', async () => {
      const { found, index } = await under([variable('queue_t[2]', '[1].head', 16, 3), variable('queue_t', 'tail', 8, 4)]);
      assert.deepEqual(found, { 'struct queue': [1, 1], 'struct stack': [0] });
      assert.deepEqual(
        [3, 4].map((line) => index?.get(line)?.[0]?.card.layout.name),
        ['queue', 'queue'],
      );
    });

    it('has nothing under a type that has no members in common with them', async () => {
      const made = report([cacheLine([variable('long', '', 0, 3)])], { types: [queue] });
      const tree = (await wholeTree(made, 'contended')).map((node) => [
        node.label,
        node.children.flatMap(({ children }) => children).length,
      ]);
      assert.deepEqual(Object.fromEntries(tree), { 'struct queue': 0, long: 1 });
    });

    it('does not guess between several', async () => {
      const { found, index } = await under([variable('what_t', 'head', 0, 3)]);
      assert.deepEqual(found, { 'struct queue': [0, 0], 'struct stack': [0], what_t: [1] });
      assert.equal(index, undefined);
    });
  });

  it('has the accesses to a union under the member that its samples are named for', async () => {
    const members = [
      member('id', 0, 8),
      member('either', 8, 8),
      member('either.whole', 8, 8, { depth: 1 }),
      member('either.real', 8, 8, { depth: 1 }),
    ];
    const heat = typeHeat(layout('t', 16, members), [field('either.whole', 8, { stores: 9 })]);
    const data = { object: 't', offset: 8, definition: null, type: 't', field: 'either.whole | either.real', fieldOffset: 8 };
    const [type] = await wholeTree(report([cacheLine([access({ writes: 9, offset: 8, data })])], { types: [heat] }), 'contended');
    assert.deepEqual(
      type?.children.map(({ label, children }) => [label, children.length]),
      [['either.whole', 1]],
    );
  });

  it('folds the elements of an array onto the members of their type', async () => {
    const heat = typeHeat(layout('Slot', 16, [member('count', 0, 8), member('last', 8, 8)]), [field('last', 8, { stores: 9 })]);
    const data = { object: 'slots', offset: 40, definition: null, type: 'Slot[8]', field: '[2].last', index: 2 };
    const [slot] = await wholeTree(report([cacheLine([access({ writes: 9, data })])], { types: [heat] }), 'contended');
    assert.deepEqual(labels(slot?.children ?? []), ['last']);
    assert.equal(slot?.children[0]?.children.length, 1);
  });

  it('tells definitions of one name apart, and puts each access under its own', async () => {
    const one = typeHeat(layout('pool', 16, [member('used', 0, 8), member('slots', 8, 8)], { file: '/src/a.c', line: 3 }), [
      field('slots', 8, { stores: 20 }),
    ]);
    const other = typeHeat(layout('pool', 32, [member('slots', 0, 24), member('used', 24, 8)], { file: '/src/b.c', line: 7 }), [
      field('slots', 0, { stores: 5 }),
      field('used', 24, { stores: 4 }),
    ]);
    const at = (object: string, name: string, offset: number, line: number) =>
      access({
        offset: offset % 64,
        line,
        writes: 5,
        data: { object, offset, definition: { file: '/src/c.c', line }, type: 'struct pool', field: name },
      });
    const accesses = [at('mine', 'slots', 8, 40), at('theirs', 'slots[1].count', 0, 50), at('theirs', 'used', 24, 50)];
    const made = report([cacheLine(accesses)], { types: [one, other] });
    const tree = await wholeTree(made, 'contended');
    assert.match(tree[0]?.description ?? '', /^a\.c:3 in program, false sharing/);
    assert.match(tree[1]?.description ?? '', /^b\.c:7 in program, false sharing/);
    const lines = tree.map(({ children }) => children.flatMap((node) => node.children.flatMap(({ children: made }) => labels(made))));
    assert.deepEqual(
      lines.map((found) => found.map((label) => label.replace(/^.*:/, ''))),
      [['40'], ['50', '50']],
    );
    const variable = (line: number) =>
      typesOf(made)
        .get('/src/c.c')
        ?.get(line)
        ?.map(({ card }) => card.layout.size);
    assert.deepEqual([variable(40), variable(50)], [[16], [32]], 'and variables have the card of their own');
  });

  it('says the type of objects that are no structures', async () => {
    const data = { object: 'counters', offset: 8, definition: null, type: 'atomic_long[4]' };
    const [node] = await wholeTree(report([cacheLine([access({ writes: 9, data })])]), 'contended');
    assert.equal(node?.description, 'atomic_long[4], 9 contended samples (100%)');
  });

  it('is empty where nothing competes, and where there is nothing', async () => {
    assert.deepEqual(await wholeTree(report([]), 'contended'), []);
    assert.deepEqual(await wholeTree(report([cacheLine([access({ writes: 9, contended: 0 })])]), 'contended'), []);
    assert.deepEqual(await wholeTree(example(), 'hitm'), []);
  });

  it('says where it is empty whether nothing is contended or nothing is known', () => {
    const made = report([]);
    assert.match(emptyTreeText({ ...made, samples: { ...made.samples, total: 9, attributed: 9 } }), /^Nothing contended/);
    assert.match(
      emptyTreeText({ ...made, samples: { ...made.samples, total: 9, attributed: 0 } }),
      /^None of the samples could be attributed/,
    );
  });

  it('lists at most a hundred of a kind and says how many are left', async () => {
    const accesses = Array.from({ length: 250 }, (_, index) => access({ line: index + 1, writes: 1 }));
    const [only] = await wholeTree(report([cacheLine(accesses)]), 'contended');
    const under = only?.children[0]?.children ?? [];
    assert.equal(under.length, 101);
    assert.deepEqual([under.at(-1)?.kind, under.at(-1)?.label], ['more', '150 more accesses']);
  });

  it('says how many lines there may be beyond those that the engine gives at once', async () => {
    const made = report(Array.from({ length: 120 }, (_, index) => cacheLine([access({ writes: 1 })], { address: `0x${index}00` })));
    const profile = await ShownProfile.of(new ReportProfile(made), 'made by hand', 'made by hand');
    const lines: TreeSource['lines'] = async (choice, measure) => {
      const all = await profile.lines(choice, measure);
      return { total: all.total, lines: all.lines.slice(0, 40) };
    };
    const [only] = contendedTree({ report: profile.report, data: await profile.dataBy('contended'), lines }, 'contended');
    const under = (await only?.children()) ?? [];
    assert.deepEqual([under.length, under.at(-1)?.kind, under.at(-1)?.label], [41, 'more', 'up to 80 more cache lines']);
  });

  it('says the verdict of an object where its name tells which one it is', async () => {
    const made = report([cacheLine([access({ writes: 1, data: { object: 'loose', offset: 0, definition: null } })])]);
    const sum: ObjectSum = {
      object: 'loose',
      space: '',
      binary: '',
      definition: null,
      lines: 1,
      verdict: 'true sharing',
      verdictSure: true,
      falseShare: null,
      flags: [],
      contended: 1,
      contendedShare: 1,
      programShare: 1,
      records: 1,
      loads: 0,
      stores: 1,
    };
    const described = async (objects: ObjectSum[]) => (await wholeTree({ ...made, objects }, 'contended'))[0]?.description;
    assert.equal(await described([sum]), 'true sharing, type unknown, 1 contended sample (100%)');
    assert.equal(await described([sum, sum]), 'type unknown, 1 contended sample (100%)');
    assert.equal(await described([{ ...sum, base: '0x7f0000001000' }]), 'type unknown, 1 contended sample (100%)');
  });

  it('makes visible what names hide', async () => {
    const data = { object: 'a\u202eb\nc', offset: 0, definition: null };
    const [node] = await wholeTree(report([cacheLine([access({ writes: 1, data })])]), 'contended');
    assert.equal(node?.label, 'a\\u{202e}b\\nc');
  });
});
