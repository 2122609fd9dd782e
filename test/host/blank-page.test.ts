// A page whose frame the editor left blank is hidden and shown again, and one that speaks is left alone.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { outliveBlankness } from '../../extension/features/blank-page';
import { closeEditors, eventually } from './support';

const SILENT = '<p>Nothing runs here.</p>';
const SPEAKING = '<script>acquireVsCodeApi().postMessage("here");</script>';

describe('a page that stays blank', function () {
  this.timeout(60_000);
  let log: vscode.LogOutputChannel;

  const tabs = (): string[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ label }) => label));
  /** Shows a page, and collects whether it is visible at each change of that. */
  const show = (html: string, patienceMs: number): { view: vscode.WebviewPanel; changes: boolean[] } => {
    const view = vscode.window.createWebviewPanel('cacheline.test', 'A page', vscode.ViewColumn.One, { enableScripts: true });
    const changes: boolean[] = [];
    view.onDidChangeViewState(() => changes.at(-1) !== view.visible && changes.push(view.visible));
    outliveBlankness(view, log, patienceMs);
    view.webview.html = html;
    return { view, changes };
  };

  before(async () => {
    log = vscode.window.createOutputChannel('Pages of tests', { log: true });
    await closeEditors();
  });

  afterEach(closeEditors);
  after(() => log.dispose());

  it('is hidden and shown again, thrice at most, and nothing else stays open', async () => {
    const { changes } = show(SILENT, 200);
    const thrice = [false, true, false, true, false, true];
    await eventually('it was made anew thrice', () => changes.filter((visible) => visible).length >= 3);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.deepEqual(changes.slice(-6), thrice);
    assert.equal(changes.filter((visible) => !visible).length, 3);
    assert.deepEqual(tabs(), ['A page']);
  });

  it('is left alone where its script runs', async () => {
    const { view, changes } = show(SPEAKING, 3000);
    await new Promise((resolve) => view.webview.onDidReceiveMessage(resolve));
    const before = [...changes]; // a busy machine may take longer to its first word
    await new Promise((resolve) => setTimeout(resolve, 4000));
    assert.deepEqual(changes, before);
  });
});
