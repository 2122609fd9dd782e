// The last lines of a run of all tests: what failed, why, and what was skipped, in lines enough for one screen.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readResults } from '../../scripts/lib/ctest.mjs';
import { lastLines, none, summaryLines, type Results } from '../../scripts/lib/summary.mjs';
import { root } from './command';
import { temporaryFolder } from './fixtures';

const part = (more: Partial<Results>) => ({ ...none, name: 'fast: X', time: '1.0 s', ...more });

describe('summary of the tests', () => {
  const folder = temporaryFolder();

  it('names what was skipped, tried again and failed, then counts', () => {
    const failures = [{ name: 'adds', message: '\nat a.ts:1:2\n\n1 !== 2\n' }];
    assert.deepEqual(
      summaryLines([part({ passed: 3, failed: 1, skipped: 1, failures, skips: ['divides: no perf'], retries: ['times'] })]),
      [
        'skipped fast: X: divides: no perf',
        'tried again fast: X: times',
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
    const lines = summaryLines([part({ failed: 500, failures, skips: failures.map(({ name }) => name) })]);
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
        let tries = 0;
        it('needs two', function () { this.retries(1); assert.ok(++tries > 1); });
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
    assert.deepEqual(found, { passed: 1, failed: 2, skipped: 1, skips: ['suite is skipped'], retries: ['suite needs two (attempt 2)'] });
    assert.match(failures[0]?.message ?? '', /^at .*some\.cjs:3:\d+.*\ngot '1', expected '2' \(==\)\nsaid$/);
    assert.equal(failures[1]?.name, 'suite inner "before all" hook for "is not reached"');
    assert.match(failures[1].message, /no ground$/);
  });

  it('has of ctest’s tests the first complaint, or how the program ended', () => {
    const say = (name: string, script: string, properties = '') =>
      `add_test(${name} sh -c "${script}")\nset_tests_properties(${name} PROPERTIES TIMEOUT 60 ${properties})\n`;
    const tests = [
      say('adds', "echo Running; echo 'a.cpp:3: Failure'; echo 'x < 1 & y'; exit 1"),
      say('dies', 'echo before; kill -SEGV $$'),
      say('has_no_perf', "echo 'a.cpp:9: Skipped'; echo no perf; echo; echo '[  SKIPPED ] it'", 'SKIP_REGULAR_EXPRESSION SKIPPED'),
      say('works', 'true'),
    ];
    writeFileSync(join(folder.path, 'CTestTestfile.cmake'), tests.join('').replaceAll('$', '\\$'));
    const { stdout } = spawnSync('ctest', ['--test-dir', folder.path, '--output-junit', 'results.xml'], { encoding: 'utf8' });
    const { failures, ...found } = readResults(readFileSync(join(folder.path, 'results.xml'), 'utf8'), stdout);
    assert.deepEqual(found, { passed: 1, failed: 2, skipped: 1, skips: ['has_no_perf: no perf'], retries: [] });
    assert.deepEqual(failures[0], { name: 'adds', message: 'a.cpp:3: Failure\nx < 1 & y' });
    assert.deepEqual(failures[1], { name: 'dies', message: 'SEGFAULT; the end of its output:\nbefore' });
  });
});
