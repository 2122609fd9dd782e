// Loading the addon, its errors, and exit statuses.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addonCandidates, loadAddon, NativeEngine, toEngineError } from '../../extension/engine/native';
import { EngineError } from '../../extension/protocol/engine';
import { exitStatusOf, programStatus } from '../../extension/session/record/exit-status';
import { commandIn } from '../../extension/session/text/next-step';
import { temporaryFolder } from './fixtures';

const root = join(__dirname, '../..');

describe('native addon', () => {
  const folder = temporaryFolder();

  it('is looked for in the package that holds the bundle, and nowhere else', () => {
    mkdirSync(join(folder.path, 'dist'));
    writeFileSync(join(folder.path, 'package.json'), '{}');
    const wanted = [join(folder.path, 'build/release/native/addon/cacheline.node'), join(folder.path, 'dist/native/cacheline.node')];
    assert.deepEqual(addonCandidates(join(folder.path, 'dist'), {}), wanted);
    mkdirSync(join(folder.path, 'extension/engine'), { recursive: true });
    assert.deepEqual(addonCandidates(join(folder.path, 'extension/engine'), { CACHELINE_ADDON: '' }), wanted);
  });

  it('is the one of the environment where that names one', () => {
    assert.deepEqual(addonCandidates('/anywhere', { CACHELINE_ADDON: '/a/b.node' }), ['/a/b.node']);
    assert.deepEqual(addonCandidates('/anywhere', { CACHELINE_ADDON: 'b.node' }), [join(process.cwd(), 'b.node')]);
  });

  it('says everything that was tried', () => {
    assert.throws(
      () => loadAddon([join(folder.path, 'a.node'), join(folder.path, 'b.node')]),
      (error: unknown) => {
        assert.ok(error instanceof EngineError);
        assert.equal(error.kind, 'unavailable');
        assert.match(error.message, /a\.node: ENOENT; .*b\.node: ENOENT/);
        assert.match(error.nextStep, /npm run build/);
        return true;
      },
    );
  });

  it('that does not load is an error, even where another would', () => {
    writeFileSync(join(folder.path, 'bad.node'), 'no ELF');
    assert.throws(() => loadAddon([join(folder.path, 'bad.node'), join(root, 'test/fixtures/plumbing-addon.cjs')]), {
      kind: 'unavailable',
      message: /bad\.node could not be loaded: /,
    });
  });

  it('errors keep kind and next step, everything else is internal', () => {
    const native = Object.assign(new Error('No such program.'), { kind: 'usage', nextStep: 'Name one.' });
    const { kind, nextStep } = toEngineError(native);
    assert.deepEqual({ kind, nextStep }, { kind: 'usage', nextStep: 'Name one.' });
    assert.equal(toEngineError(native).message, 'No such program.');
    assert.equal(toEngineError(new TypeError('x')).kind, 'internal');
    assert.equal(toEngineError('text').message, 'text.');
    assert.equal(toEngineError(Object.assign(new Error('x'), { kind: 'crashed' })).kind, 'internal', 'not the addon’s to say');
    const engineError = new EngineError('io', 'x');
    assert.equal(toEngineError(engineError), engineError);
  });

  it('errors of the addon are sentences, and their next step offers no half of a command', async () => {
    const engine = new NativeEngine(loadAddon([join(root, 'build/release/native/addon/cacheline.node')]));
    const path = join(folder.path, 'missing');
    await assert.rejects(engine.call('analyze', { path, showAll: false }), (error: unknown) => {
      assert.ok(error instanceof EngineError);
      assert.equal(error.message, `there is no recording ${path}.`);
      assert.match(error.nextStep, /^Give .*\.$/);
      assert.equal(commandIn(error.nextStep), undefined);
      return true;
    });
  });

  it('calls that throw at once reject', async () => {
    const addon = loadAddon([join(root, 'test/fixtures/plumbing-addon.cjs')]);
    const engine = new NativeEngine({
      ...addon,
      analyze: () => {
        throw new RangeError('at once');
      },
    });
    await assert.rejects(engine.call('analyze', { path: 'x', showAll: false }), { kind: 'internal', message: 'at once.' });
    await assert.rejects(engine.analyzeTexts({ path: 'x', showAll: false }), { kind: 'internal', message: 'at once.' });
  });
});

describe('exit statuses', () => {
  it('are those of the documentation', () => {
    const kinds = ['usage', 'unreadable', 'impossible', 'unavailable', 'internal', 'crashed', 'io', 'cancelled'] as const;
    assert.deepEqual(kinds.map(exitStatusOf), [2, 3, 4, 69, 70, 70, 4, 130]);
  });

  it('pass the program’s own on', () => {
    assert.equal(programStatus({ exitStatus: 0, signal: null }), 0);
    assert.equal(programStatus({ exitStatus: 7, signal: null }), 7);
    assert.equal(programStatus({ exitStatus: null, signal: 11 }), 139);
    assert.equal(programStatus({ exitStatus: null, signal: null }), 0);
  });
});
