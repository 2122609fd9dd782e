// A profile's life on disk: what is kept, what is put back, and which signal does what.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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
import { LINES_OF_SCREEN } from '../../extension/protocol/panel';
import type { Question } from '../../extension/protocol/profile';
import type { Report, SourcePlace } from '../../extension/protocol/report';
import { heatOfFile } from '../../extension/session/profile/heat';
import { hoverTextsAt } from '../../extension/session/hover/hover-places';
import { openRecording, profile, recordProgram, type ProfileProgress, type RecordRequest } from '../../extension/session/record/profile';
import { ReportProfile } from '../../extension/session/profile/report-profile';
import { ShownProfile } from '../../extension/session/profile/shown-profile';
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

/** What a profile of this report answers to `open` and `ask`; `given` counts the lines. */
function openOf(report: Report): Required<Pick<Handlers, 'ask'>> & { opened: EngineCalls['open']['result']; given: { lines: number } } {
  const source = new ReportProfile(report);
  const given = { lines: 0 };
  return {
    given,
    opened: { handle: 7, summary: source.summary },
    ask: async ({ handle, question }) => {
      assert.equal(handle, 7);
      if (question.question !== 'lines') return source.ask(question as Extract<typeof question, { question: 'places' }>);
      const { offset = 0, count } = question;
      assert.ok(count !== undefined);
      const { total, rows } = await source.ask(question);
      const page = rows.slice(offset, offset + count);
      given.lines += page.length;
      return { total, rows: page };
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

/** Of its code and of its data. */
function expectedFiles({ lines }: Report): string[] {
  const files = lines.flatMap(({ accesses }) => accesses.flatMap(({ file, data }) => [file, data.definition?.file]));
  return [...new Set(files)].filter((file) => file !== undefined).sort();
}

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
        assert.deepEqual(params, { path: join(folder.path, 'prog.cacheline'), showAll: false, callers: true });
        options.onProgress?.(0.5);
        return Promise.resolve(opened);
      },
      ask,
    });
    const done = await profile(engine, request(), { onProgress: (step) => progress.push(step) });
    const path = join(folder.path, 'prog.cacheline');
    assert.deepEqual(done.recording, { path, result: RESULT });
    assert.ok(report.lines.length > 0);
    assert.deepEqual(await done.opened.report(), report);
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

  it('keeps the program of what was recorded before a failure, and names what it could not', async () => {
    const directory = join(folder.path, 'r');
    const binaries = ['with-id', 'without-id'].map((name) => {
      const path = join(folder.path, name);
      writeFileSync(path, name);
      const { size, mtimeNs } = statSync(path, { bigint: true });
      return { path, buildId: name === 'with-id' ? 'abcdef' : '', size: Number(size), mtimeNs: String(mtimeNs) };
    });
    const failing = writesThen(() => {
      writeFileSync(join(directory, 'meta.json'), JSON.stringify({ binaries }));
      return fails('crashed')();
    });
    await assert.rejects(recordProgram(engineOf({ record: failing }), request({ directory })), {
      nextStep:
        /^Do this\. What was recorded until then is kept in \S+\/r\. \S+\/without-id is not kept in the recording, .* build id .*\.$/,
    });
    assert.equal(readFileSync(join(directory, '.build-id/ab/cdef'), 'utf8'), 'with-id');
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
    assert.deepEqual(await done.opened.report(), report);
  });

  it('is shown without its lines, of which the editor asks for what is looked at', async () => {
    const [line] = reportFixture('false-sharing').lines;
    assert.ok(line);
    const places = [
      { file: '/src/hot.c', line: 5 },
      { file: '/src/cold.c', line: 6 },
    ];
    const lines = Array.from({ length: 20_000 }, (_, i) => ({
      ...line,
      address: `0x${(i * 64).toString(16)}`,
      accesses: line.accesses.map((access) => ({ ...access, ...places[i % 1000 === 0 ? 1 : 0], inlined: [] })),
    }));
    const report = { ...reportFixture('clean'), lines, samples: { ...reportFixture('clean').samples, contended: 1_000_000 } };
    const { opened, ask, given } = openOf(report);
    const closed: number[] = [];
    const handlers: Handlers = {
      open: () => Promise.resolve(opened),
      ask,
      close: ({ handle }) => {
        closed.push(handle);
        return Promise.resolve(null);
      },
    };
    const shown = await ShownProfile.of(await openRecording(engineOf(handlers), 'r'), 'r', 'r');
    assert.equal(given.lines, LINES_OF_SCREEN, 'by which the panel measures its columns');
    assert.equal(shown.first.total, 20_000);
    assert.deepEqual([...shown.places().keys()].sort(), expectedFiles(report));

    const sum = (at: SourcePlace): number => heatOfFile(lines, at.file, 'contended').reduce((all, { amount }) => all + amount, 0);
    for (const place of places) {
      const heat = await shown.heat(place.file, 'contended');
      assert.deepEqual(
        heat.map(({ line: at, amount }) => [at, amount]),
        [[place.line, sum(place)]],
      );
      assert.equal(await shown.heat(place.file, 'contended').then(([first]) => first), heat[0], 'asked once');
    }
    assert.deepEqual(await shown.heat('/src/other.c', 'contended'), []);
    assert.equal(given.lines, LINES_OF_SCREEN);

    const [text = '', note] = await hoverTextsAt(shown, [{ file: '/src/cold.c', line: 6 }], 'contended', () => '');
    assert.match(text, /20 cache lines/);
    assert.equal(note, undefined);
    assert.equal(given.lines, LINES_OF_SCREEN + 20);
    const hot = await hoverTextsAt(shown, [{ file: '/src/hot.c', line: 5 }], 'contended', () => '');
    assert.equal(hot.at(-1), 'The numbers are for the 1,000 cache lines that measured most, out of 19,980.');
    assert.equal(given.lines, LINES_OF_SCREEN + 1020);

    assert.deepEqual(await shown.whole(), report);
    shown.hold();
    shown.release({ error: (message) => assert.equal(message, '') });
    assert.deepEqual(closed, [7]);
    const failing = await openRecording(engineOf({ ...handlers, ask: fails('internal') }), 'r');
    await assert.rejects(ShownProfile.of(failing, 'r', 'r'), { kind: 'internal' });
    assert.deepEqual(closed, [7, 7], 'closed where it cannot be shown');
  });

  it('of a choice of lines has these first, and then what is looked for in all of them', async () => {
    const report = reportFixture('false-sharing');
    for (const selected of [undefined, { lines: 1, of: 2 }]) {
      const source = new ReportProfile(selected ? { ...report, selected } : report);
      const asked: string[] = [];
      const ask = source.ask.bind(source);
      let failing = true;
      source.ask = (question) => {
        const { question: name } = question as Question;
        asked.push(name);
        if (name === 'places' && failing) return Promise.reject(new EngineError('internal', 'No.', ''));
        return ask(question);
      };
      const shown = await ShownProfile.begin(source, 'r', 'r');
      assert.deepEqual(asked, selected ? ['lines', 'rows'] : ['lines', 'rows', 'objects']);
      assert.equal(shown.hasObjects, !selected);
      assert.equal(shown.first.total, report.lines.length);
      assert.deepEqual([...shown.places().keys()], []);
      await assert.rejects(shown.complete(), { kind: 'internal' });
      failing = false;
      await Promise.all([shown.complete(), shown.complete()]);
      assert.deepEqual(shown.report.objects, report.objects);
      assert.deepEqual([...shown.places().keys()].sort(), expectedFiles(report));
      assert.equal(asked.filter((question) => question === 'places').length, 2, 'asked again after the failure, and then kept');
    }
  });

  it('of many lines has the first ones in the order that is shown, too, where there is one', async () => {
    const [line] = reportFixture('false-sharing').lines;
    assert.ok(line);
    const many = { ...reportFixture('false-sharing'), lines: Array.from({ length: 1200 }, () => line) };
    for (const [report, isLong] of [
      [many, true],
      [reportFixture('false-sharing'), false],
    ] as const) {
      const source = new ReportProfile(report);
      const asked: Question[] = [];
      const ask = source.ask.bind(source);
      // As the engine, which a report that was made elsewhere does not need.
      source.ask = async (question) => {
        const one: Question = question;
        asked.push(one);
        const answer = await ask(question);
        return one.question === 'rows' && 'rows' in answer ? { ...answer, rows: answer.rows.slice(0, one.count) } : answer;
      };
      const order = { key: 'samples', descending: false, metric: 'contended' } as const;
      const shown = await ShownProfile.begin(source, 'r', 'r', undefined, order);
      assert.deepEqual(shown.first.ordered?.order, isLong ? order : undefined);
      const inOrder = asked.filter((question) => question.question === 'rows' && question.sort === 'records');
      assert.deepEqual(inOrder, isLong ? [{ question: 'rows', sort: 'records', descending: false, count: LINES_OF_SCREEN }] : []);
      assert.equal((await shown.ordered({ ...order, descending: true }))?.lines.length, isLong ? LINES_OF_SCREEN : undefined);
      assert.equal(await shown.ordered({ key: 'share', descending: true, metric: 'hitm' }), undefined, 'these came with the report');
    }
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
