// `cacheline advise` end to end: record an example, advise, apply the patch to a copy, compile, and look at the layout.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdviceList } from '../../extension/protocol/advice';
import { Command, root } from './command';
import { needsCommands } from './commands-here';
import { schemaErrors } from './schemas';

/** Two counters of two threads on one line. */
const PLAIN = `
#include <pthread.h>
#include <stdatomic.h>
_Alignas(64) atomic_long one = 0;
atomic_long two = 0;
static void *count(void *word) {
  for (long i = 0; i < 30000000; i++) atomic_fetch_add((atomic_long *)word, 1);
  return word;
}
int main(void) {
  pthread_t threads[2];
  pthread_create(threads, 0, count, &one);
  pthread_create(threads + 1, 0, count, &two);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
`;

type Document = AdviceList & { folder: string | null };

describe('cacheline advise', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  let temporary = '';
  let folder = '';
  let recording = '';

  const run = (args: string[], cwd = folder) => command.run(['advise', ...args], { cwd });
  const compile = (source: string, program: string, ...options: string[]): void => {
    execFileSync('cc', ['-std=c11', '-D_POSIX_C_SOURCE=200809L', '-O2', '-g', '-pthread', ...options, '-o', program, source]);
  };

  before(async () => {
    temporary = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-advise-')));
    folder = join(temporary, 'project');
    mkdirSync(join(folder, 'queue'), { recursive: true });
    cpSync(join(root, 'examples/common.h'), join(folder, 'common.h'));
    cpSync(join(root, 'examples/producer_limit/contended.c'), join(folder, 'queue/main.c'));
    compile(join(folder, 'queue/main.c'), join(folder, 'program'), `-I${folder}`);
    recording = join(folder, 'program.cacheline');
    const { status, stderr } = await command.run(['record', '-o', recording, '--', './program'], { cwd: folder });
    assert.equal(status, 0, stderr);
  });

  after(() => rmSync(temporary, { recursive: true, force: true }));

  it('says what to change, in the text and in JSON', async () => {
    const text = await run(['--no-pager']);
    assert.equal(text.status, 0, text.stderr);
    assert.match(text.stderr, /^cacheline: reading program\.cacheline\n$/);
    assert.match(text.stdout, /^1\. queue/m);
    assert.match(text.stdout, /Edit: ready, at queue\/main\.c:\d+\./);
    const json = await run([recording, '--format', 'json']);
    const document = JSON.parse(json.stdout) as Document;
    assert.deepEqual(schemaErrors('cacheline-advice-1', document), []);
    assert.equal(document.folder, folder);
    const [advice] = document.advice;
    assert.equal(advice?.subject.type, 'queue');
    assert.match(advice.edit.patch ?? '', /^--- a\/queue\/main\.c\n/);
    assert.equal(advice.edit.reason, null);
  });

  it('prints a patch that git applies to a copy, which then has the layout', async function () {
    needsCommands(this, ['git']);
    const { status, stdout, stderr } = await run(['program.cacheline', '--patch']);
    assert.equal(status, 0);
    assert.equal(stderr, '');
    const copy = join(temporary, 'copy');
    cpSync(folder, copy, { recursive: true });
    execFileSync('git', ['apply', '-'], { cwd: copy, input: stdout });
    const source = join(copy, 'queue/main.c');
    const program = join(copy, 'program');
    compile(source, program, `-I${copy}`);
    execFileSync(program, ['1000']);
    const check =
      '\n#include <stddef.h>\n_Static_assert(offsetof(struct queue, limit) % 64 == 0 && offsetof(struct queue, limit) > 0, "");\n';
    writeFileSync(source, readFileSync(source, 'utf8') + check);
    compile(source, program, `-I${copy}`);
  });

  it('names the folder of a patch that is not for where the reader is', async () => {
    const { stdout, stderr } = await run([recording, '--patch'], '/usr');
    assert.match(stdout, /^--- a\/main\.c\n/);
    assert.equal(stderr, `cacheline: The patch is for the folder ${join(folder, 'queue')}.\n`);
  });

  it('takes the filters of report', async () => {
    for (const filter of [
      ['--filter', 'type:nothing'],
      ['--time', '900,901'],
    ]) {
      const { status, stdout } = await run([recording, '--format', 'json', ...filter]);
      assert.equal(status, 0);
      assert.deepEqual((JSON.parse(stdout) as Document).advice, []);
    }
    const { status, stderr } = await run([recording, '--filter', 'nothing:5']);
    assert.equal(status, 2);
    assert.match(stderr, /'nothing:5' is not a filter term/);
  });

  it('with nothing to patch prints nothing, says so in one sentence, and ends with 0', async () => {
    const { status, stdout, stderr } = await run([recording, '--patch', '--filter', 'type:nothing']);
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, /^cacheline: There is nothing to patch[^\n]+\.\n$/);
  });

  it('edits no source that changed since, or that is gone', async () => {
    const source = join(folder, 'queue/main.c');
    const original = readFileSync(source);
    const future = Date.now() / 1000 + 3600;
    utimesSync(source, future, future);
    const newer = await run([recording, '--patch']);
    assert.deepEqual([newer.status, newer.stdout], [0, '']);
    assert.match(newer.stderr, /^cacheline: no edit for 'queue': \S+main\.c was changed after \S+program was built[^\n]+\.\n$/);
    rmSync(source);
    const gone = await run([recording, '--patch']);
    assert.deepEqual([gone.status, gone.stdout], [0, '']);
    assert.match(gone.stderr, /^cacheline: no edit for 'queue': [^\n]+main\.c[^\n]+\.\n$/);
    const document = JSON.parse((await run([recording, '--format', 'json'])).stdout) as Document;
    assert.deepEqual(schemaErrors('cacheline-advice-1', document), []);
    assert.equal(document.folder, null);
    writeFileSync(source, original);
    utimesSync(source, 1_000_000_000, 1_000_000_000);
  });

  it('says of variables without debug information why there is no edit', async () => {
    const source = join(temporary, 'plain.c');
    writeFileSync(source, PLAIN);
    compile(source, join(temporary, 'plain'), '-g0', '-fno-toplevel-reorder');
    const plain = join(temporary, 'plain.cacheline');
    const recorded = await command.run(['record', '-o', plain, '--', join(temporary, 'plain')], { cwd: temporary });
    assert.equal(recorded.status, 0, recorded.stderr);
    const document = JSON.parse((await run([plain, '--format', 'json'])).stdout) as Document;
    assert.deepEqual(schemaErrors('cacheline-advice-1', document), []);
    const [advice] = document.advice;
    assert.ok(['one', 'two'].includes(advice?.subject.object ?? ''), advice?.subject.object);
    assert.deepEqual([advice?.way, advice?.edit.patch], ['align', null]);
    assert.match(advice?.edit.reason ?? '', /^Debug information does not say .*: build with -g, and record again\.$/);
    assert.match((await run([plain])).stdout, /The variables '(one' and 'two|two' and 'one)' belong to different/);
  });

  it('ends with 3 where the recording cannot be read, and with 74 where the output cannot be written', async () => {
    for (const path of ['/no/such/recording', '/etc/passwd']) {
      const { status, stdout, stderr } = await run([path]);
      assert.deepEqual([status, stdout], [3, '']);
      assert.match(stderr, /^cacheline: /);
    }
    const full = await command.run(['advise', recording, '--patch'], {
      cwd: folder,
      through: ['/bin/sh', '-c', 'exec "$@" > /dev/full', 'sh'],
    });
    assert.equal(full.status, 74);
    assert.match(full.stderr, /cannot be written/);
  });
});
