// Lines that are not where the binary says: sources that are newer than it, and edits that move or swap what was measured.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { Report } from '../../extension/protocol/report';
import { access, cacheLine, report } from '../unit/report-builder';
import { field, layout, member, typeHeat } from '../unit/type-builder';
import { activate, closeEditors, eventually, hoverTexts, workspaceFolder } from './support';

const COMPILED = `struct stale {
  long before;
  long left;
  long right;
};
struct stale stale_global;

struct other {
  long before;
  long left;
  long right;
};
struct other other_global;

void work(int which) {
  if (which) {
    ++stale_global.left;
    ++other_global.left;
  } else {
    ++stale_global.right;
    ++other_global.right;
  }
}
`;
const REMARK = /source is newer than the binary\\?\. Lines are matched by name/;

describe('lines that moved', function () {
  this.timeout(60_000);
  let api: CachelineApi;
  let folder: string;
  let uri: vscode.Uri;
  const lineIn = (text: string, what: string, from = ''): number => {
    const lines = text.split('\n');
    return lines.findIndex((line, index) => index >= lines.findIndex((one) => one.includes(from)) && line.includes(what)) + 1;
  };
  const lenses = async (): Promise<[number, string][]> => {
    const found = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri);
    return found.map(({ range, command }) => [range.start.line + 1, command?.title ?? '']);
  };
  const texts = (): string[] => api.memberTextsOf(uri).map(({ line, text }) => `${line}: ${/of (\w+):/.exec(text)?.[1] ?? ''}`);
  const where = (text: string, names: readonly [string, string][]): string[] =>
    names
      .map(([type, name]) => [lineIn(text, ` ${name};`, `struct ${type} {`), type] as const)
      .sort(([a], [b]) => a - b)
      .map(([line, type]) => `${line}: ${type}`);
  const ALL = ['stale', 'other'].flatMap((type) => ['left', 'right'].map((name) => [type, name] as [string, string]));

  /** 100 samples of each member, by one thread each. */
  function measured(binary: string): Report {
    const file = uri.fsPath;
    const types = ['stale', 'other'].map((name) => {
      const line = lineIn(COMPILED, `struct ${name} {`);
      const members = ['before', 'left', 'right'].map((one, index) => member(one, 8 * index, 8, { line: line + 1 + index }));
      const fields = ['left', 'right'].map((one, index) => field(one, 8 + 8 * index, { stores: 100, writers: [1 + index] }));
      return typeHeat(layout(name, 24, members, { file, line }), fields, { binary });
    });
    const lines = ['stale', 'other'].map((type) => {
      const definition = { file, line: lineIn(COMPILED, `${type}_global;`) };
      const data = { object: `${type}_global`, definition, how: 'global' as const, type: `struct ${type}` };
      return cacheLine(
        ['left', 'right'].map((name, index) =>
          access({
            ...{ file, line: lineIn(COMPILED, `++${type}_global.${name}`), writes: 100, threads: [1 + index], offset: 8 + 8 * index },
            data: { ...data, offset: 8 + 8 * index, field: name },
          }),
        ),
      );
    });
    return report(lines, { types });
  }

  /** Writes the source and a binary (any file that is there) and shows the profile of it. */
  async function open(text: string, saved: number, built: number): Promise<vscode.TextDocument> {
    const binary = path.join(folder, 'program');
    writeFileSync(uri.fsPath, text);
    writeFileSync(binary, 'the binary');
    utimesSync(uri.fsPath, saved, saved);
    utimesSync(binary, built, built);
    await api.showReport(measured(binary), 'made by hand');
    const { document } = await vscode.window.showTextDocument(uri);
    await eventually('the editor shows the text', () => document.getText() === text);
    return document;
  }

  async function edit(body: (edit: vscode.WorkspaceEdit) => void): Promise<void> {
    const change = new vscode.WorkspaceEdit();
    body(change);
    assert.ok(await vscode.workspace.applyEdit(change));
  }

  before(async () => {
    api = await activate();
    folder = path.join(workspaceFolder(), 'moved');
    mkdirSync(folder);
    await vscode.workspace.getConfiguration('files').update('autoSave', 'off', vscode.ConfigurationTarget.Global);
  });
  beforeEach(function () {
    uri = vscode.Uri.file(path.join(folder, `${this.currentTest?.title.replace(/\W+/g, '_').slice(0, 40) ?? ''}${Date.now()}.c`));
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await vscode.workspace.getConfiguration('files').update('autoSave', undefined, vscode.ConfigurationTarget.Global);
  });

  it('in a source that is newer than its binary are matched by names, everywhere alike, and it says so', async () => {
    const newer = `// one\n// left\n\n${COMPILED.replace('struct other {', 'int added;\nstruct other {')}`;
    await open(newer, 2e9, 1e9);
    const found = await lenses();
    assert.deepEqual(
      found.map(([line]) => line),
      [lineIn(newer, 'struct stale {'), lineIn(newer, 'struct other {')],
    );
    for (const [, title] of found) assert.match(title, /source newer than binary/);
    assert.deepEqual(texts(), where(newer, ALL));
    assert.match(api.memberTextsOf(uri)[0]?.text ?? '', /source newer than binary/);
    const hot = ['stale_global.left', 'other_global.left', 'stale_global.right', 'other_global.right'].map((what) => lineIn(newer, what));
    assert.deepEqual(
      (await api.heatOf(uri)).map(({ line }) => line),
      hot,
    );
    assert.match((await api.heatOf(uri))[0]?.text ?? '', /source newer than binary/);
    assert.match(await hoverTexts(uri, hot[0]!), REMARK);
    const variable = await hoverTexts(uri, lineIn(newer, 'struct stale stale_global;'));
    assert.match(variable, /\*\*`stale_global`: false sharing\*\*/);
    assert.match(variable, REMARK);
    assert.match(await hoverTexts(uri, lineIn(newer, 'struct other {')), /\*\*`struct other`\*\*[^]*newer than the binary/);
    for (const what of ['// one', '// left', 'int added;', 'if (which)', 'else'])
      assert.equal(await hoverTexts(uri, lineIn(newer, what)), '', what);
    for (const node of (await api.contendedData().getChildren()) ?? []) {
      const { command } = await api.contendedData().getTreeItem(node);
      await vscode.commands.executeCommand(command!.command, ...(command!.arguments as unknown[]));
      assert.equal(vscode.window.activeTextEditor?.selection.active.line, lineIn(newer, `${node.label} {`) - 1, node.label);
    }
  });

  it('in a newer source have nothing where the text does not have their names', async () => {
    const newer = `\n${COMPILED.replace('  long left;', '  long renamed;')}`;
    await open(newer, 2e9, 1e9);
    assert.deepEqual(texts(), where(newer, ALL.slice(1)));
    assert.equal(await hoverTexts(uri, lineIn(newer, 'long renamed')), '');
  });

  it('come back where they were cut and pasted, moved down, deleted and reverted', async () => {
    const document = await open(COMPILED, 1e9, 2e9);
    const left = lineIn(COMPILED, 'long left') - 1;
    const expected = (): string[] => where(document.getText(), ALL);
    assert.deepEqual(texts(), expected());
    const cut = () => edit((one) => one.delete(uri, new vscode.Range(left, 0, left + 1, 0)));
    await cut();
    assert.equal(texts().length, 3);
    await edit((one) => one.insert(uri, new vscode.Position(left + 1, 0), '  long left;\n'));
    assert.deepEqual(texts(), expected());
    assert.match(texts().join(), new RegExp(`^${left + 1}: stale,${left + 2}: stale`));
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await eventually('reverted', () => document.getText() === COMPILED);
    assert.deepEqual(texts(), expected());

    await cut();
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await eventually('reverted', () => document.getText() === COMPILED);
    assert.deepEqual(texts(), expected());

    const editor = await vscode.window.showTextDocument(uri);
    editor.selection = new vscode.Selection(0, 0, 4, 1); // struct stale
    for (let step = 0; step < 8; ++step) await vscode.commands.executeCommand('editor.action.moveLinesDownAction');
    assert.ok(lineIn(document.getText(), 'struct stale {') > lineIn(document.getText(), 'struct other {'));
    assert.deepEqual(texts(), expected());
  });

  it('go with their structure where two are swapped by one edit', async () => {
    const document = await open(COMPILED, 1e9, 2e9);
    const swapped = COMPILED.split('void work')[0]!.replaceAll('stale', 'STALE').replaceAll('other', 'stale').replaceAll('STALE', 'other');
    await edit((one) => one.replace(uri, new vscode.Range(0, 0, lineIn(COMPILED, 'void work') - 1, 0), swapped));
    const text = document.getText();
    assert.deepEqual(texts(), where(text, ALL));
    for (const type of ['stale', 'other']) {
      assert.match(await hoverTexts(uri, lineIn(text, `struct ${type} {`)), new RegExp(`^\\*\\*\`struct ${type}\`\\*\\*`));
      assert.match(await hoverTexts(uri, lineIn(text, `${type}_global;`)), new RegExp(`\\*\\*\`${type}_global\`: false sharing`));
    }
  });

  it('have nothing as long as they name something else of the profile', async () => {
    await open(COMPILED, 1e9, 2e9);
    const name = new vscode.Range(0, 'struct '.length, 0, 'struct stale'.length);
    await edit((one) => one.replace(uri, name, 'other'));
    assert.doesNotMatch(await hoverTexts(uri, 1), /stale/);
    assert.deepEqual(
      (await lenses()).map(([line]) => line),
      [lineIn(COMPILED, 'struct other {')],
    );
    await edit((one) => one.replace(uri, name, 'renamed'));
    assert.match(await hoverTexts(uri, 1), /^\*\*`struct stale`\*\*/, 'what is renamed is still the same');
  });
});
