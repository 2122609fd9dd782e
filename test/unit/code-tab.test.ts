// The tab "Source": instructions below their source lines, with what was measured; names and files of a recording are untrusted.
import assert from 'node:assert/strict';
import { EngineError } from '../../extension/protocol/engine';
import { requestText, type CodeInstructionRow, type CodeSource, type TabCode } from '../../extension/protocol/panel-tabs';
import type { CodeInstruction, CodeListing } from '../../extension/protocol/profile';
import { codeTab, hasPlace, withSources } from '../../extension/session/code/code-tab';
import { ReportProfile } from '../../extension/session/profile/report-profile';
import { ShownProfile } from '../../extension/session/profile/shown-profile';
import { requestOf } from '../../webviews/panel/tab-views';
import { access, cacheLine, report } from './report-builder';

const FILE = '/code/queue.c';
const never = new AbortController().signal;

function instruction(address: string, text: string, line: number, more: Partial<CodeInstruction> = {}): CodeInstruction {
  const place = line === 0 ? null : { file: FILE, line };
  return { address, text, place, inlined: '', samples: 0, contended: 0, ofLine: false, data: null, ...more };
}

const line = cacheLine([
  access({ writes: 10, symbol: 'pop', file: FILE, line: 20 }),
  access({ writes: 90, symbol: 'push\u202e', file: FILE, line: 12 }),
]);
const listing: CodeListing = {
  function: 'push\u202e',
  object: 'server',
  problem: '',
  contended: 120,
  address: '0x1004',
  bytesBefore: 4000,
  bytesBehind: 0,
  instructions: [
    instruction('0x1000', 'movq %rdi, %rax', 11),
    instruction('0x1004', 'lock addq $0x1, (%rdi)', 12, {
      samples: 95,
      contended: 90,
      ofLine: true,
      data: { object: 'queue', offset: 0, definition: null, type: 'Queue', field: 'head', fieldOffset: 0 },
    }),
    instruction('0x1009', 'call 0x2000 <evil\u001b[31m>', 12, { inlined: 'note' }),
    instruction('0x100e', 'ret', 0),
  ],
};

describe('the tab "Source"', () => {
  const asked: unknown[][] = [];
  const shown = async (subject?: Parameters<typeof codeTab>[1], answer = listing): Promise<TabCode> => {
    const profile = await ShownProfile.of(new ReportProfile(report([line])), 'r', 'r');
    const listingOf = (...question: unknown[]): Promise<CodeListing> => {
      asked.push(question.slice(0, 2));
      return Promise.resolve(answer);
    };
    return codeTab({ line: (id) => profile.line(id), first: profile.first, report: profile.report, listing: listingOf }, subject, never);
  };
  const sources = (code: TabCode): CodeSource[] => code.rows.filter((row) => row.kind === 'source');
  const instructions = (code: TabCode): CodeInstructionRow[] => code.rows.filter((row) => row.kind === 'instruction');

  it('shows the access that waits most, or the one that was chosen', async () => {
    const hottest = await shown();
    assert.deepEqual([hottest.line, hottest.access], ['0', 1]);
    assert.deepEqual(
      hottest.accesses.map(({ access: index, name }) => [index, name.split(',')[0]]),
      [
        [1, '90.0%  push\\u{202e}'],
        [0, '10.0%  pop'],
      ],
    );
    assert.equal((await shown({ line: '0' })).access, 1);
    assert.equal((await shown({ line: '0', access: 0 })).access, 0);
    assert.deepEqual(asked.slice(-3), [
      ['0', 1],
      ['0', 1],
      ['0', 0],
    ]);
    await assert.rejects(shown({ line: '0', access: 7 }), /not among the samples/);
    await assert.rejects(shown({ line: '9' }), EngineError);
  });

  it('has a source line above its instructions, and their shares of all contended samples', async () => {
    const code = await shown();
    assert.deepEqual(
      code.rows.map((row) => (row.kind === 'source' ? row.name : row.address)),
      ['queue.c:11', '0x1000', 'queue.c:12', '0x1004', '0x1009', 'no source line is known', '0x100e'],
    );
    const [, hot] = instructions(code);
    assert.deepEqual([hot?.share, hot?.samples, hot?.ofLine, hot?.isShown, hot?.data], [0.75, 95, true, true, 'queue.head']);
    assert.ok(code.notes.some((note) => note.includes('Not shown: 4,000 bytes before these instructions')));
    assert.doesNotMatch(JSON.stringify(code), /\\u001b|\u202e/);
  });

  it('has the text of sources as they were compiled, and opens no others', async () => {
    const profile = { places: () => new Map([[FILE, new Set([12])]]) };
    const code = await shown();
    const here = await withSources(profile, code, () => Promise.resolve([...Array<string>(10).fill(''), '\tint\tx;\u202e', ' n++;']));
    assert.deepEqual(
      sources(here).map(({ text }) => text),
      ['int  x;\\u{202e}', 'n++;', ''],
    );
    assert.deepEqual(
      sources(here).map(({ place }) => place?.line),
      [11, 12, undefined],
    );
    const edited = await withSources(profile, code, () => Promise.resolve(undefined));
    assert.deepEqual(
      sources(edited).map(({ place, text }) => [place?.line, text]),
      [
        [undefined, ''],
        [12, ''],
        [undefined, ''],
      ],
      'what is no place of the report cannot be opened without its text',
    );
    assert.ok(hasPlace(here, { file: FILE, line: 11 }));
    assert.ok(!hasPlace(edited, { file: FILE, line: 11 }));
    assert.ok(!hasPlace(undefined, { file: FILE, line: 11 }));
  });

  it('says why there are no instructions', async () => {
    const code = await shown(undefined, { ...listing, problem: 'The instructions cannot be shown. /x: missing.', instructions: [] });
    assert.deepEqual([code.problem, code.rows, code.notes], ['The instructions cannot be shown. /x: missing.', [], []]);
    const empty = await ShownProfile.of(new ReportProfile(report([])), 'r', 'r');
    await assert.rejects(codeTab(empty, undefined, never), /No cache line is listed/);
    const elsewhere = await ShownProfile.of(new ReportProfile(report([line])), 'r', 'r');
    await assert.rejects(codeTab(elsewhere, undefined, never), /made elsewhere/);
  });

  it('is asked for by what is selected', () => {
    assert.deepEqual(requestOf('source', 'type', 'x'), { view: 'code', filter: 'x' });
    const request = requestOf('source', 'type', '', { line: '3', access: 0 });
    assert.deepEqual(request, { view: 'code', filter: '', subject: { line: '3', access: 0 } });
    const texts = [request, requestOf('source', 'type', '', { line: '3' }), requestOf('source', 'type', '')].map(
      (one) => one && requestText(one),
    );
    assert.equal(new Set(texts).size, 3);
  });
});
