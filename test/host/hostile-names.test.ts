// Names of a recording that look like markup, links, icons, terminal escapes and paths: they are text wherever the editor shows them, and
// open nothing.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { ROW_COMMANDS, rowContext } from '../../extension/protocol/panel-rows';
import type { Access } from '../../extension/protocol/report';
import { buildHostileProgram, UNPRINTABLE } from '../fixtures/hostile-program';
import { activate, closeEditors, eventually, profile, workspaceFolder } from './support';

const MESSAGES = ['showInformationMessage', 'showWarningMessage', 'showErrorMessage'] as const;

describe('names that look like something else', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let folder: string;
  let recording: string;
  let source: vscode.Uri;
  const said: string[] = [];
  const own = Object.fromEntries(MESSAGES.map((name) => [name, vscode.window[name]]));

  before(async () => {
    api = await activate();
    folder = mkdtempSync(path.join(workspaceFolder(), 'hostile-'));
    source = vscode.Uri.file(path.join(folder, 'hostile.c'));
    const program = buildHostileProgram(folder);
    for (const name of MESSAGES)
      Object.defineProperty(vscode.window, name, { configurable: true, value: (text: string) => Promise.resolve(void said.push(text)) });
    recording = (await profile({ program })) ?? assert.fail(said.join('\n'));
  });

  after(async () => {
    for (const name of MESSAGES) Object.defineProperty(vscode.window, name, { configurable: true, value: own[name] });
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    for (const made of [folder, recording]) rmSync(made, { recursive: true, force: true });
  });

  const plain = (text: string): void => {
    assert.doesNotMatch(text, UNPRINTABLE);
  };

  it('are in the recording', async () => {
    const report = await api.currentReport();
    assert.match(JSON.stringify(report), /<img src=x onerror=alert\(1\)>.*<script>alert\(2\)/);
    assert.match(JSON.stringify(report), /etc\/passwd/);
  });

  it('are plain in notifications and in titles of tabs', () => {
    assert.ok(
      said.some((text) => text.includes('<img src=x>')),
      said.join('\n'),
    );
    for (const text of said) {
      plain(text);
      assert.doesNotMatch(text, /\]\(/, 'a link');
    }
    const labels = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
    assert.ok(
      labels.some((label) => label.startsWith('<img src=x>')),
      labels.join('\n'),
    );
    labels.forEach(plain);
  });

  it('are plain in the views, down to accesses', async () => {
    const tree = api.contendedData();
    const walk = async (nodes: Awaited<ReturnType<typeof tree.getChildren>>, depth: number): Promise<string[]> => {
      const texts: string[] = [];
      for (const node of nodes ?? []) {
        const { label, description, tooltip } = await tree.getTreeItem(node);
        assert.ok(typeof label === 'string' && typeof tooltip === 'string', 'Markdown');
        texts.push(label, String(description), tooltip);
        if (depth < 4) texts.push(...(await walk(await tree.getChildren(node), depth + 1)));
      }
      return texts;
    };
    const texts = await walk(await tree.getChildren(), 0);
    assert.match(texts.join('\n'), /\[type\]\(command/);
    texts.forEach(plain);
    const listed = await eventually('it is listed', async () =>
      (await api.recordings().getChildren())?.find((one) => one.path === recording),
    );
    const { label, description, tooltip } = await api.recordings().getTreeItem(listed);
    for (const text of [label, description, tooltip]) plain(JSON.stringify(text));
  });

  it('are plain in lists to choose from', async () => {
    const shown: vscode.QuickPickItem[] = [];
    const pick = vscode.window.showQuickPick;
    const answer = (items: readonly vscode.QuickPickItem[]): Promise<undefined> => Promise.resolve(void shown.push(...items));
    Object.defineProperty(vscode.window, 'showQuickPick', { configurable: true, value: answer });
    try {
      await vscode.commands.executeCommand('cacheline.compare');
      await vscode.commands.executeCommand('cacheline.openRecording');
      await vscode.commands.executeCommand('cacheline.previewAdvice');
    } finally {
      Object.defineProperty(vscode.window, 'showQuickPick', { configurable: true, value: pick });
    }
    assert.ok(
      shown.some(({ label }) => label.includes('<img')),
      JSON.stringify(shown),
    );
    for (const { label, description = '', detail = '' } of shown) {
      plain(label + description + detail);
      assert.doesNotMatch(label + description + detail, /\$\(alert\)/, 'an icon');
    }
  });

  it('are plain in hovers, lenses and texts of their source', async () => {
    const document = await vscode.window.showTextDocument(source, { viewColumn: vscode.ViewColumn.One });
    let hovers = '';
    for (let line = 0; line < document.document.lineCount; line++) {
      const found = await vscode.commands.executeCommand<vscode.Hover[]>(
        'vscode.executeHoverProvider',
        source,
        new vscode.Position(line, 9),
      );
      for (const content of found.flatMap(({ contents }) => contents)) {
        assert.ok(content instanceof vscode.MarkdownString);
        const trusted = content.isTrusted;
        const commands = typeof trusted === 'object' ? trusted.enabledCommands : [];
        assert.ok(trusted !== true && commands.every((command) => command.startsWith('cacheline.')), JSON.stringify(trusted));
        assert.doesNotMatch(content.value, UNPRINTABLE);
        const outside = content.value.replace(/`[^`\n]*`/g, '').replace(/\\[!-/:-@[-`{-~]/g, '');
        assert.doesNotMatch(outside, /<img src=x|<script|\]\(command:workbench|\$\(alert\)/);
        hovers += content.value;
      }
    }
    assert.match(hovers, /img src/);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', source, 100);
    const texts = [...lenses.map(({ command }) => command?.title ?? ''), ...api.memberTextsOf(source).map(({ text }) => text)];
    for (const text of [...texts, ...(await api.heatOf(source)).map((one) => one.text)]) {
      plain(text);
      assert.doesNotMatch(text, /\$\(alert\)/, 'an icon');
    }
  });

  const firstAccesses = async (): Promise<Access[]> => (await api.currentReport())?.lines[0]?.accesses ?? [];

  it('have their tab "Source" read no file outside of the workspace', async () => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report');
    const { version, lines, filter } = message;
    const [line] = lines;
    assert.ok(line);
    for (const [access, { file }] of (await firstAccesses()).entries()) {
      await api.receiveFromPanel({ type: 'tab', version, view: 'code', filter, subject: { line: line.id, access } });
      const { content } = api.panelState().tab ?? {};
      assert.ok(content?.kind === 'code');
      const texts = JSON.stringify(content);
      assert.ok(texts.includes(path.basename(file)), texts);
      if (file.endsWith('passwd')) assert.doesNotMatch(texts, /root:/);
      else assert.match(texts, /plain\+\+/);
    }
  });

  it('open no file outside of the workspace', async () => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report');
    const [line] = message.lines;
    assert.ok(line);
    const accesses = await firstAccesses();
    const hostile = accesses.findIndex(({ file }) => file.endsWith('passwd'));
    assert.ok(hostile >= 0, JSON.stringify(accesses.map(({ file }) => file)));
    const context: unknown = JSON.parse(rowContext({ version: message.version, line: line.id, access: hostile }));
    await vscode.commands.executeCommand(ROW_COMMANDS.openSource, context);
    await vscode.commands.executeCommand(ROW_COMMANDS.showCard, context);
    const { file, line: number } = accesses[hostile]!;
    await api.receiveFromPanel({ type: 'open', file, line: number });
    await vscode.commands.executeCommand('cacheline.openSource', { file, line: number });
    assert.ok(!vscode.workspace.textDocuments.some(({ uri }) => uri.fsPath.endsWith('passwd')));
    assert.ok(
      said.some((text) => /not in this workspace|outside this workspace/.test(text)),
      said.join('\n'),
    );
  });
});
