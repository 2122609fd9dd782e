// The text of `cacheline workset`: one page, widths, untrusted names; and that the documented schema requires every field.
import assert from 'node:assert/strict';
import type { WorksetDocument } from '../../extension/protocol/workset';
import { COLOURED, displayWidth } from '../../extension/session/text/terminal-text';
import { worksetText } from '../../extension/session/workset/workset-text';
import { matchGolden } from './golden';
import { fieldsNotRequired, schemaErrors } from './schemas';
import { columns, hostile, scarce } from './workset-builder';

const documents: Record<string, WorksetDocument> = { columns, scarce, hostile };
const text = (document: WorksetDocument, width: number): string => worksetText(document, { width, path: 'matrix.cacheline' });

describe('workset text', () => {
  it('of columns in 80 columns', () => matchGolden('workset-columns-80.txt', text(columns, 80)));

  it('of few samples says of everything that it is not known, and why', () => {
    const shown = text(scarce, 80).replace(/\s+/g, ' ');
    assert.match(shown, / Samples 40 with an address, of 49 [^.]*4\.25 s, without 5,000 [^.]*filters/);
    assert.match(shown, / Caches the recording does not say /);
    for (const kind of ['false sharing', 'true sharing', 'conflict', 'capacity'])
      assert.match(shown, new RegExp(` ${kind}: not known\\. The `));
    assert.match(
      shown,
      / Working sets of threads .* 4711 40 31 not known not known not known Types .* 40 31 not known not known not known row /,
    );
    assert.match(shown, / 40 samples, and 50 are needed/);
    assert.doesNotMatch(shown, /Allocation sites/);
  });

  it('lists some and says how many more there are', () => {
    const shown = text(hostile, 80);
    assert.match(shown, /\n {2}117 \(worker-17\) .*\n {2}and 22 more: --format json has them\.\n/);
    assert.match(shown, / type_18\\x00\n {2}and 10 more: --format json has them\.\n/);
    assert.match(shown, / capacity of L1: possible\. Of threads 1, 2, 3 and 6 more: /);
  });

  it('is no wider than it may be', () => {
    for (const document of Object.values(documents))
      for (const width of [60, 80, 121, 200])
        for (const line of text(document, width).split('\n')) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
  });

  it('makes untrusted names harmless', () => {
    for (const width of [80, 200]) assert.doesNotMatch(text(hostile, width), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    for (const name of ['a\\x1b[31mred\\u{202e} collector', '1 (a\\x1b[31mred\\u{202e})', 'make\\x9b (a\\nb.c:1)', '\\x1b]0;title\\x07bad'])
      assert.ok(text(hostile, 200).includes(name), name);
  });

  it('differs with colours by the colours alone', () => {
    const coloured = worksetText(columns, { width: 80, path: 'matrix.cacheline', style: COLOURED });
    assert.notEqual(coloured, text(columns, 80));
    assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), text(columns, 80));
  });

  it('gives every class that was seen a remedy of its own, and no other', () => {
    const remedies = columns.missClasses.map(({ remedy }) => remedy);
    assert.deepEqual(
      remedies.map((remedy) => remedy !== null),
      [true, false, true, false, false, true, true, false],
    );
    assert.equal(new Set(remedies).size, 4, 'one for sharing, one for conflicts, one for capacity, and none');
    assert.ok(scarce.missClasses.every(({ remedy }) => remedy === null));
  });
});

describe('cacheline-workset/1', () => {
  for (const [name, document] of Object.entries(documents))
    it(`holds for ${name} and requires every field`, () => {
      assert.deepEqual(schemaErrors('cacheline-workset-1', document), []);
      assert.deepEqual(fieldsNotRequired('cacheline-workset-1', document), []);
    });

  it('refuses wrong values', () => {
    for (const spoil of [
      (document: WorksetDocument) => (document.schema = 'cacheline-workset/2' as 'cacheline-workset/1'),
      (document: WorksetDocument) => (document.lineSize = 0),
      (document: WorksetDocument) => (document.all.coverage = 1.5),
      (document: WorksetDocument) => (document.threads[0]!.atLeast = -1),
      (document: WorksetDocument) => (document.types[0]!.atMost = 0.5),
      (document: WorksetDocument) => (document.caches[0]!.cpus = []),
      (document: WorksetDocument) => (document.missClasses[0]!.class = 'prefetch' as 'capacity'),
      (document: WorksetDocument) => (document.missClasses[0]!.knowledge = 'certain' as 'stated'),
      (document: WorksetDocument) => (document.missClasses[2]!.sets!.ways = null as unknown as number),
    ]) {
      const document = structuredClone(columns);
      spoil(document);
      assert.notDeepEqual(schemaErrors('cacheline-workset-1', document), [], String(spoil));
    }
  });
});
