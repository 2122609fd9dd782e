// The text of recordings with data sources: goldens at three widths, and what holds at every width.
import assert from 'node:assert/strict';
import { c2cWords } from '../../extension/session/c2c-words';
import { reportText, type ReportTextOptions } from '../../extension/session/report-text';
import { COLOURED, displayWidth } from '../../extension/session/terminal-text';
import type { Report } from '../../extension/protocol/report';
import { matchGolden } from './golden';
import { armReport, hostileReport, intelReport } from './pmu-reports';
import { memoryAccess, memoryLine, memoryReport } from './report-builder';

const REPORTS = { intel: intelReport, arm: armReport, hostile: hostileReport };
const options = (width: number, c2c: ReportTextOptions['c2c'] = {}): ReportTextOptions => ({
  width,
  path: 'perf.data',
  folder: '/home/ada/demo',
  c2c,
});

describe('text of recordings with data sources', () => {
  for (const [name, make] of Object.entries(REPORTS)) {
    for (const width of [80, 120, 200]) {
      it(`${name} at ${width} columns`, () => matchGolden(`pmu-${name}-${width}.txt`, reportText(make(), options(width))));
    }
  }

  it('with -N, rows told apart by process and thread, and no sources', () => {
    const report = intelReport();
    report.c2c!.coalesce = ['tid', 'pid', 'dso'];
    matchGolden('pmu-intel-coalesced.txt', reportText(report, options(100, { nodeInfo: 1, source: false })));
  });

  it('with -NN and --full-symbols', () =>
    matchGolden('pmu-hostile-full.txt', reportText(hostileReport(), options(100, { nodeInfo: 2, fullSymbols: true }))));

  it('names the callers of a code address once, as shares of its call chains, and says where there are none', () => {
    const report = intelReport();
    report.lines[1]!.accesses.push({ ...report.lines[0]!.accesses[0]! });
    const text = reportText(report, options(100, { callers: true }));
    assert.match(
      text,
      /\n {2}74\.97% from Worker::run\(\) at 0x401311 \(src\/server\.cpp:52\) < main at 0x401400 \(src\/server\.cpp:80\)\n/,
    );
    assert.equal(text.match(/^Worker::count\(unsigned long\) at 0x40116d:$/gm)?.length, 1);
    assert.match(reportText(armReport(), options(80, { callers: true })), /No callers: the rows have no call chains/);
    assert.doesNotMatch(reportText(armReport(), options(80)), /callers/i);
  });

  it('--stats is the statistics alone', () => {
    const text = reportText(intelReport(), options(80, { statsOnly: true }));
    assert.match(text, /^=+\n +Trace Event Information\n=+\n {2}Total records {21}: {7}1839\n/);
    assert.match(text, /\n {2}Cachelines sort on {16}: Total HITMs\n {2}Cacheline data grouping {11}: offset,iaddr\n/);
    assert.doesNotMatch(text, /Cache Line Table|Recording/);
  });

  it('is never wider than the width and never holds a control character', () => {
    for (const make of Object.values(REPORTS)) {
      for (let width = 40; width <= 320; width += 7) {
        for (const nodeInfo of [0, 2] as const) {
          for (const line of reportText(make(), options(width, { nodeInfo, fullSymbols: nodeInfo === 2 })).split('\n')) {
            assert.ok(displayWidth(line) <= width, `at ${width}: ${line}`);
            assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
            assert.doesNotMatch(line, /\s$/, `space at the end: ${JSON.stringify(line)}`);
          }
        }
      }
    }
  });

  it('never cuts a number, however narrow', () => {
    for (const make of Object.values(REPORTS)) {
      const report = make();
      const numbers = report.lines.flatMap(({ address, hitm, peer, records, stores, accesses }) => [
        ...[address, hitm?.local ?? 0, peer?.remote ?? 0, records, stores.total],
        ...accesses.flatMap(({ codeAddress, paCount, cycles, records: own, cpus }) => [
          codeAddress,
          paCount ?? 0,
          cycles?.max ?? 0,
          own,
          cpus,
        ]),
      ]);
      for (let width = 40; width <= 320; width += 13) {
        const words = new Set(reportText(report, options(width)).split(/\s+/));
        for (const number of numbers) assert.ok(words.has(String(number)), `${number} at ${width}`);
      }
    }
  });

  it('--full-symbols keeps all of a name', () => {
    const report = hostileReport();
    const { symbol } = report.lines[0]!.accesses[1]!;
    assert.ok(symbol.length > 400);
    for (const width of [80, 200, 1000]) {
      const text = reportText(report, options(width, { fullSymbols: true }));
      assert.ok(text.replace(/\s/g, '').includes(symbol.replace(/\s/g, '')), `at ${width}`);
    }
    assert.ok(!reportText(report, options(200)).replace(/\s/g, '').includes(symbol.replace(/\s/g, '')));
  });

  it('colours change nothing but colours', () => {
    for (const make of Object.values(REPORTS)) {
      for (const width of [60, 80, 200]) {
        const coloured = reportText(make(), { ...options(width), style: COLOURED });
        assert.match(coloured, /\u001b\[1m/);
        assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), reportText(make(), options(width)));
      }
    }
  });

  it('never says HITM of a machine that cannot tell', () => {
    assert.doesNotMatch(reportText(armReport(), options(200)), /hitm/i);
    assert.match(
      reportText(armReport(), options(80)),
      /344 of 384 sampled loads \(89\.6 %\) were peer hits: another core’s cache answered/,
    );
  });
});

