// What the page of "Compare Recordings" is sent, what it shows of it, and what it may ask for.
import assert from 'node:assert/strict';
import { h, type ComponentChildren, type VNode } from 'preact';
import type { Advice } from '../../extension/protocol/advice';
import { EngineError, type CallOptions, type Engine, type EngineCalls, type EngineMethod } from '../../extension/protocol/engine';
import type { RecordingMeta } from '../../extension/protocol/recording';
import { compareRecordings, COMPARISON_TABLES, comparisonOf, type Comparison } from '../../extension/session/compare/comparison';
import { compareView, parseCompareMessage } from '../../extension/session/compare/compare-view';
import { ChangeRow } from '../../webviews/compare/table';
import { advice, adviceList } from './advice-builder';
import { intelReport } from './pmu-reports';
import { sums, wholeRun, type SumsOptions, type Waits } from './sums-builder';

const EVIL = 'a\u202eb\u001b[1m';
const HARMLESS = 'a\\u{202e}b\\x1b[1m';

const worker = (contended: number, more: Partial<Waits> = {}): Waits => ({
  ...{ type: 'Worker', member: 'ticks', object: 'workers', function: 'work', source: '/src/worker.c:20', contended },
  ...more,
});

function comparison(before: Waits[], after: Waits[], options: { advice?: Advice[]; of?: SumsOptions[] } = {}): Comparison {
  const [one = {}, two = one] = options.of ?? [];
  return comparisonOf(sums(COMPARISON_TABLES, before, one), sums(COMPARISON_TABLES, after, two), options.advice ?? []);
}

const place = (of: Comparison, kind: string, name: string) => {
  const index = of.diff.entries.findIndex((entry) => entry.kind === kind && entry.name === name);
  assert.ok(index >= 0, `${kind} ${name}`);
  return of.places[index];
};

