// What may happen to an open recording and to the engine: deleted, replaced, cut, killed, hung, hidden. Each page says what is wrong, and
// goes on when it can.
import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi, CompareState, PanelState } from '../../extension/features/api';
import type { TabAnswer, TabView } from '../../extension/protocol/panel-tabs';
import { activate, closeEditors, eventually, hoverTexts, markers, profile, program, source, synthesize, workspaceFolder } from './support';

/** Of tabs that read the recording again. */
const VIEWS: readonly TabView[] = ['object', 'pairs', 'timeline', 'threads'];
const TABS: readonly TabView[] = [...VIEWS, 'code'];

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
    const { version, filter, lines } = shown();
    const ofCode = { subject: { line: lines[0]?.id ?? '', access: 0 } };
    await api.receiveFromPanel({ type: 'tab', version, view, filter, ...(view === 'code' ? ofCode : {}) });
    return api.panelState().tab;
  };
  const askDetail = async (): Promise<string | undefined> => {
    await api.receiveFromPanel({ type: 'detail', version: shown().version, id: shown().lines[0]?.id ?? '' });
    return api.panelState().detail?.id;
  };
  /** Opens the recording that is shown once more, so that nothing of it is known yet. */
  const forget = async (): Promise<void> => {
    assert.ok(await open(shown().summary.path));
  };
  const compared = async (): Promise<NonNullable<CompareState['message']>> => {
    assert.equal(await vscode.commands.executeCommand('cacheline.compare', recording, other), true);
    const { message } = api.compareState();
    assert.ok(message);
    return message;
  };
  const treeLabels = async (): Promise<unknown[]> => {
    const tree = api.contendedData();
    const nodes = (await tree.getChildren()) ?? [];
    return Promise.all(nodes.map(async (node) => (await tree.getTreeItem(node)).label));
  };
  /** Undefined: none is known yet. */
  const quickFixes = async (uri: vscode.Uri, line: number): Promise<string[] | undefined> => {
    const range = new vscode.Range(line - 1, 0, line - 1, 0);
    const found = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, range);
    return found.length > 0 ? found.map(({ title }) => title) : undefined;
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
    const built = program('reader_writer', 'contended');
    // Other tests save its source, and sources that are newer than the program are not edited.
    utimesSync(built, new Date(), new Date());
    const binary = ['--binary', built, '--codes', '24'];
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

  it('a recording of more than 2 GB is shown as any other, and takes no memory of the editor', async () => {
    const large = at('large.perf.data');
    assert.ok(await open(recording));
    const { lines, total, summary } = shown();
    const { content } = (await askTab('object')) ?? {};
    withHole(recording, large);
    assert.ok(statSync(large).size > 2 ** 31);
    const { rss } = process.memoryUsage();
    assert.ok(await open(large));
    assert.deepEqual([shown().lines, shown().total, shown().summary.samples], [lines, total, summary.samples]);
    assert.deepEqual((await askTab('object'))?.content, content);
    assert.ok(process.memoryUsage().rss - rss < 2 ** 29, 'the extension host read it');
    rmSync(large);
  });

  describe('the engine', () => {
    before(async () => {
      assert.ok(await profile({ program: program('reader_writer', 'contended') }));
    });

    it('is killed while each view is asked for: each has its rows after a wait', async () => {
      for (const view of TABS) {
        const { content } = (await askTab(view)) ?? {};
        assert.ok(content, view);
        await forget();
        const asked = askTab(view);
        await kill('SIGKILL');
        const answer = await asked;
        assert.deepEqual([answer?.content, answer?.problem], [content, ''], view);
      }
      const detail = await askDetail();
      const asked = askDetail();
      await kill('SIGKILL');
      assert.equal(await asked, detail);
      const { lines, total } = shown();
      const filtering = api.receiveFromPanel({ type: 'filter', version: shown().version, filter: 'verdict:false' });
      await kill('SIGKILL');
      await filtering;
      assert.equal(shown().filter, 'verdict:false');
      const unfiltering = api.receiveFromPanel({ type: 'filter', version: shown().version, filter: '' });
      await kill('SIGKILL');
      await unfiltering;
      assert.deepEqual([shown().lines, shown().total], [lines, total]);
    });

    it('is killed while a hover, the gutter, the tree and a comparison ask it: they are as before', async () => {
      const uri = source('reader_writer/contended.c');
      const [line] = [...markers(uri, 'contended').values()].flat();
      assert.ok(line !== undefined);
      const { view } = await compared();
      const asks: [string, () => Promise<unknown>][] = [
        ['hover', () => hoverTexts(uri, line)],
        ['gutter', () => api.heatOf(uri)],
        ['tree', treeLabels],
        ['comparison', async () => (await compared()).view],
      ];
      for (const [what, ask] of asks) {
        await forget();
        const before = what === 'comparison' ? view : await ask();
        assert.notDeepEqual(before, what === 'hover' ? '' : [], what);
        await forget();
        const asked = ask();
        await kill('SIGKILL');
        assert.deepEqual(await asked, before, what);
      }
      await forget();
      const fixes = await eventually('quick fixes', () => quickFixes(uri, line));
      await forget();
      const asked = quickFixes(uri, line);
      await kill('SIGKILL');
      await asked;
      // The editor shows its lightbulb without them, and asks again at the next move of the cursor.
      assert.deepEqual(await eventually('quick fixes when asked again', () => quickFixes(uri, line)), fixes);
    });

    it('hangs in each view and in a comparison: a restart ends the waiting', async () => {
      const uri = source('reader_writer/contended.c');
      const heat = await api.heatOf(uri);
      await forget();
      await kill('SIGSTOP');
      const tabs = TABS.map((view) => askTab(view));
      const asked = [
        ...tabs,
        askDetail(),
        api.receiveFromPanel({ type: 'lines', version: shown().version, key: 'share', descending: true, offset: 0, count: 10 }),
        vscode.commands.executeCommand<boolean>('cacheline.compare', recording, other),
      ];
      await new Promise((resolve) => setTimeout(resolve, 300));
      await api.restartEngine();
      assert.equal((await Promise.all(asked)).at(-1), true, 'the comparison is shown');
      for (const tab of tabs) assert.equal((await tab)?.problem, '');
      for (const view of TABS) assert.ok((await askTab(view))?.content, view);
      assert.equal(await askDetail(), shown().lines[0]?.id);
      assert.deepEqual(await api.heatOf(uri), heat);
      assert.equal(await vscode.commands.executeCommand('cacheline.compare', recording, other), true);
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

/** In bytes: behind it no place of the file fits into 32 bits. */
const HOLE = 2 ** 32 + 2 ** 31;

/**
 * The same recording with its samples behind a hole, which takes no room on the disk. The header is as the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt says.
 */
function withHole(from: string, to: string): void {
  const bytes = readFileSync(from);
  const number = (at: number): number => Number(bytes.readBigUInt64LE(at));
  const move = (at: number): number => bytes.writeBigUInt64LE(BigInt(number(at) + HOLE), at);
  const [data, size] = [number(40), number(48)];
  const features = bytes.subarray(72, 104).reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
  move(40);
  for (let feature = 0; feature < features; feature++) move(data + size + 16 * feature);
  const file = openSync(to, 'w');
  writeSync(file, bytes, 0, data, 0);
  writeSync(file, bytes, data, bytes.length - data, data + HOLE);
  closeSync(file);
}
