// The program that a recording keeps: which files, how, and that names stay when it is built again in its place.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { keepBinaries, KEPT_FOLDER, keptBytes } from '../../extension/session/record/kept-binaries';
import type { Report } from '../../extension/protocol/report';
import { Command } from './command';
import { temporaryFolder } from './fixtures';

const ID = '0123456789abcdef0123456789abcdef01234567';

describe('kept binaries', () => {
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const kept = (id = ID, recording = at('r')): string => join(recording, KEPT_FOLDER, id.slice(0, 2), id.slice(2));
  /** A recording of this file as it is now. */
  const recordingOf = (path: string, more: object = {}, recording = at('r')): string => {
    mkdirSync(recording, { recursive: true });
    const { size, mtimeNs } = statSync(path, { bigint: true });
    const binaries = [{ path, buildId: ID, size: Number(size), mtimeNs: String(mtimeNs), ...more }];
    writeFileSync(join(recording, 'meta.json'), JSON.stringify({ binaries }));
    return recording;
  };
  const file = (name: string, text = 'program'): string => {
    writeFileSync(at(name), text);
    return at(name);
  };

  it('are the files of the user, under their build ids, and stay when another file takes the place', async () => {
    const path = file('p');
    assert.deepEqual(await keepBinaries(recordingOf(path)), []);
    renameSync(file('built again', 'other'), path);
    assert.equal(readFileSync(kept(), 'utf8'), 'program');
  });

  it('are not those of packages, of containers, without a build id, the agents, links, and what runs with the rights of others', async () => {
    const path = file('p');
    const agent = file('libcacheline_heap.so');
    symlinkSync(path, at('link'));
    for (const [binary, more] of [
      ['/bin/true', {}],
      [path, { root: '/proc/1/root' }],
      [path, { buildId: '' }],
      [path, { buildId: '../../../../x' }],
      [agent, {}],
      [at('link'), {}],
    ] as const)
      assert.deepEqual(await keepBinaries(recordingOf(binary, more)), []);
    chmodSync(path, 0o4755);
    assert.deepEqual(await keepBinaries(recordingOf(path)), []);
    assert.ok(!existsSync(at('r', KEPT_FOLDER)));
  });

  it('two files with one build id are kept once, and neither is written into', async () => {
    const path = file('p');
    await keepBinaries(recordingOf(path));
    assert.deepEqual(await keepBinaries(recordingOf(file('stripped', 'prog'))), []);
    assert.deepEqual([readFileSync(path, 'utf8'), readFileSync(kept(), 'utf8')], ['program', 'program']);
  });

  it('one that was changed meanwhile, or is gone, is said and no error', async () => {
    const path = file('p');
    recordingOf(path);
    utimesSync(path, 1, 1);
    const [changed, ...others] = await keepBinaries(at('r'));
    assert.match(changed ?? '', /\/p is not kept in the recording, .*: it was changed while it was recorded$/);
    assert.deepEqual(others, []);
    rmSync(path);
    assert.match((await keepBinaries(at('r'))).join(), /is not kept in the recording, .*: ENOENT: no such file/);
  });

  it('are copied to another file system, where they are not too large', async function () {
    if (!existsSync('/dev/shm') || statSync('/dev/shm').dev === statSync(folder.path).dev) this.skip();
    const elsewhere = mkdtempSync('/dev/shm/cacheline-test-');
    try {
      const recording = recordingOf(file('p'), {}, elsewhere);
      assert.match(
        (await keepBinaries(recording, { mostCopied: 6 })).join(),
        /it cannot be linked there, and 0\.0 kB are too much to copy$/,
      );
      assert.deepEqual(await keepBinaries(recording), []);
      assert.equal(readFileSync(kept(ID, elsewhere), 'utf8'), 'program');
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('count as what deleting the recording frees', async () => {
    assert.equal(await keptBytes(at('none')), 0);
    const path = file('p');
    await keepBinaries(recordingOf(path));
    const shared = lstatSync(kept()).nlink > 1; // else its blocks may be shared, which nobody is told
    assert.equal(await keptBytes(at('r')), shared ? 0 : 7);
    rmSync(path);
    assert.equal(await keptBytes(at('r')), 7);
  });
});

describe('a program that is built again in its place', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const build = (member: string): void => {
    writeFileSync(
      at('p.c'),
      `struct pair { long ${member}[2]; };
      __attribute__((aligned(64))) struct pair ${member}_pair;
      int main(void) {
        for (long i = 0; i < 100000000; i++) __atomic_fetch_add(&${member}_pair.${member}[i & 1], 1, __ATOMIC_SEQ_CST);
        return 0;
      }\n`,
    );
    rmSync(at('p'), { force: true });
    execFileSync('gcc', ['-g', '-O1', '-Wl,--build-id', '-o', at('p'), at('p.c')]);
  };
  const record = async (...options: string[]): Promise<void> => {
    const { status, stderr } = await command.run(['record', '--collector', 'clock', '-o', 'r', '--force', ...options, '--', at('p')], {
      cwd: folder.path,
    });
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stderr, /is not kept/);
  };
  const report = async (name: string): Promise<Report> => {
    const { status, stdout, stderr } = await command.run(['report', name, '--show-all', '--format', 'json'], { cwd: folder.path });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as Report;
  };
  const objects = ({ lines }: Report): (string | null | undefined)[] =>
    lines.flatMap(({ accesses }) => accesses.map(({ data }) => data.object));

  it('leaves the recording before its names, also where that is moved or its perf.data is named', async () => {
    build('old');
    await record();
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
    await record('-N');
    assert.ok(!existsSync(at('r', KEPT_FOLDER)));
    build('young');
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
    const [first = ''] = execFileSync('find', [at('r', KEPT_FOLDER), '-type', 'f'], { encoding: 'utf8' }).split('\n');
    writeFileSync(first, readFileSync(at('p')));
    assert.ok(!objects(await report('r')).includes('old_pair'));
    writeFileSync(first, readFileSync(other));
    assert.ok(objects(await report('r')).includes('old_pair'));
  });

  it('--force replaces the recording with what it keeps', async () => {
    build('old');
    await record();
    const files = (): string => execFileSync('find', [at('r', KEPT_FOLDER), '-type', 'f'], { encoding: 'utf8' });
    const before = files();
    build('young');
    await record();
    assert.notEqual(files(), before);
    assert.equal(files().trim().split('\n').length, 1);
  });
});
