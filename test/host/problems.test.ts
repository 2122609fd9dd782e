// Contended data in the list of problems, and from which share on marks, texts and lenses are shown. The report is made by hand.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { VERDICT_PAGES } from '../../extension/protocol/words';
import { advice, adviceList, membersChange } from '../unit/advice-builder';
import { lineIn, QUEUE_FILE, queueReport } from './queue-report';
import { activate, closeEditors, eventually, EXTENSION, source } from './support';

describe('contended data from a share on', function () {
  this.timeout(60_000);
  let api: CachelineApi;
  let uri: vscode.Uri;
  let original: string;

  const lineOf = (text: string): number => lineIn(original, text);
  const set = (name: string, value: unknown): Thenable<void> =>
    vscode.workspace.getConfiguration('cacheline').update(name, value, vscode.ConfigurationTarget.Global);
  const problems = (): vscode.Diagnostic[] => vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Cacheline');
  const lines = (): number[] => problems().map(({ range }) => range.start.line + 1);
  const [produced, limit] = ['atomic_long produced;', 'atomic_long limit;'];

  before(async () => {
    api = await activate();
    uri = source(QUEUE_FILE);
    original = readFileSync(uri.fsPath, 'utf8');
    await vscode.window.showTextDocument(uri);
    const members = [produced, limit].map((text, at) => {
      const name = text.slice('atomic_long '.length, -1);
      return { name, type: 'atomic_long', offset: 8 * at, size: 8, bitSize: null, line: lineOf(text) };
    });
    const definition = { file: uri.fsPath, line: lineOf('struct queue {') };
    const change = membersChange({ name: 'queue', binary: '/no/such/program', size: 16, align: 8, definition, members }, [[0], [1]]);
    const subject = { type: 'queue', object: 'queue', members: ['limit'] };
    await api.showReport(queueReport(uri), 'made by hand', adviceList([advice({ subject, way: 'pad', definition, change })]));
  });
  after(async () => {
    for (const name of ['problems', 'gutterFrom', 'lineTextFrom', 'codeLensFrom']) await set(name, undefined);
    await closeEditors();
    writeFileSync(uri.fsPath, original);
    await vscode.commands.executeCommand('cacheline.clear');
  });

  it('is in no list of problems by default', () => {
    assert.deepEqual(problems(), []);
  });

  it('is listed at its declaration, with the verdict, who waits, and the page of the verdict', async () => {
    await set('problems', 1);
    await eventually('two problems', () => lines().join() === [lineOf(produced), lineOf(limit)].join());
    const [first] = problems();
    assert.match(first?.message ?? '', /^'queue\.produced': false sharing, 67% of contended samples, 1 thread writes\. Threads wait for /);
    assert.ok(first);
    assert.equal(first.severity, vscode.DiagnosticSeverity.Warning);
    assert.ok(typeof first.code === 'object');
    assert.equal(first.code.value, 'false sharing');
    assert.match(first.code.target.path, /\/docs\/verdicts\/false-sharing\.md$/);
    const page = await vscode.workspace.openTextDocument(first.code.target);
    assert.equal(page.lineAt(0).text, '# False sharing');
    assert.equal((await vscode.workspace.openTextDocument(uri)).getText(first.range), original.split('\n')[lineOf(produced) - 1]?.trim());
  });

  it('offers the advice as its quick fix', async () => {
    const problem = await eventually('the problem', () => problems().find(({ range }) => range.start.line + 1 === lineOf(limit)));
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, problem.range);
    const fix = actions.find(({ title }) => title.startsWith("Give 'limit' a cache line of its own"));
    assert.ok(fix?.edit, actions.map(({ title }) => title).join());
    assert.ok(actions.some(({ command }) => command?.command === 'cacheline.previewAdvice'));
  });

  it('has pages of all verdicts', () => {
    const root = vscode.extensions.getExtension(EXTENSION)?.extensionPath ?? '';
    for (const page of Object.values(VERDICT_PAGES)) assert.ok(existsSync(path.join(root, 'docs', page)), page);
  });

  it('is linked to its quick fix, which the editor then lists before those that are linked to nothing', async () => {
    const other = new vscode.CodeAction('Linked to nothing', vscode.CodeActionKind.QuickFix);
    const registered = vscode.languages.registerCodeActionsProvider('c', { provideCodeActions: () => [other] });
    const first = async (text: string): Promise<string | undefined> => {
      const line = lineOf(text) - 1;
      const range = new vscode.Range(line, 2, line, 2); // behind the room before the text
      const found = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, range);
      assert.ok(found.length > 1, JSON.stringify(found));
      return found[0]?.title;
    };
    try {
      assert.match((await first(limit)) ?? '', /^Give 'limit' a cache line of its own/);
      assert.equal(await first('struct queue {'), other.title, 'where no problem is');
    } finally {
      registered.dispose();
    }
  });

  it('follows the share of the setting', async () => {
    await set('problems', 50);
    await eventually('one problem', () => lines().join() === String(lineOf(produced)));
    await set('problems', 90);
    await eventually('none', () => problems().length === 0);
    await set('problems', 1);
    await eventually('two again', () => problems().length === 2);
  });

  it('follows edits', async () => {
    const insert = new vscode.WorkspaceEdit();
    insert.insert(uri, new vscode.Position(0, 0), '// one\n// two\n');
    assert.ok(await vscode.workspace.applyEdit(insert));
    await eventually('they moved', () => lines().join() === [lineOf(produced) + 2, lineOf(limit) + 2].join());
    assert.match(problems()[0]?.message ?? '', /\(before your edits\)$/);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await eventually('they are back', () => lines().join() === [lineOf(produced), lineOf(limit)].join());
  });

  it('has marks, texts and lenses from their shares on', async () => {
    const marked = async (): Promise<number[]> => (await api.heatOf(uri)).flatMap(({ line, icon }) => (icon === null ? [] : [line]));
    const texts = async (): Promise<number[]> => (await api.heatOf(uri)).flatMap(({ line, text }) => (text === '' ? [] : [line]));
    const lenses = async (): Promise<number> =>
      (await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri)).length;
    const both = [lineOf('@contended queue.produced'), lineOf('@contended queue.limit')].sort((a, b) => a - b);
    assert.deepEqual([await marked(), await texts(), await lenses()], [both, both, 1]);
    assert.equal(api.memberTextsOf(uri).length, 2);
    await set('gutterFrom', 50);
    await eventually('one mark', async () => (await marked()).join() === String(lineOf('@contended queue.produced')));
    assert.deepEqual(await texts(), both);
    await set('lineTextFrom', 50);
    await eventually('one text', async () => (await texts()).join() === String(lineOf('@contended queue.produced')));
    assert.deepEqual(
      api.memberTextsOf(uri).map(({ line }) => line),
      [lineOf(produced)],
    );
    assert.equal(await lenses(), 1, 'all of the type counts');
    await set('codeLensFrom', 100);
    assert.equal(await lenses(), 1);
    await api.showReport({ ...queueReport(uri), samples: { ...queueReport(uri).samples, contended: 2000 } }, 'half of it');
    await eventually('no lens', async () => (await lenses()) === 0);
  });

  it('goes with the profile', async () => {
    await eventually('problems', () => problems().length > 0);
    await vscode.commands.executeCommand('cacheline.clear');
    assert.deepEqual(problems(), []);
  });
});