describe('plain words of recordings with data sources', () => {
  const words = (report: Report): string => c2cWords(report).join('\n');
  const quiet = (more: Parameters<typeof memoryAccess>[0] = {}): Report =>
    memoryReport([memoryLine([memoryAccess({ ld: { l1: 90 }, stores: [10, 0, 0], ...more })])]);

  it('say how much, where, who, what it costs and what to look at', () => {
    const text = words(intelReport());
    assert.match(text, /^474 of 1,006 sampled loads \(47\.1 %\) were HITMs/);
    assert.match(
      text,
      /97\.7 % of these HITMs are on the line 0x7f0e3c0010c0 \(pid 5000\), which holds 'counters' at \+0 to \+16: false sharing\./,
    );
    assert.match(text, /67\.0 % of its HITMs came from another node/);
    assert.match(
      text,
      /took 470 cycles on average; at 'Worker::count\(unsigned long\)' \(server\.cpp:31\) 19 of 20 loads took up to 1,216/,
    );
    assert.match(text, /Look first at .*server\.cpp:31\), where most of these loads wait, and at .*server\.cpp:33\), which writes most\./);
  });

  it('say what it means that there is no HITM, and never that nothing is contended', () => {
    const text = words(quiet());
    assert.match(text, /^None of 90 sampled loads was a HITM\.\n/);
    assert.match(text, /does not mean that no line is contended/);
  });

  it('point at the display that shows something', () => {
    const local = quiet({ hitm: [5, 0] });
    local.c2c!.display = 'rmt';
    assert.match(words(local), /^None of 95 sampled loads was a remote HITM\. There are 5 HITMs: -d tot shows them\./);
    const arm = armReport();
    arm.c2c!.display = 'tot';
    assert.match(words(arm), /cannot tell HITMs.* -d peer shows them\./);
  });

  it('tell a recording without loads or samples from one without contention', () => {
    assert.match(words(quiet({ ld: {} })), /no loads \(10 stores\)/);
    const unknown = quiet({ ld: {}, stores: [0, 0, 0] });
    unknown.samples.total = unknown.stats['noParse'] = 300;
    assert.match(words(unknown), /^No sample says where its data came from/);
    const filtered = quiet();
    filtered.samples.total = 0;
    filtered.c2c!.filtered = 1234;
    assert.match(words(filtered), /^The filters left none of 1,234 samples/);
    filtered.c2c!.filtered = 0;
    assert.match(words(filtered), /no memory samples/);
  });
});
