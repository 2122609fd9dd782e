// The last lines of a run of all tests: what failed, why, and what was skipped, in lines enough for one screen.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPrograms } from '../../scripts/lib/gtest.mjs';
import { lastLines, none, summaryLines, type Results } from '../../scripts/lib/summary.mjs';
import { root } from './command';
import { temporaryFolder } from './fixtures';

const part = (more: Partial<Results>) => ({ ...none, name: 'fast: X', time: '1.0 s', ...more });

describe('summary of the tests', () => {
  const folder = temporaryFolder();

  it('names what was skipped, tried again, slow and failed, then counts', () => {
    const failures = [{ name: 'adds', message: '\nat a.ts:1:2\n\n1 !== 2\n' }];
    const times = [
      { name: 'adds', ms: 51 },
      { name: 'times', ms: 4000 },
    ];
    assert.deepEqual(
      summaryLines([part({ passed: 3, failed: 1, skipped: 1, failures, skips: ['divides: no perf'], times, retries: ['times'] })]),
      [
        'skipped fast: X: divides: no perf',
        'tried again fast: X: times',
        'slow 4.0 s  fast: X: times',
        'slow 0.1 s  fast: X: adds',
        '',
        'FAILED fast: X: adds',
        '    at a.ts:1:2',
        '    1 !== 2',
        '',
        'fast: X  3 passed, 1 failed, 1 skipped  1.0 s',
        '3 passed, 1 failed, 1 skipped',
      ],
    );
  });

  it('is short, whatever fails', () => {
    const message = `${'y'.repeat(10_000)}\n`.repeat(1000);
    const failures = Array.from({ length: 500 }, (_, i) => ({ name: `test ${i}`, message }));
    const times = failures.map(({ name }, ms) => ({ name, ms }));
    const lines = summaryLines([part({ failed: 500, failures, skips: failures.map(({ name }) => name), times })]);
    assert.ok(lines.length < 400 && lines.every((line) => line.length < 300), `${lines.length} lines`);
    assert.ok(lines.includes('… and 480 more'));
    assert.equal(lastLines(`a\n\n${'b\n'.repeat(30)}c`), `${'b\n'.repeat(11)}c`);
  });

  it('has of mocha’s tests the place, the values and the words', () => {
    const file = join(folder.path, 'some.cjs');
    const results = join(folder.path, 'results.json');
    writeFileSync(
      file,
      `const assert = require('node:assert');
      describe('suite', () => {
        it('fails', () => assert.equal(1, 2, 'said'));
        it('is skipped', function () { this.skip(); });
        it('takes long', (done) => void setTimeout(done, 60));
        let tries = 0;
        it('needs two', function () { this.retries(1); assert.ok(++tries > 1, 'one is too few'); });
        describe('inner', () => { before(() => { throw new Error('no ground'); }); it('is not reached', () => {}); });
      });`,
    );
    const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
    const reporter = join(root, 'scripts/lib/mocha-reporter.cjs');
    const { status } = spawnSync(process.execPath, [mocha, '--no-config', '--reporter', reporter, file], {
      env: { ...process.env, CACHELINE_TEST_RESULTS: results },
    });
    assert.equal(status, 2);
    const { failures, ...found } = JSON.parse(readFileSync(results, 'utf8')) as Results;
    const { times, retries, ...counts } = found;
    assert.match(retries.join('\n'), /^suite needs two: at .*some\.cjs:7:\d+.* one is too few$/);
    assert.deepEqual(counts, { passed: 2, failed: 2, skipped: 1, skips: ['suite is skipped'] });
    assert.deepEqual(
      times.map(({ name }) => name),
      ['suite fails', 'suite takes long', 'suite needs two'],
    );
    assert.ok((times[1]?.ms ?? 0) >= 50);
    assert.match(failures[0]?.message ?? '', /^at .*some\.cjs:3:\d+.*\ngot '1', expected '2' \(==\)\nsaid$/);
    assert.equal(failures[1]?.name, 'suite inner "before all" hook for "is not reached"');
    assert.match(failures[1].message, /no ground$/);
  });

  it('has of GoogleTest’s tests the first complaint, or how the program ended, and those behind it', async () => {
    const source = join(folder.path, 'some.cpp');
    const program = join(folder.path, 'test_some');
    writeFileSync(
      source,
      `#include <csignal>
      #include <cstdlib>
      #include <sys/stat.h>
      #include <unistd.h>
      #include <gtest/gtest.h>
      TEST(Sum, Adds) { EXPECT_EQ(2, 3) << "no sum"; }
      TEST(Sum, IsSanitized) { puts("x.cpp:1: runtime error: y"); FAIL(); }
      TEST(Sum, Crashes) { puts("before"); fflush(stdout); raise(SIGSEGV); }
      TEST(Sum, HasNoPerf) { GTEST_SKIP() << "no perf"; }
      TEST(Sum, Leaves) { exit(0); }
      struct Values : testing::TestWithParam<int> {};
      TEST_P(Values, Work) { printf("without an end of line"); }
      INSTANTIATE_TEST_SUITE_P(Two, Values, testing::Values(1, 2));
      struct Last : testing::Test { static void TearDownTestSuite() { puts("x.cpp:1: Failure"); fflush(stdout); _exit(3); } };
      TEST_F(Last, Works) {}`,
    );
    const { status } = spawnSync('c++', ['-o', program, source, '-lgtest', '-lgtest_main', '-pthread'], { stdio: 'inherit' });
    assert.equal(status, 0);
    const told: string[] = [];
    const tell = (text: string) => void told.push(text);
    const { failures, times, retries, ...found } = await runPrograms([program], { timeoutSeconds: 300, tell });
    assert.deepEqual(found, { passed: 3, failed: 5, skipped: 1, skips: ['some.Sum.HasNoPerf: no perf'] });
    assert.deepEqual(retries, []);
    assert.ok(times.some(({ name, ms }) => name === 'some.Sum.Adds' && ms >= 0));
    assert.deepEqual(
      failures.map(({ name }) => name),
      ['some.Sum.Adds', 'some.Sum.IsSanitized', 'some.Sum.Crashes', 'some.Sum.Leaves', 'some'],
    );
    assert.match(failures[0]!.message, /^.*some\.cpp:\d+: Failure\n[^]*no sum$/);
    assert.equal(failures[2]!.message, 'ended by SIGSEGV; the end of its output:\nbefore');
    assert.match(failures[3]!.message, /^ended with status 0/);
    assert.match(failures[4]!.message, /^x\.cpp:1: Failure/);
    assert.match(told.join('\n'), /^FAILED some\.Sum\.Adds\n[^]*\nsome: 3 passed, 5 failed, 1 skipped in \d/);
    assert.match(readFileSync(`${program}.log`, 'utf8'), /before\n[^]*Two\/Values\.Work\/1/);
  });

  it('names the test that a program did not come back from', async () => {
    const program = join(folder.path, 'test_slow');
    writeFileSync(
      program,
      `#!/bin/sh
      case $* in
        *list_tests*) printf 'A.\n  Sleeps\n  Works\n' ;;
        *Sleeps*) echo '[ RUN      ] A.Sleeps'; sleep 100 ;;
        *) echo '[ RUN      ] A.Works'; echo '[       OK ] A.Works (0 ms)' ;;
      esac`,
      { mode: 0o755 },
    );
    const { passed, failures } = await runPrograms(['/absent/test_gone', program], { timeoutSeconds: 3, tell: () => {} });
    assert.equal(passed, 1);
    assert.match(failures[0]!.message, /test_gone could not be started/);
    assert.deepEqual(failures.slice(1), [{ name: 'slow.A.Sleeps', message: 'did not end within 3 s; the end of its output:\n' }]);
  });
});