describe('compare view', () => {
  it('shows the paths of recordings and programs below the folder that is open', () => {
    const both = comparison([worker(400)], [worker(40)]);
    const { diff } = both;
    diff.before = { ...diff.before, recording: '/project/old.cacheline', command: ['/project/build/server', '/project/data'] };
    diff.after = { ...diff.after, command: [] };
    const { before, after } = compareView(both, (path) => path.replace('/project/', ''));
    assert.match(before, /^old\.cacheline, of build\/server \/project\/data: [\d,]+ samples in /);
    assert.doesNotMatch(after, /, of /);
  });

  it('says the conclusion, and in tables what is gone, new and the same', () => {
    const view = compareView(comparison([worker(400), worker(200, { type: 'Queue', object: 'queue' })], [worker(400)]));
    assert.match(view.conclusion, /^33% less waiting each second .*; most of what remains: workers\.$/);
    assert.match(view.details, /60\.0% .* before, 40\.0% after/);
    assert.deepEqual(
      view.tables.map(({ kind, rows }) => [kind, rows.map(({ name, status }) => `${name} ${status}`)]),
      [
        ['type', ['Queue gone', 'Worker same']],
        ['member', ['Queue.ticks gone', 'Worker.ticks same']],
        ['object', ['queue gone', 'workers same']],
        ['function', ['work better']],
      ],
    );
    assert.deepEqual(
      view.columns.map(({ name }) => name),
      ['Share', 'Contended samples'],
    );
    assert.ok(view.columns.every(({ meaning }) => meaning !== ''));
    const [gone] = view.tables[0]!.rows;
    assert.deepEqual(
      [gone?.waiting, gone?.bar],
      [
        { before: '200 ms', after: '0.0 ms' },
        { before: 1 / 3, after: 0 },
      ],
    );
    assert.deepEqual(gone?.numbers, [
      { before: '20.0%', after: '0.0%' },
      { before: '200', after: '0' },
    ]);
    assert.match(gone.sure, /99/);
  });

  it('opens where most of it waits: after, and where nothing waits there, before', () => {
    const rare = worker(10, { source: '/src/worker.c:7' });
    const kept = comparison([worker(400), rare], [rare, worker(100, { source: '/src/worker.c:31' })]);
    const after = { file: '/src/worker.c', line: 31, side: 'after' };
    for (const [kind, name] of [
      ['type', 'Worker'],
      ['member', 'Worker.ticks'],
      ['object', 'workers'],
      ['function', 'work'],
    ] as const)
      assert.deepEqual(place(kept, kind, name), after, name);
    const gone = comparison([worker(400), rare], []);
    assert.deepEqual(place(gone, 'type', 'Worker'), { file: '/src/worker.c', line: 20, side: 'before' });
    const [row] = compareView(gone).tables[0]!.rows;
    assert.deepEqual([row?.place, row?.placeTitle], ['worker.c:20', '/src/worker.c:20, in the recording before']);
    const unknown = comparison([worker(400, { source: '[no source line known]' })], []);
    assert.equal(place(unknown, 'type', 'Worker'), undefined);
    assert.equal(compareView(unknown).tables[0]?.rows[0]?.place, '');
  });

  it('puts what was predicted beside what is left', () => {
    const predicted = { ...advice().predicted, speedup: { low: 1.5, mid: 2, high: 2.5 }, contendedLeft: 0.01, basis: 'clock, calibrated' };
    const helps = advice({ subject: { type: 'Worker', object: '', members: ['ticks'] }, predicted });
    const bound = { ...helps, predicted: { ...predicted, basis: 'clock, calibrated, bound' } };
    const untold = { ...helps, subject: { ...helps.subject, object: 'other' }, predicted: { ...predicted, speedup: null } };
    const none = { ...helps, way: 'none' as const };
    const view = compareView(comparison([worker(400)], [worker(40)], { advice: [helps, bound, untold, none] }));
    assert.deepEqual(
      view.predicted.map(({ speedup, predictedLeft, measuredLeft }) => [speedup, predictedLeft, measuredLeft]),
      [
        ['2 times as fast (1.5 to 2.5)', '1.0%', '10.0%'],
        ['1.5 to 2.5 times as fast', '1.0%', '10.0%'],
        ['unknown', '1.0%', 'unknown'],
      ],
    );
    const { evidence, collector, c2c } = intelReport();
    const other = comparison([worker(400)], [worker(40)], { advice: [helps], of: [{}, { more: { evidence, collector, c2c: c2c! } }] });
    assert.equal(compareView(other).predicted[0]?.measuredLeft, 'unknown');
    assert.match(compareView(other).notes[0] ?? '', /shares cannot be compared/);
  });

  it('says how long whole runs with the same arguments took, and of no others', () => {
    const meta = (more: Partial<RecordingMeta>): SumsOptions => ({ more: { recording: wholeRun(more) } });
    const elapsed = (before: Partial<RecordingMeta>, after: Partial<RecordingMeta>): string =>
      compareView(comparison([worker(400)], [], { of: [meta(before), meta(after)] })).elapsed;
    assert.match(
      elapsed({}, { command: ['./fixed', '3'], durationSeconds: 1.5 }),
      /^The recorded runs took 3\.00 s before, 1\.50 s after\./,
    );
    assert.equal(elapsed({}, { command: ['./fixed', '4'] }), '');
    assert.equal(elapsed({ interrupted: true }, {}), '');
    assert.equal(elapsed({}, { target: { kind: 'processes', ids: [7], cpus: [], children: false } }), '');
    assert.equal(elapsed({}, { program: { exitStatus: 1, signal: null, cpuSeconds: 1 } }), '');
    assert.equal(elapsed({ program: null }, {}), '');
  });

  it('tells of source lines which wait less or more, and by how much', () => {
    const rare = worker(3, { source: '/src/worker.c:7' });
    const two = { type: 'Queue', object: 'queue', source: '/src/worker.c:20' };
    const { lines } = comparison([worker(300), worker(100, two), rare], [worker(40, { source: '/src/worker.c:22' })]);
    assert.deepEqual(
      [...lines.sides.before.contended],
      [
        [
          '/src/worker.c',
          new Map([
            [20, 400],
            [7, 3],
          ]),
        ],
      ],
    );
    assert.deepEqual([...lines.sides.after.contended], [['/src/worker.c', new Map([[22, 40]])]]);
    const uses = lines.sides.before.code.get('/src/worker.c')?.get(20)?.uses ?? [];
    for (const name of ['workers', 'queue'])
      assert.ok(
        uses.some(({ object }) => object === name),
        name,
      );
    assert.ok(uses.some(({ field }) => field === 'ticks'));
    const less = lines.of(400, 40);
    assert.deepEqual([less?.direction, less?.text], ['better', 'waits less: 400 ms each second before, 40.0 ms after']);
    assert.match(
      less?.words ?? '',
      /^\*\*Waits less\*\*, by the two compared recordings\. .*: 400 ms each second before, 40\.0 ms after \((>99\.9|9\d\.\d)% sure\)\.$/,
    );
    assert.deepEqual(lines.of(0, 300)?.text, 'waits now: 0.0 ms each second before, 300 ms after');
    assert.deepEqual([lines.of(300, 0)?.direction, lines.of(40, 400)?.direction], ['better', 'worse']);
    assert.deepEqual([lines.of(400, 400), lines.of(3, 1)], [undefined, undefined], 'the same, and too few to tell');
  });

  it('has no characters that hide or turn text', () => {
    const evil = worker(400, { type: EVIL, member: EVIL, object: EVIL, function: EVIL, source: `/src/${EVIL}.c:3` });
    const subject = { type: EVIL, object: EVIL, members: [EVIL] };
    const view = compareView(comparison([evil], [], { advice: [advice({ subject, change: null })] }));
    const text = JSON.stringify(view);
    assert.doesNotMatch(text, /\u202e|\\u001b/u);
    assert.ok(text.includes(JSON.stringify(HARMLESS).slice(1, -1)));
    assert.equal(view.tables[2]?.rows[0]?.place, `${HARMLESS}.c:3`);
  });

  it('knows its messages, and no others', () => {
    for (const type of ['ready', 'swap', 'again', 'copy']) assert.deepEqual(parseCompareMessage({ type, more: 1 }), { type });
    assert.deepEqual(parseCompareMessage({ type: 'open', version: 1, row: 2, file: '/etc' }), { type: 'open', version: 1, row: 2 });
    assert.deepEqual(parseCompareMessage({ type: 'error', message: 'x' }), { type: 'error', message: 'x' });
    for (const wrong of [
      null,
      'ready',
      {},
      { type: 'open', version: 1, row: '2' },
      { type: 'open', row: 1.5, version: 1 },
      { type: 'error' },
    ])
      assert.equal(parseCompareMessage(wrong), undefined, JSON.stringify(wrong));
  });
});

