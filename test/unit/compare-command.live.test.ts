// `cacheline diff`, `check` and `export` end to end: recordings by the clock of example programs, contended and fixed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Profile } from 'pprof-format';
import type { Check } from '../../extension/protocol/check';
import type { Diff } from '../../extension/protocol/diff';
import type { Report } from '../../extension/protocol/report';
import { displayWidth } from '../../extension/session/text/terminal-text';
import { canSynthesize, compileWorker, synthesize } from './c2c/synth';
import { Command, examples, root, type Outcome } from './command';
import { exampleRecording } from './example-recordings';
import { refuses } from './refused-arguments';
import { sarifErrors } from './sarif-schema';
import { schemaErrors } from './schemas';

const PAIR_SOURCE = `
#include <pthread.h>
#include <stdatomic.h>
struct pair { atomic_long left; atomic_long SECOND; } pair;
static inline __attribute__((INLINING)) void add_left(void) { atomic_fetch_add(&pair.left, 1); }
static inline __attribute__((INLINING)) void add_right(void) { atomic_fetch_add(&pair.SECOND, 1); }
static void *left(void *nothing) { for (int i = 0; i < 15000000; i++) add_left(); return nothing; }
static void *right(void *nothing) { for (int i = 0; i < 15000000; i++) add_right(); return nothing; }
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, left, 0);
  pthread_create(&two, 0, right, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
}
`;

