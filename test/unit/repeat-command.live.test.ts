// `cacheline record --repeat` of real programs: two builds in turn, one that fails, and folders that cannot be used.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runs } from '../../extension/protocol/runs';
import { Command, examples, type Outcome } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

/** A counter file: the run with the number of the first argument exits with 3. */
const FAILING = '#!/bin/sh\necho >> runs\n[ "$(wc -l < runs)" -ne "$1" ] || exit 3\n';

describe('cacheline record --repeat', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const repeat = (...args: string[]): Promise<Outcome> => command.run(['record', '--repeat', ...args], { cwd: folder.path });
  const runsOf = (...names: string[]): Runs => {
    const runs = JSON.parse(readFileSync(at(...names, 'runs.json'), 'utf8')) as Runs;
    assert.deepEqual(schemaErrors('cacheline-runs-1', runs), []);
    return runs;
  };
  const script = (name: string, text: string): string => {
    writeFileSync(at(name), text, { mode: 0o755 });
    return at(name);
  };

  it('compares two builds, keeps what it recorded, and ends with the block for a pull request', async () => {
    const [before, after] = ['contended', 'fixed'].map((form) => join(examples, `counter_array-${form}`)) as [string, string];
    const { status, stdout, stderr } = await repeat('2', '--against', after, '-o', 'out', '--', before, '4000000');
    assert.equal(status, 0, stderr);
    const runs = runsOf('out');
    assert.deepEqual(
      [runs.before, runs.after],
      [
        [before, '4000000'],
        [after, '4000000'],
      ],
    );
    assert.deepEqual(
      runs.pairs.map(({ order, recorded }) => [order, recorded]),
      [
        ['AB', false],
        ['BA', false],
        ['AB', true],
      ],
    );
    assert.ok(runs.samples.before > 0 && (runs.samples.after ?? 0) > 0);
    assert.deepEqual(readdirSync(at('out')).sort(), ['after.cacheline', 'before.cacheline', 'pull-request.md', 'runs.json']);
    const block = readFileSync(at('out', 'pull-request.md'), 'utf8');
    assert.ok(stdout.endsWith(block));
    assert.match(block, /\*\*Finding:\*\* .*counters/);
    assert.match(block, /\*\*Measured:\*\* [\d.]+ times as fast/);
    assert.equal((await command.run(['report', 'out/after.cacheline'], { cwd: folder.path })).status, 0);
  });

  it('shows the layout of the type before and after', async () => {
    const build = (name: string, members: string): string => {
      const source = `
#include <pthread.h>
struct Pair { ${members} } pair;
static void* first(void* unused) { for (long i = 0; i < 30000000; ++i) __atomic_fetch_add(&pair.a, 1, __ATOMIC_RELAXED); return unused; }
static void* second(void* unused) { for (long i = 0; i < 30000000; ++i) __atomic_fetch_add(&pair.b, 1, __ATOMIC_RELAXED); return unused; }
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
}`;
      execFileSync('cc', ['-g', '-O1', '-pthread', '-o', at(name), '-x', 'c', '-'], { input: source });
      return at(name);
    };
    const before = build('before', 'long a, b;');
    const after = build('after', 'long a; _Alignas(64) long b;');
    const { status, stderr } = await repeat('1', '--against', after, '-o', 'layouts', '--', before);
    assert.equal(status, 0, stderr);
    const block = readFileSync(at('layouts', 'pull-request.md'), 'utf8');
    assert.match(
      block,
      /<summary>Layout of Pair<\/summary>\n\nBefore:\n\n```c\n[^`]*Size 16 bytes[^`]*```\n\nAfter:\n\n```c\n[^`]*Size 128 bytes/,
    );
  });

  it('of one program tells its own times, in PROGRAM.runs', async () => {
    const { status, stderr } = await repeat('3', '--', script('nap', '#!/bin/sh\nsleep 0.1\n'));
    assert.equal(status, 0, stderr);
    const runs = runsOf('nap.runs');
    assert.deepEqual([runs.after, runs.speedup, runs.p, runs.median.after], [null, null, null, null]);
    assert.ok(runs.median.before >= 1e8 && runs.median.before < 1e9, String(runs.median.before));
    assert.equal(runs.pairs.filter(({ recorded }) => !recorded).length, 3);
  });

  for (const [run, what] of [
    ['3', 'a run'],
    ['5', 'the recorded run'],
  ] as const)
    it(`ends with the status of the program where ${what} fails, and leaves nothing`, async () => {
      writeFileSync(at('runs'), '');
      const { status, stderr } = await repeat('3', '-o', 'failed', '--', script('failing', FAILING), run);
      assert.equal(status, 3, stderr);
      assert.match(stderr, /failing ended with status 3, so nothing is compared/);
      assert.equal(readFileSync(at('runs'), 'utf8').length, Number(run));
      assert.ok(!existsSync(at('failed')));
    });

  it('keeps nothing where it is interrupted', async () => {
    const { status } = await command.run(['record', '--repeat', '9', '-o', 'stopped', '--', 'sleep', '30'], {
      cwd: folder.path,
      terminal: true,
      when: { says: 'not counted', then: (child) => execFileSync('pkill', ['-INT', '-P', String(child.pid)]) },
    });
    assert.notEqual(status, 0);
    assert.ok(!existsSync(at('stopped')));
  });

  it('refuses what it cannot do, before any run', async () => {
    mkdirSync(at('full'));
    writeFileSync(at('full', 'mine'), 'text');
    const refusals: [readonly string[], number, RegExp][] = [
      [['0', '--', 'true'], 2, /--repeat takes a whole number of runs from 1 to 200, not '0'/],
      [['2', '--force', '--', 'true'], 2, /--repeat replaces nothing/],
      [['2', '-o', 'full', '--', 'true'], 2, /full is not empty/],
      [['2', '-o', '/proc/no', '--', 'true'], 4, /\/proc\/no cannot be made/],
      [['2', '--against', 'no-such-program', '--', 'true'], 2, /no-such-program cannot be started: there is no such program/],
      [['2', '-p', '1'], 2, /--repeat runs a program: use it without -p/],
    ];
    for (const [args, wanted, sentence] of refusals) {
      const { status, stderr } = await repeat(...args);
      assert.equal(status, wanted, stderr);
      assert.match(stderr, sentence);
    }
    const alone = await command.run(['record', '--against', 'a', '--', 'true'], { cwd: folder.path });
    assert.equal(alone.status, 2);
    assert.match(alone.stderr, /it needs --repeat/);
    assert.deepEqual(readdirSync(at('full')), ['mine']);
    assert.ok(!existsSync(at('true.runs')));
  });
});
