// The text report: goldens at two widths, and what holds at every width.
import assert from 'node:assert/strict';
import { plainWords } from '../../extension/session/plain-words';
import { reportText, type ReportTextOptions } from '../../extension/session/report-text';
import { ownPlace, readablePath } from '../../extension/session/source-path';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/terminal-text';
import { reportFixture, reportNames } from './fixtures';
import { matchGolden } from './golden';

const options = (name: string, width: number, more: Partial<ReportTextOptions> = {}): ReportTextOptions => ({
  width,
  path: `${name}.cacheline`,
  folder: '/home/ada/demo',
  ...more,
});

describe('report text', () => {
  for (const name of reportNames) {
    for (const width of [80, 200]) {
      it(`${name} at ${width} columns`, () =>
        matchGolden(`report-${name}-${width}.txt`, reportText(reportFixture(name), options(name, width))));
    }
  }

  it('spread-array with --show-all', () =>
    matchGolden('report-spread-array-all.txt', reportText(reportFixture('spread-array'), options('spread-array', 100, { showAll: true }))));

  it('false-sharing in colours', () =>
    matchGolden(
      'report-false-sharing-colours.txt',
      reportText(reportFixture('false-sharing'), options('false-sharing', 100, { style: COLOURED })),
    ));

  it('says in its first lines which collectors were not taken, and why', () => {
    const report = reportFixture('false-sharing');
    assert.ok(report.recording);
    report.recording.notTaken = [
      { collector: 'pmu', reason: 'no memory PMU\u001b[2J on this machine' },
      { collector: 'agent', reason: 'perf events are allowed' },
    ];
    const [head] = reportText(report, options('false-sharing', 100)).split('\n\n');
    assert.match(
      head ?? '',
      /\nCollector {2}clock: [^]*\nNot taken {2}pmu: no memory PMU\\x1b\[2J on this machine\nNot taken {2}agent: perf events are allowed\nEvidence/,
    );
  });

  it('does not say of a binary what a warning says', () => {
    const report = reportFixture('false-sharing');
    const [binary] = report.binaries.filter(({ status }) => status !== 'ok');
    assert.match(reportText(report, options('false-sharing', 100)), /Binaries with something missing/);
    report.warnings = [`${binary!.path}: ${binary!.status}; 5 samples were taken in it`];
    assert.doesNotMatch(reportText(report, options('false-sharing', 100)), /Binaries with something missing/);
  });

  it('says what was attached to, and a period instead of a rate', () => {
    const report = reportFixture('false-sharing');
    assert.ok(report.recording);
    const { command } = report.recording;
    const headOf = (target: NonNullable<typeof report.recording>['target'], own: string[] = []): string => {
      Object.assign(report.recording!, { target, command: own });
      return reportText(report, options('false-sharing', 200)).split('\n\n')[0] ?? '';
    };
    const of = { ids: [], cpus: [], children: true };
    assert.match(headOf({ ...of, kind: 'processes', ids: [17] }), /\nProgram {4}process 17, attached to\n/);
    assert.match(headOf({ ...of, kind: 'threads', ids: [18, 19], cpus: [0, 2] }), /threads 18, 19, attached to, on CPU 0, 2\n/);
    assert.match(headOf({ ...of, kind: 'system' }), /\nProgram {4}the whole machine\n/);
    assert.match(headOf({ ...of, kind: 'system' }, command), /the whole machine, while this ran: .* \(exit status 0\)\n/);
    Object.assign(report.recording, { frequency: 0, period: 20_000 });
    assert.match(headOf({ ...of, kind: 'system' }), /, a sample every 20,000\s+nanoseconds\n/);
  });

  it('is never wider than the width and never holds a control character', () => {
    for (const name of reportNames) {
      for (let width = 40; width <= 260; width += 3) {
        for (const line of reportText(reportFixture(name), options(name, width)).split('\n')) {
          assert.ok(displayWidth(line) <= width, `${name} at ${width}: ${line}`);
          assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
          assert.doesNotMatch(line, /\s$/, `space at the end: ${JSON.stringify(line)}`);
        }
      }
    }
  });

  it('colours change nothing but colours', () => {
    for (const name of reportNames) {
      for (const width of [60, 80, 120, 200]) {
        const coloured = reportText(reportFixture(name), options(name, width, { style: COLOURED }));

        assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), reportText(reportFixture(name), options(name, width, { style: PLAIN })));
      }
    }
  });

  it('limits what it lists and says what it left out', () => {
    const report = reportFixture('spread-array');
    const [line] = report.lines;
    assert.ok(line);
    report.lines = Array.from({ length: 1000 }, () => line);
    const text = reportText(report, options('x', 80));
    assert.match(text, /980 more lines \(--show-all/);
    assert.ok(text.split('\n').length < 200);
    assert.doesNotMatch(reportText(report, options('x', 80, { showAll: true })), /more lines/);
  });

  it('names the access by the line of the one who uses an atomic, not by the header', () => {
    const [access] = reportFixture('spread-array').lines[0]!.accesses;
    assert.deepEqual(ownPlace(access!), { file: '/home/ada/demo/src/metrics/histogram.hpp', line: 44 });
    assert.deepEqual(ownPlace({ ...access!, inlined: [] }), { file: access!.file, line: access!.line });
    assert.equal(ownPlace({ file: '', line: 0, inlined: [] }), undefined);
  });

  it('shows paths below the folder relative to it, and no others', () => {
    assert.equal(readablePath('/a/b/c.c', '/a'), 'b/c.c');
    assert.equal(readablePath('/a/b/c.c', '/a/x'), '/a/b/c.c');
    assert.equal(readablePath('/ab/c.c', '/a'), '/ab/c.c');
    assert.equal(readablePath('c.c', '/a'), 'c.c');
    assert.equal(readablePath('/a/..c/d.c', '/a'), '..c/d.c');
  });
});

describe('plain words', () => {
  it('say that little contention is little', () => {
    const report = reportFixture('false-sharing');
    report.samples.total = 1_000_000;
    assert.match(plainWords(report)[0]!, /hardly change the run time/);
  });

  it('say how much could not be attributed where nothing was found', () => {
    const report = reportFixture('clean');
    report.samples.attributed = 100;
    assert.match(plainWords(report).join('\n'), /Only 4\.1 % of the samples/);
  });

  it('never claim that there is no false sharing', () => {
    const text = plainWords(reportFixture('clean')).join('\n');
    assert.match(text, /^No contended cache line was seen in 2,466 samples\./);
    assert.match(text, /does not mean that there is none/);
  });
});
