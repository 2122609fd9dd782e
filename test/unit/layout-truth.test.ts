// How `npm run bench:types` judges a report: by source lines, by where objects lie, and by names that may be written in several ways.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DataName } from '../../extension/protocol/report';
import { judge, readFields, readMarkers, readObjects, type Tally } from '../../scripts/lib/types-truth.mjs';
import { access, cacheLine, report } from './report-builder';

const PROGRAMS = join(__dirname, '../fixtures/types');

const OUTPUT = 'object heap 0x1000 64\nfield 0x1008 8 worker.printed\n';

/** What is said of ten samples at one known object, whose source line says `truth`. */
function said(
  truth: string,
  data: Partial<DataName>,
  at: { address?: string; file?: string; line?: number; offset?: number } = {},
): Tally | undefined {
  const row = access({ reads: 10, offset: at.offset ?? 8, file: at.file ?? '/src/a.c', line: at.line ?? 5 });
  row.data = { ...row.data, how: 'code', type: '', field: '', ...data };
  const lines = [cacheLine([row], { address: at.address ?? '0x1000' })];
  const markers = new Map([[5, truth.split('|')]]);
  return judge(report(lines), '/elsewhere/a.c', markers, readObjects(OUTPUT), readFields(OUTPUT)).tallies['heap'];
}

const right = { all: 10, typed: 10, right: 10, unmarked: 0 };
const wrong = { ...right, right: 0 };

describe('truth of types', () => {
  it('counts what is right, what is wrong, and what has no type', () => {
    assert.deepEqual(said('worker.count', { type: 'struct worker', field: 'count' }), right);
    assert.deepEqual(said('worker.count', { type: 'struct worker', field: 'id' }), wrong);
    assert.deepEqual(said('worker.count', { type: 'struct worker', field: '' }), wrong);
    assert.deepEqual(said('worker.count', { type: 'other', field: 'count' }), wrong);
    assert.deepEqual(said('worker.count', {}), { ...wrong, typed: 0 });
    assert.deepEqual(said('worker.count', { type: 'worker', field: 'count', how: 'unknown' }), { ...wrong, typed: 0 });
  });

  it('knows the spellings of one type, elements of arrays, and one of several truths', () => {
    assert.deepEqual(said('worker.codes', { type: 'worker[8]', field: '[2].codes[1]' }), right);
    assert.deepEqual(said('Ring<Item, 64>.head', { type: 'class Ring<Item,64ul>', field: 'head' }), right);
    assert.deepEqual(said('long', { type: 'long int [4][8]', field: '[1][2]' }), right);
    assert.deepEqual(said('long', { type: 'unsigned long', field: '' }), wrong);
    assert.deepEqual(said('a.x|b.y', { type: 'b', field: 'y' }), right);
    assert.deepEqual(said('node.as.number', { type: 'node', field: 'as.text | as.number' }), right);
  });

  it('takes what lies inside of a member for it, and no other member that begins so', () => {
    assert.deepEqual(said('Clock.now', { type: 'Clock', field: 'now._M_i' }), right);
    assert.deepEqual(said('Clock.now', { type: 'Clock', field: 'nowhere' }), wrong);
    assert.deepEqual(said('Clock.now', { type: 'std::atomic<long>', field: '_M_i' }), wrong);
  });

  it('leaves out what lies in no known object, and counts lines without a marker apart', () => {
    assert.equal(said('worker.count', { type: 'worker', field: 'count' }, { address: '0x2000' }), undefined);
    assert.deepEqual(said('worker.count', { type: 'worker', field: 'count' }, { line: 6 }), { all: 0, typed: 0, right: 0, unmarked: 10 });
  });

  it('judges the code of a library by the member at the address', () => {
    const library = { file: '/library/atomic.rs' };
    assert.deepEqual(said('worker.count', { type: 'worker', field: 'printed' }, library), right);
    assert.deepEqual(said('worker.count', { type: 'worker', field: 'count' }, library), wrong);
    assert.deepEqual(said('worker.count', { type: 'worker', field: 'printed' }, { ...library, offset: 16 }), {
      all: 0,
      typed: 0,
      right: 0,
      unmarked: 10,
    });
  });

  for (const name of readdirSync(PROGRAMS).filter((one) => /\.(c|cpp|rs|go)$/.test(one)))
    it(`finds the markers of ${name}`, async () => {
      const markers = await readMarkers(join(PROGRAMS, name));
      assert.ok(markers.size >= 3);
      for (const truths of markers.values()) for (const truth of truths) assert.match(truth, /^[\w:<>, ]+(\.\w+)*$/);
    });
});
