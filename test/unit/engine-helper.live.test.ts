// The helper process with the real addon: what the editor's profiles rely on.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { EngineClient } from '../../extension/engine/client';
import type { RecordParams } from '../../extension/protocol/engine';
import type { Answers } from '../../extension/protocol/profile';
import type { RecordingMeta } from '../../extension/protocol/recording';
import { profile } from '../../extension/session/record/profile';
import { showSaid } from '../../extension/session/record/run-display';
import { addonPath, examples, root } from './command';
import { isAlive, temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

const LOOP = 'while :; do :; done';

describe('engine helper with the addon', function () {
  this.timeout(40_000);
  const folder = temporaryFolder();
  let bundle: string;
  let engine: EngineClient;

  before(async () => {
    bundle = mkdtempSync(join(tmpdir(), 'cacheline-helper-'));
    await build({
      entryPoints: [join(root, 'extension/engine/helper.ts')],
      bundle: true,
      platform: 'node',
      target: 'node20',
      outdir: bundle,
    });
  });
  after(() => rmSync(bundle, { recursive: true, force: true }));
  beforeEach(() => {
    engine = new EngineClient({ helperPath: join(bundle, 'helper.js'), environment: { ...process.env, CACHELINE_ADDON: addonPath } });
  });
  afterEach(() => engine.dispose());

  const params = (script: string, more: Partial<RecordParams> = {}): RecordParams => {
    const outputDirectory = join(folder.path, 'r');
    mkdirSync(outputDirectory);
    return {
      command: ['sh', '-c', script],
      outputDirectory,
      frequency: 499,
      durationSeconds: 0,
      stdio: 'capture',
      ...more,
    };
  };
  const meta = (): RecordingMeta => JSON.parse(readFileSync(join(folder.path, 'r/meta.json'), 'utf8')) as RecordingMeta;

  it('profiles a program: its output as progress, its environment and folder, then a report', async () => {
    let output = '';
    const { recording, opened } = await profile(
      engine,
      {
        command: ['sh', '-c', 'echo "$GREETING from $PWD"; echo error >&2; cat; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'],
        workingDirectory: folder.path,
        environment: ['GREETING=hello'],
        frequency: 499,
        durationSeconds: 0,
        stdio: 'capture',
        output: { parent: folder.path },
      },
      { onProgress: (progress) => (output += progress.phase === 'recording' ? (progress.output ?? '') : '') },
    );
    assert.equal(output, `hello from ${folder.path}\nerror\n`);
    assert.equal(recording.path, join(folder.path, 'sh.cacheline'));
    assert.equal(recording.result.exitStatus, 0);
    const report = await opened.report();
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    assert.equal(report.recording?.command[0], 'sh');
    assert.equal(report.samples.total, recording.result.samples);
  });

  it('abort ends a recording and keeps it', async () => {
    const abort = new AbortController();
    const result = await engine.call('record', params(LOOP), {
      signal: abort.signal,
      onProgress: ({ samples }) => {
        if (samples > 0) abort.abort();
      },
    });
    assert.equal(result.interrupted, true);
    assert.equal(result.signal, 15);
    assert.ok(result.samples > 0);
    assert.deepEqual(schemaErrors('cacheline-recording-1', meta()), []);
  });

  it('warns while the program runs, once, of a name to watch that was not found', async () => {
    const stop = new AbortController();
    const warnings: string[] = [];
    let output = '';
    const display = {
      output: (text: string): void => void (output += text),
      warning: (text: string): void => {
        warnings.push(text);
        stop.abort();
      },
    };
    const request = params(`echo ready; ${LOOP}`, { watch: { expressions: ['no_such_name'], confirm: false } });
    const profiled = profile(
      engine,
      { ...request, output: { parent: folder.path } },
      { stop: stop.signal, onProgress: (now) => showSaid(now, display) },
    );
    await assert.rejects(profiled, { kind: 'usage', message: /nothing was watched/ });
    assert.equal(output, 'ready\n');
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(warnings[0] ?? '', /^not watched so far: --watch no_such_name: /);
  });

  it('a helper killed while it records leaves a recording that reads', async () => {
    let killed = false;
    let program = 0;
    try {
      await assert.rejects(
        engine.call('record', params(`echo $$; ${LOOP}`, { durationSeconds: 20 }), {
          onProgress: ({ samples, output }) => {
            program ||= Number(output ?? 0);
            if (samples > 30 && !killed) killed = process.kill(engine.recorderPid!, 'SIGKILL');
          },
        }),
        { kind: 'crashed' },
      );
    } finally {
      if (program > 0 && isAlive(program)) process.kill(program, 'SIGKILL');
    }
    const report = await engine.call('analyze', { path: join(folder.path, 'r'), showAll: true });
    assert.ok(report.samples.total > 0);
    assert.equal(report.recording?.program, null);
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
  });

  it('confirms a verdict though the process that analyzes is killed, and with it a profile that is open', async () => {
    const open = join(folder.path, 'open');
    mkdirSync(open);
    await engine.call('record', { ...params(`i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`), outputDirectory: open });
    const { handle, summary } = await engine.call('open', { path: open, showAll: true });
    const first = engine.pid;
    const stop = new AbortController();
    const outputDirectory = join(folder.path, 'confirmed');
    mkdirSync(outputDirectory);
    let killed = 0;
    let kills = Promise.resolve();
    const killAnalysis = (): void => {
      if (killed++ > 0 || engine.pid === undefined) return;
      process.kill(engine.pid, 'SIGKILL');
      kills = (async () => {
        const page = (await engine.call('ask', { handle, question: { question: 'lines', count: 0 } })) as Answers['lines'];
        assert.equal(page.total, summary.counts.lines, 'the profile has come back');
      })();
    };
    const command = [join(examples, 'reader_writer-contended'), '1000000000000'];
    const watch = { expressions: [], confirm: true };
    const record = { command, outputDirectory, frequency: 499, durationSeconds: 0, stdio: 'capture', watch } as const;
    const result = await engine.call('record', record, {
      signal: stop.signal,
      onProgress: ({ samples }) => {
        if (samples > 0) killAnalysis();
        if (existsSync(join(outputDirectory, 'watch.jsonl'))) stop.abort();
      },
    });
    await kills;
    assert.notEqual(engine.pid, first);
    assert.equal(result.interrupted, true);
    assert.ok(result.watch !== null && result.watch.words > 0, JSON.stringify(result.warnings));
    assert.ok(result.samples > 0);
  });

  it('dispose closes the recording and ends its program', async () => {
    let program = 0;
    let sampled = 0;
    const call = engine.call('record', params(`echo $$; ${LOOP}`), {
      onProgress: ({ output, samples }) => {
        program ||= Number(output ?? 0);
        sampled = samples;
      },
    });
    const rejected = assert.rejects(call, { kind: 'cancelled' });
    while (program === 0 || sampled === 0) await sleep(20);
    await engine.dispose();
    await rejected;
    assert.equal(isAlive(program), false);
    assert.equal(meta().program?.signal, 15);
    assert.ok(meta().samples > 0);
  });

  it('says what kind of file a program is', async () => {
    const [node, text, missing] = await engine.call('inspect', { paths: [process.execPath, join(root, 'package.json'), '/no/such/file'] });
    assert.equal(node?.kind, 'executable');
    assert.equal(text?.kind, 'not a program');
    assert.equal(missing?.kind, 'unreadable');
  });

  it('rejects with the addon’s kinds', async () => {
    await assert.rejects(engine.call('analyze', { path: join(folder.path, 'none'), showAll: false }), { kind: 'unreadable' });
    await assert.rejects(engine.call('record', params('', { command: ['/no/such/program'] })), { kind: 'usage' });
  });
});
