// The search for programs of the workspace: what it finds, what it leaves out, and its bounds.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findExecutables } from '../../extension/session/record/executables';

describe('executables', () => {
  let folder: string;
  const put = (name: string, mode = 0o755, content = 'x'): string => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content, { mode });
    return file;
  };
  const found = async (bounds: Partial<Parameters<typeof findExecutables>[1]> = {}) => {
    const { files, complete } = await findExecutables(folder, { maxEntries: 1000, maxDepth: 5, ...bounds });
    return { names: files.map((file) => path.relative(folder, file.path)), complete };
  };

  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'cacheline-executables-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('finds files that may be executed, newest first', async () => {
    const old = put('old');
    utimesSync(old, 1000, 1000);
    put('build/bin/new.out');
    put('data', 0o644);
    put('empty', 0o755, '');
    assert.deepEqual(await found(), { names: ['build/bin/new.out', 'old'], complete: true });
  });

  it('leaves out libraries, objects, scripts and folders of tools', async () => {
    for (const name of [
      'liba.so',
      'liba.so.1.2',
      'a.o',
      'a.c',
      'run.sh',
      '.git/hooks/pre-commit',
      'node_modules/.bin/x',
      'CMakeFiles/a.out',
      'a.cacheline/x',
    ])
      put(name);
    assert.deepEqual((await found()).names, []);
  });

  it('follows links to files, not to folders', async () => {
    put('bin/program');
    symlinkSync('bin/program', path.join(folder, 'link'));
    symlinkSync('.', path.join(folder, 'loop'));
    symlinkSync('nowhere', path.join(folder, 'dangling'));
    assert.deepEqual((await found()).names.sort(), ['bin/program', 'link']);
  });

  it('keeps to its bounds and says so', async () => {
    for (let i = 0; i < 20; ++i) put(`p${i}`);
    put('a/b/c/deep');
    const few = await found({ maxEntries: 10 });
    assert.equal(few.complete, false);
    assert.ok(few.names.length <= 10);
    const flat = await found({ maxDepth: 1 });
    assert.equal(flat.complete, false);
    assert.equal(flat.names.length, 20);
    assert.equal((await found({ signal: AbortSignal.abort() })).complete, false);
  });

  it('finds nothing in a folder that is not there', async () => {
    assert.deepEqual(await findExecutables(path.join(folder, 'no'), { maxEntries: 5, maxDepth: 5 }), { files: [], complete: true });
  });
});
