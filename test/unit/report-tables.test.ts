// The report's tables of objects and types: rows that can be told apart, and lines that threads compete for.
import assert from 'node:assert/strict';
import type { Access, CacheLine, Report } from '../../extension/protocol/report';
import { lineTable, objectTable, spreadObjects } from '../../extension/session/report/report-lines';
import { reportText } from '../../extension/session/report/report-text';
import { typeTable } from '../../extension/session/report/report-types';
import { PLAIN } from '../../extension/session/text/terminal-text';
import { reportFixture } from './fixtures';
import { access, cacheLine, heapData, memoryAccess, memoryLine, memoryReport, objectSum, report } from './report-builder';
import { field, layout, member, typeHeat } from './type-builder';

const style = { width: 120, style: PLAIN, folder: '/src' };
const allocation = { size: 192, function: 'pool::Pool::Pool', file: '/src/pool.cpp', line: 60 };

const stats = (base: number, which: number, fields: Partial<Access> = {}): Access =>
  access({ writes: 10, threads: [which + 1], offset: 8 * which, data: heapData('Stats', base, 'done', 0), ...fields });

/** Two lines that threads compete for and one that they only read, all of one object. */
function partlyRead(): CacheLine[] {
  const lines = [0x5000, 0x5040].map((at) => cacheLine([stats(0x5000, 0), stats(0x5000, 1)], { address: `0x${at.toString(16)}` }));
  const onlyRead = [stats(0x5000, 0, { contended: 0 }), stats(0x5000, 1, { contended: 0 })];
  return [...lines, cacheLine(onlyRead, { address: '0x5080', verdict: 'read-shared' })];
}

describe('object table', () => {
  const rows = (objects: Report['objects'], more: Partial<typeof style & { source: boolean }> = {}): string[] =>
    objectTable(report([]), objects, { ...style, ...more }).slice(1);

  it('says where a block was allocated, and the address of what nothing else is known of', () => {
    const [known, plain, unknown, bare] = rows([
      objectSum('Stats (heap)', 4, { base: '0x5000', allocation }),
      objectSum('Queue (heap)', 3, { base: '0x6000' }),
      objectSum('[heap]', 2),
      objectSum('Node (heap)', 1, { base: '0x7000', allocation: { ...allocation, file: '', line: 0 } }),
    ]);
    assert.match(known!, / Stats \(heap\) +allocated at pool\.cpp:60$/);
    assert.match(plain!, / Queue \(heap\) +0x6000$/);
    assert.match(unknown!, / \[heap\] +unknown$/);
    assert.match(bare!, / Node \(heap\) +allocated in pool::Pool::Pool$/);
  });

  it('tells rows of one name apart', () => {
    const twins = [
      objectSum('Stats (heap)', 4, { base: '0x5000', allocation }),
      objectSum('Stats (heap)', 3, { base: '0x6000', allocation }),
      objectSum('Stats (heap)', 2, { base: '0x7000' }),
    ];
    assert.deepEqual(
      rows(twins).map((row) => /Stats \(heap\) +(.*)$/.exec(row)?.[1]),
      ['allocated at pool.cpp:60, 0x5000', 'allocated at pool.cpp:60, 0x6000', '0x7000'],
    );
    assert.match(rows(twins, { source: false })[1]!, /Stats \(heap\) at 0x6000$/);
  });

  it('counts the lines that threads compete for', () => {
    const whole = report(partlyRead(), { objects: [objectSum('Stats (heap)', 40, { base: '0x5000', lines: 3 })] });
    assert.match(objectTable(whole, spreadObjects(whole), style)[1]!, / 2 {2}false sharing /);
  });

  it('takes all lines of an object where the report has only some', () => {
    const first = memoryLine([memoryAccess({ hitm: [1, 2], stores: [1, 0, 0], data: heapData('Stats', 0x5000, 'done', 0) })]);
    const whole = memoryReport([first], {}, { objects: [objectSum('Stats (heap)', 40, { base: '0x5000', lines: 32 })] });
    assert.match(objectTable(whole, spreadObjects(whole), style)[1] ?? '', / 32 {2}false sharing /);
  });
});

describe('type table', () => {
  it('counts the lines that threads compete for', () => {
    const type = layout('Stats', 48, [member('done', 0, 8)]);
    const heat = typeHeat(type, [field('done', 0, { stores: 40 })], { lines: 3 });
    assert.match(typeTable(report(partlyRead(), { types: [heat] }), style, false)[2]!, / 1 +2 +48 {2}false sharing {2}Stats /);
  });
});

describe('line table', () => {
  it('names the hottest members of many, with the name of the object once where they do not fit', () => {
    const name = 'alloc::sync::ArcInner<main::Ring<main::Job>>';
    const use = (path: string, offset: number, writes: number): Access =>
      access({ writes, offset, threads: [1, 2], data: heapData(name, 0x5000, `data.${path}`, offset) });
    const line = cacheLine([use('capacity', 16, 1), use('closed', 24, 1), use('head', 8, 30), use('tail', 0, 40)]);
    const row = (width: number): string => lineTable([line], { ...style, width }).join('\n');
    assert.match(row(80), /^ +alloc::\S+…\S+>>\.data\.tail, \.data\.head, \.data\.capacity, 1 other member$/m);
    assert.ok(row(300).includes(`${name}.data.tail, ${name}.data.head, ${name}.data.capacity, 1 other member`));
  });
});

describe('report of heap blocks', () => {
  it('says why small blocks have no allocation', () => {
    const whole = reportFixture('heap-objects');
    whole.lines = partlyRead();
    whole.samples.contended = 40;
    const text = (): string => reportText(whole, { ...style, path: 'x' }).replace(/\s+/g, ' ');
    const said =
      /100\.0% of the contended samples are in heap blocks whose allocation was not recorded: `--heap` missed 7 blocks, first those below 64 bytes, /;
    whole.recording!.heap = { sampling: 64, blocks: 9, lost: 7 };
    assert.match(text(), said);
    for (const line of whole.lines) for (const one of line.accesses) one.data.allocation = allocation;
    assert.doesNotMatch(text(), said);
    for (const line of whole.lines) for (const one of line.accesses) one.data.allocation = null;
    whole.recording!.heap.lost = 0;
    assert.doesNotMatch(text(), said);
    whole.recording!.heap = null;
    assert.doesNotMatch(text(), said, 'without --heap');
  });
});