describe('diff, check and export', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  let folder = '';
  const at = (name: string): string => join(folder, name);
  const run = (args: readonly string[], env: Record<string, string> = {}, cwd = folder): Promise<Outcome> =>
    command.run(args, { cwd, env });
  const output = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await run(args);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const fails = async (status: number, stderr: RegExp, ...args: string[]): Promise<void> => {
    const outcome = await run(args);
    assert.equal(outcome.status, status, `${args.join(' ')}: ${outcome.stderr}`);
    assert.match(outcome.stderr, stderr);
    assert.equal(outcome.stdout, '');
  };

  const [contended, fixed] = ['reader_writer-contended', 'reader_writer-fixed'] as const;
  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-compare-')));
    for (const name of [contended, fixed]) cpSync(await exampleRecording(command, name), at(name), { recursive: true });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  describe('diff', () => {
    const diff = async (...args: string[]): Promise<Diff> => {
      const result = JSON.parse(await output('diff', ...args, '--format', 'json')) as Diff;
      assert.deepEqual(schemaErrors('cacheline-diff-1', result), []);
      return result;
    };

    it('what a fix ends is gone', async () => {
      const { program, entries, comparable } = await diff(contended, fixed);
      assert.equal(comparable, true);
      assert.deepEqual([program.status, program.confidence > 0.99], ['gone', true]);
      assert.ok(program.before.contendedNsPerSecond! > 1e8, JSON.stringify(program.before));
      for (const name of ['messages_written', 'messages_read']) {
        const entry = entries.find((one) => one.kind === 'object' && one.name === name);
        assert.deepEqual([entry?.status, entry?.after.contended], ['gone', 0], name);
        assert.ok(entry!.before.programShare > 0.2);
      }
      assert.ok(entries.some(({ kind, name }) => kind === 'function' && name === 'write_messages'));
      const back = await diff(fixed, contended);
      assert.equal(back.program.status, 'new');
      assert.match(await output('diff', contended, fixed), /; the waiting is\s+gone\s+\([^]*\nObjects\n/);
    });

    it('one recording twice is the same', async () => {
      const { program, entries } = await diff(contended, contended);
      assert.ok(entries.length >= 4);
      for (const { status } of [program, ...entries]) assert.equal(status, 'same');
    });

    it('finds a renamed member, and functions that another build inlines', async () => {
      writeFileSync(at('pair.c'), PAIR_SOURCE);
      for (const [name, flags] of [
        ['pair-old', ['-DSECOND=right', '-DINLINING=noinline']],
        ['pair-new', ['-DSECOND=other', '-DINLINING=always_inline']],
      ] as const) {
        execFileSync('cc', ['-O1', '-g', '-pthread', ...flags, '-o', at(name), at('pair.c')]);
        const { status, stderr } = await run(['record', '--collector', 'clock', '-o', `${name}.cacheline`, '--', at(name)]);
        assert.equal(status, 0, stderr);
      }
      const { entries } = await diff('pair-old.cacheline', 'pair-new.cacheline');
      const named = (kind: string): string[] =>
        entries.filter((one) => one.kind === kind && one.before.programShare > 0.05).map(({ name }) => name);
      assert.deepEqual(
        [named('member').sort(), named('function').sort()],
        [
          ['pair.left', 'pair.other'],
          ['add_left', 'add_right'],
        ],
      );
      assert.equal(entries.find(({ name }) => name === 'pair.other')?.perhaps, 'pair.right');
      assert.equal(entries.find(({ name }) => name === 'add_right')?.inlined, 'after');
      for (const { name, status, before: old } of entries)
        if (old.programShare > 0.05) assert.ok(!['gone', 'new'].includes(status), `${name} ${status}`);
    });

    it('is text, Markdown or JSON, also in a file', async () => {
      for (const width of ['80', '200'])
        for (const line of (await output('diff', contended, fixed, '--width', width)).split('\n'))
          assert.ok(displayWidth(line) <= Number(width), line);
      assert.match(await output('diff', contended, fixed, '--format', 'markdown'), /^## .*\n[^]*\| gone \|/);
      assert.equal(await output('diff', contended, fixed, '--format', 'json', '-o', 'diff.json'), '');
      assert.deepEqual(schemaErrors('cacheline-diff-1', JSON.parse(readFileSync(at('diff.json'), 'utf8'))), []);
    });

    it('refuses what it cannot use', async () => {
      refuses(['diff'], /two recordings, but there is none/);
      refuses(['diff', 'a'], /only 'a'/);
      refuses(['diff', 'a', 'b', 'c'], /'c' is a third/);
      refuses(['diff', 'a', ''], /is empty/);
      refuses(['diff', 'a', 'b', '--format', 'csv'], /--format is text, json or markdown/);
      await fails(3, /nothing/, 'diff', contended, 'nothing');
      await fails(3, /perf\.data/, 'diff', join(root, 'README.md'), contended);
    });
  });

  describe('check', () => {
    const check = async (expected: number, ...args: string[]): Promise<Check> => {
      const { status, stdout, stderr } = await run(['check', ...args, '--format', 'json']);
      assert.equal(status, expected, stderr);
      const result = JSON.parse(stdout) as Check;
      assert.deepEqual(schemaErrors('cacheline-check-1', result), []);
      return result;
    };

    it('fails where threads wait falsely, and passes where they do not', async () => {
      const { failed, findings } = await check(1, contended);
      assert.equal(failed, true);
      assert.deepEqual(findings.map(({ rule, member, state }) => [rule, member, state]).sort(), [
        ['false-sharing', 'messages_read', 'new'],
        ['false-sharing', 'messages_written', 'new'],
      ]);
      assert.ok(findings.every(({ declared }) => declared?.file.endsWith('reader_writer/contended.c')));
      assert.deepEqual((await check(0, fixed)).findings, []);
      assert.equal((await check(0, contended, '--max-contended', '100')).failed, false);
      await check(0, contended, '--fail-on', 'true');
      await check(1, contended, '--fail-on', 'true,false-sharing');
    });

    it('knows a baseline, of either kind, and what is accepted', async () => {
      await output('check', contended, '--max-contended', '100', '--format', 'json', '-o', 'base.json');
      for (const baseline of [contended, 'base.json', join(contended, 'perf.data')]) {
        const { findings } = await check(0, contended, '--baseline', baseline);
        assert.deepEqual([...new Set(findings.map(({ state }) => state))], ['known'], baseline);
      }
      await check(1, contended, '--baseline', fixed);
      const accepted = (await check(1, contended)).findings.map(({ rule, type, member }) => ({ rule, type, member, reason: 'a test' }));
      writeFileSync(at('accept.json'), JSON.stringify(accepted));
      assert.ok((await check(0, contended, '--accept', 'accept.json')).findings.every(({ state }) => state === 'accepted'));
    });

    it('writes annotations, a summary and SARIF', async () => {
      const summary = at('summary.md');
      const github = await run(['check', at(contended), '--format', 'github'], { GITHUB_STEP_SUMMARY: summary }, root);
      assert.equal(github.status, 1);
      assert.match(github.stdout, /^::error file=examples\/reader_writer\/contended\.c,line=\d+,title=False sharing of /m);
      assert.match(readFileSync(summary, 'utf8'), /\| new \|.*messages/);
      const unwritable = await run(['check', contended, '--format', 'github'], { GITHUB_STEP_SUMMARY: folder });
      assert.equal(unwritable.status, 4, unwritable.stdout);
      assert.match(unwritable.stderr, /The summary \S+ cannot be written: EISDIR/);
      const sarif = await run(['check', at(contended), '--format', 'sarif'], {}, root);
      assert.deepEqual(sarifErrors(JSON.parse(sarif.stdout)), []);
      assert.match(sarif.stdout, /"uri":"examples\/reader_writer\/contended\.c"/);
      const text = await run(['check', contended]);
      assert.match(text.stdout, /Failed: 2 findings/);
    });

    it('records a program first, and does not pass one that fails', async () => {
      const { status, stderr } = await run(['check', '--', join(examples, 'reader_writer-contended')]);
      assert.equal(status, 1, stderr);
      assert.ok(existsSync(at('reader_writer-contended.cacheline/perf.data')));
      const failing = await run(['check', '--', '/bin/sh', '-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 5']);
      assert.equal(failing.status, 3, failing.stderr);
      assert.match(failing.stderr, /the program failed \(exit status 5\)/);
    });

    it('is no pass where there is nothing to see', async () => {
      // A window without a sample.
      const blind = ['check', contended, '--time', '1000,2000'];
      const { status, stdout, stderr } = await run(blind);
      assert.equal(status, 5, stderr);
      assert.match(stdout, /No pass: there are no samples/);
      assert.match(stderr, /not a pass.*--allow-blind/);
      assert.equal((await run([...blind, '--allow-blind'])).status, 0);
    });

    it('refuses what it cannot use, and writes nothing then', async () => {
      refuses(['check', 'a', 'b'], /'b' is a second/);
      refuses(['check', 'a', '--', 'b'], /a recording or a program/);
      refuses(['check', '--'], /no program after --/);
      refuses(['check', '--max-contended', '101'], /0 to 100, not '101'/);
      refuses(['check', '--fail-on', 'slow'], /--fail-on takes false, true, mixed/);
      refuses(['check', '--format', 'xml'], /--format is text/);
      refuses(['check', '--baseline', ''], /--baseline needs/);
      writeFileSync(at('old.json'), '{"schema":"cacheline-check/0"}');
      await fails(
        3,
        /old\.json is not a baseline: its schema is "cacheline-check\/0"/,
        'check',
        contended,
        '--baseline',
        'old.json',
        '-o',
        'out.json',
      );
      await fails(3, /The baseline none cannot be read: ENOENT/, 'check', contended, '--baseline', 'none', '-o', 'out.json');
      await fails(3, /old\.json does not hold a list/, 'check', contended, '--accept', 'old.json', '-o', 'out.json');
      await fails(4, /no\/such\/out\.json cannot be written/, 'check', contended, '-o', 'no/such/out.json');
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith('out.json')),
        [],
      );
    });
  });

  it('of memory samples, too, whose shares do not compare with times', async function () {
    if (!canSynthesize) this.skip();
    const worker = compileWorker(folder, { pie: true });
    const { file: path } = synthesize('intel', folder, { seed: 1, samples: 5000, lines: 40, binary: worker });
    const same = JSON.parse(await output('diff', path, path, '--format', 'json')) as Diff;
    assert.ok(same.entries.length > 0 && same.entries.every(({ status }) => status === 'same'));
    assert.ok(same.program.before.hitmPerSecond! > 0);
    assert.deepEqual([same.program.before.contendedNs, same.program.before.contendedNsPerSecond], [null, null]);
    const other = JSON.parse(await output('diff', path, contended, '--format', 'json')) as Diff;
    assert.deepEqual([other.comparable, other.program.status], [false, 'unsure']);
    assert.deepEqual(schemaErrors('cacheline-diff-1', other), []);
    const checked = await run(['check', path, '--max-contended', '1', '--format', 'json']);
    assert.equal(checked.status, 1, checked.stderr);
    assert.deepEqual(schemaErrors('cacheline-check-1', JSON.parse(checked.stdout)), []);
    await output('export', path, '--to', 'pprof', '-o', 'memory.pb.gz');
    const profile = Profile.decode(gunzipSync(readFileSync(at('memory.pb.gz'))));
    const strings = profile.stringTable.strings;
    assert.deepEqual(
      profile.sampleType.map(({ type, unit }) => [strings[Number(type)], strings[Number(unit)]]),
      [['contended', 'count']],
    );
    const total = profile.sample.reduce((sum, { value }) => sum + Number(value[0]), 0);
    assert.equal(total, same.before.contended);
    assert.deepEqual(
      strings.filter((text) => /\b0x[0-9a-f]{4,}/.test(text)),
      [],
    );
  });

  describe('export', () => {
    it('pprof: go tool pprof reads it, data innermost', async function () {
      // Go compiles its tool when it is used for the first time.
      this.timeout(300_000);
      await output('export', contended, '--to', 'pprof', '-o', 'profile.pb.gz');
      const go = ['go', '/usr/local/go/bin/go'].find((name) => {
        try {
          execFileSync(name, ['version'], { stdio: 'ignore' });
          return true;
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, 'ENOENT');
          return false;
        }
      });
      if (go === undefined) this.skip();
      const pprof = (...args: string[]): string =>
        execFileSync(go, ['tool', 'pprof', ...args, at('profile.pb.gz')], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
          env: { ...process.env, PPROF_TMPDIR: folder },
        });
      const { samples, recording, seconds } = JSON.parse(await output('report', contended, '--format', 'json')) as Report;
      const top = pprof('-top');
      assert.match(top, /^Type: contended$/m);
      assert.match(top, new RegExp(`Total samples = ${samples.contended}\\b`));
      assert.match(top, /^ +\d+ +[\d.]+% .* (atomic_long\.)?messages_written$/m);
      assert.match(top, /^ +0 +0% .* \d.*write_messages/m);
      assert.match(pprof('-top', '-sample_index=1'), /^Type: contended_time$/m);
      const raw = pprof('-raw');
      assert.match(raw, /^contended\/count\[dflt\] contended_time\/nanoseconds$/m);
      assert.match(raw, /^PeriodType: cpu nanoseconds$/m);
      assert.match(raw, new RegExp(`^Time: ${recording!.startedAt.slice(0, 10)}`, 'm'));
      const { durationNanos } = Profile.decode(gunzipSync(readFileSync(at('profile.pb.gz'))));
      assert.ok(Math.abs(Number(durationNanos) / 1e9 - seconds) < 1e-3, `${durationNanos}`);
      assert.match(raw, /reader_writer-contended [0-9a-f]{8,} \[FN\]/);
      const labels = [...raw.matchAll(/^ +access:\[(.*)\] verdict:\[(.*)\]$/gm)];
      assert.ok(labels.length > 0);
      assert.doesNotMatch(labels.join(), /0x/);
      assert.match(pprof('-traces'), /messages_written\n +atomic_long\n +write_messages/);
    });

    it('json, csv, markdown and sarif', async () => {
      assert.deepEqual(schemaErrors('cacheline-report-1', JSON.parse(await output('export', contended, '--to', 'json'))), []);
      assert.equal(await output('export', contended, '--to', 'csv'), await output('report', contended, '--format', 'csv'));
      assert.match(await output('export', contended, '--to', 'markdown'), /### Members\n\n\|[^]*messages_written/);
      const sarif = await output('export', contended, '--to', 'sarif');
      assert.deepEqual(sarifErrors(JSON.parse(sarif)), []);
    });

    it('writes a whole file or none, and replaces one that is there', async () => {
      writeFileSync(at('report.csv'), 'old');
      chmodSync(at('report.csv'), 0o640);
      await output('export', contended, '--to', 'csv', '-o', 'report.csv');
      assert.match(readFileSync(at('report.csv'), 'utf8'), /^index,address/);
      mkdirSync(at('is-folder'));
      await fails(4, /is-folder cannot be written: .*EISDIR/, 'export', contended, '--to', 'csv', '-o', 'is-folder');
      await fails(4, /gone\/x\.csv cannot be written: .*ENOENT/, 'export', contended, '--to', 'csv', '-o', 'gone/x.csv');
      assert.equal(await output('export', contended, '--to', 'csv', '-o', '/dev/null'), '');
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith('.part')),
        [],
      );
    });

    it('refuses what it cannot use', async () => {
      refuses(['export', 'a'], /export needs --to pprof\|sarif\|csv\|markdown\|json/);
      refuses(['export', 'a', '--to', 'xml'], /--to is pprof, .* not 'xml'/);
      refuses(['export', 'a', 'b', '--to', 'csv'], /'b' is a second/);
      await fails(3, /nothing/, 'export', 'nothing', '--to', 'csv', '-o', 'x.csv');
      assert.equal(existsSync(at('x.csv')), false);
    });
  });
});