describe('comparing recordings', () => {
  /** Answers with recordings made by hand, after half of each step. */
  class Made implements Engine {
    readonly calls: string[] = [];
    constructor(private readonly recordings: Record<string, Waits[]>) {}

    call<M extends EngineMethod>(
      method: M,
      params: EngineCalls[M]['params'],
      { signal, onProgress }: CallOptions<M> = {},
    ): Promise<EngineCalls[M]['result']> {
      const { path } = params as { path: string };
      this.calls.push(`${method} ${path}`);
      (onProgress as ((share: number) => void) | undefined)?.(0.5);
      if (signal?.aborted) return Promise.reject(new EngineError('cancelled', 'The analysis was cancelled.'));
      const { report, tables } = sums(COMPARISON_TABLES, this.recordings[path] ?? []);
      const result = method === 'advise' ? adviceList([advice()]) : { report, tables };
      return Promise.resolve(result as EngineCalls[M]['result']);
    }
  }

  const paths = { before: 'a.cacheline', after: 'b.cacheline' };

  it('reads both, asks for advice on the first one, and says how far it is', async () => {
    const engine = new Made({ 'a.cacheline': [worker(400)], 'b.cacheline': [] });
    const shares: number[] = [];
    const { diff, advice: given } = await compareRecordings(engine, paths, { onShare: (share) => shares.push(share) });
    assert.deepEqual(engine.calls, ['sums a.cacheline', 'sums b.cacheline', 'advise a.cacheline']);
    assert.deepEqual(
      shares.map((share) => Math.round(share * 6)),
      [1, 3, 5],
    );
    assert.deepEqual([diff.before.recording, diff.after.recording, diff.program.status], [paths.before, paths.after, 'gone']);
    assert.equal(given.length, 1);
  });

  it('ends where it is cancelled', async () => {
    const engine = new Made({});
    const cancel = new AbortController();
    const compared = compareRecordings(engine, paths, { cancel: cancel.signal, onShare: () => cancel.abort() });
    await assert.rejects(compared, { name: 'EngineError', kind: 'cancelled' });
    assert.deepEqual(engine.calls, ['sums a.cacheline']);
  });
});

/** The elements of a kind that a component comes to. */
function elements(node: ComponentChildren, type: string): VNode<Record<string, unknown>>[] {
  if (Array.isArray(node)) return node.flatMap((child: ComponentChildren) => elements(child, type));
  if (node === null || typeof node !== 'object') return [];
  const vnode = node as VNode<Record<string, unknown>>;
  if (typeof vnode.type === 'function') return elements((vnode.type as (props: unknown) => ComponentChildren)(vnode.props), type);
  return [...(vnode.type === type ? [vnode] : []), ...elements(vnode.props.children, type)];
}

describe('compare page', () => {
  it('opens a row by a button and by a double click, and hides its bars from readers', () => {
    const opened: number[] = [];
    const [row] = compareView(comparison([worker(400)], [])).tables[0]!.rows;
    assert.ok(row);
    const node = h(ChangeRow, { row, onOpen: (id) => opened.push(id) });
    const [button] = elements(node, 'button');
    (button?.props['onClick'] as () => void)();
    (elements(node, 'tr')[0]?.props['onDblClick'] as () => void)();
    assert.deepEqual(opened, [row.id, row.id]);
    const bars = elements(node, 'span').filter(({ props }) => props['class'] === 'bar');
    assert.deepEqual([bars.length, bars.every(({ props }) => props['aria-hidden'] === 'true')], [2, true]);
    const without = h(ChangeRow, { row: { ...row, place: '' }, onOpen: (id) => opened.push(id) });
    (elements(without, 'tr')[0]?.props['onDblClick'] as () => void)();
    assert.deepEqual([elements(without, 'button').length, opened.length], [0, 2]);
  });
});
