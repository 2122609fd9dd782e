// What is said where a report could not see much: first, once, and never as if nothing were contended.
import assert from 'node:assert/strict';
import { blindText, type Blind, type UnseenPlace } from '../../extension/protocol/blindness';
import type { Advice } from '../../extension/protocol/advice';
import type { Report } from '../../extension/protocol/report';
import { lostGains } from '../../extension/session/advice/lost-gains';
import { emptyTreeText } from '../../extension/session/profile/contended-tree';
import { firstWords } from '../../extension/session/report/first-words';
import { plainWords } from '../../extension/session/report/plain-words';
import { reportText } from '../../extension/session/report/report-text';
import { advice, adviceList } from './advice-builder';
import { hitmReport } from './hitm-report';
import { access, cacheLine, report as reportOf } from './report-builder';

type Reason = Blind['reasons'][number];

const JAVA: Reason = { reason: 'noInstruction', what: 'code that no file backs (JIT: Java)', share: 0.996 };
const LOST: Reason = { reason: 'lost', what: 'samples that were lost while recording', share: 0.4 };

function blind(...reasons: Reason[]): Blind {
  return { share: reasons.reduce((sum, { share }) => sum + share, 0), reasons };
}

function nothingSeen(reasons: Reason[], attributed: number): Report {
  const report = reportOf([], { blind: blind(...reasons) });
  Object.assign(report.samples, { total: 1000, attributed });
  report.samples.unattributed.noInstruction = 1000 - attributed;
  return report;
}

function place(fields: Partial<UnseenPlace> = {}): UnseenPlace {
  const code = { symbol: 'f', object: 'program', file: '/src/a.c', line: 10, inlined: [] };
  return { reason: 'clobbered', codeAddress: '0x401010', elfAddress: '0x1010', ...code, samples: 123, share: 0.123, ...fields };
}

