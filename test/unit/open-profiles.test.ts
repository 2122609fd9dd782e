// Open profiles and the deaths of helpers. The helper is the real bundle; the addon is test/fixtures/plumbing-addon.cjs.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { EngineClient, type EngineClientOptions } from '../../extension/engine/client';
import type { ProfileLine } from '../../extension/protocol/profile';

const root = join(__dirname, '../..');

/** What the addon answers a question with: what the profile was opened with, and by which process. */
interface Opened {
  pid: number;
  path: string;
  filter?: string;
}

describe('open profiles', function () {
  this.timeout(20_000);
  let bundles: string;
  const clients: EngineClient[] = [];

  before(async () => {
    bundles = mkdtempSync(join(tmpdir(), 'cacheline-bundles-'));
    await build({
      entryPoints: { helper: join(root, 'extension/engine/helper.ts') },
      bundle: true,
      platform: 'node',
      target: 'node20',
      outdir: bundles,
    });
  });
  after(() => rmSync(bundles, { recursive: true, force: true }));
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.dispose()));
  });

  function client(options: Partial<EngineClientOptions> = {}): EngineClient {
    const made = new EngineClient({
      helperPath: join(bundles, 'helper.js'),
      environment: { ...process.env, CACHELINE_ADDON: join(root, 'test/fixtures/plumbing-addon.cjs') },
      ...options,
    });
    clients.push(made);
    return made;
  }

  async function ask(engine: EngineClient, handle: number, id = ''): Promise<Opened> {
    const { line } = (await engine.call('ask', { handle, question: { question: 'line', id } })) as ProfileLine;
    return line as unknown as Opened;
  }

  async function killed(engine: EngineClient): Promise<number> {
    const pid = engine.pid!;
    const gone = new Promise((resolve) => engine.onCrash(resolve));
    process.kill(pid, 'SIGKILL');
    await gone;
    return pid;
  }

  it('answer until they are closed', async () => {
    const engine = client();
    const shares: number[] = [];
    const { handle, summary } = await engine.call('open', { path: 'a', showAll: false }, { onProgress: (share) => shares.push(share) });
    assert.deepEqual(summary, { of: 'a' });
    assert.deepEqual(shares, [0.5]);
    assert.equal((await ask(engine, handle)).path, 'a');
    assert.deepEqual(await engine.call('filter', { handle, filter: 'type:Queue' }), { of: 'type:Queue' });
    assert.equal((await ask(engine, handle)).filter, 'type:Queue');
    assert.equal(await engine.call('close', { handle }), null);
    await assert.rejects(engine.call('ask', { handle, question: { question: 'threads' } }), {
      kind: 'usage',
      message: /No profile is open/,
    });
    await assert.rejects(engine.call('close', { handle }), { kind: 'usage' });
  });

  it('come back with their filters in a new helper after one was killed between two calls', async () => {
    const engine = client();
    const { handle: first } = await engine.call('open', { path: 'a', showAll: true });
    const { handle: second } = await engine.call('open', { path: 'b', showAll: false });
    await engine.call('filter', { handle: second, filter: 'cpu:1' });
    await assert.rejects(engine.call('filter', { handle: second, filter: 'wrong' }), { kind: 'usage' });
    const before = await killed(engine);
    const answers = await Promise.all([ask(engine, second), ask(engine, first), ask(engine, second)]);
    assert.notEqual(engine.pid, before);
    assert.deepEqual(
      answers.map(({ pid, path, filter }) => [pid, path, filter]),
      [
        [engine.pid, 'b', 'cpu:1'],
        [engine.pid, 'a', undefined],
        [engine.pid, 'b', 'cpu:1'],
      ],
    );
    await killed(engine);
    assert.equal(await engine.call('close', { handle: first }), null, 'with its process it has gone');
    await engine.call('filter', { handle: second, filter: 'cpu:2' });
    assert.equal((await ask(engine, second)).filter, 'cpu:2');
  });

  it('are asked again where the helper ends meanwhile, and once only', async () => {
    const engine = client({ cancelTimeoutMs: 100 });
    const { handle } = await engine.call('open', { path: 'a', showAll: false });
    await assert.rejects(ask(engine, handle, 'die'), { kind: 'crashed' });
    const before = (await ask(engine, handle)).pid;
    await engine.restart();
    assert.notEqual((await ask(engine, handle)).pid, before);
  });

  it('do not hear of another question that was given up with its helper', async () => {
    const engine = client({ cancelTimeoutMs: 100 });
    const { handle } = await engine.call('open', { path: 'a', showAll: false });
    const stop = new AbortController();
    const deaf = engine.call('ask', { handle, question: { question: 'line', id: 'deaf' } }, { signal: stop.signal });
    stop.abort();
    await assert.rejects(deaf, { kind: 'cancelled' });
    assert.equal((await ask(engine, handle)).path, 'a');
  });

  it('give a question up that is cancelled, or takes too long', async () => {
    const engine = client({ cancelTimeoutMs: 100, answerTimeoutMs: 300 });
    const { handle } = await engine.call('open', { path: 'a', showAll: false });
    const stop = new AbortController();
    const cancelled = engine.call('ask', { handle, question: { question: 'line', id: 'wait' } }, { signal: stop.signal });
    stop.abort();
    await assert.rejects(cancelled, { kind: 'cancelled', message: 'the question was cancelled.' });
    await assert.rejects(ask(engine, handle, 'wait'), { kind: 'internal', message: /did not answer within 0\.3 s/ });
    await assert.rejects(ask(engine, handle, 'deaf'), { kind: 'internal', message: /did not answer within 0\.3 s/ });
    assert.equal((await ask(engine, handle)).path, 'a');
    await assert.rejects(ask(engine, handle, 'fail'), { kind: 'usage', message: 'There is no such line.' });
  });

  it('are not waited for by who cancels while they come back', async () => {
    const engine = client();
    const { handle } = await engine.call('open', { path: 'slow', showAll: false });
    await killed(engine);
    const stop = new AbortController();
    const question = { question: 'line', id: '' } as const;
    const cancelled = engine.call('ask', { handle, question }, { signal: stop.signal });
    const other = ask(engine, handle);
    stop.abort();
    await assert.rejects(cancelled, { kind: 'cancelled', message: 'The request was cancelled.' });
    assert.equal((await other).path, 'slow');
  });

  it('are not opened where that is cancelled', async () => {
    const engine = client();
    const stop = new AbortController();
    const opening = engine.call('open', { path: 'wait', showAll: false }, { signal: stop.signal, onProgress: () => stop.abort() });
    await assert.rejects(opening, { kind: 'cancelled' });
  });
});
