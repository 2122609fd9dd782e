// What may happen to an open recording and to the engine: deleted, replaced, cut, killed, hung, hidden. Each page says what is wrong, and
// goes on when it can.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi, PanelState } from '../../extension/features/api';
import type { TabAnswer, TabView } from '../../extension/protocol/panel-tabs';
import { activate, closeEditors, eventually, profile, program, source, synthesize, workspaceFolder } from './support';

const VIEWS: readonly TabView[] = ['object', 'pairs', 'timeline', 'threads'];

describe('robustness of the panel', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let folder: string;
  let recording: string;
  let other: string;
  const at = (name: string): string => path.join(folder, name);

  const open = (file: string): Thenable<boolean> => vscode.commands.executeCommand<boolean>('cacheline.openRecording', file);
  const shown = (): Extract<PanelState['message'], { type: 'report' }> => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report', message.type);
    return message;
  };
  const askTab = async (view: TabView): Promise<TabAnswer | undefined> => {
    await api.receiveFromPanel({ type: 'tab', version: shown().version, view, filter: shown().filter });
    return api.panelState().tab;
  };
  const askDetail = async (): Promise<string | undefined> => {
    await api.receiveFromPanel({ type: 'detail', version: shown().version, id: shown().lines[0]?.id ?? '' });
    return api.panelState().detail?.id;
  };
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const pid = api.enginePid();
    assert.ok(pid !== undefined, 'no engine runs');
    const { count } = api.engineCrashes();
    process.kill(pid, signal);
    if (signal === 'SIGKILL') await eventually('its death is told', () => api.engineCrashes().count > count);
  };

  before(async () => {
    api = await activate();
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    folder = mkdtempSync(path.join(workspaceFolder(), 'robust-'));
    const binary = ['--binary', program('reader_writer', 'contended'), '--codes', '24'];
    [recording, other] = [at('one.perf.data'), at('other.perf.data')];
    synthesize(recording, [...binary, '--samples', '20000', '--lines', '40']);
    synthesize(other, [...binary, '--samples', '24000', '--lines', '44']);
  });

  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('cacheline.clear');
    rmSync(folder, { recursive: true, force: true });
  });

  describe('a recording that changes under an open panel', () => {
    for (const [what, change, said] of [
      ['is deleted', (file: string) => rmSync(file), /was deleted after it was opened\. Put it back/],
      ['is replaced', (file: string) => copyFileSync(other, file), /has changed since it was opened\. Open it again/],
    ] as const) {
      it(`${what}: what was read stays, what reads again says so`, async () => {
        const file = at(`${what}.perf.data`);
        copyFileSync(recording, file);
        assert.ok(await open(file));
        const { total } = shown();
        change(file);
        assert.equal(await askDetail(), shown().lines[0]?.id);
        for (const view of VIEWS) {
          const tab = await askTab(view);
          assert.equal(tab?.content, null, view);
          assert.match(tab.problem, said);
        }
        await kill('SIGKILL');
        assert.equal(await askDetail(), undefined, 'nothing of another recording');
        assert.equal(shown().total, total);
        assert.equal(await open(file), what === 'is replaced');
        if (what === 'is deleted') return;
        assert.ok(shown().total > total);
        assert.ok((await askTab('object'))?.content);
      });
    }
  });

  describe('a recording that is damaged', () => {
    const damaged = (name: string, change: (bytes: Buffer) => Buffer): string => {
      writeFileSync(at(name), change(readFileSync(recording)));
      return at(name);
    };
    it('is shown as far as it can be read, or its tab says why not, and the engine lives', async () => {
      const { count } = api.engineCrashes();
      const files = [
        damaged('half.perf.data', (bytes) => bytes.subarray(0, bytes.length / 2)),
        damaged('header.perf.data', (bytes) => bytes.subarray(0, 100)),
        damaged('empty.perf.data', () => Buffer.alloc(0)),
        damaged('filled.perf.data', (bytes) => bytes.fill(0xff, Math.floor(bytes.length / 3), Math.floor(bytes.length / 2))),
      ];
      for (const file of files) {
        await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(file), 'cacheline.recording');
        const { message } = await eventually(`${file} is settled`, () =>
          api.recordingTabs().find((tab) => tab.uri.fsPath === file && tab.message.type !== 'working' && tab.message.type !== 'empty'),
        );
        if (message.type === 'failed') assert.ok(message.message.length > 10, message.message);
        else assert.ok(message.type === 'report' && message.summary.warnings.length > 0, `${file}: no warning`);
      }
      assert.equal(api.engineCrashes().count, count);
      await closeEditors();
    });
  });

  describe('the engine', () => {
    before(async () => {
      assert.ok(await profile({ program: program('reader_writer', 'contended') }));
    });

    it('is killed while each view is asked for: the view says so, and has it when asked again', async () => {
      for (const view of VIEWS) {
        const asked = askTab(view);
        await kill('SIGKILL');
        const answer = await asked;
        if (answer?.content === null) assert.match(answer.problem, /engine ended unexpectedly/);
        assert.ok((await askTab(view))?.content, `${view} when asked again`);
      }
      const detail = askDetail();
      await kill('SIGKILL');
      await detail;
      assert.equal(await askDetail(), shown().lines[0]?.id);
      const filtering = api.receiveFromPanel({ type: 'filter', version: shown().version, filter: 'verdict:false' });
      await kill('SIGKILL');
      await filtering;
      await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: 'verdict:false' });
      assert.equal(shown().filter, 'verdict:false');
      await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: '' });
    });

    it('hangs in each view and in a comparison: a restart ends the waiting', async () => {
      const uri = source('reader_writer/contended.c');
      const heat = await api.heatOf(uri);
      await kill('SIGSTOP');
      const asked = [
        ...VIEWS.map((view) => askTab(view)),
        askDetail(),
        api.receiveFromPanel({ type: 'lines', version: shown().version, key: 'share', descending: true, offset: 0, count: 10 }),
        vscode.commands.executeCommand<boolean>('cacheline.compare', recording, other),
      ];
      await new Promise((resolve) => setTimeout(resolve, 300));
      await api.restartEngine();
      assert.equal((await Promise.all(asked)).at(-1), false, 'the comparison ends');
      for (const view of VIEWS) assert.ok((await askTab(view))?.content, `${view} when asked again`);
      assert.equal(await askDetail(), shown().lines[0]?.id);
      assert.deepEqual(await api.heatOf(uri), heat);
      assert.equal(await vscode.commands.executeCommand('cacheline.compare', recording, other), true);
    });

    it('is killed while it compares: that ends, what is shown stays, and it compares again', async () => {
      const before = api.compareState().message?.view.conclusion;
      const comparing = vscode.commands.executeCommand<boolean>('cacheline.compare', other, recording);
      await kill('SIGKILL');
      const done = await comparing;
      if (!done) assert.equal(api.compareState().message?.view.conclusion, before);
      assert.equal(await vscode.commands.executeCommand('cacheline.compare', other, recording), true);
      await closeEditors();
    });
  });

  it('a page that was hidden has its report and filter when it is shown again', async () => {
    assert.ok(await open(recording));
    await eventually('the page has it', () => api.panelState().shown);
    await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: 'verdict:false' });
    const { total } = shown();
    const heat = await api.heatOf(source('reader_writer/contended.c'));
    for (const { viewColumn } of vscode.window.tabGroups.all)
      await vscode.window.showTextDocument(source('reader_writer/contended.c'), { viewColumn, preview: false });
    await eventually('it is hidden', () => !api.panelState().shown);
    assert.deepEqual(await api.heatOf(source('reader_writer/contended.c')), heat, 'gutters stay');
    await vscode.commands.executeCommand('cacheline.showPanel');
    await eventually('the page has it again', () => api.panelState().shown);
    assert.deepEqual([shown().filter, shown().total], ['verdict:false', total]);
  });
});
