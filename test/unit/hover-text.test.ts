// Hover texts: who reads, who writes, where, how often; and that no name of a recording becomes Markdown.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Report } from '../../extension/protocol/report';
import { code, escapeMarkdown } from '../../extension/session/hover/hover-parts';
import * as hover from '../../extension/session/hover/hover-text';
import { access, cacheLine, readerBesideWriter, report, thread } from './report-builder';
import { accessesAt } from './report-lookups';

/** Without the room between the columns. */
const plain = (text: string): string => text.replaceAll('| &nbsp;&nbsp;', '| ');
const lineHoverText = (...args: Parameters<typeof hover.lineHoverText>): string => plain(hover.lineHoverText(...args));
const definitionHoverText = (...args: Parameters<typeof hover.definitionHoverText>): string => plain(hover.definitionHoverText(...args));

function fixture(name: string): Report {
  return JSON.parse(readFileSync(path.resolve(__dirname, `../fixtures/reports/${name}.json`), 'utf8')) as Report;
}

describe('hover text', () => {
  const pair = fixture('false-sharing');
  const at = (line: number) => accessesAt(pair, '/home/ada/demo/pair.c', line);

  it('names data, offset, reads, writes, threads, verdict and evidence of a line', () => {
    assert.match(hover.lineHoverText(pair, at(31), 'contended'), /\| bytes( \| &nbsp;&nbsp;(data|reads|writes|threads|in)){5} \|/);
    const text = lineHoverText(pair, at(31), 'contended');
    assert.match(text, /^\*\*false sharing\*\* · 50% of contended samples, 1 thread writes\n/);
    assert.match(text, /\| 0–7 \| \*\*`produced\+0`\*\* \| 0 \| 1,203[^|]* \| `[^`]+`\s5001 \| this line \|/);
    assert.match(text, /cache line `0x4040c0`/);
    assert.match(text, /evidence: \*\*clock\*\*/);
  });

  it('ends in one line: cache line, evidence, and a link to what the verdict means', () => {
    const text = hover.lineHoverText(pair, at(31), 'contended', (verdict) => `[more](${verdict})`);
    assert.equal(text.split('\n').at(-1), 'cache line `0x4040c0` · evidence: **clock** · [more](false sharing)');
    assert.equal(text.split('\n\n').length, 4, 'the finding in two lines, the table, the end');
  });

  it('says who else competes for the same cache line, where', () => {
    const text = lineHoverText(pair, at(31), 'contended');
    assert.match(text, /\| 8–15 \| `consumed\+0` \| 1,184 \| 0 \| `[^`]+`\s5002 \| `consume` pair\\.c\\:42 \|/);
    assert.doesNotMatch(text, /`main`/, 'the main thread does not compete');
  });

  it('names threads only where their names differ', () => {
    const one = access({ writes: 5, threads: [1] });
    const two = access({ writes: 5, threads: [2], offset: 8 });
    const line = (comms: [string, string]) =>
      cacheLine([one, two], { threads: [1, 2].map((tid, i) => ({ ...thread(tid), comm: comms[i] ?? '' })) });
    const text = (comms: [string, string]): string => {
      const cacheLine = line(comms);
      return lineHoverText(report([cacheLine]), [{ cacheLine, access: one }], 'contended');
    };
    assert.match(text(['a', 'b']), /\| `a`\s1 \|/);
    assert.match(text(['a', 'a']), /\| 1 \| this line \|/);
  });

  it('says of a definition which functions access the variable', () => {
    const accesses = pair.lines.flatMap((cacheLine) =>
      cacheLine.accesses.filter(({ data }) => data.object === 'consumed').map((access) => ({ cacheLine, access })),
    );
    const text = definitionHoverText(pair, 'consumed', accesses, 'contended');
    assert.match(text, /^\*\*`consumed`: false sharing\*\*/);
    assert.match(text, /\| 8–15 \| \*\*`consumed\+0`\*\* \| 1,184 \| 0 \| .*5002.* \| `consume` pair\\.c\\:42 \|/);
    assert.match(text, /\| 0–7 \| `produced\+0` \|/);
  });

  it('is empty where nothing competes', () => {
    assert.equal(lineHoverText(pair, at(60), 'contended'), '');
    assert.equal(lineHoverText(pair, [], 'contended'), '');
  });

  it('shows the costliest rows and counts the others', () => {
    const accesses = Array.from({ length: 8 }, (_, i) =>
      access({ writes: 10 + i, data: { object: 'counters', offset: i * 8, definition: null } }),
    );
    const line = cacheLine(accesses);
    const text = lineHoverText(
      report([line]),
      accesses.map((one) => ({ cacheLine: line, access: one })),
      'contended',
    );
    assert.equal(text.match(/\*\*`counters\+/g)?.length, 4);
    assert.match(text, /`counters\+56`\*/);
    assert.doesNotMatch(text, /`counters\+0`\*/);
    assert.match(text, /4 more places/);
  });

  it('says who waits for whom, as the report does', () => {
    const { line, waiting } = readerBesideWriter();
    for (const access of line.accesses) {
      const text = lineHoverText(report([line]), [{ cacheLine: line, access }], 'contended');
      assert.ok(text.includes(`\n\n${escapeMarkdown(waiting)}\n\n|`), text);
    }
    const alone = cacheLine(line.accesses);
    assert.doesNotMatch(lineHoverText(report([alone]), [{ cacheLine: alone, access: line.accesses[0]! }], 'contended'), /waits/);
  });

  it('tells atomic updates and unknown widths', () => {
    const update = access({ writes: 5, locked: true, width: 0 });
    const line = cacheLine([update]);
    assert.match(
      lineHoverText(report([line]), [{ cacheLine: line, access: update }], 'contended'),
      /\| 0 \| \*\*`shared\+0`\*\* \| 0 \| 5\satomic \|/,
    );
  });
});

describe('hover text: untrusted names', () => {
  const hostile = [
    'x](command:workbench.action.quit)',
    '![p](https://example.com/p.png)',
    '`code` <img src=x onerror=y>',
    'a|b',
    'a\\|b` ![](https://example.com)',
    '**bold** _it_ ~~s~~ # h',
    'https://example.com www.example.com me@example.com',
    '$(flame) &lt;b&gt;',
    'line\nbreak\r\n\n# heading',
    '\u202egnp.exe\u0007',
  ];

  /** Markdown that is left when inline code, escapes and entities are taken away: here nothing may mean anything. */
  const active = (markdown: string): string =>
    markdown
      .replace(/\\[!-/:-@[-`{-~]/g, '')
      .replace(/`[^`\n]*`/g, '')
      .replace(/&(lt|gt|amp|#124);/g, '');

  for (const name of hostile) {
    it(JSON.stringify(name), () => {
      for (const text of [code(name), escapeMarkdown(name)]) {
        assert.doesNotMatch(active(text), /[[\]()!<>*_~#|`$@/:.\\]/);
        assert.doesNotMatch(text, /[\n\r\u0000-\u001f\u202a-\u202e]/);
      }
    });
  }

  it('keeps the table in shape', () => {
    for (const name of hostile) {
      const one = access({ writes: 5, symbol: name, data: { object: name, offset: 0, definition: null } });
      const line = cacheLine([one], { address: name });
      const text = definitionHoverText(report([line]), name, [{ cacheLine: line, access: one }], 'contended');
      const rows = text.split('\n').filter((row) => row.startsWith('|'));
      assert.equal(rows.length, 3);
      for (const row of rows) assert.equal(active(row).split('|').length, 8, row);
    }
  });

  it('has no Markdown in the sentence of who waits', () => {
    for (const name of hostile) {
      const { line } = readerBesideWriter({ reader: name, writer: name });
      const text = lineHoverText(report([line]), [{ cacheLine: line, access: line.accesses[1]! }], 'contended');
      const [, sentence = ''] = text.split('\n\n');
      assert.match(sentence, / waits to /);
      assert.doesNotMatch(active(sentence), /[[\]()!<>*_~#|`$@/:\\]/);
    }
  });

  it('handles the hostile fixture', () => {
    const names = fixture('untrusted-names');
    const accesses = names.lines.flatMap((cacheLine) => cacheLine.accesses.map((access) => ({ cacheLine, access })));

    assert.doesNotMatch(lineHoverText(names, accesses, 'contended'), /[\u0000-\u0009\u000b-\u001f\u200b\u202e]/);
  });
});
