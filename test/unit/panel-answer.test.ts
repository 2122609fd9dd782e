// What the panel answers first: the report's own sentences in parts, and an advice that is asked for once and can be cancelled.
import assert from 'node:assert/strict';
import { SharedCall } from '../../extension/session/profile/shared-call';
import { ReportProfile } from '../../extension/session/profile/report-profile';
import { ShownProfile } from '../../extension/session/profile/shown-profile';
import type { Finding } from '../../extension/protocol/finding';
import type { LinesQuestion } from '../../extension/protocol/profile';
import type { Report } from '../../extension/protocol/report';
import { joinParts } from '../../extension/session/report/code-text';
import { firstWords, leadAdvice, panelWords, summaryOf } from '../../extension/session/report/first-words';
import { reportFixture } from './fixtures';
import { hitmReport } from './hitm-report';
import { access, cacheLine, finding, readerBesideWriter, report } from './report-builder';

const shown = (of: Report): Promise<ShownProfile> => ShownProfile.of(new ReportProfile(of), 'made by hand', 'made by hand');

describe('what the panel says first', () => {
  for (const [name, made] of [
    ['clock samples', report([readerBesideWriter().line])],
    ['memory samples', hitmReport()],
    ['a real recording', reportFixture('false-sharing')],
    ['nothing found', reportFixture('clean')],
  ] as const) {
    it(`is what the command line says of ${name}`, async () => {
      const profile = await shown(made);
      const { summary, meaning, lookFirst } = panelWords(profile);
      const said = [summary, [meaning, joinParts(lookFirst)].filter((text) => text !== '').join(' ')].filter((text) => text !== '');
      assert.equal(said.join('\n'), [firstWords(made)[0], firstWords(made).slice(1).join(' ')].filter((text) => text !== '').join('\n'));
      assert.equal(summaryOf(profile), summary);
    });
  }

  it('is answered by the advice about what it names, not by the first one', () => {
    const lines = [cacheLine([access({ writes: 1000 })], { contendedShare: 1 })];
    const answered = (...findings: Finding[]): number | undefined => leadAdvice(report(lines, { findings }));
    const truly = { verdict: 'true sharing' as const };
    const lock = finding({ object: 'lock' }, 550, { ...truly, advice: 0 });
    assert.equal(answered(lock, finding({ object: 'slots' }, 400, { advice: 1 })), 1, 'what waits falsely leads');
    assert.equal(answered(lock, finding({ object: 'slots' }, 90, { advice: 1 })), 0, 'what waits falsely for less does not');
    const kernel = finding({ object: '[kernel]' }, 700, truly);
    assert.equal(answered(kernel, finding({ type: 'timespec' }, 300, { ...truly, advice: 0 })), undefined, 'none is about it');
    assert.equal(answered(kernel, finding({ object: 'slots' }, 200, { advice: 0 })), 0);
    assert.equal(answered(), undefined);
    const hitms = { ...hitmReport(), findings: [{ ...lock, contended: 9 }] };
    assert.equal(leadAdvice(hitms), 0);
  });

  it('names code by places that can be opened', async () => {
    const at = { file: '/src/a.c', symbol: 'consume' };
    const made = report([cacheLine([access({ ...at, line: 3, reads: 9 }), access({ ...at, line: 4, writes: 8, symbol: 'produce' })])]);
    const { lookFirst } = panelWords(await shown(made));
    const links = lookFirst.flatMap((part) => (typeof part === 'string' ? [] : [part]));
    assert.deepEqual(
      links.map(({ text, place }) => [text, place.line]),
      [
        ["'consume' (a.c:3)", 3],
        ["'produce' (a.c:4)", 4],
      ],
    );
  });

  it('says what contention costs where not all lines are here', async () => {
    const lines = Array.from({ length: 3 }, (_, at) => cacheLine([access({ writes: 9, line: 1 })], { address: `0x${at + 1}000` }));
    const source = new ReportProfile(report(lines));
    const asked: unknown[] = [];
    const ask = source.ask.bind(source);
    source.ask = async (question) => {
      const answer = await ask(question);
      const { question: name, filter } = question as Pick<LinesQuestion, 'filter'> & { question: string };
      if (name !== 'lines') return answer;
      asked.push(filter);
      return { ...answer, total: filter === undefined ? 5000 : 4321 };
    };
    const profile = await ShownProfile.of(source, 'r', 'r');
    assert.deepEqual(asked, [undefined, 'contended>0']);
    assert.match(panelWords(profile).summary, /4,321 cache lines that threads compete for/);
  });
});

describe('a call that several wait for', () => {
  const setUp = (): { call: SharedCall<number>; signals: AbortSignal[]; answer: (value: number) => void; fail: () => void } => {
    const signals: AbortSignal[] = [];
    let answer: (value: number) => void = () => assert.fail('not called yet');
    let fail = (): void => assert.fail('not called yet');
    const call = new SharedCall(
      (signal) =>
        new Promise<number>((resolve, reject) => {
          signals.push(signal);
          [answer, fail] = [resolve, () => reject(new Error('failed'))];
        }),
    );
    return { call, signals, answer: (value) => answer(value), fail: () => fail() };
  };

  it('is made once and cancelled where the last one leaves', async () => {
    const { call, signals } = setUp();
    const leaving = [new AbortController(), new AbortController()];
    const waiting = leaving.map(({ signal }) => call.get(signal));
    leaving[0]?.abort();
    await assert.rejects(waiting[0]!, { kind: 'cancelled' });
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [false],
    );
    leaving[1]?.abort();
    await assert.rejects(waiting[1]!, { kind: 'cancelled' });
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true],
    );
    await assert.rejects(call.get(leaving[0]?.signal), { kind: 'cancelled' });
    void call.get();
    assert.equal(signals.length, 2, 'who comes later makes a new one');
  });

  it('goes on for who cannot leave, and keeps its answer', async () => {
    const { call, signals, answer } = setUp();
    const leaving = new AbortController();
    const [staying, left] = [call.get(), call.get(leaving.signal)];
    leaving.abort();
    await assert.rejects(left, { kind: 'cancelled' });
    answer(7);
    assert.deepEqual([await staying, await call.get()], [7, 7]);
    assert.equal(signals.length, 1);
  });

  it('is made again where it failed', async () => {
    const { call, signals, answer, fail } = setUp();
    const first = call.get();
    fail();
    await assert.rejects(first, /failed/);
    const second = call.get();
    answer(3);
    assert.equal(await second, 3);
    assert.equal(signals.length, 2);
  });
});
