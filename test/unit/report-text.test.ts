// The text report: the pages that are read as a whole, what the others must say, and what holds at every width.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access, CacheLine, CallerFrame, Report, Verdict } from '../../extension/protocol/report';
import { firstWords } from '../../extension/session/report/first-words';
import { plainWords } from '../../extension/session/report/plain-words';
import { reportText, type ReportTextOptions } from '../../extension/session/report/report-text';
import { readablePath } from '../../extension/session/lines/source-path';
import { isForeign } from '../../extension/protocol/own-place';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { reportFixture, reportNames } from './fixtures';
import { matchGolden } from './golden';
import { access, cacheLine, report as reportOf } from './report-builder';

const options = (name: string, width: number, more: Partial<ReportTextOptions> = {}): ReportTextOptions => ({
  width,
  path: `${name}.cacheline`,
  folder: '/home/ada/demo',
  ...more,
});

describe('report text', () => {
  for (const name of ['false-sharing', 'untrusted-names'])
    it(`${name} at 80 columns`, () => matchGolden(`report-${name}-80.txt`, reportText(reportFixture(name), options(name, 80))));

  /** In words, wherever lines break. */
  const flat = (name: string, more: Partial<ReportTextOptions> = {}): string =>
    reportText(reportFixture(name), options(name, 100, more)).replace(/\s+/g, ' ');

  it('says of a recording without contention what was left out, and has no tables', () => {
    const text = flat('clean');
    assert.match(text, / 1 line that several threads only read and 6 lines that no two threads [^.]*left out \(--show-all/);
    assert.match(text, / Not attributed: 9 samples \(0\.4%\) 9 in the kernel/);
    assert.doesNotMatch(text, /Contended (cache lines|types)|Line 1/);
  });

  it('says of a recording without samples how long the program ran, and nothing of data', () => {
    const text = flat('empty');
    assert.match(text, /Only 0 samples: [^;]*0\.01 s [^;]*0\.00 s of CPU time/);
    assert.doesNotMatch(text, /Contended|Not attributed/);
  });

  it('names objects of the heap by their members, says who allocated them, and sums up their type', () => {
    const text = flat('heap-objects');
    assert.match(text, / Worker\[0\.\.1\]\.count, Worker\[0\.\.1\]\.today\.cents /);
    assert.match(
      text,
      / 48 atomic 50\.1% 298 1 Worker\[1\]\.count run\(Worker\*\) pool\.cpp:13 8 atomic 46\.1% .* 0 rmw 3\.0% .* 40 rmw 0\.8% /,
    );
    assert.match(text, / Worker at 0x56165cec9ed8: [^;]*`worker` in run\(Worker\*\); 160 bytes [^;]*make_workers\(int\) \(pool\.cpp:11\)/);
    assert.match(text, / Contended types .* 100\.0% 97\.7% 2 1 40 false sharing Worker count 96\.1% \(w\), today\.cents 3\.9% \(w\) /);
  });

  it('says in whose stack data lies, and how its type is known', () => {
    const text = flat('lent-stacks');
    assert.match(text, / Line 1: .* in the stack of main .* Line 2: .* in the stack of lender 1054 /);
    assert.match(text, / int at 0x7fffcab8f744: [^;]*`own` in count /);
    assert.match(text, / pair at 0x7ff64e301e40: [^;]*through the code /);
  });

  it('lists what is spread over many lines, the most contended first, and says why samples have no address', () => {
    const shown = reportText(reportFixture('spread-array'), options('spread-array', 100));
    const shares = [...shown.matchAll(/^ *\d+ +(\d+\.\d)% .* 0x/gm)].map(([, share]) => Number(share));
    assert.equal(shares.length, 13);
    assert.deepEqual(
      shares,
      shares.toSorted((a, b) => b - a),
    );
    const text = flat('spread-array');
    assert.match(text, / \(ended by signal 15; [^)]*stopped early\) /);
    assert.match(text, / 43\.6% .*\(2,174 of 4,990\) .* 13 cache lines .* 91\.9% .*buckets', spread over 12 lines: mixed\. /);
    assert.match(text, / Details of 8 more lines [^.]*--show-all/);
    assert.match(text, / Objects contended on several lines .* 91\.9% 40\.0% 12 mixed 1,998 .*buckets src\/metrics\/registry\.cpp:17 /);
    assert.match(
      text,
      / Not attributed: 499 samples \(10\.0%\) 402 \D* 55 thread-local \D* 31 \D* 8 \D* 3 \D* Warnings 12 samples were lost/,
    );
    const all = flat('spread-array', { showAll: true });
    assert.match(all, / Cache lines .* Line 13: /);
    assert.doesNotMatch(all, /Details of/);
  });

  it('says who called, the commonest chains first', () => {
    const frame = (symbol: string, line: number): CallerFrame => ({
      ...{ codeAddress: '0x1', symbol, object: 'server', file: `/home/ada/${symbol}.c`, line, inlined: [] },
    });
    const start = { codeAddress: '0x9', symbol: 'start_thread', object: 'libc.so.6', file: 'nptl/create.c', line: 442, inlined: [] };
    const unknown = { codeAddress: '0x0', symbol: '', object: '', file: '', line: 0, inlined: [] };
    const named = { codeAddress: '0x77', symbol: '', object: 'lib\u001b.so', file: '', line: 0, inlined: [] };
    const callers = [
      { records: 2, hitm: null, frames: [frame('b', 2), frame('c', 3), start] },
      { records: 3, hitm: null, frames: [frame('a', 1), start] },
      { records: 1, hitm: null, frames: [unknown, frame('c', 3)] },
      { records: 4, hitm: null, frames: [frame('a', 1)] },
      { records: 1, hitm: null, frames: [named] },
    ];
    const report = reportOf([cacheLine([{ ...access({ writes: 11, offset: 8, symbol: 'add' }), callers }])]);
    const text = reportText(report, options('called', 80, { callers: true }));
    assert.match(
      text,
      /  add at offset 8 was called from\n     63\.6%  a \(a\.c:1\)\n     18\.2%  b \(b\.c:2\) < c \(c\.c:3\)\n      9\.1%  unknown \(record --call-graph dwarf tells\) < c \(c\.c:3\)\n    1 more call chain \(--format json lists them\)\n/,
    );
    assert.doesNotMatch(text, /No callers/);
    report.lines[0]!.accesses[0]!.callers = [{ records: 1, hitm: null, frames: [named] }];
    assert.match(reportText(report, options('called', 80)), / 9\.1%  0x77 in lib\\x1b\.so\n/);
    report.lines[0]!.accesses[0]!.callers = [];
    assert.match(reportText(report, options('called', 80, { callers: true })), /\nNo callers: /);
    assert.doesNotMatch(reportText(report, options('called', 80)), /No callers/);
  });

  it('says once who called the rows of one function and offset', () => {
    const row = (kind: 'reads' | 'writes', symbol: string): Access => ({
      ...access({ [kind]: 10, offset: 8, symbol: 'add' }),
      callers: [
        { records: 4, hitm: null, frames: [{ codeAddress: '0x1', symbol, object: 'server', file: '/home/ada/a.c', line: 1, inlined: [] }] },
      ],
    });
    const text = reportText(
      reportOf([cacheLine([row('reads', 'one'), row('writes', 'two'), row('writes', 'one')])]),
      options('called', 80),
    );
    assert.match(text, /\n  add at offset 8 was called from\n     26\.7%  one \(a\.c:1\)\n     13\.3%  two \(a\.c:1\)\n(?![^]*was called)/);
  });

  it('says why there are no callers where they were asked for', () => {
    const text = (report: Report): string => reportText(report, options('called', 200, { callers: true }));
    const report = reportOf([cacheLine([{ ...access({ writes: 9 }), callers: [] }])]);
    assert.match(text(report), /\nNo callers: .* `cacheline record --call-graph dwarf` records them\.\n/);
    assert.match(text({ ...report, collector: 'agent' }), /\nNo callers: .* The agent records none\.\n/);
    assert.doesNotMatch(text(reportOf([])), /No callers/, 'there is nothing that was called');
  });

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
      /\nCollector {2}clock: [^]*\nNot used {3}pmu: no memory PMU\\x1b\[2J on this machine\nNot used {3}agent: perf events are allowed\nEvidence/,
    );
  });

  it('does not say of a binary what a warning says', () => {
    const report = reportFixture('false-sharing');
    const [binary] = report.binaries.filter(({ status }) => status !== 'ok');
    assert.match(reportText(report, options('false-sharing', 100)), /Binaries with something missing/);
    report.warnings = [`${binary!.path}: ${binary!.status}; 5 samples were taken in it`];
    assert.doesNotMatch(reportText(report, options('false-sharing', 100)), /Binaries with something missing/);
    binary!.status = 'changed';
    report.warnings = [`${binary!.path}: names are missing (work.dwo was not found.); 5 samples were taken in it`];
    assert.ok(reportText(report, options('false-sharing', 100)).includes(`${binary!.path}: changed`), 'which that warning does not say');
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
    Object.assign(report.recording, { frequency: 250, collector: 'agent' });
    assert.match(headOf({ ...of, kind: 'system' }), /, 250 samples\s+per\s+second\s+per\s+thread\n/);
    Object.assign(report.recording, { frequency: 0, period: 20_000, collector: 'clock' });
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

  it('has tables without sources, and names of functions in full, where that is asked for', () => {
    const long = `ns::${'Template<int, long>::'.repeat(8)}run()`;
    const report = reportFixture('spread-array');
    for (const line of report.lines) for (const row of line.accesses) Object.assign(row, { symbol: long, inlined: [] });
    const tables = (width: number, more: Partial<ReportTextOptions>): string => {
      const all = reportText(report, options('x', width, more));
      return all.slice(all.indexOf('Contended cache lines'));
    };
    assert.match(tables(100, {}), /…/);
    assert.match(tables(200, {}), /histogram\.hpp:44/);
    for (let width = 40; width < 300; width += 20) {
      const text = tables(width, { fullSymbols: true, source: false });
      assert.doesNotMatch(text, /defined at|\.(h|cpp):\d/);
      assert.ok(text.replace(/\s+/g, '').includes(long.replace(/\s+/g, '')), `${width}: ${text}`);
      for (const line of text.split('\n')) assert.ok(displayWidth(line) <= width, line);
    }
  });

  it('has headings and data in bold, verdicts in colour, and names of columns faint', () => {
    const coloured = reportText(reportFixture('false-sharing'), options('false-sharing', 100, { style: COLOURED }));
    for (const mark of ['[1mRecording', '[1mContended cache lines', '[1mproduced+0', '[31mfalse sharing', '[2mshare'])
      assert.ok(coloured.includes(`\u001b${mark}`), mark);
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

  it('knows the sources of the program from what languages and packages bring', () => {
    const files = readFileSync(join(__dirname, '../fixtures/source-files.txt'), 'utf8').trim().split('\n');
    assert.ok(files.length > 20);
    for (const [whose, file = ''] of files.map((one) => one.split(' '))) assert.equal(isForeign({ file }), whose !== 'own', file);
  });

  it('counts only lines that threads compete for where it says over how many an object is spread', () => {
    const pending = (index: number): Parameters<typeof access>[0] => ({
      data: {
        object: 'pending',
        offset: 64 * index,
        definition: null,
        how: 'global',
        type: 'Pending[8]',
        field: 'value',
        fieldOffset: 64 * index,
        index,
      },
    });
    const contended = cacheLine([access({ ...pending(1), reads: 50, writes: 1 })], { verdict: 'true sharing', contendedShare: 1 });
    const polled = cacheLine([{ ...access({ ...pending(2), reads: 40 }), contended: 0 }], { verdict: 'read-shared', address: '0x404080' });
    const sum = { object: 'pending', space: 'pid 1', verdict: 'true sharing', lines: 2, contended: 51, contendedShare: 1 } as const;
    const text = reportText(reportOf([contended, polled], { objects: [sum as unknown as Report['objects'][number]] }), options('x', 100));
    assert.doesNotMatch(text, /spread over|on several lines/);
    assert.match(text, /at a cache line that threads compete for\. It\s+holds 'pending'/);
  });

  it('writes accesses that read the same as one row', () => {
    const unrolled = (codeAddress: string, threads: number[]): Access => access({ writes: 20, codeAddress, threads });
    const line = cacheLine([unrolled('0x401000', [1]), unrolled('0x401010', [2]), access({ writes: 5, line: 2 })], { contendedShare: 1 });
    const text = reportText(reportOf([line]), options('x', 100));
    assert.match(
      text,
      /\n +0 +write +88\.9% +40 +2 +shared\+0 +work +\/src\/program\.c:1\n +0 +write +11\.1% +5 +1 +shared\+0 +work +\/src\/program\.c:2\n/,
    );
  });

  it('keeps what was trapped at different bytes by one instruction apart', () => {
    const watch = { reads: 0, writes: 5, unknown: 0, threads: [1], windowMs: 5 };
    const rows = [0, 8].map((offset) => access({ writes: 20, offset, codeAddress: '0x401000', watch }));
    const text = reportText(reportOf([cacheLine(rows, { contendedShare: 1 })]), options('x', 100));
    for (const offset of [0, 8]) assert.match(text, new RegExp(`\\n +${offset} +write +50\\.0%`));
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

  it('say where nothing was found that the program computed', () => {
    const report = reportOf([]);
    Object.assign(report.samples, { total: 1000, attributed: 100 });
    report.samples.unattributed.noMemoryOperand = 700;
    report.samples.unattributed.threadLocal = 99;
    const text = plainWords(report).join('\n');
    assert.match(text, /70\.0% of the samples .* computes/);
    assert.doesNotMatch(text, /thread-local/);
  });

  it('say why there are no samples as the recorder does, and guess only where it says nothing', () => {
    const none = reportFixture('empty');
    const recording = none.recording!;
    recording.warnings = ['nothing was sampled: nobody wrote enable to ctl\u001b[7m', 'Something else.'];
    assert.match(firstWords(none).join('\n'), /no samples.*\nNothing was sampled: nobody wrote enable to ctl\\x1b\[7m\. Something else\.$/);
    recording.warnings = [];
    assert.match(firstWords(none).join('\n'), /: the program used too little CPU time for the sampling rate, or/);
    recording.command = [];
    assert.match(firstWords(none).join('\n'), /: the target used no CPU time/);
    assert.match(firstWords({ ...none, recording: null }).join('\n'), /: the program used too little/);
  });

  it('name what threads only read much, and say no more than that: samples do not show that anybody waits for it', () => {
    const data = {
      object: 'pending',
      offset: 64,
      definition: null,
      how: 'global',
      type: 'Pending[8]',
      field: 'value',
      fieldOffset: 64,
      index: 1,
    } as const;
    const polled = cacheLine([{ ...access({ reads: 400, data }), contended: 0 }], { verdict: 'read-shared' });
    const report = reportOf([polled]);
    report.samples.total = 1000;
    assert.match(
      plainWords(report).join('\n'),
      /40\.0% of the samples are reads of 'pending\[1\]\.value' .* --watch 'pending\[1\]\.value' tells/,
    );
    assert.doesNotMatch(plainWords(report).join('\n'), /flag|loop/);
    for (const field of ['next', 'owner->config']) {
      report.lines[0]!.accesses[0]!.data = { ...data, type: 'Node *[8]', field };
      assert.match(plainWords(report).join('\n'), /Nobody waits for another thread at data that is only read/);
      assert.doesNotMatch(plainWords(report).join('\n'), /flag|loop/, 'a pointer that is read');
    }
    report.lines[0]!.accesses[0]!.data = { ...data, field: "x'; rm *" };
    assert.ok(plainWords(report).join('\n').includes("--watch 'pending[1].x'\\''; rm *'"), plainWords(report).join('\n'));
    report.lines[0]!.accesses[0]!.data = { ...data, field: 'ready | closed' };
    assert.match(plainWords(report).join('\n'), /reads of 'pending\[1\]\.ready \| closed' .* --watch 'pending\[1\]\.ready' tells/);
    assert.match(plainWords(report).join('\n'), /Nobody waits for another thread at data that is only read;/);
    report.lines[0]!.accesses[0]!.storesLater = 'sometimes';
    assert.match(plainWords(report).join('\n'), /no write was sampled there\. The code that reads it can also write it: how often/);
    report.lines[0]!.stores.total = 1;
    assert.doesNotMatch(plainWords(report).join('\n'), /--watch/, 'a write was sampled');
    report.lines[0]!.stores.total = 0;
    report.samples.total = 100_000;
    assert.doesNotMatch(plainWords(report).join('\n'), /--watch/);
  });

  it('do not advise to move the bytes of a lock apart', () => {
    const lock = (index: number, member: string): Access =>
      access({
        writes: 20,
        data: {
          object: 'locks',
          offset: 0,
          definition: null,
          how: 'global',
          type: 'pthread_mutex_t[8]',
          field: `__data.${member}`,
          fieldOffset: 0,
          index,
        },
      });
    const words = (accesses: Access[]): string =>
      plainWords(reportOf([cacheLine(accesses, { verdict: 'mixed', flags: ['lock'] })])).join('\n');
    assert.match(words([lock(1, '__lock | __size[0]'), lock(1, '__nusers | __size[12]')]), /turns at a lock of pthreads/);
    assert.match(words([lock(1, '__lock'), lock(2, '__lock')]), /beside the shared data/, 'two locks on a line');
    assert.match(words([lock(1, '__lock'), access({ writes: 1 })]), /beside the shared data/, 'a lock and its data');
  });

  it('lead from code of a library to who called it', () => {
    const own = { codeAddress: '0x2', symbol: 'push', object: 'server', file: '/src/queue.cpp', line: 7, inlined: [] };
    const lock = { codeAddress: '0x1', symbol: 'lock', object: 'server', file: '/usr/include/c++/12/mutex', line: 100, inlined: [] };
    const unknown = { codeAddress: '0x0', symbol: '', object: '', file: '', line: 0, inlined: [] };
    const words = (frames: CallerFrame[], more: Partial<Access> = {}): string => {
      const row = access({ writes: 9, symbol: 'pthread_mutex_lock', object: 'libc.so.6', file: 'nptl/lock.c', line: 48 });
      return plainWords(reportOf([cacheLine([{ ...row, callers: [{ records: 9, hitm: null, frames }], ...more }])])).join('\n');
    };
    assert.match(words([lock, own]), /first at 'push' \(queue\.cpp:7, which calls 'pthread_mutex_lock' \(lock\.c:48\)\)\.$/m);
    const inlined = [
      { function: lock.symbol, file: lock.file, line: lock.line },
      { function: own.symbol, file: own.file, line: own.line },
    ];
    assert.match(words([{ ...lock, inlined }]), /first at 'push' \(queue\.cpp:7, which/, 'through what was inlined');
    assert.match(words([{ ...own, inlined: [{ function: '', file: own.file, line: own.line }] }]), /first at 'push' \(/, 'without a name');
    const ofSystem = ['libc.so.6', 'ld-linux-x86-64.so.2', 'ld-2.31.so', 'ld-musl-x86_64.so.1'].map((object) => [{ ...own, object }]);
    for (const frames of [[], [lock], [unknown, own], ...ofSystem])
      assert.match(words(frames), /first at 'pthread_mutex_lock' \(lock\.c:48\)\.$/m, JSON.stringify(frames));
    const called = (symbol: string, records: number, by: string): NonNullable<Access['callers']>[number] => {
      const frames = [symbol, by].map((each) => ({ ...own, symbol: each, line: 7 }));
      return { records, hitm: null, frames };
    };
    const callers = [called('pop', 4, 'a'), called('push', 3, 'b'), called('push', 2, 'c')];
    assert.match(words([], { callers }), /first at 'push' [^]* and 'pop' /, 'by all of a caller’s chains');
    assert.match(words([], { callers: callers.slice(1, 2) }), /first at 'pthread_mutex_lock' [^]* and 'push' /, 'a third has a chain');
    assert.match(words([own], { object: 'server', file: '/src/own.cpp' }), /first at 'pthread_mutex_lock' \(own\.cpp:48\)\.$/m, 'own code');
  });

  it('say that elements may belong to tasks', () => {
    const SHARED = /Moving data apart does not help/;
    const element = (index: number, more: Partial<Access> = {}): Access =>
      access({
        writes: 20,
        threads: [1, 2],
        data: { object: '[heap]', offset: 0, definition: null, how: 'code', type: 'Slot', field: 'hits', fieldOffset: 8 * index, index },
        ...more,
      });
    const words = (accesses: Access[], verdict: Verdict = 'true sharing'): string =>
      plainWords(reportOf([cacheLine(accesses, { verdict })])).join('\n');
    assert.match(words([element(0), element(1)]), /belongs to a task/);
    assert.doesNotMatch(words([element(0), element(1)]), SHARED);
    assert.match(words([element(0), element(0)]), SHARED, 'one element');
    assert.match(words([element(0), element(1, { codeAddress: '0x402000' })]), SHARED, 'code of several elements');
    assert.match(words([element(0), element(1, { threads: [2] })]), SHARED, 'used by one thread');
    assert.match(words([element(0), element(1), access({ writes: 50 })]), SHARED, 'the smaller part');
    assert.doesNotMatch(words([element(0, { threads: [1] }), element(1, { threads: [2] })], 'false sharing'), /task/);
  });

  it('say that goroutines are no threads', () => {
    const words = (verdict: Verdict, file: string, more: Partial<CacheLine> = {}): string =>
      plainWords(reportOf([cacheLine([access({ writes: 9, file })], { verdict, ...more })])).join('\n');
    assert.match(words('true sharing', '/src/main.go'), /Go moves goroutines/);
    assert.match(words('true sharing', '/src/main.go', { goroutines: 0 }), /Go moves goroutines/, 'which were seen once');
    assert.doesNotMatch(words('true sharing', '/src/main.go', { goroutines: 1 }), /goroutines/, 'which decided it');
    assert.doesNotMatch(words('false sharing', '/src/main.go'), /goroutines/);
    assert.doesNotMatch(words('true sharing', '/src/main.c'), /goroutines/);
  });

  it('never claim that there is no false sharing', () => {
    const text = plainWords(reportFixture('clean')).join('\n');
    assert.match(text, /^No contended cache line was seen in 2,466 samples\./);
    assert.match(text, /does not mean that no line is contended/);
  });
});
