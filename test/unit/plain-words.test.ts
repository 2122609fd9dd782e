// What the first paragraph leads with, and whether the remedy it names is one.
import assert from 'node:assert/strict';
import type { Access, CacheLine, ObjectSum, Report } from '../../extension/protocol/report';
import { plainWords } from '../../extension/session/report/plain-words';
import { objectFinder } from '../../extension/session/report/sharing-facts';
import { reportFixture } from './fixtures';
import { access, cacheLine, heapData, objectSum, report } from './report-builder';
import { field, layout, member, typeHeat } from './type-builder';

const session = layout('session', 32, [member('requests', 0, 8), member('bytes', 8, 8)]);
const HEAP = 0x5000;

const variable = (object: string, name: string, type = object): Access['data'] => ({
  ...{ object, offset: 0, definition: { file: '/src/program.c', line: 3 }, how: 'global', type, field: name, fieldOffset: 0, index: null },
});

/** Lines of two sessions each, `samples` of each session, by the two threads in turn. */
function sessions(lines: number, samples: number): CacheLine[] {
  return Array.from({ length: lines }, (_, i) => {
    const bases = [HEAP + 64 * i, HEAP + 64 * i + 32];
    const accesses = bases.map((base, which) =>
      access({
        ...{ offset: 32 * which, writes: samples, threads: [1 + which] },
        ...{ data: heapData('session', base, 'requests', 0), symbol: 'count', line: 12 },
      }),
    );
    return cacheLine(accesses, { address: `0x${(HEAP + 64 * i).toString(16)}` });
  });
}

function totals(samples: number): CacheLine {
  const accesses = [0, 8].map((offset, which) =>
    access({ offset, writes: samples, threads: [1 + which], data: variable('totals', `flushes[${which}]`), symbol: 'run', line: 19 }),
  );
  return cacheLine(accesses, { address: '0x404040' });
}

/** The report of such lines, with the sums that the engine makes of them. */
function sessionReport(lines: readonly CacheLine[]): Report {
  const sorted = [...lines].sort((a, b) => b.contended - a.contended);
  const whole = report(sorted);
  const share = (contended: number): number => contended / whole.samples.contended;
  for (const line of whole.lines) line.contendedShare = share(line.contended);
  const objects = new Map<string, ObjectSum>();
  for (const { contended, data } of sorted.flatMap(({ accesses }) => accesses)) {
    const key = data.how === 'code' ? (data.base ?? '') : data.object;
    const sum = objects.get(key) ?? objectSum(data.how === 'code' ? 'session (heap)' : data.object, 0);
    Object.assign(sum, data.how === 'code' ? { base: data.base } : { definition: data.definition });
    sum.contended += contended;
    sum.contendedShare = share(sum.contended);
    objects.set(key, sum);
  }
  whole.objects = [...objects.values()].sort((a, b) => b.contended - a.contended);
  const own = sorted.flatMap(({ accesses }) => accesses).filter(({ data }) => data.type === 'session');
  const stores = own.reduce((sum, { contended }) => sum + contended, 0);
  const heat = typeHeat(session, [field('requests', 0, { stores })], { instances: own.length, contendedShare: share(stores) });
  whole.types = [heat];
  return whole;
}

const words = (of: Report): string => plainWords(of).join('\n');