describe('blindness', () => {
  it('is the headline from half of the samples on', () => {
    const [first] = firstWords(nothingSeen([JAVA], 4));
    assert.equal(
      first,
      "Most of this program's time (99.6%) was in code that no file backs (a JIT: Java). Nothing can be said about it. " +
        'In the other 4 samples no contended cache line was seen.',
    );
  });

  it('names the other reasons behind the one that is most of it, or all with their shares where none is', () => {
    const kernel: Reason = { reason: 'kernel', what: 'the kernel, whose accesses this recording does not know', share: 0.05 };
    const few: Reason = { reason: 'clobbered', what: 'code after an access whose address register was overwritten', share: 0.001 };
    const first = (...reasons: Reason[]): string => blindText(nothingSeen(reasons, 4));
    assert.equal(
      first({ ...JAVA, share: 0.921 }, kernel, few),
      "Most of this program's time (92.1%) was in code that no file backs (a JIT: Java). Nothing can be said about it. " +
        'Nor can anything be said about 5.0% in the kernel, whose accesses this recording does not know.',
    );
    assert.equal(
      first({ ...JAVA, share: 0.4 }, { ...LOST, share: 0.3 }),
      "Most of this program's time (70.0%) was where nothing can be said about it: " +
        '40.0% in code that no file backs (a JIT: Java) and 30.0% in samples that were lost while recording.',
    );
    assert.equal(
      first({ ...JAVA, share: 0.2 }),
      "Nothing can be said about 20.0% of this program's time: it was in code that no file backs (a JIT: Java).",
    );
  });

  it('is all there is to say where nothing else was seen', () => {
    assert.deepEqual(firstWords(nothingSeen([{ ...JAVA, share: 1 }], 0)), [
      "Most of this program's time (100.0%) was in code that no file backs (a JIT: Java). Nothing can be said about it.",
    ]);
  });

  it('comes before the lines that were found, too', () => {
    const line = cacheLine([access({ writes: 100 })], { contendedShare: 1 });
    const report = reportOf([line], { blind: blind({ ...JAVA, share: 0.5 }) });
    assert.match(
      plainWords(report)[0]!,
      /^Most of this program's time \(50\.0%\) was in code .*\. Nothing can be said about it\. 100\.0% of/,
    );
  });

  it('is in the first paragraph where it is less than half', () => {
    const line = cacheLine([access({ writes: 100 })], { contendedShare: 1 });
    const report = reportOf([line], { blind: blind({ ...JAVA, share: 0.3 }, { ...LOST, share: 0.15 }) });
    assert.match(
      plainWords(report)[0]!,
      /^100\.0% of .* Nothing can be said about 45\.0% of this program's time: 30\.0% was in code that no file backs \(a JIT: Java\) and 15\.0% in samples that were lost while recording\.$/,
    );
    assert.match(
      firstWords(nothingSeen([{ ...JAVA, share: 0.3 }], 700))[0]!,
      /^No contended cache line was seen in 1,000 samples\. Nothing/,
    );
  });

  it('is said once', () => {
    const text = reportText(nothingSeen([JAVA], 4), { path: 'x', width: 1000, folder: '' });
    assert.equal(text.match(/no file backs/g)?.length, 1, text);
    assert.doesNotMatch(text, /could be attributed/);
  });

  it('is not said of a program that only computes', () => {
    const report = reportOf([]);
    Object.assign(report.samples, { total: 1000, attributed: 10 });
    report.samples.unattributed.noMemoryOperand = 990;
    assert.match(firstWords(report)[0]!, /^No contended cache line was seen in 1,000 samples\.$/);
    assert.doesNotMatch(firstWords(report).join(' '), /Nothing can be said/);
  });

  it('speaks of samples where these are no time, and of the machine where all of it was recorded', () => {
    const report = hitmReport({ blind: blind({ ...LOST, share: 0.6 }) });
    assert.match(
      firstWords(report)[0]!,
      /^Most of this program's samples \(60\.0%\) were lost while recording\. Nothing can be said about them\. /,
    );
    const system = { target: { kind: 'system', ids: [], cpus: [], children: true } } as unknown as NonNullable<Report['recording']>;
    assert.match(blindText({ ...nothingSeen([JAVA], 4), recording: system }), /^Most of this machine's time/);
  });

  it('shows names of files that could drive a terminal as text', () => {
    const report = nothingSeen([{ ...JAVA, what: 'code of \u001b[7m (missing)' }], 0);
    assert.match(firstWords(report)[0]!, /code of \\x1b\[7m \(missing\)/);
  });

  it('is what an empty tree of contended data says', () => {
    assert.match(emptyTreeText(nothingSeen([JAVA], 4)), /^Most of this program's time \(99\.6%\) was in code that no file backs/);
    assert.match(
      emptyTreeText(nothingSeen([{ ...JAVA, share: 0.3 }], 700)),
      /^Nothing contended was measured in this profile\. .* record /,
    );
  });
});

describe('lost samples', () => {
  const words = (unseen: UnseenPlace[], row = access({ writes: 100, symbol: 'f', file: '/src/a.c', line: 12 })): string =>
    reportText(reportOf([cacheLine([row], { contendedShare: 1 })], { unseen }), { path: 'x', width: 1000, folder: '' }).replace(
      /\s+/g,
      ' ',
    );
  const bound =
    "Its share is a lower bound: close to its accesses, 12.3% of the samples are in 'f' (a.c:10), after an access whose address register was overwritten";

  it('are told by function and line', () => {
    assert.match(
      words([place()]),
      /12\.3% of the samples are in 'f' \(a\.c:10\), after an access whose address register was overwritten: what/,
    );
    assert.match(
      words([place({ reason: 'unmapped', file: '', line: 0 })]),
      /in 'f' at 0x401010 in program, at an access to an address in no/,
    );
  });

  it('are not told by place where they are few, or the place is all of a binary', () => {
    assert.doesNotMatch(words([place({ share: 0.009 }), place({ codeAddress: null, elfAddress: null })]), /of the samples are in/);
  });

  it('make the share of a line a lower bound where its code is close by', () => {
    const text = words([place()]);
    assert.equal(text.split(bound).length - 1, 2, 'in the first paragraph, and of the line');
    assert.doesNotMatch(words([place({ line: 8 })]), /lower bound/);
    assert.doesNotMatch(words([place({ symbol: 'g' })]), /lower bound/);
    assert.doesNotMatch(words([place({ object: 'other.so' })]), /lower bound/);
  });

  it('are close by address where lines are unknown', () => {
    const row = access({ writes: 100, symbol: 'f', file: '', line: 0, elfAddress: '0x1050' });
    assert.match(words([place({ file: '', line: 0 })], row), /lower bound/);
    assert.doesNotMatch(words([place({ file: '', line: 0, elfAddress: '0x100f' })], row), /lower bound/);
  });

  it('make what a refused change would gain a lower bound, of the object or the type that waits there', () => {
    const row = access({ writes: 100, symbol: 'f', file: '/src/a.c', line: 12 });
    const report = reportOf([cacheLine([{ ...row, data: { ...row.data, object: 'ring', type: 'Ring' } }])], { unseen: [place()] });
    const of = (given: Partial<Advice>, lost = report): string[] =>
      lostGains(adviceList([advice({ way: 'none', change: null, ...given })]), lost);
    const subject = { type: '', object: 'ring', members: [] };
    assert.deepEqual(of({ subject }), [
      "The predicted gain of a change of 'ring' is a lower bound: close to its accesses, 12.3% of the samples are in 'f' (a.c:10), " +
        'after an access whose address register was overwritten.',
    ]);
    assert.equal(of({ subject: { type: 'Ring', object: '', members: [] } }).length, 1);
    assert.equal(of({ subject, way: 'pad', predicted: { ...advice().predicted, threadsOnly: true } }).length, 1);
    // What is changed, what is shared truly, other data, and where no sample is lost.
    assert.deepEqual(of({ subject, way: 'pad' }), []);
    assert.deepEqual(of({ subject, verdict: 'true sharing' }), []);
    assert.deepEqual(of({ subject: { type: 'Other', object: 'other', members: [] } }), []);
    assert.deepEqual(of({ subject }, { ...report, unseen: null }), []);
  });
});
