// Which findings the first paragraph of a report names, and how.
import assert from 'node:assert/strict';
import type { Finding } from '../../extension/protocol/finding';
import type { Access, CacheLine } from '../../extension/protocol/report';
import { plainWords } from '../../extension/session/report/plain-words';
import { contendedLinesOfType } from '../../extension/session/report/report-types';
import { objectFinder } from '../../extension/session/report/sharing-facts';
import { access, cacheLine, finding, heapData, objectSum, report } from './report-builder';
import { field, layout, member, typeHeat } from './type-builder';

const session = layout('session', 32, [member('requests', 0, 8)]);

const at = (base: number, writes: number, fieldOffset = 0): Access =>
  access({ writes, data: heapData('session', base, 'requests', fieldOffset) });
const line = (accesses: Access[], fields: Partial<CacheLine> = {}): CacheLine => cacheLine(accesses, fields);

/** The first paragraph about such findings, on a line of 1,000 samples. */
function words(findings: Finding[], contended = 1000): string {
  const lines = [line([access({ writes: contended })], { contendedShare: 1 })];
  return plainWords(report(lines, { findings }))[0] ?? '';
}
const many = { lineCount: 9, objects: 4 };

describe('the first paragraph', () => {
  it('names all that has a tenth of the contended samples and waits falsely, most first', () => {
    const text = words([
      finding({ object: 'pool' }, 500, { ...many, verdict: 'mixed' }),
      finding({ type: 'Stats' }, 300, many),
      finding({ object: 'small' }, 99, many),
    ]);
    assert.match(
      text,
      /50\.0% of these are on 'pool', spread over 9 lines: mixed; 30\.0% are on 4 objects of type 'Stats', .*: false sharing\.$/,
    );
  });

  it('names what waits falsely before what has most and waits truly', () => {
    const text = words([finding({ object: 'lock' }, 550, { ...many, verdict: 'true sharing' }), finding({ object: 'slots' }, 400, many)]);
    assert.match(text, /40\.0% of these are on 'slots', .*: false sharing; 55\.0% are on 'lock', .*: true sharing\.$/);
  });

  it('names objects of a type without a name by the object, or else by the place of the type', () => {
    const type = 'union {...}';
    const definition = { file: '/src/ends.c', line: 7 };
    assert.match(words([finding({ type, object: 'ends' }, 700, many)]), /are on 'ends', /);
    assert.match(words([finding({ type }, 700, { ...many, definition })]), /are on 4 objects of the type at ends\.c:7, /);
    assert.match(words([finding({ type: 'Ends' }, 700, { ...many, definition })]), /are on 4 objects of type 'Ends', /);
  });

  it('names three and counts the rest', () => {
    const findings = ['a', 'b', 'c', 'd', 'e'].map((object) => finding({ object }, 200, many));
    assert.match(words(findings), /'a',.*'b',.*'c',.*; and 2 objects more wait falsely\.$/);
    assert.doesNotMatch(words(findings), /'d'/);
  });

  it('names what has most where nothing waits falsely', () => {
    const truly = { ...many, verdict: 'true sharing' as const };
    assert.match(
      words([finding({ object: 'a' }, 600, truly), finding({ object: 'b' }, 400, truly)]),
      /60\.0% of these are on 'a', .*: true sharing\.$/,
    );
  });

  it('says only that there are too few samples where they leave all open, and for how long to record', () => {
    const open = { sure: false, verdict: 'mixed' as const, falseShare: { value: 0.5, low: 0.1, high: 0.9 } };
    const lines = [line([access({ writes: 20 })], { ...open, verdictSure: false, contendedShare: 1 })];
    const text = plainWords(report(lines, { seconds: 2 })).join('\n');
    assert.match(text, /too few samples to tell which/);
    assert.match(text, /record for about 15 seconds/);
    assert.doesNotMatch(text, /Moving|cache line for each|Confidence/);
  });

  it('tells the findings of one line apart where these differ', () => {
    const own = { lines: ['0x404040'] };
    const found = [finding({ object: 'stats' }, 60, { ...own, verdict: 'mixed' }), finding({ object: 'workers' }, 40, own)];
    assert.match(words(found, 100), /60\.0% of these are on 'stats': mixed; 40\.0% are on 'workers': false sharing\.$/);
  });

  it('says of one line what it holds, and who uses it', () => {
    const words_ = plainWords(report([line([at(0x1000, 20), at(0x2000, 20)])]))[0] ?? '';
    assert.match(words_, /It holds 'session \(heap\)'; 1 thread reads and writes: false sharing\.$/);
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
