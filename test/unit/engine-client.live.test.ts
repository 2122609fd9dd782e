// The helper process and its client: death, abortion, big results, failures to start. The helper is the real bundle; the addon
// behind it is test/fixtures/plumbing-addon.cjs, which dies and hangs on demand.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { EngineClient, type EngineClientOptions } from '../../extension/engine/client';
import { EngineError, type EngineErrorKind, type RecordParams } from '../../extension/protocol/engine';
import { isAlive, isRunning, temporaryFolder } from './fixtures';

const root = join(__dirname, '../..');
const fixtures = join(root, 'test/fixtures');

async function until(condition: () => boolean, what: string, milliseconds = 8000): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!condition()) {
    if (Date.now() > end) assert.fail(`${what} did not happen within ${milliseconds} ms`);
    await sleep(10);
  }
}

/** Asked anew each time, which the narrowing of a property would hide. */
function helperOf(engine: EngineClient): number | undefined {
  return engine.pid;
}

async function rejection(promise: Promise<unknown>, kind: EngineErrorKind, message: RegExp): Promise<EngineError> {
  const error: unknown = await promise.then(
    () => assert.fail('the call was expected to fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof EngineError, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, message);
  return error;
}

describe('engine client', function () {
  this.timeout(20_000);
  const folder = temporaryFolder();
  let bundles: string;
  const clients: EngineClient[] = [];

  before(async () => {
    bundles = mkdtempSync(join(tmpdir(), 'cacheline-bundles-'));
    await build({
      entryPoints: { helper: join(root, 'extension/engine/helper.ts'), client: join(root, 'extension/engine/client.ts') },
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
      environment: { ...process.env, CACHELINE_ADDON: join(fixtures, 'plumbing-addon.cjs') },
      ...options,
    });
    clients.push(made);
    return made;
  }

  const recordParams = (what: string): RecordParams => ({
    command: [what],
    outputDirectory: folder.path,
    frequency: 1,
    durationSeconds: 0,
    stdio: 'capture',
  });

  it('starts the helper on the first call only, and one for all calls', async () => {
    const engine = client();
    assert.equal(helperOf(engine), undefined);
    const paths = Array.from({ length: 20 }, (_, i) => `p${i}`);
    const results = await Promise.all(paths.map((path) => engine.call('inspect', { paths: [path] })));
    assert.deepEqual(
      results.map(([info]) => info?.path),
      paths,
    );
    const pid = helperOf(engine);
    assert.ok(pid !== undefined && isAlive(pid));
    await engine.call('inspect', { paths: [] });
    assert.equal(engine.pid, pid);
  });

  it('starts it ahead of the first call where that is announced, and says only then why it cannot', async () => {
    const engine = client();
    engine.prepare();
    const pid = helperOf(engine);
    assert.ok(pid !== undefined);
    await engine.call('inspect', { paths: [] });
    assert.equal(engine.pid, pid);

    const missing = client({ environment: { ...process.env, CACHELINE_ADDON: '/nowhere/cacheline.node' } });
    missing.prepare();
    await rejection(missing.call('doctor', {}), 'unavailable', /ENOENT/);
  });

  it('records in a process of its own, which outlives one that analyzes', async () => {
    const engine = client();
    const stop = new AbortController();
    const recording = engine.call('record', recordParams('wait'), { signal: stop.signal });
    await until(() => existsSync(join(folder.path, 'started')), 'the start of the recording');
    assert.equal(engine.pid, undefined, 'nothing is analyzed');
    let analyzes = false;
    const analysis = engine.call('analyze', { path: 'wait', showAll: false }, { onProgress: () => (analyzes = true) });
    await until(() => analyzes, 'the helper that analyzes');
    assert.notEqual(engine.pid, engine.recorderPid);
    process.kill(engine.pid!, 'SIGSEGV');
    await rejection(analysis, 'crashed', /SIGSEGV/);
    assert.deepEqual(await engine.call('analyze', { path: 'now', showAll: false }), { lines: [] });
    stop.abort();
    assert.equal((await recording).interrupted, true);
  });

  it('looks for what a recording should watch in the process that analyzes, whose death ends no recording', async () => {
    const engine = client();
    const crashes: EngineError[] = [];
    engine.onCrash((error) => crashes.push(error));
    const [stop, stopOther] = [new AbortController(), new AbortController()];
    const other = join(folder.path, 'other');
    mkdirSync(other);
    const others = engine.call('record', { ...recordParams('wait'), outputDirectory: other }, { signal: stopOther.signal });
    const command = ['confirm', 'now', 'die', 'fail'];
    const recording = engine.call('record', { ...recordParams('confirm'), command }, { signal: stop.signal });
    const told = (): string[] =>
      existsSync(join(folder.path, 'told')) ? readFileSync(join(folder.path, 'told'), 'utf8').split('\n').slice(0, -1) : [];
    await until(() => told().length === 3, 'the answers');
    assert.equal(crashes.length, 1);
    assert.ok(told().includes('{"why":"The Cacheline engine ended unexpectedly (SIGKILL)"}'), told().join());
    assert.ok(isAlive(engine.recorderPid!));
    assert.ok(!told().some((answer) => answer.includes(`of ${engine.recorderPid}`)));

    const again = engine.call('record', { ...recordParams('confirm'), command: ['confirm', 'now'] }, { signal: stop.signal });
    await until(() => told().at(-1) === `{"found":"of ${engine.pid}"}`, 'an answer of the next process');
    stop.abort();
    for (const ended of [recording, again]) assert.equal((await ended).interrupted, true);
    assert.ok(isAlive(engine.recorderPid!));
    stopOther.abort();
    assert.equal((await others).interrupted, true);
    assert.ok(existsSync(join(other, 'stopped')));
  });

  it('ends looking for it with the recording', async () => {
    const engine = client();
    const stop = new AbortController();
    const looked = join(folder.path, 'wait');
    const command = ['confirm', looked];
    const recording = engine.call('record', { ...recordParams('confirm'), command }, { signal: stop.signal });
    await until(() => existsSync(looked), 'the look');
    stop.abort();
    assert.equal((await recording).interrupted, true);
    await until(() => readFileSync(looked, 'utf8') === 'stopped', 'the end of the look');
  });

  for (const end of ['stops', 'dies'] as const) {
    it(`tells the process that analyzes when a recording that it looked at ${end}`, async () => {
      const engine = client();
      const stop = new AbortController();
      const looked = join(folder.path, `${end}.kept`);
      const command = ['confirm', looked];
      const recording = engine.call('record', { ...recordParams('confirm'), command }, { signal: stop.signal }).catch(() => undefined);
      await until(() => existsSync(join(folder.path, 'told')), 'the answer');
      assert.ok(!existsSync(looked));
      if (end === 'stops') stop.abort();
      else process.kill(engine.recorderPid!, 'SIGKILL');
      await recording;
      await until(() => existsSync(looked), 'the message');
    });
  }

  it('ends a helper that does not answer a cancel, and makes its other calls again', async () => {
    const engine = client({ cancelTimeoutMs: 200 });
    const crashes: EngineError[] = [];
    engine.onCrash((error) => crashes.push(error));
    const stuck = new AbortController();
    const call = engine.call('analyze', { path: 'deaf', showAll: false }, { signal: stuck.signal, onProgress: () => stuck.abort() });
    const other = engine.call('analyze', { path: 'slow', showAll: false });
    await until(() => engine.pid !== undefined, 'the helper');
    const pid = engine.pid!;
    await rejection(call, 'cancelled', /cancelled/);
    assert.deepEqual(await other, { lines: [] });
    assert.notEqual(engine.pid, pid);
    assert.deepEqual(crashes, []);
  });

  it('says that the versions of extension and engine differ', async () => {
    const engine = client({ version: '9.9.9' });
    const error = await rejection(engine.call('doctor', {}), 'unavailable', /its version is 0\.0\.0-plumbing, the extension's is 9\.9\.9/);
    assert.match(error.nextStep, /Reinstall/);
    await client({ version: '0.0.0-plumbing' }).call('doctor', {});
  });

  it('inherits neither the options of Node nor of Electron', async () => {
    const engine = client({
      environment: { ...process.env, CACHELINE_ADDON: join(fixtures, 'plumbing-addon.cjs'), ELECTRON_RUN_AS_NODE: '1' },
    });
    const { machine } = await engine.call('doctor', {});
    assert.deepEqual(machine, { execArgv: [], electronRunAsNode: null });
  });

  it('rejects pending calls when the helper is killed, tells the listeners once, and starts anew', async () => {
    const engine = client();
    const crashes: EngineError[] = [];
    const subscription = engine.onCrash((error) => crashes.push(error));
    const pending = [engine.call('analyze', { path: 'wait', showAll: false }), engine.call('analyze', { path: 'wait', showAll: false })];
    const started = new Promise(
      (resolve) => void engine.call('analyze', { path: 'wait', showAll: false }, { onProgress: resolve }).catch(() => undefined),
    );
    await started;
    process.kill(engine.pid!, 'SIGKILL');
    for (const call of pending) {
      const error = await rejection(call, 'crashed', /^The Cacheline engine ended unexpectedly \(SIGKILL\)\.$/);
      assert.match(error.nextStep, /again/);
    }
    assert.equal(crashes.length, 1);
    assert.equal(crashes[0]?.kind, 'crashed');
    assert.equal(engine.pid, undefined);
    assert.deepEqual(await engine.call('analyze', { path: 'now', showAll: false }), { lines: [] });
    subscription.dispose();
    process.kill(engine.pid!, 'SIGKILL');
    await until(() => engine.pid === undefined, 'the end of the helper');
    assert.equal(crashes.length, 1, 'a disposed listener hears nothing');
  });

  it('tells of a death with no call pending', async () => {
    const engine = client();
    await engine.call('inspect', { paths: [] });
    const crashed = new Promise<EngineError>((resolve) => engine.onCrash(resolve));
    process.kill(engine.pid!, 'SIGSEGV');
    assert.match((await crashed).message, /SIGSEGV/);
  });

  it('a helper that dies in a call rejects it', async () => {
    await rejection(client().call('record', recordParams('die')), 'crashed', /SIGKILL/);
  });

  it('an uncaught exception in the helper is a crash with its message', async () => {
    await rejection(client().call('record', recordParams('throw')), 'crashed', /exit status 1: ReferenceError: nonexistent is not defined/);
  });

  it('aborting ends a recording, which resolves, and cancels an analysis, which rejects', async () => {
    const engine = client();
    const recording = new AbortController();
    let ticks = 0;
    const result = await engine.call('record', recordParams('wait'), {
      signal: recording.signal,
      onProgress: ({ samples }) => {
        assert.equal(samples, 2);
        if (++ticks === 3) recording.abort();
      },
    });
    assert.equal(result.interrupted, true);
    assert.ok(existsSync(join(folder.path, 'stopped')));

    const analysis = new AbortController();
    await rejection(
      engine.call(
        'analyze',
        { path: 'wait', showAll: false },
        {
          signal: analysis.signal,
          onProgress: (share) => {
            assert.equal(share, 0.25);
            analysis.abort();
          },
        },
      ),
      'cancelled',
      /cancelled/,
    );
    await rejection(engine.call('analyze', { path: 'wait', showAll: false }, { signal: AbortSignal.abort() }), 'cancelled', /cancelled/);
    await engine.call('inspect', { paths: [] });
  });

  it('keeps kind, message and next step of errors; what has no kind is internal', async () => {
    const engine = client();
    for (const kind of ['usage', 'unreadable', 'impossible', 'io', 'cancelled', 'internal'] as const) {
      const error = await rejection(
        engine.call('analyze', { path: `fail:${kind}`, showAll: false }),
        kind,
        new RegExp(`^It is ${kind}\\.$`),
      );
      assert.equal(error.nextStep, 'Do this.');
    }
    await rejection(engine.call('analyze', { path: 'fail:made-up', showAll: false }), 'internal', /It is made-up/);
    await rejection(engine.call('analyze', { path: 'bug', showAll: false }), 'internal', /of no kind/);
  });

  it('carries results of 64 MB', async () => {
    const size = 64 * 1024 * 1024;
    const result: unknown = await client().call('analyze', { path: `big:${size}`, showAll: false });
    assert.equal((result as { text: string }).text.length, size);
  });

  it('says why it could not be started, and tries again at the next call', async () => {
    const missing = client({ environment: { ...process.env, CACHELINE_ADDON: '/nowhere/cacheline.node' } });
    const first = await rejection(missing.call('doctor', {}), 'unavailable', /\/nowhere\/cacheline\.node: ENOENT/);
    assert.match(first.nextStep, /npm run build/);
    await rejection(missing.call('doctor', {}), 'unavailable', /ENOENT/);

    const noAddon = join(folder.path, 'no-addon.node');
    writeFileSync(noAddon, 'this is no shared object');
    const broken = client({ environment: { ...process.env, CACHELINE_ADDON: noAddon } });
    await rejection(broken.call('doctor', {}), 'unavailable', /no-addon\.node could not be loaded: .*(too short|invalid ELF header)/);

    await rejection(
      client({ helperPath: join(folder.path, 'no-helper.js') }).call('doctor', {}),
      'unavailable',
      /exit status 1.*no-helper\.js/,
    );
  });

  it('gives up on a helper that never answers, and leaves no process', async () => {
    const silent = join(folder.path, 'silent.js');
    const pidFile = join(folder.path, 'pid');
    writeFileSync(
      silent,
      `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    const engine = client({ helperPath: silent, startTimeoutMs: 4000 });
    await rejection(engine.call('doctor', {}), 'unavailable', /within 4 s/);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await until(() => !isAlive(pid), 'the end of the silent helper');
  });

  it('restart ends pending analyses and brings another process, and a recording goes on', async () => {
    const engine = client();
    let crashed = false;
    engine.onCrash(() => (crashed = true));
    await engine.call('inspect', { paths: [] });
    const first = engine.pid!;
    const stop = new AbortController();
    const recording = engine.call('record', recordParams('wait'), { signal: stop.signal });
    const pending = rejection(engine.call('analyze', { path: 'wait', showAll: false }), 'cancelled', /restarted/);
    await until(() => existsSync(join(folder.path, 'started')), 'the start of the recording');
    const recorder = engine.recorderPid!;
    await engine.restart();
    await pending;
    assert.ok(engine.pid !== undefined && engine.pid !== first);
    assert.equal(isAlive(first), false);
    assert.equal(engine.recorderPid, recorder);
    assert.equal(existsSync(join(folder.path, 'stopped')), false);
    assert.equal(crashed, false);
    stop.abort();
    await recording.catch((error: unknown) => assert.ok(error instanceof EngineError));
    assert.ok(existsSync(join(folder.path, 'stopped')), 'the recording was still there to be stopped');
  });

  it('restart ends a process that hangs, and open profiles answer in the next one', async () => {
    const engine = client({ cancelTimeoutMs: 300 });
    const { handle } = await engine.call('open', { path: 'p', showAll: false });
    const ask = async () => (await engine.call('ask', { handle, question: { question: 'line', id: 'x' } })) as unknown;
    const first = engine.pid!;
    process.kill(first, 'SIGSTOP');
    const pending = ask();
    await engine.restart();
    assert.equal(isAlive(first), false);
    const { line } = (await pending) as { line: { pid: number; path: string } };
    assert.deepEqual([line.pid, line.path], [engine.pid, 'p']);
    assert.notEqual(line.pid, first);
  });

  it('dispose ends the process and all calls', async () => {
    const engine = client();
    await engine.call('inspect', { paths: [] });
    const pid = engine.pid!;
    const pending = rejection(engine.call('analyze', { path: 'wait', showAll: false }), 'cancelled', /shut down/);
    await engine.dispose();
    await pending;
    assert.equal(isAlive(pid), false);
    await rejection(engine.call('doctor', {}), 'unavailable', /shut down/);
    assert.equal(engine.pid, undefined);
  });

  it('the helper closes its recording and ends when its host is killed', async () => {
    const host = spawn(
      process.execPath,
      [join(fixtures, 'engine-host.cjs'), join(bundles, 'client.js'), join(bundles, 'helper.js'), folder.path],
      {
        env: { ...process.env, CACHELINE_ADDON: join(fixtures, 'plumbing-addon.cjs') },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [text] = (await once(host.stdout, 'data')) as [Buffer];
    const helper = Number(text.toString());
    assert.ok(isAlive(helper));
    host.kill('SIGKILL');
    await until(() => !isRunning(helper), 'the end of the helper');
    assert.ok(existsSync(join(folder.path, 'stopped')));
  });
});