describe('what plain words lead with', () => {
  it('is the type where its many objects have clearly more than the largest one', () => {
    const text = words(sessionReport([...sessions(19, 22), totals(55)]));
    assert.match(text, / 88\.4% .* 38 objects of type 'session', spread over 19 lines: false sharing\./);
    assert.match(text, /Look first at 'count' \(program\.c:12\)\.$/m);
    assert.doesNotMatch(text, /totals|'run'/);
  });

  it('is the single object where the type has not clearly more', () => {
    assert.match(words(sessionReport([...sessions(2, 10), totals(20)])), /It holds 'totals'; .* 'run' \(program\.c:19\)/s);
    const elements = sessionReport(sessions(2, 10));
    elements.objects = [objectSum('session (heap)', 40, { base: `0x${HEAP.toString(16)}`, lines: 2, contendedShare: 1 })];
    assert.match(words(elements), /100\.0% of these are on 'session \(heap\)', spread over 2 lines/, 'they lie end to end');
  });

  it('is the line where all objects of the type are on it', () => {
    assert.match(words(sessionReport(sessions(1, 10))), /It holds 'session \(heap\)'; 2 threads read and write: false sharing/);
  });

  it('is what was allocated at one place where its type is not known', () => {
    const blocks = sessionReport([...sessions(5, 10), totals(10)]);
    delete blocks.types;
    const block = { size: 24, function: 'make_node', file: '/src/node.c', line: 7 };
    for (const { data } of blocks.lines.flatMap(({ accesses }) => accesses))
      if (data.how === 'code') Object.assign(data, { how: 'allocation', type: '', field: '', fieldOffset: null, allocation: block });
    for (const object of blocks.objects) if (object.base !== null) object.object = '24 bytes allocated in make_node';
    assert.match(words(blocks), /83\.3% .* 10 objects named '24 bytes .*make_node', spread over 5 lines/);
  });

  it('is of a type and a name what has more, and of types the one that several objects show', () => {
    const block = { size: 24, function: 'make_node', file: '/src/node.c', line: 7 };
    const mixed = sessionReport(sessions(12, 10));
    for (const line of mixed.lines.slice(3))
      for (const { data } of line.accesses)
        Object.assign(data, { how: 'allocation', type: '', field: '', fieldOffset: null, allocation: block });
    for (const object of mixed.objects.slice(6)) object.object = '24 bytes allocated in make_node';
    const [type] = mixed.types ?? [];
    assert.ok(type);
    Object.assign(type, { contended: 60, contendedShare: 0.25 });
    assert.match(words(mixed), /75\.0% .* 18 objects named '24 bytes .*make_node', spread over 9 lines/);

    const several = sessionReport(sessions(5, 10));
    several.types = [typeHeat(layout('pair', 16, []), [field('', 0, { stores: 200 })], { instances: 2 }), ...(several.types ?? [])];
    assert.match(words(several), /on 10 objects of type 'session', spread over 5 lines/);
  });

  it('counts of several objects with one name only the samples of the one it speaks of', () => {
    const [first, second, third] = sessions(3, 40);
    assert.ok(first && second && third);
    for (const { accesses } of [first, second])
      for (const one of accesses) Object.assign(one.data, { base: `0x${HEAP.toString(16)}`, type: 'session' });
    for (const one of third.accesses)
      Object.assign(one, { data: heapData('session', 0x9000, 'bytes', 8), symbol: 'other', records: 30, contended: 30 });
    const twins = sessionReport([cacheLine(first.accesses), cacheLine(second.accesses, { address: '0x5040' }), cacheLine(third.accesses)]);
    const text = words(twins);
    assert.match(text, /72\.7% of these are on 'session \(heap\)', spread over 2 lines/);
    assert.match(text, /Look first at 'count' \(program\.c:12\)\.$/m);
  });

  it('says of lines that differ what most of them are', () => {
    const lines = sessions(3, 20);
    Object.assign(lines[2]!, { verdict: 'true sharing' });
    const whole = sessionReport(lines);
    whole.types![0]!.verdict = 'mixed';
    const text = words(whole);
    assert.match(text, /3 lines: mixed \(false sharing on 2 of them, true sharing on 1\)\./);
    assert.match(text, /^Most of it is false sharing\. .*alignas/m);
  });
});

describe('objects of one name', () => {
  it('are told apart by space, place and definition', () => {
    const place = (line: number): ObjectSum['definition'] => ({ file: '/src/a.c', line });
    const objects = [
      objectSum('session (heap)', 9, { base: '0x9000' }),
      objectSum('session (heap)', 8, { base: '0x5000' }),
      objectSum('session (heap)', 7, { base: '0x5000', space: 'pid 2' }),
      objectSum('count', 6, { definition: place(1) }),
      objectSum('count', 5, { definition: place(2) }),
    ];
    const find = objectFinder(report([], { objects }));
    const index = (data: Access['data'], space = 'pid 1'): number => {
      const found = find(cacheLine([], { space }), access({ data }));
      return found === undefined ? -1 : objects.indexOf(found);
    };
    assert.equal(index(heapData('session', 0x9000, 'bytes', 8)), 0);
    assert.equal(index(heapData('session', 0x5020, 'bytes', 8)), 1, 'the second of those that lie end to end');
    assert.equal(index(heapData('session', 0x5020, 'bytes', 8), 'pid 2'), 2);
    assert.equal(index(heapData('session', 0x4000, 'bytes', 8)), -1);
    assert.equal(index({ ...variable('count', '', 'long'), definition: place(2), base: '0x8000' }), 4);
    assert.equal(index({ ...variable('count', '', 'long'), definition: place(3) }), -1);
  });
});

describe('plain words of several processes', () => {
  it('speak of the machine, and name the process', () => {
    const whole = reportFixture('false-sharing');
    const [top] = whole.lines;
    const pid = Number(/\d+/.exec(top!.space)?.[0]);
    assert.match(words(whole), /of the program's samples/);
    assert.doesNotMatch(words(whole), /of process/);
    whole.recording!.target = { kind: 'system', ids: [], cpus: [], children: false };
    assert.match(words(whole), new RegExp(`of the machine's samples .* of process ${pid} \\((thread )?'[^']+'\\); `));
    top!.threads[0]!.tid = pid;
    top!.threads[0]!.comm = 'web\u001b';
    assert.ok(words(whole).includes(` of process ${pid} ('web\\x1b'); `));
    whole.recording!.target = { kind: 'processes', ids: [pid], cpus: [], children: false };
    assert.doesNotMatch(words(whole), /of process|machine/);
    whole.recording!.target.ids.push(9);
    assert.match(words(whole), /of the program's samples .* of process/);
    const clean = reportFixture('clean');
    clean.recording!.target = { kind: 'system', ids: [], cpus: [], children: false };
    assert.match(words(clean), /of the machine's time can go unseen/);
  });
});
