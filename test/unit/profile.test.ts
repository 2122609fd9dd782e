// A profile's life on disk: what is kept, what is put back, and which signal does what.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EngineError } from '../../extension/protocol/engine';
import type {
  CallOptions,
  Engine,
  EngineCalls,
  EngineErrorKind,
  EngineMethod,
  RecordParams,
  RecordResult,
} from '../../extension/protocol/engine';
import type { Report } from '../../extension/protocol/report';
import { analyzeRecording, profile, recordProgram, type ProfileProgress, type RecordRequest } from '../../extension/session/profile';
import { reportFixture, temporaryFolder } from './fixtures';

const RESULT: RecordResult = {
  exitStatus: 0,
  signal: null,
  interrupted: false,
  durationReached: false,
  samples: 10,
  lost: 0,
  bytes: 4,
  seconds: 1,
  programCpuSeconds: 1,
  samplesWereDue: true,
  collector: 'clock',
  collectorReason: 'because',
  notTaken: [],
  watch: null,
  heap: null,
  warnings: [],
};

type Handlers = { [M in EngineMethod]?: (params: EngineCalls[M]['params'], options: CallOptions<M>) => Promise<EngineCalls[M]['result']> };

/** An engine whose calls are the test's. */
function engineOf(handlers: Handlers): Engine {
  return {
    call: (method, params, options = {}) => {
      const handler = handlers[method];
      return handler === undefined ? Promise.reject(new Error(`unexpected call of ${method}`)) : handler(params, options);
    },
  };
}

/** What a profile of this report answers to `open`, and to `ask` for its lines. */
function openOf({ lines, ...report }: Report): Required<Pick<Handlers, 'ask'>> & { opened: EngineCalls['open']['result'] } {
  const counts = { lines: lines.length, selected: lines.length, objects: 0, types: 0 };
  return {
    opened: { handle: 7, summary: { report, counts, files: [] } },
    ask: ({ handle, question }) => {
      assert.equal(handle, 7);
      assert.ok(question.question === 'lines' && question.count !== undefined);
      const { offset = 0, count } = question;
      const rows = lines.slice(offset, offset + count).map((line) => ({ id: `${line.space}:${line.address}`, line }));
      return Promise.resolve({ total: lines.length, rows });
    },
  };
}

function writesThen(outcome: () => Promise<RecordResult>): (params: RecordParams) => Promise<RecordResult> {
  return ({ outputDirectory }) => {
    writeFileSync(join(outputDirectory, 'perf.data'), 'data');
    return outcome();
  };
}

const fails = (kind: EngineErrorKind) => () => Promise.reject(new EngineError(kind, 'It failed.', 'Do this.'));

