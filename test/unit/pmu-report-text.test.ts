// The text of recordings with data sources around its tables: one as a whole, and what holds at every width.
import assert from 'node:assert/strict';
import { firstWords } from '../../extension/session/report/first-words';
import { c2cStatisticsText, c2cText, type C2cTextOptions } from '../../extension/session/report/c2c-text';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import type { Access, Report, Verdict } from '../../extension/protocol/report';
import { matchGolden } from './golden';
import { armReport, hostileReport, intelReport } from './pmu-reports';
import { finding, memoryAccess, memoryLine, memoryReport } from './report-builder';

const REPORTS = { intel: intelReport, arm: armReport, hostile: hostileReport };
const options = (width: number, style = PLAIN): C2cTextOptions => ({ width, style, path: 'perf.data', folder: '/home/ada/demo' });
const words = (report: Report, width: number, style = PLAIN): string => c2cText(report, [], options(width, style)).join('');

describe('text of recordings with data sources', () => {
  it('at 80 columns', () => matchGolden('pmu-intel-80.txt', words(intelReport(), 80)));

  it('rounds nothing to all or none, counts in full, and escapes names wherever they stand', () => {
    const text = words(hostileReport(), 80);
    assert.match(text, /^2,222,222,212 of 2,222,222,213 [^(]*\(>99\.9%\)/m);
    for (const row of ['Total records +: 6222222217', 'Load Remote HITM +: +987654321', 'Left out by the filters +: +17'])
      assert.match(text, new RegExp(`^  ${row}$`, 'm'));
    const name = 'evil\\x1b]0;owned\\x07\\x1b[2J\\u{202e}name\\n\\u{200b}end';
    const flat = text.replace(/\n +:? ?/g, '');
    for (const place of [`holds'${name}' at`, `: ${name}/ldlat=30/P`, `/tmp/${name}: missing:${name}`, `a name: ${name}`])
      assert.ok(flat.replaceAll('\n', '').includes(place), place);
  });

  it('has the engine’s tables between what is said before and behind them, as they are', () => {
    const tables = [Buffer.from('計\n'), Buffer.from('b\n')];
    const [before, after] = words(intelReport(), 80).split('\n814 more lines');
    const text = Buffer.concat(c2cText(intelReport(), tables, options(80)).map((part) => Buffer.from(part))).toString();
    assert.equal(text, `${before}\n計\nb\n\n814 more lines${after}`);
  });

  it('--stats is the statistics alone', () => {
    const text = c2cStatisticsText(intelReport(), 80);
    assert.match(text, /^=+\n +Trace Event Information\n=+\n {2}Total records {21}: {7}1839\n/);
    assert.match(text, /\n {2}Cachelines sort on {16}: Total HITMs\n {2}Cacheline data grouping {11}: offset,iaddr\n/);
    assert.doesNotMatch(text, /Cache Line Table|Recording/);
  });

  it('is never wider than the width and never holds a control character', () => {
    for (const make of Object.values(REPORTS)) {
      for (let width = 40; width <= 320; width += 7) {
        for (const line of words(make(), width).split('\n')) {
          assert.ok(displayWidth(line) <= width, `at ${width}: ${line}`);
          assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
          assert.doesNotMatch(line, /\s$/, `space at the end: ${JSON.stringify(line)}`);
        }
      }
    }
  });

  it('colours change nothing but colours', () => {
    for (const make of Object.values(REPORTS)) {
      for (const width of [60, 80, 200]) {
        const coloured = words(make(), width, COLOURED);
        assert.match(coloured, /\u001b\[1m/);
        assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), words(make(), width));
      }
    }
  });

  it('never says HITM of a machine that cannot tell', () => {
    assert.doesNotMatch(words(armReport(), 200), /hitm/i);
    const text = words(armReport(), 80);
    assert.match(text, /^344 of 384 [^(]*\(89\.6%\) were peer hits/m);
    assert.match(text, /\n {2}Load HIT Local Peer +: +300\n {2}Load HIT Remote Peer +: +44\n/);
    assert.match(text, /\n {2}Events +: arm_spe_0\/.*\n +: store_filter=1\/\n {2}Cachelines sort on +: Peer Snoop\n/);
  });
});

describe('the first words of recordings with data sources', () => {
  const paragraphs = (report: Report): string => firstWords(report).join('\n');
  const quiet = (more: Parameters<typeof memoryAccess>[0] = {}): Report =>
    memoryReport([memoryLine([memoryAccess({ ld: { l1: 90 }, stores: [10, 0, 0], ...more })])]);

  it('say how much, where, who, what it costs and what to look at', () => {
    const text = paragraphs(intelReport());
    assert.match(text, /^474 of 1,006 sampled loads \(47\.1%\) were HITMs/);
    assert.match(text, /97\.7% of .* 0x7f0e3c0010c0 \(pid 5000\), .*'counters' at \+0 to \+16: false sharing\./);
    assert.match(text, /67\.0% of its HITMs came from another node/);
    assert.match(text, / 470 cycles on average; at 'Worker::count\(unsigned long\)' \(server\.cpp:31\) 19 of 20 .* 1,216/);
    assert.match(text, /Look first at .*server\.cpp:31\), .* loads wait, and at .*server\.cpp:33\), .* writes/);
  });

  it('say what it means that there is no HITM, and never that nothing is contended', () => {
    const text = paragraphs(quiet());
    assert.match(text, /^None of 90 sampled loads was a HITM\.\n/);
    assert.match(text, /does not mean that no line is contended/);
  });

  it('say what elements of tasks and locks are, as those of other recordings do', () => {
    const row = (type: string, field: string, index: number): Access =>
      memoryAccess({
        ...{ hitm: [5, 5], stores: [10, 0, 0], threads: [1, 2] },
        data: { object: 'all', offset: 0, definition: null, how: 'global', type, field, fieldOffset: 0, index },
      });
    const text = (rows: Access[], verdict: Verdict): string => paragraphs(memoryReport([memoryLine(rows, { verdict, flags: ['lock'] })]));
    assert.match(text([row('Slot', 'hits', 0), row('Slot', 'hits', 1)], 'true sharing'), /belongs to a task/);
    assert.match(text([row('pthread_mutex_t', '__data.__lock', 1)], 'mixed'), /turns at a lock of pthreads/);
  });

  it('say of Go that threads are not goroutines', () => {
    const text = (file: string, verdict: Verdict): string =>
      paragraphs(memoryReport([memoryLine([memoryAccess({ hitm: [5, 5], stores: [10, 0, 0], threads: [1, 2], file })], { verdict })]));
    assert.match(text('/src/main.go', 'true sharing'), /Go moves goroutines from one to another/);
    assert.doesNotMatch(text('/src/main.go', 'false sharing'), /goroutines/);
    assert.doesNotMatch(text('/src/main.c', 'true sharing'), /goroutines/);
  });

  /** 1,000 HITMs, of which the first line has 60; an array of 2,048 lines that are not listed has 900. */
  const spread = (slots: number, fields: Partial<Report> = {}): Report => {
    const row = memoryAccess({ hitm: [30, 30], stores: [1, 0, 0], data: { object: 'hot', offset: 0, definition: null } });
    const report = memoryReport(
      [memoryLine([row], { verdict: 'true sharing' })],
      {},
      { linesLeftOut: 2051, contendedLeftOut: 940, ...fields },
    );
    Object.assign(report.stats, { loads: 1000, localHitm: 500, remoteHitm: 500 });
    report.samples.contended = 1000;
    const array = slots === 0 ? [] : [finding({ object: 'Slot (heap)' }, slots, { lineCount: 2048 })];
    report.findings = [...array, ...report.findings].sort((a, b) => b.contended - a.contended);
    for (const access of report.lines.flatMap(({ accesses }) => accesses)) access.finding = slots > 60 ? 1 : 0;
    return report;
  };

  it('say first what has more than the first line, on lines that are not listed', () => {
    const text = paragraphs(spread(900));
    assert.match(text, /90\.0% .*'Slot \(heap\)', spread over 2,048 lines: false sharing\. 6\.0% .* the line/);
    assert.match(text, /\nThreads .*--show-all lists its lines/);
    assert.doesNotMatch(text, /They are|turns at a lock/);
    assert.match(paragraphs(spread(59)), /were HITMs: [^.]*\. 6\.0% of these HITMs are on the line/);
  });

  it('say of what no line has much that it is there', () => {
    const none = { lines: [], contendedLeftOut: 1000 };
    assert.match(paragraphs(spread(900, none)), /^1,000 of [^.]*\(100\.0%\)[^.]*\. 90\.0% .*'Slot/);
    assert.match(paragraphs({ ...spread(0, none), findings: [] }), / not listed: .* 0\.1% .*--show-all/);
  });

  it('say what lines have that are left out', () => {
    const text = words(spread(0), 200);
    assert.match(text, /\n2,051 more lines with 94\.0% [^]*? 0\.1% [^]*?--show-all/);
    assert.match(words(spread(0, { contendedLeftOut: 0 }), 200), /\n2,051 more lines with accesses but no HITMs \(/);
  });

  it('point at the display that shows something', () => {
    const local = quiet({ hitm: [5, 0] });
    local.c2c!.display = 'rmt';
    assert.match(paragraphs(local), /^None of 95 [^.]* remote HITM\. .* 5 HITMs: -d tot /);
    const arm = armReport();
    arm.c2c!.display = 'tot';
    assert.match(paragraphs(arm), /cannot tell HITMs.* -d peer shows them\./);
  });

  it('tell a recording without loads or samples from one without contention', () => {
    assert.match(paragraphs(quiet({ ld: {} })), /no loads \(10 stores\)/);
    const unknown = quiet({ ld: {}, stores: [0, 0, 0] });
    unknown.samples.total = unknown.stats['noParse'] = 300;
    assert.match(paragraphs(unknown), /^No sample says where its data came from/);
    assert.match(words({ ...unknown, evidence: [] }, 80), /^Evidence +none: no sample says/m);
    const filtered = quiet();
    filtered.samples.total = 0;
    filtered.samples.filtered = 1234;
    assert.match(paragraphs(filtered), /^The filters left none of 1,234 samples/);
    filtered.samples.filtered = 0;
    assert.match(paragraphs(filtered), /no samples/);
  });
});
