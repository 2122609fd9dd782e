// The tabs of the panel: their numbers and words are those of `cacheline report --by` and `cacheline threads`, their rows sort and unfold,
// and rows open what the panel may open.
import assert from 'node:assert/strict';
import { EngineError } from '../../extension/protocol/engine';
import type { TabRow, TabTable } from '../../extension/protocol/panel-tabs';
import type { DataSum } from '../../extension/protocol/profile';
import type { SourcePlace } from '../../extension/protocol/report';
import { ReportProfile } from '../../extension/session/profile/report-profile';
import { ShownProfile } from '../../extension/session/profile/shown-profile';
import { placeIn, rowPlaces } from '../../extension/session/table/row-places';
import { groupTable, pairsTable, tabContent, timeline } from '../../extension/session/table/tab-content';
import { tableText } from '../../extension/session/table/table-text';
import { PLAIN } from '../../extension/session/text/terminal-text';
import { threadsTab } from '../../extension/session/threads/threads-tab';
import { threadsText } from '../../extension/session/threads/threads-text';
import { moreRowsLabel, requestOf, ROWS_AT_ONCE, shownRows, sortedRows, timeOf, withTime } from '../../webviews/panel/tab-views';
import { report } from './report-builder';
import { functionTable, tableRow, timeTable, typeTable } from './table-builder';
import { cpu, laneOf, thread, threadsDocument } from './threads-builder';