describe('profile', () => {
  const folder = temporaryFolder();
  const request = (output: Partial<RecordRequest['output']> = {}): RecordRequest => ({
    command: ['/bin/prog', 'x'],
    frequency: 499,
    durationSeconds: 0,
    stdio: 'capture',
    output: { parent: folder.path, ...output },
  });

  it('records into the folder, then analyses it, with progress of both', async () => {
    const report = reportFixture('false-sharing');
    const { opened, ask } = openOf(report);
    const progress: ProfileProgress[] = [];
    const engine = engineOf({
      record: (params, options) => {
        assert.deepEqual(readdirSync(params.outputDirectory), []);
        assert.deepEqual(params.command, ['/bin/prog', 'x']);
        options.onProgress?.({ elapsedSeconds: 1, samples: 5, lost: 0, bytes: 2, output: 'hi' });
        return Promise.resolve(RESULT);
      },
      open: (params, options) => {
        assert.deepEqual(params, { path: join(folder.path, 'prog.cacheline'), showAll: false });
        options.onProgress?.(0.5);
        return Promise.resolve(opened);
      },
      ask,
    });
    const done = await profile(engine, request(), { onProgress: (step) => progress.push(step) });
    const path = join(folder.path, 'prog.cacheline');
    assert.deepEqual(done.recording, { path, result: RESULT });
    assert.ok(report.lines.length > 0);
    assert.deepEqual(done.report, report);
    assert.equal(done.opened.summary, opened.summary);
    assert.deepEqual(progress, [
      { phase: 'recording', path, elapsedSeconds: 1, samples: 5, lost: 0, bytes: 2, output: 'hi' },
      { phase: 'analyzing', share: 0.5 },
    ]);
  });

  it('names the folder after what is attached to', async () => {
    const engine = engineOf({ record: writesThen(() => Promise.resolve(RESULT)) });
    const attached = { ...request(), command: [] };
    const { path } = await recordProgram(engine, {
      ...attached,
      attach: { kind: 'processes', ids: [7] },
      output: { parent: folder.path, program: 'server' },
    });
    assert.equal(basename(path), 'server.cacheline');
    await assert.rejects(recordProgram(engine, attached), { kind: 'usage' });
  });

  it('leaves nothing behind where the program never started', async () => {
    for (const kind of ['usage', 'impossible', 'unavailable'] as const) {
      await assert.rejects(recordProgram(engineOf({ record: fails(kind) }), request()), {
        kind,
        message: 'It failed.',
        nextStep: 'Do this.',
      });
      assert.deepEqual(readdirSync(folder.path), []);
    }
  });

  it('keeps what was recorded before a failure, and says where', async () => {
    for (const kind of ['io', 'crashed', 'internal', 'usage'] as const) {
      const directory = join(folder.path, kind);
      await assert.rejects(recordProgram(engineOf({ record: writesThen(fails(kind)) }), request({ directory })), {
        kind,
        nextStep: `Do this. What was recorded until then is kept in ${directory}.`,
      });
      assert.equal(readFileSync(join(directory, 'perf.data'), 'utf8'), 'data');
    }
  });

  it('a failure before the first byte gives the replaced recording back', async () => {
    const directory = join(folder.path, 'r');
    mkdirSync(directory);
    writeFileSync(join(directory, 'perf.data'), 'old');
    await assert.rejects(recordProgram(engineOf({ record: fails('io') }), request({ directory, force: true })), { nextStep: 'Do this.' });
    assert.equal(readFileSync(join(directory, 'perf.data'), 'utf8'), 'old');
    assert.deepEqual(readdirSync(folder.path), ['r']);
  });

  it('stop ends the recording and goes on to the analysis', async () => {
    const stop = new AbortController();
    const report = reportFixture('clean');
    const { opened, ask } = openOf(report);
    const engine = engineOf({
      record: (_, { signal }) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve({ ...RESULT, interrupted: true }));
          stop.abort();
        }),
      open: (_, { signal }) => {
        assert.notEqual(signal?.aborted, true);
        return Promise.resolve(opened);
      },
      ask,
    });
    const done = await profile(engine, request(), { stop: stop.signal });
    assert.equal(done.recording.result.interrupted, true);
    assert.deepEqual(done.report, report);
  });

  it('takes all lines of a long report, and closes a profile whose lines cannot be had', async () => {
    const [line] = reportFixture('false-sharing').lines;
    assert.ok(line);
    const report = {
      ...reportFixture('clean'),
      lines: Array.from({ length: 2500 }, (_, i) => ({ ...line, address: `0x${i.toString(16)}` })),
    };
    const { opened, ask } = openOf(report);
    const closed: number[] = [];
    const handlers: Handlers = {
      open: () => Promise.resolve(opened),
      ask,
      close: ({ handle }) => {
        closed.push(handle);
        return Promise.resolve(null);
      },
    };
    const whole = await analyzeRecording(engineOf(handlers), 'r');
    assert.deepEqual(whole.report, report);
    assert.deepEqual(closed, []);
    await whole.opened.close();
    await assert.rejects(analyzeRecording(engineOf({ ...handlers, ask: fails('internal') }), 'r'), { kind: 'internal' });
    assert.deepEqual(closed, [7, 7]);
  });

  it('cancel ends everything and keeps the recording', async () => {
    const cancel = new AbortController();
    const engine = engineOf({
      record: (params, { signal }) =>
        new Promise((resolve) => {
          writeFileSync(join(params.outputDirectory, 'perf.data'), 'data');
          signal?.addEventListener('abort', () => resolve({ ...RESULT, interrupted: true }));
          cancel.abort();
        }),
    });
    await assert.rejects(profile(engine, request(), { cancel: cancel.signal }), { kind: 'cancelled' });
    assert.deepEqual(readdirSync(join(folder.path, 'prog.cacheline')), ['perf.data']);
  });

  it('refuses an empty command before it makes a folder', async () => {
    await assert.rejects(recordProgram(engineOf({}), { ...request(), command: [] }), { kind: 'usage' });
    assert.deepEqual(readdirSync(folder.path), []);
  });
});
