// Which objects the first paragraph of a report speaks of, and how many of them there are.
import assert from 'node:assert/strict';
import type { Access, CacheLine, Report } from '../../extension/protocol/report';
import { contendedLinesOfType, contendedSubject, mostlyOf, type Subject } from '../../extension/session/report/contended-subject';
import { objectFinder } from '../../extension/session/report/sharing-facts';
import { access, cacheLine, heapData, objectSum, report } from './report-builder';
import { field, layout, member, typeHeat } from './type-builder';

const session = layout('session', 32, [member('requests', 0, 8)]);
const BLOCK = { size: 24, function: 'make_node', file: '/src/node.c', line: 7 };

const at = (base: number, writes: number, fieldOffset = 0): Access =>
  access({ writes, data: heapData('session', base, 'requests', fieldOffset) });
const block = (base: number, writes: number): Access =>
  access({ writes, data: { ...heapData('', base, '', 0), how: 'allocation', allocation: BLOCK } });
const line = (accesses: Access[], fields: Partial<CacheLine> = {}): CacheLine => cacheLine(accesses, fields);

/** With a sum of the type of so many samples, and such objects. */
function subjectOf(lines: CacheLine[], ofType: number, objects: Report['objects'] = []): Subject {
  const types = ofType > 0 ? [typeHeat(session, [field('requests', 0, { stores: ofType })], { instances: 9, contendedShare: 0.5 })] : [];
  return contendedSubject(report(lines, { objects, types }), lines, lines[0]!);
}

describe('the subject of a report', () => {
  it('is the type of several objects on several lines', () => {
    const lines = [line([at(0x1000, 20)]), line([at(0x2000, 20)])];
    assert.match(subjectOf(lines, 40).where, /on 2 objects of type 'session', spread over 2 lines$/);
    assert.equal(subjectOf(lines, 29).where, '', 'not clearly more than one line');
    assert.equal(subjectOf([line([at(0x1000, 10), at(0x2000, 10)])], 40).where, '', 'one line');
    assert.equal(subjectOf([line([at(0x1000, 20)]), line([at(0x1000, 20)])], 40).where, '', 'one object');
  });

  it('counts elements, and objects of several processes', () => {
    assert.match(subjectOf([line([at(0x1000, 20)]), line([at(0x1000, 20, 64)])], 40).where, /on 2 objects/);
    assert.match(subjectOf([line([at(0x1000, 20)]), line([at(0x1000, 20)], { space: 'pid 2' })], 40).where, /on 2 objects/);
  });

  it('counts variables by their names', () => {
    const variable = (object: string): Access =>
      access({
        writes: 20,
        data: { ...{ object, offset: 0, definition: null, how: 'global', type: 'session' }, field: 'requests', fieldOffset: 0 },
      });
    assert.match(subjectOf([line([variable('first')]), line([variable('second')])], 40).where, /on 2 objects/);
  });

  it('leaves out what threads do not compete for', () => {
    const quiet = { ...at(0x3000, 0), records: 50 };
    const subject = subjectOf([line([at(0x1000, 20), quiet]), line([at(0x2000, 20)])], 40);
    assert.match(subject.where, /on 2 objects/);
    assert.equal(subject.accesses.length, 2);
  });

  it('is of blocks of one name only those with a place of their own', () => {
    const name = '24 bytes allocated in make_node';
    const lines = [line([block(0x1000, 20)]), line([block(0x2000, 20)], { verdict: 'true sharing' })];
    const sum = (contended: number, base: string | null): Report['objects'][0] => objectSum(name, contended, { base });
    const both = subjectOf(lines, 0, [sum(20, '0x1000'), sum(20, '0x2000'), sum(0, '0x3000')]);
    assert.match(both.where, /on 2 objects named '24 bytes/);
    assert.equal(both.verdict, 'mixed');
    const one = subjectOf(lines, 0, [sum(40, '0x1000')]);
    assert.doesNotMatch(one.where, /objects named/);
    assert.doesNotMatch(subjectOf(lines, 0, [sum(40, null), sum(30, null)]).where, /objects named/);
    assert.doesNotMatch(subjectOf([line([block(0x1000, 20)])], 0, [sum(20, '0x1000'), sum(20, '0x2000')]).where, /objects named/);
  });

  it('is mostly of one verdict only where its lines differ', () => {
    const lines = [line([at(0x1000, 20)], { verdict: 'mixed' }), line([at(0x2000, 20)], { verdict: 'mixed' })];
    assert.equal(mostlyOf({ where: '', verdict: 'mixed', text: 'mixed', lines, accesses: [] }), undefined);
  });
});

describe('the only object of a name', () => {
  it('is that of an access wherever it lies', () => {
    const objects = [objectSum('session (heap)', 9, { base: '0x9000' })];
    assert.equal(objectFinder(report([], { objects }))(line([]), at(0x1000, 1)), objects[0]);
  });
});

describe('lines of a type that threads compete for', () => {
  const type = typeHeat(session, [field('requests', 0, { stores: 40 })], { instances: 2 });
  type.lines = 3;
  const lines = [line([at(0x1000, 20)]), line([at(0x2000, 20)]), line([access({ writes: 9 }), { ...at(0x3000, 0), records: 5 }])];

  it('are those where something competes for its objects', () => {
    assert.equal(contendedLinesOfType(report(lines, { types: [type] }))(type), 2);
  });

  it('are all where the report does not list them, or has no such line', () => {
    assert.equal(contendedLinesOfType(report(lines, { types: [type], c2c: {} as never }))(type), 3);
    assert.equal(contendedLinesOfType(report([], { types: [type] }))(type), 3);
  });

  it('are no more than it has', () => {
    assert.equal(contendedLinesOfType(report([...lines, ...lines], { types: [type] }))(type), 3);
  });
});