const NOWHERE = (): null => null;
const whole = { rows: 0, contended: 0 };
const words = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe('tabs of the panel', () => {
  describe('tables', () => {
    const shown = groupTable({ ...typeTable, by: ['type'] }, whole, 'type', '/code', NOWHERE);
    const text = words(
      tableText({ ...typeTable, by: ['type'] }, typeTable.rows, { width: 400, style: PLAIN, folder: '/code', path: 'r', showAll: true }),
    );

    it('have the cells and sentences of the command line, the verdict and the share first', () => {
      assert.deepEqual(
        shown.columns.slice(0, 3).map(({ title }) => title),
        ['type', 'verdict', 'share'],
      );
      assert.equal(shown.columns[shown.bars]?.title, 'share');
      assert.equal(shown.rows.length, typeTable.rows.length);
      for (const { cells } of shown.rows) for (const cell of cells) assert.ok(text.includes(words(cell)), `'${cell}' in ${text}`);
      for (const { title } of shown.columns) assert.ok(text.includes(title), title);
      for (const sentence of [shown.totals, ...shown.notes]) assert.ok(text.includes(words(sentence)), sentence);
    });

    it('add up to the totals of the engine', () => {
      const samples = shown.columns.findIndex(({ title }) => title === 'samples');
      const sum = shown.rows.reduce((all, { values }) => all + Number(values[samples]), 0);
      assert.equal(sum, typeTable.total.samples);
      assert.ok(Math.abs(shown.rows.reduce((all, { share }) => all + share, 0) - 1) < 1e-9);
    });

    it('make names harmless, and say how much is left out', () => {
      assert.doesNotMatch(JSON.stringify(shown.rows), /\\u001b|\u202e/);
      const some = groupTable(typeTable, { rows: 1200, contended: 68 }, 'type', '', NOWHERE);
      assert.equal(some.more, '1,200 more rows: 1.0% of the contended samples (all with cacheline report --by type --show-all).');
      assert.equal(shown.more, '');
    });

    it('are drawn in parts', () => {
      assert.equal(moreRowsLabel(1), 'Show 1 More Row');
      assert.equal(moreRowsLabel(ROWS_AT_ONCE), 'Show 500 More Rows');
      assert.equal(moreRowsLabel(1200), 'Show 500 More of 1,200 Rows');
    });

    it('sort by any column, and keep the order of equal rows', () => {
      const names = (rows: TabRow[]): string[] => rows.map(({ cells: [name = ''] }) => name.slice(0, 6));
      const by = (key: string, descending: boolean): string[] => names(sortedRows(shown.rows, shown.columns, { key, descending }));
      assert.deepEqual(by('share', true), names(shown.rows));
      assert.deepEqual(by('threads', true)[0], 'ns::Po');
      assert.deepEqual(by('verdict', false)[0], '[not a', 'no verdict is the least');
      assert.deepEqual(by('no such column', true), names(shown.rows));
    });
  });

  describe('who waits for whom', () => {
    const places: SourcePlace[] = [{ file: '/code/queue.c', line: 12 }];
    const known = (place: SourcePlace | undefined): SourcePlace | null =>
      places.find(({ file, line }) => file === place?.file && line === place.line) ?? null;
    const shown: TabTable = pairsTable(functionTable, '/code', known);

    it('has the pairs of the command line, which unfold to lines', () => {
      assert.deepEqual(
        shown.rows.map(({ cells }) => cells),
        [
          ['push', 'pop', '75.0%', '80.0%'],
          ['push', 'push', '25.0%', '0.0%'],
        ],
      );
      assert.deepEqual(
        shown.rows[0]?.rows.map(({ cells }) => cells),
        [
          ['queue.c:12', 'queue.c:30', '70.0%', ''],
          ['queue.c:14', 'queue.c:30', '5.0%', ''],
        ],
      );
      const first = shownRows(shown.rows, new Set());
      assert.deepEqual(
        first.map(({ level, unfolded }) => [level, unfolded]),
        [
          [1, false],
          [1, false],
        ],
      );
      const unfolded = shownRows(shown.rows, new Set([first[0]?.id ?? '']));
      assert.deepEqual(
        unfolded.map(({ level }) => level),
        [1, 2, 2, 1],
      );
      assert.equal(new Set(unfolded.map(({ id }) => id)).size, 4);
    });

    it('opens lines that the panel may open, and no others', () => {
      assert.deepEqual(shown.rows[0]?.place, places[0]);
      assert.deepEqual(
        shown.rows[0]?.rows.map(({ place }) => place),
        [places[0], null],
      );
    });
  });

  it('have the parts of the timeline, as windows that filters take', () => {
    const rows = [...timeTable.rows, tableRow({ key: { time: '[time not known]' }, samples: 5 })];
    const { parts } = timeline({ ...timeTable, rows });
    assert.equal(parts.length, timeTable.rows.length);
    assert.deepEqual(
      parts.map(({ from, to }) => `${from}-${to}s`),
      timeTable.rows.map(({ key }) => key.time),
    );
    assert.equal(
      parts.reduce((sum, { contended }) => sum + contended, 0),
      timeTable.total.contended,
    );
  });

  it('show threads as the command line does, and how to know more', () => {
    const lane = `${'#'.repeat(20)}${'X'.repeat(20)}${'.'.repeat(20)}`;
    const document = threadsDocument([thread(11, 'work\u202eer', lane), thread(12, 'other', '.'.repeat(60))]);
    const shown = threadsTab(document, { recording: null });
    const text = words(threadsText(document, { width: 400, path: 'r' }));
    for (const { cells } of shown.threads.rows)
      for (const cell of cells.slice(0, -2)) assert.ok(text.includes(cell), `'${cell}' in ${text}`);
    for (const { cells } of shown.cpus.rows) for (const cell of cells.slice(0, -1)) assert.ok(text.includes(cell), `'${cell}' in ${text}`);
    const notes = shown.notes.filter((note) => !note.startsWith('NUMA nodes are unknown: ')); // of columns that only the tab has
    for (const said of [...shown.sentences, ...notes, ...shown.facts.map((fact) => fact.text)]) assert.ok(text.includes(words(said)), said);
    assert.equal(shown.advice, '');
    const { states } = shown.lanes[0] ?? { states: undefined };
    assert.deepEqual([states?.running[0], states?.contended[0]], [1, 0]);
    assert.deepEqual([states?.running[25], states?.contended[25]], [0.25, 0.75]);
    assert.deepEqual([states?.running[50], states?.blocked[50]], [0, 1]);
    assert.deepEqual(
      shown.legend.map(({ state }) => state),
      ['contended', 'running', 'blocked'],
    );
    assert.doesNotMatch(JSON.stringify(shown), /\u202e/);
    assert.equal(notes.length, shown.notes.length - 1);
    assert.deepEqual(
      shown.nodes.map(({ name }) => name),
      ['CPUs of an unknown NUMA node'],
    );

    const estimated = threadsDocument(
      [thread(11, 'a', lane, { lane: { ...laneOf(lane), blocked: null, runnable: null, unknown: null } })],
      {
        basis: 'samples',
        basisReason: 'the recording has none',
      },
    );
    const sampled = threadsTab(estimated, { recording: null });
    assert.match(sampled.advice, /perf record --switch-events/);
    assert.deepEqual(
      sampled.legend.map(({ state }) => state),
      ['contended', 'running'],
    );
  });

  it('show CPUs by their NUMA node, and when threads were put on another one', () => {
    const lane = '#'.repeat(60);
    const moved = { ...laneOf(lane), migrations: [0, 2, ...new Array<number>(58).fill(0)] };
    const document = threadsDocument(
      [thread(11, 'a', lane, { lane: moved, cpus: [0, 2].map((number) => ({ cpu: number, runningNs: 9 })) }), thread(12, 'b', lane)],
      { cpus: [cpu(0, 0.25), cpu(2, 0.5), cpu(3, 1)] },
    );
    const nodes = [
      { id: 1, cpus: [2, 3], memoryBytes: null, freeBytes: null, distances: [] },
      { id: 0, cpus: [0, 1], memoryBytes: null, freeBytes: null, distances: [] },
    ];
    const topology = { numa: true, packages: [], cores: [], caches: [], nodes };
    const shown = threadsTab(document, { recording: { topology } });
    assert.deepEqual(
      shown.nodes.map(({ name, cpus }) => [name, cpus.map((one) => [one.name, one.running[0]])]),
      [
        ['CPUs of NUMA node 0', [['CPU 0', 0.25]]],
        [
          'CPUs of NUMA node 1',
          [
            ['CPU 2', 0.5],
            ['CPU 3', 1],
          ],
        ],
      ],
    );
    assert.equal(shown.lanes[0]?.moves[1], 2);
    assert.deepEqual(shown.legend.at(-1), { state: 'moves', words: 'put on another CPU' });
    assert.deepEqual(shown.threads.rows[0]?.cells.slice(-2), ['0,2', '0-1']);
    assert.deepEqual(
      shown.cpus.rows.map(({ cells }) => cells.at(-1)),
      ['0', '1', '1'],
    );
    assert.ok(!shown.notes.some((note) => note.includes('unknown: ')));
  });

  it('refuse in words', async () => {
    const profile = await ShownProfile.of(new ReportProfile(report([])), 'r', 'r');
    const ask = (view: 'allocation' | 'type' | 'threads'): Promise<unknown> =>
      tabContent(profile, { view, filter: '' }, '', new AbortController().signal);
    const isRefusal = (pattern: RegExp) => (error: unknown) =>
      error instanceof EngineError && pattern.test(`${error.message} ${error.nextStep}`);
    await assert.rejects(ask('allocation'), isRefusal(/does not say who allocated what\. Record with `cacheline record --heap`/));
    await assert.rejects(ask('type'), isRefusal(/made elsewhere/));
    await assert.rejects(ask('threads'), isRefusal(/made elsewhere/));
  });

  it('find where rows stand: declarations, else the code that measured most', () => {
    assert.deepEqual(placeIn('/code/a.c:12'), { file: '/code/a.c', line: 12 });
    assert.deepEqual(placeIn('make (x) (/code/a b.c:4)'), { file: '/code/a b.c', line: 4 });
    for (const nowhere of ['[no source line known]', 'make', '/code/a.c:0', '']) assert.equal(placeIn(nowhere), undefined, nowhere);
    const sum = (object: string, type: string, field: string, amount: number, line: number): DataSum => ({
      data: { object, offset: 0, definition: null, type, field },
      width: 8,
      amount,
      place: { file: '/code/a.c', line },
    });
    const data = [sum('pool', 'Worker[8]', 'slots[3].n', 5, 50), sum('pool', 'Worker[8]', 'slots[4].n', 9, 90), sum('x', 'int', '', 1, 10)];
    const at = (key: 'object' | 'type' | 'member', text: string): number | undefined =>
      rowPlaces(key, { objects: [] }, data)(tableRow({ key: { [key]: text } }))?.line;
    assert.equal(at('object', 'pool'), 90);
    assert.equal(at('type', 'Worker'), 90);
    assert.equal(at('member', 'Worker.slots[].n'), 90);
    assert.equal(at('member', 'x'), 10);
    assert.equal(at('type', '[no type known]'), undefined);
    assert.equal(rowPlaces('function', { objects: [] }, [])(functionTable.rows[0] ?? tableRow({}))?.line, 12);
  });

  it('ask for what is shown: the timeline is of all times', () => {
    const filter = 'thread:"a b" time:1-2s verdict:false';
    assert.equal(requestOf('lines', 'type', filter), undefined);
    assert.deepEqual(requestOf('data', 'member', filter), { view: 'member', filter });
    assert.deepEqual(requestOf('functions', 'member', filter), { view: 'pairs', filter });
    assert.deepEqual(requestOf('timeline', 'member', filter), { view: 'timeline', filter: 'thread:"a b" verdict:false' });
    assert.equal(withTime(filter, '0.50-0.75s'), 'thread:"a b" verdict:false time:0.50-0.75s');
    assert.equal(withTime('time:1-2s', ''), '');
    assert.deepEqual(timeOf(filter), { from: 1, to: 2 });
    assert.deepEqual(timeOf('time:1.5-s'), { from: 1.5, to: Infinity });
    assert.equal(timeOf('time:10-20%'), undefined);
  });
});
