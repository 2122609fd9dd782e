// A program that is built again in its place, as it is while somebody mends it: its recordings keep the names of what they recorded.
import assert from 'node:assert/strict';
import { execFileSync, type ChildProcess } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Diff } from '../../extension/protocol/diff';
import type { Report } from '../../extension/protocol/report';
import { KEPT_FOLDER } from '../../extension/session/record/kept-binaries';
import { Command, root, type Outcome, type RunOptions } from './command';
import { needsCommands } from './commands-here';
import { temporaryFolder } from './fixtures';

describe('a program that is built again in its place', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const compile = (source: string, ...options: string[]): void => {
    rmSync(at('p'), { force: true });
    execFileSync('gcc', ['-g', '-O1', '-pthread', '-Wl,--build-id', ...options, '-o', at('p'), source]);
  };
  const build = (member: string, ...options: string[]): void => {
    writeFileSync(
      at('p.c'),
      `#include <stdlib.h>
      struct pair { long ${member}[2]; };
      __attribute__((aligned(64))) struct pair ${member}_pair;
      char padding[1 << 20] = {1};
      int main(int count, char **arguments) {
        const long rounds = count > 1 ? atol(arguments[1]) : 100000000;
        for (long i = 0; i < rounds; i++) __atomic_fetch_add(&${member}_pair.${member}[i & 1], 1, __ATOMIC_SEQ_CST);
        return 0;
      }\n`,
    );
    compile(at('p.c'), ...options);
  };
  const run = (args: readonly string[], options: Partial<RunOptions> = {}): Promise<Outcome> =>
    command.run(args, { cwd: folder.path, ...options });
  const record = async (...options: string[]): Promise<string> => {
    const { status, stderr } = await run(['record', '--collector', 'clock', '-o', 'r', '--force', ...options, '--', at('p')]);
    assert.equal(status, 0, stderr);
    return stderr;
  };
  const report = async (name: string): Promise<Report> => {
    const { status, stdout, stderr } = await run(['report', name, '--show-all', '--format', 'json']);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as Report;
  };
  const objects = ({ lines }: Report): (string | null | undefined)[] =>
    lines.flatMap(({ accesses }) => accesses.map(({ data }) => data.object));
  const keptFiles = (name = 'r'): string[] =>
    existsSync(at(name, KEPT_FOLDER))
      ? readdirSync(at(name, KEPT_FOLDER), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
      : [];

  it('with the edit of its advice: both recordings have the names and lines of their own builds, and compare', async function () {
    needsCommands(this, ['git']);
    cpSync(join(root, 'examples/common.h'), at('common.h'));
    mkdirSync(at('queue'));
    cpSync(join(root, 'examples/producer_limit/contended.c'), at('queue/main.c'));
    const make = (): void => compile(at('queue/main.c'), '-std=c11', '-D_POSIX_C_SOURCE=200809L', '-I', folder.path);
    const recordAs = async (name: string): Promise<Report> => {
      const { status, stderr } = await run(['record', '--collector', 'clock', '-o', name, '--', './p']);
      assert.equal(status, 0, stderr);
      return report(name);
    };
    make();
    const first = await recordAs('before');
    const patch = await run(['advise', 'before', '--patch']);
    assert.match(patch.stdout, /^\+.*64/m, patch.stderr);
    execFileSync('git', ['apply', '-'], { cwd: folder.path, input: patch.stdout });
    make();
    const second = await recordAs('after');

    const again = await report('before');
    assert.equal(again.blind, null);
    const named = ({ lines }: Report): unknown[][] =>
      lines.map(({ verdict, accesses }) => [
        verdict,
        accesses.map(({ data, symbol, file, line, inlined }) => [data, symbol, file, line, inlined]),
      ]);
    assert.deepEqual(named(again), named(first));
    assert.notDeepEqual(named(second), named(first));
    const { status, stdout, stderr } = await run(['diff', 'before', 'after', '--format', 'json']);
    assert.equal(status, 0, stderr);
    const diff = JSON.parse(stdout) as Diff;
    assert.equal(diff.comparable, true);
    assert.ok(['gone', 'better'].includes(diff.program.status), JSON.stringify(diff.program));
    const limit = diff.entries.find(({ kind, name }) => kind === 'member' && name === 'queue.limit');
    assert.ok(limit !== undefined && limit.before.programShare > 0.1, JSON.stringify(diff.entries));
    assert.ok(['gone', 'better'].includes(limit.status), limit.status);
  });

  it('leaves the recording before its names, also where that is moved or its perf.data is named', async () => {
    build('old');
    assert.doesNotMatch(await record(), /not kept/);
    build('young');
    for (const name of ['r', 'r.cacheline', 'r.cacheline/perf.data']) {
      if (name === 'r.cacheline') renameSync(at('r'), at(name));
      const read = await report(name);
      assert.ok(objects(read).includes('old_pair'), `${name}: ${objects(read).join()}`);
      assert.equal(read.blind, null);
    }
  });

  it('-N keeps nothing, and the report says that the program is another one', async () => {
    build('old');
    assert.doesNotMatch(await record('-N'), /not kept/, 'it was asked for');
    assert.ok(!existsSync(at('r', KEPT_FOLDER)));
    build('young');
    const read = await report('r');
    assert.ok(!objects(read).includes('old_pair'));
    assert.match(JSON.stringify(read), /was rebuilt since it was recorded/);
    const blind = await run(['check', 'r']);
    assert.equal(blind.status, 5, blind.stdout);
    assert.match(blind.stdout, /^No pass: nothing can be said about \d+\.\d% of the samples/m);
    assert.equal((await run(['check', 'r', '--allow-blind'])).status, 0);
  });

  it('without a build id is not kept: the recording says so at once, and its report does when it is built again', async () => {
    build('old', '-Wl,--build-id=none');
    assert.match(await record(), /warning: \S+\/p is not kept in the recording, .*: it has no build id/);
    assert.deepEqual(keptFiles(), []);
    assert.ok(objects(await report('r')).includes('old_pair'));
    build('young', '-Wl,--build-id=none');
    const read = await report('r');
    assert.ok(!objects(read).includes('old_pair'));
    assert.match(JSON.stringify(read), /was rebuilt since it was recorded/);
  });

  it('a linker that writes in place spoils what is kept, and lookup takes it for what it is', async () => {
    build('old');
    await record();
    const other = at('other');
    cpSync(at('p'), other);
    build('young');
    const [first = ''] = keptFiles();
    writeFileSync(first, readFileSync(at('p')));
    assert.ok(!objects(await report('r')).includes('old_pair'));
    writeFileSync(first, readFileSync(other));
    assert.ok(objects(await report('r')).includes('old_pair'));
  });

  it('--force replaces the recording with what it keeps', async () => {
    build('old');
    await record();
    const before = keptFiles();
    build('young');
    await record();
    assert.notDeepEqual(keptFiles(), before);
    assert.equal(keptFiles().length, 1);
  });

  describe('after a recording that did not end as planned', () => {
    const FOREVER = '1000000000000';
    /** Records until `end` ends it, once samples and the program are in the recording. `end` has the command and the program. */
    const interrupted = async (end: (child: ChildProcess, program: number) => void): Promise<Outcome> => {
      build('old');
      const then = (child: ChildProcess): void => {
        void (async () => {
          const latest = performance.now() + 20_000;
          while (performance.now() < latest && (keptFiles().length === 0 || statSync(at('r/perf.data')).size < 50_000)) await sleep(20);
          end(child, Number(readFileSync(at('pid'), 'utf8')));
        })();
      };
      const script = `echo $$ > pid; echo ready; exec ${at('p')} ${FOREVER}`;
      const outcome = await run(['record', '--collector', 'clock', '-o', 'r', '--', 'sh', '-c', script], {
        when: { says: 'ready', then },
      });
      build('young');
      assert.deepEqual(
        keptFiles().map((file) => file.endsWith('.part')),
        [false],
      );
      const read = await report('r');
      assert.ok(objects(read).includes('old_pair'), objects(read).join());
      assert.equal(read.blind, null);
      return outcome;
    };

    it('by Ctrl-C', async () => {
      const { status, stderr } = await interrupted(({ pid }) => process.kill(-pid!, 'SIGINT'));
      assert.equal(status, 130, stderr);
      assert.doesNotMatch(stderr, /not kept/);
    });

    it('since the program was killed', async () => {
      const { status, stderr } = await interrupted((_, program) => process.kill(program, 'SIGKILL'));
      assert.equal(status, 137, stderr);
      assert.doesNotMatch(stderr, /not kept/);
    });

    it('since cacheline itself was killed', async () => {
      const { status } = await interrupted(({ pid }, program) => {
        process.kill(pid!, 'SIGKILL');
        process.kill(program, 'SIGKILL');
      });
      assert.equal(status, 137);
    });

    it('in a folder that may not be written to: nothing is recorded, and a sentence says why', async () => {
      build('old');
      mkdirSync(at('r'));
      chmodSync(at('r'), 0o555);
      // Root may write everywhere by this capability.
      const through = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-dac_override'] : [];
      const { status, stderr } = await run(['record', '--collector', 'clock', '-o', 'r', '--', at('p')], { through });
      assert.equal(status, 4, stderr);
      assert.match(stderr, /Permission denied|may not write/);
      assert.deepEqual(readdirSync(at('r')), []);
    });

    it('on a full disk: the recording is whole, the program is not there by half', async function () {
      needsCommands(this, ['unshare', 'mount']);
      build('old');
      mkdirSync(at('disk'));
      const list =
        'mount -t tmpfs -o size=800k none disk || exit 99; "$@"; s=$?; find disk -type f -size +0 >&2; rm -rf keep; cp -r disk/r keep; exit $s';
      const { status, stderr } = await run(['record', '--collector', 'clock', '-o', 'disk/r', '--', at('p')], {
        through: ['unshare', '--mount', '--map-root-user', 'sh', '-c', list, 'sh'],
      });
      if (/unshare failed|mount: /.test(stderr)) {
        console.error('      this user, or this container, may make no mount namespace');
        this.skip();
      }
      assert.equal(status, 0, stderr);
      assert.match(stderr, /\/p is not kept in the recording, .*: the disk is full\n/);
      assert.deepEqual(keptFiles('keep'), []);
      assert.ok(objects(await report('keep')).includes('old_pair'));
    });
  });
});
