// A recording with data sources, opened as files are opened: its tab, heat, hovers and metrics are those of its report.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi, RecordingTabState } from '../../extension/features/api';
import type { Access, Report } from '../../extension/protocol/report';
import { activate, closeEditors, eventually, hoverTexts, profile, program, source, synthesize, workspaceFolder } from './support';

const FILE = 'reader_writer/contended.c';
const settings = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('cacheline');

/** By line of the file: the sum over all accesses on it, inlined ones at their call too. */
function sums(report: Report, file: string, of: (access: Access) => number): Map<number, number> {
  const found = new Map<number, number>();
  for (const access of report.lines.flatMap(({ accesses }) => accesses)) {
    const places = new Set([access, ...access.inlined].filter((place) => place.file === file).map(({ line }) => line));
    for (const line of places) found.set(line, (found.get(line) ?? 0) + of(access));
  }
  return found;
}

const hitms = ({ hitm }: Access): number => (hitm?.local ?? 0) + (hitm?.remote ?? 0);

describe('recording with data sources', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let folder: string;
  let recording: string;
  const uri = source(FILE);

  const tabOf = (file: string): RecordingTabState | undefined => api.recordingTabs().find((tab) => tab.uri.fsPath === file);
  const shownTab = (file: string): Promise<RecordingTabState> =>
    eventually(`${file} is shown`, () => {
      const tab = tabOf(file);
      return tab?.shown && tab.message.type === 'report' ? tab : undefined;
    });
  const heated = async (): Promise<[number, number][]> =>
    (await api.heatOf(uri)).filter(({ amount }) => amount > 0).map(({ line, amount }) => [line, amount]);
  const expected = async (of: (access: Access) => number): Promise<[number, number][]> => {
    const report = await api.currentReport();
    assert.ok(report);
    return [...sums(report, uri.fsPath, of)].filter(([, sum]) => sum > 0).sort(([a], [b]) => a - b);
  };

  before(async () => {
    api = await activate();
    folder = mkdtempSync(path.join(workspaceFolder(), 'recordings-'));
    recording = path.join(folder, 'perf.data');
    synthesize(recording, ['--binary', program('reader_writer', 'contended'), '--samples', '20000', '--lines', '40', '--codes', '24']);
  });

  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    rmSync(folder, { recursive: true, force: true });
  });

  it('opens in a tab, and heats the sources with the report’s HITMs', async () => {
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(recording));
    const { message } = await shownTab(recording);
    assert.ok(message.type === 'report');
    assert.equal(message.summary.title, `${path.basename(folder)}/perf.data`);
    assert.equal(message.heat.measure, 'hitm');
    const report = await eventually('the profile is current', async () => await api.currentReport());
    assert.ok(report.evidence.includes('hitm'));
    await eventually('heat', async () => (await api.heatOf(uri)).length > 0);
    assert.ok((await expected(hitms)).length > 3);
    assert.deepEqual(await heated(), await expected(hitms));
    for (const { amount, text, caused } of await api.heatOf(uri)) {
      if (amount > 0) assert.match(text, new RegExp(`^${amount.toLocaleString('en-US')} HITMs? \\(`));
      else assert.ok(caused > 0 && text.startsWith('stores to lines with '), text);
    }
  });

  it('hovers say how many HITMs, and how long loads take', async () => {
    const [hottest] = [...(await heated())].sort(([, a], [, b]) => b - a);
    assert.ok(hottest);
    await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside });
    const text = await hoverTexts(uri, hottest[0]);
    assert.match(text, new RegExp(`${hottest[1].toLocaleString('en-US')} of the [\\d,]+ HITMs of (this|these [\\d,]+) cache line`));
    assert.match(text, /loads? here takes? [\d,]+ cycles on average\./);
    assert.match(text, /evidence: \*\*hitm, latency\*\*/);
  });

  it('heats by latency and by contended share where that is chosen', async () => {
    try {
      await vscode.commands.executeCommand('cacheline.heatMetric', 'latency');
      await eventually('latency', async () => (await api.heatOf(uri)).some(({ measure }) => measure === 'latency'));
      const total = (access: Access): number => {
        const { meanCycles, hitm, loads } = access;
        if (!meanCycles || !hitm) return 0;
        const others = loads - hitm.local - hitm.remote;
        return hitm.local * (meanCycles.localHitm ?? 0) + hitm.remote * (meanCycles.remoteHitm ?? 0) + others * meanCycles.load;
      };
      const close = (values: [number, number][]): [number, number][] => values.map(([line, value]) => [line, Math.round(value)]);
      assert.deepEqual(close(await heated()), close(await expected(total)));
      const message = tabOf(recording)?.message;
      assert.ok(message?.type === 'report' && message.heat.metric === 'latency');
      await vscode.commands.executeCommand('cacheline.heatMetric', 'contended');
      await eventually('contended', async () => (await api.heatOf(uri)).some(({ measure }) => measure === 'contended'));
      assert.deepEqual(await heated(), await expected(({ contended }) => contended));
    } finally {
      await settings().update('heatMetric', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('takes the last of two metrics that are chosen at once, and none again that was left', async () => {
    let changes = 0;
    const counted = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('cacheline.heatMetric')) ++changes;
    });
    try {
      await Promise.all(['latency', 'contended'].map((metric) => vscode.commands.executeCommand('cacheline.heatMetric', metric)));
      const message = tabOf(recording)?.message;
      assert.ok(message?.type === 'report');
      assert.deepEqual([message.heat.metric, settings().get('heatMetric'), changes], ['contended', 'contended', 1]);
    } finally {
      counted.dispose();
      await settings().update('heatMetric', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('shows the lines by remote HITMs where the page asks for it', async () => {
    await tabOf(recording)?.receive({ type: 'display', display: 'rmt' });
    assert.equal((await api.currentReport())?.c2c?.display, 'rmt');
    assert.deepEqual(await heated(), await expected(({ hitm }) => hitm?.remote ?? 0));
    assert.match((await api.heatOf(uri)).find(({ amount }) => amount > 0)?.text ?? '', /remote HITM/);
    await tabOf(recording)?.receive({ type: 'display', display: 'tot' });
    assert.equal((await api.currentReport())?.c2c?.display, 'tot');
  });

  it('opens places of its report from the tab, and no others', async () => {
    const [[line] = [0]] = await heated();
    await tabOf(recording)?.receive({ type: 'open', file: uri.fsPath, line });
    await eventually('the line is selected', () => vscode.window.activeTextEditor?.selection.active.line === line - 1);
    await tabOf(recording)?.receive({ type: 'open', file: '/etc/passwd', line: 1 });
    assert.ok(!vscode.workspace.textDocuments.some(({ uri: { fsPath } }) => fsPath === '/etc/passwd'));
  });

  it('opens what is dropped on a page', async () => {
    const dropped = path.join(folder, 'of another name');
    copyFileSync(recording, dropped);
    const uris = JSON.stringify([vscode.Uri.file(dropped).toString()]);
    await tabOf(recording)?.receive({ type: 'drop', data: { resourceurls: uris } });
    await shownTab(dropped);
  });

  it('opens a folder from the explorer, and its meta.json, which stays reachable as text', async () => {
    const cacheline = path.join(folder, 'server.cacheline');
    mkdirSync(cacheline);
    copyFileSync(recording, path.join(cacheline, 'perf.data'));
    await vscode.commands.executeCommand('cacheline.openAsProfile', vscode.Uri.file(cacheline));
    const { message } = await shownTab(cacheline);
    assert.ok(message.type === 'report' && message.summary.path === cacheline);

    const recorded = await profile({ program: program('reader_writer', 'contended') });
    const meta = path.join(recorded ?? '', 'meta.json');
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(meta));
    const tab = await shownTab(meta);
    assert.ok(tab.message.type === 'report' && tab.message.heat.measure === 'contended');
    await eventually('the tab’s profile is current', async () => (await api.currentReport())?.collector === 'clock');
    await tab.receive({ type: 'reopen' });
    await eventually('the text is shown', () => vscode.window.activeTextEditor?.document.uri.fsPath === meta);
    assert.equal(vscode.window.activeTextEditor?.document.languageId, 'json');
  });

  it('falls back and says why where the evidence does not have the metric', async () => {
    await settings().update('heatMetric', 'latency', vscode.ConfigurationTarget.Global);
    try {
      const { message } = await eventually('the panel follows', () => {
        const state = api.panelState();
        return state.message.type === 'report' && state.message.heat.instead !== '' ? state : undefined;
      });
      assert.ok(message.type === 'report' && message.heat.metric === 'contended');
      assert.match(message.heat.instead, /Clock samples carry no load latencies/);
    } finally {
      await settings().update('heatMetric', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('says of a file that is no recording why, and keeps what is shown', async () => {
    const wrong = path.join(folder, 'notes.perf.data');
    writeFileSync(wrong, 'These are notes.\n');
    const before = await api.currentReport();
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(wrong));
    const { message } = await eventually('the failure is shown', () => {
      const tab = tabOf(wrong);
      return tab?.message.type === 'failed' && tab.shown ? tab : undefined;
    });
    assert.ok(message.type === 'failed' && message.isFile && message.message !== '');
    assert.deepEqual(await api.currentReport(), before);
    await tabOf(wrong)?.receive({ type: 'reopen' });
    await eventually('the text is shown', () => vscode.window.activeTextEditor?.document.uri.fsPath === wrong);
  });
});

describe('recording from another machine', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let folder: string;
  let recording: string;
  const elsewhere = mkdtempSync(path.join(tmpdir(), 'cacheline-elsewhere-'));

  /** The same source in each of these folders of the workspace. */
  const copies = (...names: string[]): vscode.Uri[] =>
    names.map((name) => {
      const file = path.join(folder, name, 'src/stats.c');
      mkdirSync(path.dirname(file), { recursive: true });
      copyFileSync(path.join(elsewhere, 'stats.c'), file);
      return vscode.Uri.file(file);
    });
  const open = async (): Promise<void> => {
    assert.equal(await vscode.commands.executeCommand('cacheline.openRecording', recording), true);
  };

  before(async () => {
    api = await activate();
    folder = mkdtempSync(path.join(workspaceFolder(), 'mapped-'));
    const built = path.join(elsewhere, 'agent/src');
    mkdirSync(built, { recursive: true });
    const body = Array.from({ length: 40 }, (_, i) => `  counters[${i} % 8] += counters[${i + 1} % 8];`).join('\n');
    const text = `volatile long counters[8];\nint main(void) {\n${body}\n  return 0;\n}\n`;
    writeFileSync(path.join(built, 'stats.c'), text);
    writeFileSync(path.join(elsewhere, 'stats.c'), text);
    const binary = path.join(elsewhere, 'server');
    execFileSync('cc', ['-g', '-O1', '-o', binary, path.join(built, 'stats.c')]);
    rmSync(path.join(elsewhere, 'agent'), { recursive: true }); // the sources were there, and are not here
    recording = path.join(folder, 'server.perf.data');
    synthesize(recording, ['--binary', binary, '--samples', '10000', '--lines', '10', '--codes', '20']);
  });

  after(async () => {
    await settings().update('sourceMap', undefined, vscode.ConfigurationTarget.Workspace);
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    for (const made of [folder, elsewhere]) rmSync(made, { recursive: true, force: true });
  });

  it('finds the one file of the workspace that ends like the recorded path', async () => {
    const [only] = copies('one');
    await open();
    assert.ok(only && (await api.heatOf(only)).length > 3);
  });

  it('does not guess between two, and takes the one that the setting names', async () => {
    const [one, two] = copies('one', 'two');
    assert.ok(one && two);
    await open();
    assert.deepEqual([await api.heatOf(one), await api.heatOf(two)], [[], []]);
    const from = path.join(elsewhere, 'agent');
    const to = `\${workspaceFolder}/${path.basename(folder)}/two`;
    await settings().update('sourceMap', { [from]: to }, vscode.ConfigurationTarget.Workspace);
    await eventually('heat in the mapped file', async () => (await api.heatOf(two)).length > 3);
    assert.deepEqual(await api.heatOf(one), []);
  });
});
