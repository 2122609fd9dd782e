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
    assert.match(firstWords(nothingSeen([JAVA], 4))[0]!, /^Most of .*\(99\.6%\).* no file backs .*Java.* the other 4 samples /);
  });

  it('names the other reasons behind the one that is most of it, or all with their shares where none is', () => {
    const kernel: Reason = { reason: 'kernel', what: 'the kernel, whose accesses this recording does not know', share: 0.05 };
    const few: Reason = { reason: 'clobbered', what: 'code after an access whose address register was overwritten', share: 0.001 };
    const first = (...reasons: Reason[]): string => blindText(nothingSeen(reasons, 4));
    const most = first({ ...JAVA, share: 0.921 }, kernel, few);
    assert.match(most, /^Most of .*\(92\.1%\).* no file backs .*Java.* 5\.0% in the kernel/);
    assert.doesNotMatch(most, /overwritten/, 'that is hardly any of it');
    assert.match(
      first({ ...JAVA, share: 0.4 }, { ...LOST, share: 0.3 }),
      /^Most of .*\(70\.0%\).* 40\.0% in code that no file backs .*Java.* 30\.0% in samples that were lost/,
    );
    assert.match(first({ ...JAVA, share: 0.2 }), /^Nothing .* 20\.0% of this program's time.* no file backs .*Java/);
  });

  it('is all there is to say where nothing else was seen', () => {
    const [first, ...others] = firstWords(nothingSeen([{ ...JAVA, share: 1 }], 0));
    assert.match(first!, /^Most of .*\(100\.0%\).* no file backs .*Java/);
    assert.doesNotMatch(first!, /contended/);
    assert.deepEqual(others, []);
  });

  it('comes before the lines that were found, too', () => {
    const line = cacheLine([access({ writes: 100 })], { contendedShare: 1 });
    const report = reportOf([line], { blind: blind({ ...JAVA, share: 0.5 }) });
    assert.match(plainWords(report)[0]!, /^Most of .*\(50\.0%\).*Java.* 100\.0% of/);
  });

  it('is in the first paragraph where it is less than half', () => {
    const line = cacheLine([access({ writes: 100 })], { contendedShare: 1 });
    const report = reportOf([line], { blind: blind({ ...JAVA, share: 0.3 }, { ...LOST, share: 0.15 }) });
    assert.match(plainWords(report)[0]!, /^100\.0% of .* 45\.0% of this program's time.* 30\.0% .*Java.* 15\.0% .*lost/);
    assert.match(firstWords(nothingSeen([{ ...JAVA, share: 0.3 }], 700))[0]!, /^No contended [^.]* 1,000 samples\. Nothing/);
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
    assert.match(firstWords(report)[0]!, /^No contended [^.]* 1,000 samples\.$/);
    assert.doesNotMatch(firstWords(report).join(' '), /Nothing can be said/);
  });

  it('speaks of samples where these are no time, and of the machine where all of it was recorded', () => {
    const report = hitmReport({ blind: blind({ ...LOST, share: 0.6 }) });
    assert.match(firstWords(report)[0]!, /^Most of this program's samples \(60\.0%\) .*lost/);
    const system = { target: { kind: 'system', ids: [], cpus: [], children: true } } as unknown as NonNullable<Report['recording']>;
    assert.match(blindText({ ...nothingSeen([JAVA], 4), recording: system }), /^Most of this machine's time/);
  });

  it('shows names of files that could drive a terminal as text', () => {
    const report = nothingSeen([{ ...JAVA, what: 'code of \u001b[7m (missing)' }], 0);
    assert.match(firstWords(report)[0]!, /code of \\x1b\[7m \(missing\)/);
  });

  it('is what an empty tree of contended data says', () => {
    assert.match(emptyTreeText(nothingSeen([JAVA], 4)), /^Most of .*\(99\.6%\).* no file backs/);
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
  const bound = /lower bound: [^.]*12\.3% of the samples are in 'f' \(a\.c:10\)/g;

  it('are told by function and line', () => {
    assert.match(words([place()]), /12\.3% of the samples are in 'f' \(a\.c:10\), after an access .* overwritten/);
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
    assert.equal(text.match(bound)?.length, 2, 'in the first paragraph, and of the line');
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
    assert.equal(of({ subject }).length, 1);
    assert.match(of({ subject })[0]!, /'ring' .*lower bound: .* 12\.3% .* in 'f' \(a\.c:10\)/);
    assert.equal(of({ subject: { type: 'Ring', object: '', members: [] } }).length, 1);
    assert.equal(of({ subject, way: 'pad', predicted: { ...advice().predicted, threadsOnly: true } }).length, 1);
    // What is changed, what is shared truly, other data, and where no sample is lost.
    assert.deepEqual(of({ subject, way: 'pad' }), []);
    assert.deepEqual(of({ subject, verdict: 'true sharing' }), []);
    assert.deepEqual(of({ subject: { type: 'Other', object: 'other', members: [] } }), []);
    assert.deepEqual(of({ subject }, { ...report, unseen: null }), []);
  });
});
