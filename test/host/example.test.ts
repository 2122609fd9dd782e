// The walkthrough's way with its commands: build, profile, look at the line, fix, profile again, compare; and with the bundled recordings.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { activate, closeEditors, eventually, hoverTexts } from './support';

describe('example of the walkthrough', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let uri: vscode.Uri;

  const run = (command: string): Thenable<boolean> => vscode.commands.executeCommand<boolean>(`cacheline.${command}`);
  const text = (): string => readFileSync(uri.fsPath, 'utf8');
  const lineOf = (part: string): number =>
    text()
      .split('\n')
      .findIndex((line) => line.includes(part)) + 1;
  const verdicts = async (): Promise<string[]> => ((await api.currentReport())?.lines ?? []).map(({ verdict }) => verdict);

  before(async () => {
    api = await activate();
    assert.equal(await run('buildExample'), true);
    const editor = await eventually('the source is shown', () =>
      vscode.window.visibleTextEditors.find(({ document }) => path.basename(document.uri.fsPath) === 'counters.c'),
    );
    uri = editor.document.uri;
  });
  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    rmSync(path.dirname(uri.fsPath), { recursive: true, force: true });
  });

  it('opens with its command', async () => {
    assert.equal(await run('openWalkthrough'), true);
  });

  it('is profiled, and the contended line found', async () => {
    assert.equal(await run('profileExample'), true);
    assert.equal((await verdicts())[0], 'false sharing');
    assert.equal(await run('showExample'), true);
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.fsPath, uri.fsPath);
    assert.equal(editor.selection.active.line + 1, lineOf('// hover here'));
    assert.match(await hoverTexts(uri, lineOf('// hover here')), /false sharing/);
    const hot = (await api.heatOf(uri)).filter(({ share }) => share > 0.2).map(({ line }) => line);
    assert.deepEqual(hot, [lineOf('&counters.made'), lineOf('&counters.used')]);
  });

  it('is fixed by the first advice', async () => {
    assert.equal(await vscode.commands.executeCommand('cacheline.previewAdvice', 1), true);
    await vscode.commands.executeCommand('cacheline.applyAdvice');
    const document = await vscode.workspace.openTextDocument(uri);
    await eventually('the change', () => document.getText().includes('_Alignas(64) atomic_long'));
  });

  it('is profiled again with the change, and compared', async () => {
    assert.equal(await run('profileExample'), true);
    assert.match(text(), /_Alignas\(64\) atomic_long/, 'it was saved');
    assert.ok(!(await verdicts()).includes('false sharing'));
    assert.equal(await run('compareExample'), true);
    const { message } = await eventually('the page has the comparison', () => api.compareState().shown && api.compareState());
    assert.ok(message);
  });

  it('has recordings for machines without a compiler, which need no program', async () => {
    await vscode.commands.executeCommand('cacheline.clear');
    assert.equal(await run('openExampleRecording'), true);
    const report = await api.currentReport();
    assert.equal(report?.lines[0]?.verdict, 'false sharing');
    assert.ok(report.lines[0].accesses.some(({ file }) => file === '/cacheline-example/counters.c'));
    assert.ok((await api.heatOf(uri)).length > 0, 'its lines are found in the source of the example');
  });
});
