// Hovers of recordings with data sources: plain words first, then who and how long; unknown is "unknown"; names stay text.
import assert from 'node:assert/strict';
import { measureOf, type HeatMetric } from '../../extension/protocol/measure';
import type { Report } from '../../extension/protocol/report';
import { definitionHoverText, lineHoverText } from '../../extension/session/hover/hover-text';
import { hitmReport, peerReport, pmuAccess, pmuLine } from './hitm-report';
import { statsOf } from './report-builder';
import { accessesAt } from './report-lookups';

const FILE = '/build/agent/src/stats.c';

function hover(of: Report, line: number, metric: HeatMetric | 'auto' = 'auto'): string {
  return lineHoverText(of, accessesAt(of, FILE, line), measureOf(of, metric).measure);
}

describe('hover text of data sources', () => {
  it('says how many of the line’s HITMs are here, how long loads take, and who', () => {
    const text = hover(hitmReport(), 21);
    assert.match(text, /^\*\*mixed\*\* · 312 HITMs \(78%\), 2 threads read and write\n/);
    assert.match(text, /312 of the 312 HITMs .* 60% of them remote\. 352 loads .* 357 cycles .*\n\n/);
    const table = text.replaceAll('&nbsp;', '');
    assert.match(table, /\n\| bytes \| data \| HITMs \| remote \| loads \| cycles \| p95 \| stores \| threads \| nodes \| in \|\n/);
    assert.match(
      table,
      /\n\| 0 \| \*\*`counters\+0`\*\* \| 312 \| 187 \| 352 \| 357 \| 1,536 \| 230 \| .*11.*12.* \| 0, 1 \| this line \|\n/,
    );
    assert.match(table, /\n\| 8 \| `counters\+8` \| 0 \| 0 \| 0 \| – \| – \| 55 \| .*12.* \| 1 \| `reset` stats\\.c\\:33 \|\n/);
    assert.match(text, /\n\ncache line `0x404080` · evidence: \*\*hitm, latency\*\*$/);
  });

  it('says who waits for whom, as the report does', () => {
    const of = hitmReport();
    const [first] = of.lines;
    const victims = [{ words: [0], threads: [11], contended: 312, falseShare: 1, access: 0, cause: 1 }];
    Object.assign(first!, { victims, words: [0, 8].map((offset, group) => ({ offset, size: 8, group })) });
    assert.match(hover(of, 21), /write\n\n\\'bump\\' waits to write \\'counters\\\+0\\' because \\'reset\\' writes .*\n\n\|/);
  });

  it('says of stores what they cause', () => {
    const text = hover(hitmReport(), 33);
    assert.match(text, /^\*\*mixed\*\* · stores to lines with 312 HITMs, 1 thread writes\n/);
    assert.match(text, /55 stores here, on this cache line with 312 HITMs\.\n\n/);
    assert.doesNotMatch(text, /How long/);
  });

  it('follows the metric in its first line only', () => {
    assert.match(
      hover(hitmReport(), 21, 'latency'),
      /^\*\*mixed\*\* · 67% of load cycles, 2 threads read and write\n[^]*312 of the 312 HITMs/,
    );
    assert.match(hover(hitmReport(), 21, 'contended'), /^\*\*mixed\*\* · \d+% of contended samples/);
  });

  it('never says HITM of peer evidence', () => {
    for (const metric of ['auto', 'latency', 'contended'] as const) {
      const text = hover(peerReport(), 21, metric);
      assert.doesNotMatch(text, /HITM/);
      assert.match(text, /100 of the 100 peer hits .* 70% of them remote/);
    }
  });

  it('says unknown of what was not measured', () => {
    const untimed = hitmReport({
      evidence: ['hitm'],
      lines: [pmuLine([{ ...pmuAccess({ file: FILE, line: 5, hitm: [4, 0], nodes: null }), meanCycles: null, cycles: null }])],
    });
    const text = hover(untimed, 5);
    assert.match(text, /How long loads take here is unknown\./);
    assert.match(text.replaceAll('&nbsp;', ''), /\| 4 \| 0 \| 4 \| unknown \| unknown \| 0 \| .* \| unknown \| this line \|/);
  });

  it('tells of a variable where its code is', () => {
    const shown = hitmReport();
    const accesses = shown.lines.flatMap((cacheLine) => cacheLine.accesses.map((access) => ({ cacheLine, access })));
    const text = definitionHoverText(shown, 'counters', accesses, 'hitm');
    assert.match(text, /^\*\*`counters`: mixed\*\* · 401 HITMs \(100%\), 2 threads read and write/);
    assert.match(text, /401 of the 401 HITMs of these 2 cache lines/);
    assert.match(text, /\| &nbsp;&nbsp;`bump` stats\\.c\\:21 \|/);
  });

  it('is empty where no access takes part', () => {
    assert.equal(hover(hitmReport(), 99), '');
    const idle = hitmReport({ lines: [pmuLine([pmuAccess({ file: FILE, line: 5, plain: 9 })])], stats: statsOf() });
    assert.equal(hover(idle, 5, 'hitm'), '');
  });

  it('shows names as text', () => {
    const shown = hitmReport();
    const [bump] = shown.lines[0]?.accesses ?? [];
    assert.ok(bump);
    bump.symbol = '![x](command:evil) `a`|b\n# h';
    bump.data.object = '](command:evil)|`';
    const text = definitionHoverText(shown, bump.data.object, accessesAt(shown, FILE, 21), 'hitm');
    assert.doesNotMatch(text.replace(/\\[!-/:-@[-`{-~]/g, ''), /\]\(|!\[|\n# h/);
    for (const row of text.split('\n').filter((line) => line.startsWith('|'))) {
      assert.equal(row.replaceAll(/\\[!-/:-@[-`{-~]|`[^`]*`/g, '').split('|').length, 13, row);
    }
  });
});
