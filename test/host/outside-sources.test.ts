// What a recording names outside of the workspace and of the source map is not read unasked.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { report } from '../unit/report-builder';
import { field, layout, member, typeHeat } from '../unit/type-builder';
import { activate, closeEditors, eventually } from './support';

const settings = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('cacheline');

describe('sources outside of the workspace', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  const folders: string[] = [];

  const outsideFile = (): vscode.Uri => {
    const folder = mkdtempSync(path.join(tmpdir(), 'cacheline-outside-'));
    folders.push(folder);
    const file = path.join(folder, 'outside.c');
    writeFileSync(file, 'struct pair {\n  long left;\n};\n');
    return vscode.Uri.file(file);
  };
  const show = (...files: string[]) =>
    api.showReport(
      report([], {
        types: files.map((file) => {
          const of = layout('pair', 8, [member('left', 0, 8, { line: 2 })], { file, line: 1 });
          return typeHeat(of, [field('left', 0, { stores: 50, writers: [1, 2] })]);
        }),
      }),
      'made by hand',
    );

  before(async () => {
    api = await activate();
    await vscode.commands.executeCommand('notifications.clearAll');
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('notifications.clearAll');
    await settings().update('sourceMap', undefined, vscode.ConfigurationTarget.Workspace);
    await vscode.commands.executeCommand('cacheline.clear');
  });
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('are read once the person agrees, and then without a question', async () => {
    const file = outsideFile();
    await show(file.fsPath);
    assert.deepEqual(api.memberTextsOf(file), []);
    await vscode.window.showTextDocument(file);
    assert.deepEqual(api.memberTextsOf(file), [], 'also where it is open');
    await eventually('the question is answered', () => {
      void vscode.commands.executeCommand('notification.acceptPrimaryAction');
      return api.memberTextsOf(file).length > 0;
    });
    const other = path.join(path.dirname(file.fsPath), 'other.c');
    writeFileSync(other, 'struct pair {\n  long left;\n};\n');
    await show(other);
    await vscode.window.showTextDocument(vscode.Uri.file(other));
    assert.equal(api.memberTextsOf(vscode.Uri.file(other)).length, 1);
    await closeEditors();
  });

  it('stay unread for the session where the question is closed', async () => {
    const file = outsideFile();
    await show(file.fsPath);
    await vscode.commands.executeCommand('notifications.clearAll');
    await show(file.fsPath);
    await vscode.window.showTextDocument(file);
    await vscode.commands.executeCommand('notification.acceptPrimaryAction');
    assert.deepEqual(api.memberTextsOf(file), []);
    await closeEditors();
  });

  it('are read where the setting names their folder, and no others by a path that leaves it', async () => {
    const [inside, beside] = [outsideFile(), outsideFile()];
    await settings().update('sourceMap', { '/built': path.dirname(inside.fsPath) }, vscode.ConfigurationTarget.Workspace);
    await show('/built/outside.c', `/built/../${path.basename(path.dirname(beside.fsPath))}/outside.c`);
    await vscode.window.showTextDocument(inside);
    assert.equal(api.memberTextsOf(inside).length, 1);
    await vscode.window.showTextDocument(beside);
    assert.deepEqual(api.memberTextsOf(beside), []);
    await closeEditors();
  });
});
