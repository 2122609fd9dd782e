// The tabs of the panel beside its lines: what the host answers its page, against what the command line prints.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { TabContent, TabRow, TabTable, TabView } from '../../extension/protocol/panel-tabs';
import type { Table } from '../../extension/protocol/table';
import { activate, closeEditors, eventually, markers, profile, program, source } from './support';

const FILE = 'reader_writer/contended.c';

describe('tabs of the panel', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let recording: string;

  before(async () => {
    api = await activate();
    recording = (await profile({ program: program('reader_writer', 'contended') })) ?? '';
    await vscode.commands.executeCommand('cacheline.showPanel');
    await eventually('the page has the report', () => api.panelState().shown);
  });

  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
  });

  const version = (): number => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report');
    return message.version;
  };
  const ask = async (view: TabView, filter = ''): Promise<{ content: TabContent | null; problem: string }> => {
    await api.receiveFromPanel({ type: 'tab', version: version(), view, filter });
    const { tab } = api.panelState();
    assert.ok(tab?.view === view && tab.filter === filter);
    return tab;
  };
  const askTable = async (view: TabView, filter?: string): Promise<TabTable> => {
    const { content, problem } = await ask(view, filter);
    assert.ok(content?.kind === 'table', problem);
    return content;
  };
  const commandLine = (...args: string[]): Table => {
    const cacheline = path.join(vscode.extensions.getExtension('cacheline-lens.cacheline-lens')?.extensionPath ?? '', 'bin/cacheline');
    return JSON.parse(execFileSync(cacheline, ['report', recording, '--format', 'json', ...args], { encoding: 'utf8' })) as Table;
  };
  const column = ({ columns, rows }: TabTable, title: string): TabRow['values'] => {
    const index = columns.findIndex((one) => one.title === title);
    assert.ok(index >= 0, title);
    return rows.map(({ values }) => values[index] ?? null);
  };
  const sum = (values: TabRow['values']): number => values.reduce((all: number, value) => all + Number(value), 0);

  it('groups by what the person chooses: the rows and totals of the command line', async () => {
    for (const view of ['object', 'type', 'source', 'thread'] as const) {
      const shown = await askTable(view);
      const { rows, total } = commandLine('--by', view);
      assert.deepEqual(
        column(shown, 'samples'),
        rows.map(({ samples }) => samples),
        view,
      );
      assert.equal(sum(column(shown, 'samples')), total.samples);
      assert.match(shown.totals, new RegExp(`^${total.samples.toLocaleString('en-US')} samples \\(clock\\); `));
    }
  });

  it('says where rows stand, and the panel may open it', async () => {
    const marked = [...markers(source(FILE), 'contended').values()].flat();
    const { rows } = await askTable('source');
    const { place } = rows[0] ?? {};
    assert.ok(place && marked.includes(place.line), JSON.stringify(rows[0]));
    await api.receiveFromPanel({ type: 'open', ...place });
    await eventually('the line is selected', () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.fsPath === source(FILE).fsPath && active.selection.active.line === place.line - 1;
    });
    const objects = await askTable('object');
    const defined = [...markers(source(FILE), 'variable').values()].flat();
    assert.ok(defined.includes(objects.rows[0]?.place?.line ?? 0), JSON.stringify(objects.rows[0]));
  });

  it('says who waits for whom, down to lines', async () => {
    const { rows } = await askTable('pairs');
    const functions = commandLine('--by', 'function').rows;
    const pairs = functions.flatMap(({ waitsFor = [] }) => waitsFor);
    assert.ok(pairs.length > 0);
    assert.equal(rows.length, pairs.length);
    const [first] = rows;
    assert.ok(first && first.rows.length > 0 && first.place !== null, JSON.stringify(first));
    assert.match(first.rows[0]?.cells[0] ?? '', /contended\.c:\d+$/);
  });

  it('tells contention over time, of which a filter takes a window', async () => {
    const { content } = await ask('timeline');
    assert.ok(content?.kind === 'timeline');
    const { rows, total } = commandLine('--by', 'time', '--bins', String(content.parts.length));
    assert.deepEqual(
      content.parts.map(({ contended }) => contended),
      rows.map(({ contended }) => contended),
    );
    const half = content.parts.slice(0, content.parts.length / 2);
    const window = `time:${half[0]?.from}-${half.at(-1)?.to}s`;
    await api.receiveFromPanel({ type: 'filter', version: version(), filter: window });
    assert.equal(api.panelState().tab, undefined, 'what was asked for of another filter is gone');
    const shown = await askTable('object', window);
    const expected = commandLine('--by', 'object', '--filter', window).total;
    assert.equal(sum(column(shown, 'samples')), expected.samples);
    assert.ok(expected.samples > 0 && expected.samples < total.samples);
    const all = await ask('timeline');
    assert.ok(all.content?.kind === 'timeline');
    assert.equal(all.content.parts.length, content.parts.length, 'the timeline is of all times');
    await api.receiveFromPanel({ type: 'filter', version: version(), filter: '' });
  });

  it('tells what threads did, by context switches', async () => {
    const { content, problem } = await ask('threads');
    assert.ok(content?.kind === 'threads', problem);
    assert.ok(content.threads.rows.length >= 2);
    assert.equal(content.lanes.length, content.threads.rows.length);
    for (const { states } of content.lanes) {
      const parts = states.running.map((running, part) => running + (states.contended[part] ?? 0) + (states.blocked[part] ?? 0));
      assert.ok(
        parts.every((share) => share < 1.001),
        parts.join(),
      );
    }
    assert.ok(content.lanes.some(({ states }) => states.contended.some((share) => share > 0)));
    assert.ok(content.lanes.every(({ moves, states }) => moves.length === states.running.length));
    const cpus = content.nodes.flatMap((node) => node.cpus);
    assert.equal(cpus.length, content.cpus.rows.length);
    assert.ok(cpus.every(({ running }) => running.some((share) => share > 0)));
  });

  it('shows the instructions that wait, and opens their source lines', async () => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report');
    const { content, problem } = await ask('code');
    assert.ok(content?.kind === 'code', problem);
    assert.equal(content.problem, '');
    assert.equal(content.line, message.lines[0]?.id);
    const instructions = content.rows.filter((row) => row.kind === 'instruction');
    const shown = instructions.filter(({ isShown }) => isShown);
    assert.equal(shown.length, 1);
    assert.ok(shown[0]?.ofLine && shown[0].contended > 0 && shown[0].share > 0, JSON.stringify(shown));
    assert.match(shown[0].text, /^lock /);
    assert.match(shown[0].data, /^messages_(written|read)/);
    const marked = [...markers(source(FILE), 'contended').values()].flat();
    const own = content.rows.filter((row) => row.kind === 'source');
    const hot = own.find(({ place }) => place !== null && marked.includes(place.line));
    assert.match(hot?.text ?? '', /@contended/, JSON.stringify(own));
    const quiet = own.find(({ place, text }) => text !== '' && place !== null && !marked.includes(place.line));
    assert.ok(quiet?.place, 'a line that was not sampled');
    await api.receiveFromPanel({ type: 'open', ...quiet.place });
    await eventually('the line is selected', () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.fsPath === source(FILE).fsPath && active.selection.active.line === (quiet.place?.line ?? 0) - 1;
    });
  });

  it('shows the code of the access that is chosen', async () => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report');
    const { id = '' } = message.lines[0] ?? {};
    const accesses = (await api.currentReport())?.lines[0]?.accesses ?? [];
    assert.ok(accesses.length > 0);
    for (const access of accesses.keys()) {
      await api.receiveFromPanel({ type: 'tab', version: version(), view: 'code', filter: '', subject: { line: id, access } });
      const { tab } = api.panelState();
      assert.deepEqual(tab?.subject, { line: id, access });
      assert.ok(tab.content?.kind === 'code');
      assert.equal(tab.content.access, access);
    }
    await api.receiveFromPanel({ type: 'tab', version: version(), view: 'code', filter: '', subject: { line: 'pid 1:0x0' } });
    assert.match(api.panelState().tab?.problem ?? '', /no line pid 1:0x0/);
  });

  it('says what it cannot have, and answers no page that is behind', async () => {
    const { content, problem } = await ask('allocation');
    assert.equal(content, null);
    assert.match(problem, /does not say who allocated what\. Record with `cacheline record --heap`/);
    const refused = await ask('threads', 'verdict:false');
    assert.equal(refused.content, null);
    assert.match(refused.problem, /filter selects lines/);
    const { tab } = api.panelState();
    await api.receiveFromPanel({ type: 'tab', version: version() - 1, view: 'object', filter: '' });
    assert.equal(api.panelState().tab, tab);
  });
});
