// The program that a recording keeps: which files, how, and what is said of those that it cannot keep.
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BinaryKeeper, KEPT_FOLDER, keptBytes } from '../../extension/session/record/kept-binaries';
import { temporaryFolder } from './fixtures';

const ID = '0123456789abcdef0123456789abcdef01234567';

const keepBinaries = (recording: string, mostCopied?: number): Promise<string[]> => new BinaryKeeper(recording, mostCopied).end();

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

  it('are not those of packages, of containers, the agents, links, and what runs with the rights of others', async () => {
    const path = file('p');
    const agent = file('libcacheline_heap.so');
    symlinkSync(path, at('link'));
    for (const [binary, more] of [
      ['/bin/true', {}],
      [path, { root: '/proc/1/root' }],
      ['/bin/true', { buildId: '' }],
      [at('link'), { buildId: '' }],
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

  it('one without a build id is said: nothing could tell it from others', async () => {
    for (const buildId of ['', '../../../../x']) {
      const said = await keepBinaries(recordingOf(file('p'), { buildId }));
      assert.match(
        said.join(),
        /^\S+\/p is not kept in the recording, which loses its names when it is built again: it has no build id to identify it /,
      );
    }
    assert.ok(!existsSync(at('r', KEPT_FOLDER)));
  });

  it('one that was changed meanwhile, or is gone, is said and no error', async () => {
    const path = file('p');
    recordingOf(path);
    utimesSync(path, 1, 1);
    const [changed, ...others] = await keepBinaries(at('r'));
    assert.match(changed ?? '', /\/p is not kept in the recording, .*: it was changed while it was recorded$/);
    assert.deepEqual(others, []);
    rmSync(path);
    assert.match((await keepBinaries(at('r'))).join(), /is not kept in the recording, .*: it was deleted while it was recorded$/);
  });

  it('are there from the first look on: what is built in their place later is no harm', async () => {
    const path = file('p');
    const recording = at('r');
    mkdirSync(recording);
    const keeper = new BinaryKeeper(recording);
    keeper.look(); // there is no meta.json yet
    recordingOf(path);
    keeper.look();
    while (!existsSync(kept())) await sleep(1);
    renameSync(file('built again', 'other'), path);
    keeper.look();
    assert.deepEqual(await keeper.end(), []);
    assert.equal(readFileSync(kept(), 'utf8'), 'program');
  });

  it('what goes wrong in a look is told at the end', async () => {
    mkdirSync(at('r'));
    writeFileSync(at('r', 'meta.json'), '{');
    const keeper = new BinaryKeeper(at('r'));
    keeper.look();
    await sleep(50);
    await assert.rejects(keeper.end(), SyntaxError);
  });

  it('those that cannot be kept for one reason are one sentence', async () => {
    const binaries = ['p', 'libp.so'].map((name, i) => {
      const { size, mtimeNs } = statSync(file(name), { bigint: true });
      return { path: at(name), buildId: ID.replace('0', String(i)), size: Number(size), mtimeNs: String(mtimeNs) };
    });
    mkdirSync(at('r'));
    writeFileSync(at('r', 'meta.json'), JSON.stringify({ binaries }));
    writeFileSync(at('r', KEPT_FOLDER), 'a file');
    const [sentence, ...others] = await keepBinaries(at('r'));
    assert.match(
      sentence ?? '',
      /\/p and \S+\/libp\.so are not kept in the recording, which loses their names when they are built again: /,
    );
    assert.match(sentence ?? '', /: a part of the path is a file$/);
    assert.deepEqual(others, []);
  });

  it('are copied to another file system at the end, where they are not too large', async function () {
    if (!existsSync('/dev/shm') || statSync('/dev/shm').dev === statSync(folder.path).dev) this.skip();
    const elsewhere = mkdtempSync('/dev/shm/cacheline-test-');
    try {
      const recording = recordingOf(file('p'), {}, elsewhere);
      assert.match((await keepBinaries(recording, 6)).join(), /it cannot be linked there, and 0\.0 kB are too much to copy$/);
      const keeper = new BinaryKeeper(recording);
      keeper.look();
      await sleep(50);
      assert.ok(!existsSync(kept(ID, elsewhere)), 'copying would disturb what is recorded');
      assert.deepEqual(await keeper.end(), []);
      assert.equal(readFileSync(kept(ID, elsewhere), 'utf8'), 'program');
      assert.deepEqual(readdirSync(join(kept(ID, elsewhere), '..')), [ID.slice(2)], 'nothing half-written');
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
