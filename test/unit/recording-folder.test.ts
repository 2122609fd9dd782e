// Where recordings go, and that nothing of the user's is ever overwritten or deleted.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError, type EngineErrorKind } from '../../extension/protocol/engine';
import { createRecordingFolder } from '../../extension/session/record/recording-folder';
import { temporaryFolder } from './fixtures';

async function refuses(promise: Promise<unknown>, kind: EngineErrorKind, message: RegExp): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert.ok(error instanceof EngineError, String(error));
    assert.equal(error.kind, kind);
    assert.match(error.message, message);
    assert.notEqual(error.nextStep, '');
    return true;
  });
}

describe('recording folder', () => {
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const recordingAt = (name: string): void => {
    mkdirSync(at(name));
    writeFileSync(at(name, 'perf.data'), 'old data');
    writeFileSync(at(name, 'meta.json'), 'old meta');
    writeFileSync(at(name, 'trace.jsonl'), 'old trace');
    mkdirSync(at(name, '.build-id/01'), { recursive: true });
    writeFileSync(at(name, '.build-id/01/23'), 'old program');
  };

  it('is named after the program and numbered where the name is taken', async () => {
    const request = { program: '/usr/bin/prog', parent: folder.path };
    const paths = [];
    for (let i = 0; i < 3; ++i) paths.push((await createRecordingFolder(request)).path);
    assert.deepEqual(paths, [at('prog.cacheline'), at('prog-2.cacheline'), at('prog-3.cacheline')]);
    for (const path of paths) assert.deepEqual(readdirSync(path), []);
  });

  it('gives recordings that start together different folders', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => createRecordingFolder({ program: 'p', parent: folder.path })));
    assert.equal(new Set(made.map(({ path }) => path)).size, 8);
  });

  it('does not take a file of the default name for a folder', async () => {
    writeFileSync(at('p.cacheline'), 'mine');
    assert.equal((await createRecordingFolder({ program: 'p', parent: folder.path })).path, at('p-2.cacheline'));
    assert.equal(readFileSync(at('p.cacheline'), 'utf8'), 'mine');
  });

  it('-o is exactly that folder, made with its parents, or an empty one that exists', async () => {
    assert.equal((await createRecordingFolder({ program: 'p', parent: folder.path, directory: 'a/b' })).path, at('a/b'));
    mkdirSync(at('empty'));
    const made = await createRecordingFolder({ program: 'p', parent: folder.path, directory: at('empty') });
    assert.equal(made.path, at('empty'));
    await made.abandon();
    assert.ok(existsSync(at('empty')), 'a folder that was there before stays');
  });

  it('-o where no folder can be made is an error, in the end', async () => {
    for (const directory of ['/proc/no/folder', '/proc/none'])
      await assert.rejects(
        createRecordingFolder({ program: 'p', parent: folder.path, directory }),
        /cannot be made: the folder that it would be in does not exist\.$/,
      );
  });

  it('-o with something in it is refused', async () => {
    recordingAt('full');
    await refuses(createRecordingFolder({ program: 'p', parent: folder.path, directory: 'full' }), 'usage', /not empty/);
    writeFileSync(at('file'), '');
    await refuses(createRecordingFolder({ program: 'p', parent: folder.path, directory: 'file' }), 'usage', /not a folder/);
    await refuses(createRecordingFolder({ program: 'p', parent: folder.path, directory: 'file', force: true }), 'usage', /not a folder/);
    await refuses(
      createRecordingFolder({ program: 'p', parent: folder.path, directory: 'file/below' }),
      'io',
      /a part of the path is a file/,
    );
    await refuses(createRecordingFolder({ program: 'p', parent: folder.path, directory: 'x'.repeat(300) }), 'io', /its name is too long/);
  });

  it('--force replaces a recording once there is a new one', async () => {
    recordingAt('r');
    const made = await createRecordingFolder({ program: 'p', parent: folder.path, directory: 'r', force: true });
    assert.deepEqual(readdirSync(made.path), []);
    writeFileSync(join(made.path, 'perf.data'), 'new');
    await made.keep();
    assert.deepEqual(readdirSync(folder.path), ['r']);
    assert.equal(readFileSync(at('r/perf.data'), 'utf8'), 'new');
    assert.deepEqual(readdirSync(at('r')), ['perf.data']);
  });

  it('--force gives the old recording back where nothing was recorded', async () => {
    recordingAt('p.cacheline');
    const made = await createRecordingFolder({ program: 'p', parent: folder.path, force: true });
    const { path } = made;
    assert.equal(path, at('p.cacheline'));
    writeFileSync(join(path, 'meta.json'), 'half');
    writeFileSync(join(path, 'meta.json.new'), 'half');
    await made.abandon();
    assert.deepEqual(readdirSync(folder.path), ['p.cacheline']);
    assert.deepEqual(readdirSync(path).sort(), ['.build-id', 'meta.json', 'perf.data', 'trace.jsonl']);
    assert.equal(readFileSync(join(path, '.build-id/01/23'), 'utf8'), 'old program');
    assert.equal(readFileSync(join(path, 'meta.json'), 'utf8'), 'old meta');
  });

  it('--force never touches a folder that holds anything else', async () => {
    for (const [name, prepare] of Object.entries({
      'notes.txt': () => writeFileSync(at('r/notes.txt'), 'mine'),
      src: () => mkdirSync(at('r/src')),
      link: () => symlinkSync('/etc/passwd', at('r/link')),
    })) {
      recordingAt('r');
      prepare();
      await refuses(
        createRecordingFolder({ program: 'p', parent: folder.path, directory: 'r', force: true }),
        'usage',
        new RegExp(`holds ${name}`),
      );
      assert.equal(readFileSync(at('r/perf.data'), 'utf8'), 'old data');
      rmSync(at('r'), { recursive: true });
    }
    mkdirSync(at('dir/perf.data'), { recursive: true });
    await refuses(createRecordingFolder({ program: 'p', parent: folder.path, directory: 'dir', force: true }), 'usage', /perf\.data/);
    assert.ok(existsSync(at('dir/perf.data')));
  });

  it('abandoning a new folder removes it, unless something else came into it', async () => {
    const first = await createRecordingFolder({ program: 'p', parent: folder.path });
    writeFileSync(join(first.path, 'perf.data'), '');
    await first.abandon();
    assert.deepEqual(readdirSync(folder.path), []);
    const second = await createRecordingFolder({ program: 'p', parent: folder.path });
    writeFileSync(join(second.path, 'mine'), '');
    await second.abandon();
    assert.deepEqual(readdirSync(second.path), ['mine']);
  });

  it('a folder that cannot be written is said', async () => {
    await refuses(createRecordingFolder({ program: 'p', parent: '/proc/self' }), 'io', /\/proc\/self\/p\.cacheline/);
  });
});
