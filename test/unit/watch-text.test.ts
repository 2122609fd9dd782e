// How reports, hovers and CSV show what watchpoints saw.
import assert from 'node:assert/strict';
import type { Confirmation, Report } from '../../extension/protocol/report';
import { c2cText } from '../../extension/session/report/c2c-text';
import { lineHoverText } from '../../extension/session/hover/hover-text';
import { csvRows } from '../../extension/session/report/report-csv';
import { reportText } from '../../extension/session/report/report-text';
import { displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { reportFixture } from './fixtures';
import { hitmReport } from './hitm-report';
import { intelReport } from './pmu-reports';
import { access, cacheLine, report } from './report-builder';
import { schemaErrors } from './schemas';
import { accessesAt } from './report-lookups';

const word = (offset: number, name: string, writers: number[]) => ({
  ...{ offset, length: 8, name, reads: 0, writes: 30, unknown: 0, readers: [], writers, windowMs: 12.5 },
});

const seen: Confirmation = {
  confirmed: true,
  sentence: "2 threads write 'produced' and 'consumed' in turn: seen 14 times in 12 ms",
  words: [word(0, 'produced', [5001]), word(8, 'consumed', [5002])],
  alternations: 14,
};

/** The stored report of false sharing, as it would be with watchpoints on its line. */
function watched(confirmation = seen): Report {
  const stored = structuredClone(reportFixture('false-sharing'));
  stored.evidence = ['clock', 'watch'];
  const [line] = stored.lines;
  assert.ok(line);
  line.confirmation = confirmation;
  line.accesses[0]!.watch = { reads: 0, writes: 30, unknown: 0, threads: [5001], windowMs: 12.5 };
  line.accesses[1]!.watch = { reads: 27, writes: 0, unknown: 2, threads: [5002], windowMs: 12.5 };
  line.accesses.push(
    access({
      offset: 8,
      records: 0,
      contended: 0,
      threads: [],
      watch: { reads: 0, writes: 3, unknown: 0, threads: [5002], windowMs: 12.5 },
    }),
  );
  return stored;
}

const text = (of: Report, width = 100): string => reportText(of, { width, path: 'x.cacheline', folder: '/home/ada/demo' });

describe('watchpoints in texts', () => {
  it('have a mark in the table of lines, a column in that of accesses, and a sentence of each', () => {
    const shown = text(watched()).replace(/\s+/g, ' ');
    assert.match(shown, / Evidence clock: .* watch: [^.;]*debug registers/);
    assert.match(shown, / Watchpoints confirm the verdict [^.]*\. Contended cache lines .*; ✓: confirmed by watchpoints /);
    assert.match(shown, / 1 100\.0% 95\.6% 0x4040c0 false sharing ✓ 1\/1 /);
    assert.ok(shown.includes(` confirmed by watchpoints: ${seen.sentence} threads: `));
    assert.match(shown, / samples trapped threads .* 50\.4% 1,203 30 w 1 .* 49\.6% 1,184 27 r 2 \? 1 .* 0\.0% 0 3 w 1 shared\+0 /);
  });

  it('fit every width', () => {
    for (let width = 40; width <= 200; width += 7)
      for (const line of text(watched(), width).split('\n')) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
  });

  it('stand below the tables of memory samples, by the line they speak of', () => {
    const words = (of: Report): string => c2cText(of, [], { width: 100, path: 'x.data', folder: '/home/ada/demo', style: PLAIN }).join('');
    const report = intelReport();
    const without = words(report);
    report.evidence.push('watch');
    report.lines[0]!.confirmation = seen;
    const shown = words(report);
    assert.ok(shown.includes(`\n${report.lines[0]?.address}: confirmed by watchpoints: 2 threads write 'produced' and 'consumed' in turn`));
    assert.match(shown, /Watchpoints confirm the verdict/);
    assert.doesNotMatch(without, /watchpoint/i);
  });

  it('say not seen, never refuted', () => {
    const shown = text(watched({ ...seen, confirmed: false, sentence: 'only 1 of 2 words was seen in 12 ms', alternations: 0 }));
    assert.match(shown, /not confirmed by watchpoints: only 1 of 2 words was seen in 12 ms/);
    assert.match(shown, /did not confirm the verdict/);
    assert.doesNotMatch(shown, /refuted|✓/);
  });

  it('show a watched line that has no samples', () => {
    const line = cacheLine([access({ records: 0, contended: 0, watch: { reads: 1, writes: 2, threads: [1, 2], windowMs: 3 } })], {
      verdict: 'true sharing',
      confirmation: seen,
    });
    const shown = text(report([line]));
    assert.match(shown, /true sharing ✓/);
    assert.match(shown, /1 r 2 w/);
    assert.match(shown, /read, write/);
  });

  it('are in the hover, with names as text', () => {
    const stored = watched({ ...seen, sentence: 'threads write [a](command:x)' });
    const places = accessesAt(stored, '/home/ada/demo/pair.c', 31);
    const shown = lineHoverText(stored, places, 'contended');
    assert.match(shown, /✓ \*confirmed by watchpoints\\: threads write \\\[a\\\]\\\(command\\:x\\\)\*/);
  });

  it('are in the hover of memory samples', () => {
    const of = hitmReport();
    of.evidence.push('watch');
    of.lines[0]!.confirmation = seen;
    const places = accessesAt(of, '/build/agent/src/stats.c', 21);
    assert.match(lineHoverText(of, places, 'hitm'), / ✓ \*confirmed by watchpoints\\: 2 threads write /);
  });

  it('are columns of the CSV', () => {
    const [header = '', first = ''] = [...csvRows(watched(), watched().lines)];
    assert.match(header, /,confirmed,watchpoints\r\n$/);
    assert.match(first, /,yes,"2 threads write 'produced' and 'consumed' in turn: seen 14 times in 12 ms"\r\n$/);
    const [, plain = ''] = [...csvRows(reportFixture('false-sharing'), reportFixture('false-sharing').lines)];
    assert.match(plain, /,,\r\n$/);
  });

  it('satisfy the schema, which misses none of their fields', () => {
    assert.deepEqual(schemaErrors('cacheline-report-1', watched()), []);
    for (const spoil of [
      (confirmation: Confirmation) => delete (confirmation as Partial<Confirmation>).sentence,
      (confirmation: Confirmation) => (confirmation.words[0]!.writers = ['x'] as never),
      (confirmation: Confirmation) => (confirmation.alternations = -1),
    ]) {
      const stored = watched(structuredClone(seen));
      spoil(stored.lines[0]!.confirmation!);
      assert.notDeepEqual(schemaErrors('cacheline-report-1', stored), [], String(spoil));
    }
  });
});
