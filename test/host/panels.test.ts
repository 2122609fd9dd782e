// Several recordings at once: a panel for each, of which the one that was active last is followed, and what is freed when one closes.
import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi, PanelState } from '../../extension/features/api';
import type { Report } from '../../extension/protocol/report';
import { activate, closeEditors, eventually, program, source, synthesize, workspaceFolder } from './support';

const FILE = 'reader_writer/contended.c';

describe('panels of several recordings', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let folder: string;
  let first: string;
  let second: string;

  const open = (recording: string): Thenable<boolean> => vscode.commands.executeCommand<boolean>('cacheline.openRecording', recording);
  const allTabs = (): vscode.Tab[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const tabs = (): vscode.Tab[] =>
    allTabs().filter(({ input }) => input instanceof vscode.TabInputWebview && input.viewType.endsWith('cacheline.panel'));
  const tabsOfFirst = (): vscode.Tab[] =>
    allTabs().filter(({ input }) => input instanceof vscode.TabInputCustom && input.uri.fsPath === first);
  const labels = (): string[] => tabs().map(({ label }) => label);
  const samples = async (): Promise<number | undefined> => (await api.currentReport())?.samples.total;
  const shown = (): Extract<PanelState['message'], { type: 'report' }> => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report', message.type);
    return message;
  };
  const pageIsThere = (recording: string): Promise<boolean> =>
    eventually(`the page of ${recording} is there`, () => {
      const { shown: isShown, message } = api.panelState();
      return isShown && message.type === 'report' && message.summary.path === recording;
    });
  const show = async (label: string): Promise<void> => {
    const tab = tabs().find((one) => one.label === label);
    assert.ok(tab, labels().join());
    const group = ['First', 'Second', 'Third', 'Fourth'][tab.group.viewColumn - 1];
    await vscode.commands.executeCommand(`workbench.action.focus${group}EditorGroup`);
    await vscode.commands.executeCommand('workbench.action.openEditorAtIndex', tab.group.tabs.indexOf(tab));
    await pageIsThere(path.join(folder, label));
  };

  before(async () => {
    api = await activate();
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    folder = mkdtempSync(path.join(workspaceFolder(), 'panels-'));
    first = path.join(folder, 'first.perf.data');
    second = path.join(folder, 'second.perf.data');
    const binary = ['--binary', program('reader_writer', 'contended'), '--codes', '24'];
    synthesize(first, [...binary, '--samples', '20000', '--lines', '40']);
    synthesize(second, [...binary, '--samples', '24000', '--lines', '44']);
    await eventually('profiles of earlier tests are closed', () => api.openProfiles() === 0);
    // Beside a text all panels are in one group. In two groups both pages are visible, and one that gets the focus late takes it back.
    await vscode.window.showTextDocument(source(FILE));
  });

  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    rmSync(folder, { recursive: true, force: true });
  });

  it('have the name of their recording, and one that is open is shown again', async () => {
    assert.ok(await open(first));
    await pageIsThere(first);
    assert.ok(await open(second));
    await eventually('both have a tab', () => labels().join() === 'first.perf.data,second.perf.data');
    await pageIsThere(second);
    assert.ok(await open(first));
    assert.equal(tabs().length, 2);
    assert.equal(shown().summary.path, first);
    assert.equal(api.openProfiles(), 2, 'what was open of it is closed');
  });

  it('lead gutter, hovers and tree: the one that was active last', async () => {
    const uri = source(FILE);
    const heats: unknown[] = [];
    for (const label of ['second.perf.data', 'first.perf.data']) {
      await show(label);
      await eventually(`${label} is followed`, async () => (await api.heatOf(uri)).length > 0);
      const report = await eventually('its report', async () => {
        const now = await api.currentReport();
        return now?.samples.total === shown().summary.samples.total && now;
      });
      heats.push((report satisfies Report).samples.total, JSON.stringify(await api.heatOf(uri)));
    }
    assert.equal(new Set(heats).size, 4, heats.join('\n'));
  });

  it('have filters of their own', async () => {
    const [{ id, address } = { id: '', address: '' }] = shown().lines;
    const { total } = shown();
    await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: `line:${address}` });
    assert.deepEqual([shown().total, shown().lines[0]?.id], [1, id]);
    await show('second.perf.data');
    assert.equal(shown().filter, '');
    await show('first.perf.data');
    assert.equal(shown().filter, `line:${address}`, 'also where it was hidden meanwhile');
    await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: '' });
    assert.equal(shown().total, total);
  });

  it('take a filter that was written to an older report of their recording, and none of what was shown before', async () => {
    const { version } = shown();
    await vscode.commands.executeCommand('cacheline.heatMetric', 'latency');
    await vscode.commands.executeCommand('cacheline.heatMetric', 'auto');
    assert.ok(shown().version > version);
    await api.receiveFromPanel({ type: 'filter', version, filter: 'verdict:false' });
    assert.equal(shown().filter, 'verdict:false');
    await api.receiveFromPanel({ type: 'filter', version: 0, filter: 'verdict:true' });
    assert.equal(shown().filter, 'verdict:false');
    await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: '' });
  });

  it('show one recording twice, as a tab too, each with its own filter', async () => {
    const closeTab = async (): Promise<unknown> => vscode.window.tabGroups.close(tabsOfFirst());
    await closeTab(); // one that an earlier try left has a filter
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(first), 'cacheline.recording');
    const tab = await eventually('the tab has it', () =>
      api.recordingTabs().find(({ uri, message }) => uri.fsPath === first && message.type === 'report'),
    );
    assert.ok(tab.message.type === 'report');
    const { version, total } = tab.message;
    await tab.receive({ type: 'filter', version, filter: 'verdict:false -verdict:false' });
    assert.ok(total > 0);
    await eventually('the tab has its filter', () =>
      api.recordingTabs().some(({ uri, message }) => uri.fsPath === first && message.type === 'report' && message.total === 0),
    );
    assert.deepEqual([shown().filter, shown().total], ['', total]);
    await eventually('gutters follow the tab', async () => (await api.currentReport())?.lines.length === 0);
    await closeTab();
    await show('first.perf.data');
    await eventually('gutters follow the panel', async () => (await api.currentReport())?.lines.length === total);
  });

  it('go along when their recording is renamed in the view', async () => {
    const row = await eventually('it is listed', async () => (await api.recordings().getChildren())?.find((one) => one.path === second));
    const own = vscode.window.showInputBox;
    Object.defineProperty(vscode.window, 'showInputBox', { configurable: true, value: () => Promise.resolve('third') });
    try {
      await vscode.commands.executeCommand('cacheline.renameRecording', row);
    } finally {
      Object.defineProperty(vscode.window, 'showInputBox', { configurable: true, value: own });
    }
    const moved = path.join(folder, 'third.perf.data');
    await eventually('the panel has its new name', () => labels().join() === 'first.perf.data,third.perf.data');
    renameSync(moved, second);
    assert.ok(await open(second), 'by its old name again');
  });

  it('free their profile when they are closed; marks stay until another one is active or they are cleared', async () => {
    await show('first.perf.data');
    const others = tabs().filter(({ label }) => label !== 'first.perf.data');
    await vscode.window.tabGroups.close(others);
    await eventually('one profile is open', () => api.openProfiles() === 1);
    const heat = await api.heatOf(source(FILE));
    await closeEditors();
    await eventually('no panel is open', () => !api.panelState().open);
    assert.deepEqual(await api.heatOf(source(FILE)), heat);
    await vscode.commands.executeCommand('cacheline.showPanel');
    await eventually('it is shown again', () => labels().join() === 'first.perf.data');
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    assert.equal(await samples(), undefined);
    await eventually('none is open', () => api.openProfiles() === 0);
  });
});
