// What goes into the list of problems: one finding a source line, at the declaration where it is known, from a share on.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Access } from '../../extension/protocol/report';
import { VERDICT_MEANING, VERDICT_PAGES } from '../../extension/protocol/words';
import { findingsOf, type Finding } from '../../extension/session/profile/findings';
import { cardOf, type TypeCard } from '../../extension/session/layout/type-heat';
import { hitmReport } from './hitm-report';
import { access, cacheLine, report } from './report-builder';
import { field, layout, member, typeHeat } from './type-builder';

const FILE = '/src/program.c';

function queueCard(): TypeCard {
  const members = [member('produced', 0, 8, { line: 11 }), member('limit', 8, 8, { line: 12 })];
  const fields = [field('produced', 0, { stores: 620, writers: [11] }), field('limit', 8, { loads: 310, readers: [12] })];
  return cardOf(typeHeat(layout('queue', 16, members, { file: FILE, line: 10 }), fields));
}

const queue = { object: 'queue', definition: { file: FILE, line: 20 }, type: 'struct queue' };
const produce = (line: number, writes: number): Access =>
  access({ line, writes, threads: [11], data: { ...queue, offset: 0, field: 'produced' } });
const consume = access({ line: 40, reads: 310, threads: [12], offset: 8, data: { ...queue, offset: 8, field: 'limit' } });

const found = (accesses: Access[], percent: number, cards: TypeCard[] = [queueCard()]): Finding[] =>
  findingsOf(report([cacheLine(accesses)]), [cacheLine(accesses)], () => cards, 'contended', percent);
const lines = (findings: Finding[]): number[] => findings.map(({ place }) => place.line);

describe('findings', () => {
  it('are at the declarations of members, what measured most first', () => {
    const findings = found([produce(30, 400), produce(31, 220), consume], 1);
    assert.deepEqual(lines(findings), [11, 12]);
    const [first] = findings;
    assert.equal(first?.verdict, 'false sharing');
    assert.equal(
      first.text,
      `'queue.produced': false sharing, 67% of contended samples, 1 thread writes. ${VERDICT_MEANING['false sharing']}`,
    );
  });

  it('are at the variable, else at the code, where the member is not known', () => {
    assert.deepEqual(lines(found([produce(30, 620), consume], 1, [])), [20]);
    const unknown = access({ line: 30, writes: 5, data: { object: '[heap]', offset: 0, definition: null } });
    const foreign = access({
      file: FILE,
      line: 31,
      writes: 4,
      inlined: [
        { function: 'add', file: '/usr/include/atomic', line: 9 },
        { function: 'work', file: FILE, line: 31 },
      ],
      data: unknown.data,
    });
    assert.deepEqual(lines(found([unknown, foreign], 1)), [30, 31]);
    assert.deepEqual(found([access({ file: '', line: 0, writes: 5, data: unknown.data })], 1), [], 'no line to show it at');
  });

  it('are those from a share on', () => {
    const accesses = [produce(30, 620), consume];
    assert.deepEqual(lines(found(accesses, 34)), [11]);
    assert.deepEqual(lines(found(accesses, 33)), [11, 12]);
    assert.deepEqual(found(accesses, 100), []);
  });

  it('count stores by what they cause, and read-only lines not at all', () => {
    const of = hitmReport();
    const findings = findingsOf(of, of.lines, () => [], 'hitm', 1);
    const store = findings.find(({ place }) => place.line === 33);
    if (store) assert.match(store.text, /stores to lines with 312 HITMs/);
    assert.ok(findings.length > 0);
    const calm = cacheLine([access({ line: 5, reads: 9, contended: 0 })], { verdict: 'read-shared' });
    assert.deepEqual(
      findingsOf(report([calm]), [calm], () => [], 'contended', 1),
      [],
    );
  });

  it('show names as text', () => {
    const named = access({ line: 30, writes: 5, data: { object: 'a\u202eb\u0007\n', offset: 0, definition: null } });
    assert.match(found([named], 1)[0]?.text ?? '', /^'a\\u\{202e\}b/);
    assert.doesNotMatch(found([named], 1)[0]?.text ?? '', /[\u0000-\u001f\u202e]/);
  });
});

describe('pages of verdicts', () => {
  const docs = path.resolve(__dirname, '../../docs');

  it('exist for each verdict, and begin with its name', () => {
    for (const [verdict, page] of Object.entries(VERDICT_PAGES)) {
      const title = /^# (.+)$/m.exec(readFileSync(path.join(docs, page), 'utf8'))?.[1] ?? '';
      assert.match(title, new RegExp(verdict, 'i'), page);
    }
  });

  it('link to pages that are there', () => {
    for (const name of readdirSync(path.join(docs, 'verdicts'))) {
      const links = [...readFileSync(path.join(docs, 'verdicts', name), 'utf8').matchAll(/\]\(([^)#]+)/g)].map(
        ([, target]) => target ?? '',
      );
      assert.ok(links.length >= 2, name);
      for (const link of links) assert.ok(existsSync(path.join(docs, 'verdicts', link)), `${name}: ${link}`);
    }
  });
});
