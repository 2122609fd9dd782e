// Types on their source: the card over definition, member and variable, the line above the definition, texts after members, and
// the tree of contended data. The report is made by hand, so that every number is known.
import assert from 'node:assert/strict';
import { readFileSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { TreeNode } from '../../extension/session/profile/contended-tree';
import { access, cacheLine, report } from '../unit/report-builder';
import { field, layout, member, typeHeat } from '../unit/type-builder';
import { lineIn, QUEUE_FILE, queueReport } from './queue-report';
import { activate, closeEditors, eventually, hoverTexts, program, source } from './support';

describe('types on their source', function () {
  this.timeout(60_000);
  let api: CachelineApi;
  let uri: vscode.Uri;
  let original: string;
  let definition: number;

  const lineOf = (text: string): number => lineIn(original, text);
  const settings = () => vscode.workspace.getConfiguration('cacheline');
  const lenses = async (): Promise<vscode.CodeLens[]> =>
    vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri);

  before(async () => {
    api = await activate();
    uri = source(QUEUE_FILE);
    original = readFileSync(uri.fsPath, 'utf8');
    definition = lineOf('struct queue {');
    await vscode.window.showTextDocument(uri);
    await api.showReport(queueReport(uri, original), 'made by hand');
  });

  after(async () => {
    await closeEditors();
    writeFileSync(uri.fsPath, original);
    await vscode.commands.executeCommand('cacheline.clear');
  });

  it('shows the card over the definition: picture, members, threads, evidence', async () => {
    const text = await hoverTexts(uri, definition);
    assert.match(text, /\*\*`struct queue`\*\* · 16 bytes on 1 cache line/);
    assert.match(text, /false sharing\\, 100\\%/);
    const [, encoded = ''] = /\(data:image\/svg\+xml;base64,([^|]+)\|width=720,height=\d+\)/.exec(text) ?? [];
    const svg = Buffer.from(encoded, 'base64').toString('utf8');
    assert.match(svg, />produced<\/text>/);
    assert.match(svg, />W1 67%<\/text>/);
    const table = text.replaceAll('| &nbsp;&nbsp;', '| ');
    assert.match(table, /\| \*\*`produced`\*\* \| 0–7 \| 8 \| 0 \| 620 \| 620\s\(67%\) \| W\s11 \|/);
    assert.match(table, /\| \*\*`limit`\*\* \| 8–15 \| 8 \| 310 \| 0 \| 310\s\(33%\) \| R\s12 \|/);
    assert.match(text, /evidence: \*\*clock\*\*/);
    assert.match(text, /any multiple of 8 bytes/);
  });

  it('shows the same over a member and over a variable of the type', async () => {
    assert.match(await hoverTexts(uri, lineOf('atomic_long limit;')), /^\*\*`struct queue`\*\*/);
    const variable = await hoverTexts(uri, lineOf('@variable queue'));
    assert.match(variable, /\*\*`struct queue`\*\*/);
    assert.match(variable, /\*\*`queue`: false sharing\*\*/, 'and who accesses it, as before');
  });

  it('shows no card on other lines', async () => {
    assert.equal(await hoverTexts(uri, lineOf('static long rounds')), '');
  });

  it('has a text form', async () => {
    await settings().update('layout.text', true, vscode.ConfigurationTarget.Global);
    try {
      const text = await hoverTexts(uri, definition);
      assert.doesNotMatch(text, /data:image/);
      assert.match(text, /- line 1, bytes 0–15/);
      assert.match(text, / {2}- 0–7: `produced`: .*1 thread writes/);
    } finally {
      await settings().update('layout.text', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('says above the definition who uses it and what it costs, and opens the card', async () => {
    const [lens, ...others] = await lenses();
    assert.equal(others.length, 0);
    assert.equal(lens?.range.start.line, definition - 1);
    assert.equal(lens.command?.title, '1 thread writes and 1 reads, 1 line, false sharing 100%: show layout');
    await vscode.commands.executeCommand(lens.command.command, ...((lens.command.arguments ?? []) as unknown[]));
    const { active } = vscode.window.activeTextEditor!.selection;
    assert.deepEqual([active.line, active.character], [definition - 1, 'struct '.length]);
    await settings().update('codeLens', false, vscode.ConfigurationTarget.Global);
    try {
      assert.deepEqual(await lenses(), []);
    } finally {
      await settings().update('codeLens', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('writes behind hot members, where that is not switched off', async () => {
    assert.deepEqual(api.memberTextsOf(uri), [
      { line: lineOf('atomic_long produced;'), text: 'byte 0 of queue: 67% of contended samples, 1 thread writes' },
      { line: lineOf('atomic_long limit;'), text: 'byte 8 of queue: 33% of contended samples, 1 thread reads' },
    ]);
    await settings().update('memberText', false, vscode.ConfigurationTarget.Global);
    assert.deepEqual(api.memberTextsOf(uri), []);
    await settings().update('memberText', undefined, vscode.ConfigurationTarget.Global);
  });

  it('lists type, field, cache line and access in the tree, each opening its source', async () => {
    const tree = api.contendedData();
    const under = async (node?: TreeNode): Promise<TreeNode[]> => (await tree.getChildren(node)) ?? [];
    const [type] = await under();
    const [produced] = await under(type);
    const [line] = await under(produced);
    const [produce] = await under(line);
    assert.deepEqual(
      [type, produced, line, produce].map((node) => node?.label),
      ['struct queue', 'produced', '0x404040', `produce contended.c:${lineOf('@contended queue.produced')}`],
    );
    const expected = [
      definition,
      lineOf('atomic_long produced;'),
      lineOf('@contended queue.produced'),
      lineOf('@contended queue.produced'),
    ];
    for (const [index, node] of [type!, produced!, line!, produce!].entries()) {
      const item = await tree.getTreeItem(node);
      assert.ok(item.iconPath instanceof vscode.ThemeIcon);
      assert.equal(item.accessibilityInformation?.label, node.text);
      await vscode.commands.executeCommand(item.command!.command, ...(item.command!.arguments as unknown[]));
      assert.equal(vscode.window.activeTextEditor?.selection.active.line, expected[index]! - 1);
    }
  });

  it('opens no source that was removed, with a warning', async () => {
    const gone = vscode.Uri.file(uri.fsPath.replace(/[^/]+$/, 'gone.c'));
    writeFileSync(gone.fsPath, 'long gone;\n');
    const definition = { file: gone.fsPath, line: 1 };
    await api.showReport(report([cacheLine([access({ writes: 9, data: { object: 'gone', offset: 0, definition } })])]), 'made by hand');
    unlinkSync(gone.fsPath);
    await assert.doesNotReject(async () => vscode.commands.executeCommand('cacheline.openSource', definition));
    await api.showReport(queueReport(uri, original), 'made by hand');
  });

  it('follows edits, and says that the binary does not have them', async () => {
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), '// one\n// two\n');
    assert.ok(await vscode.workspace.applyEdit(edit));
    const text = await hoverTexts(uri, definition + 2);
    assert.match(text, /\*\*`struct queue`\*\*/);
    assert.match(text, /edits that are not in the binary/);
    assert.equal((await lenses())[0]?.range.start.line, definition + 1);
    assert.equal(api.memberTextsOf(uri)[0]?.line, lineOf('atomic_long produced;') + 2);
    const { document } = await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await eventually('the text is as before', () => document.getText() === original);
  });

  it('where the source is newer than the binary believes only lines that name what they declare', async () => {
    const made = queueReport(uri, original);
    const [heat] = made.types!;
    const binary = uri.fsPath.replace(/[^/]+$/, 'fixed.c'); // any file that is older
    utimesSync(binary, 1_000_000_000, 1_000_000_000);
    const [first] = heat!.layout.members;
    const shifted = { ...heat!, binary, layout: { ...heat!.layout, members: [{ ...first!, line: lineOf('static long rounds') }] } };
    await api.showReport({ ...made, types: [shifted] }, 'older');
    const text = await hoverTexts(uri, definition);
    assert.match(text, /\*\*`struct queue`\*\*/, 'the line names the type');
    assert.match(text, /source is newer than the binary/);
    assert.equal(await hoverTexts(uri, lineOf('static long rounds')), '');
    await api.showReport(made, 'made by hand');
  });

  it('shows below the hottest type what else its line declares: another build of the same structure', async () => {
    const members = [member('limit', 0, 8, { line: lineOf('atomic_long limit;') })];
    const other = layout('queue', 8, members, { file: uri.fsPath, line: definition });
    const twin = typeHeat(other, [field('limit', 0, { stores: 40, writers: [12] })], { object: 'libother.so' });
    const icon = typeHeat({ ...other, name: 'box<$(alert)>' }, [field('limit', 0, { stores: 10, writers: [12] })]);
    await api.showReport(
      { ...queueReport(uri, original), types: [...(queueReport(uri, original).types ?? []), twin, icon] },
      'made by hand',
    );
    const text = await hoverTexts(uri, definition);
    assert.equal(text.match(/!\[/g)?.length, 1, 'one picture');
    assert.ok(
      (await lenses()).some(({ command }) => command?.title.startsWith('box<\\$(alert)>: ')),
      'a name makes no icon',
    );
    const [first = '', second = ''] = text.split('declared here too, in `libother.so`: ');
    assert.match(first, /\*\*`struct queue`\*\* · 16 bytes/);
    assert.match(
      second,
      /^\*\*`struct queue`\*\* · 8 bytes.*\*\*`limit`\*\* \| &nbsp;&nbsp;0–7 \| &nbsp;&nbsp;8 \| &nbsp;&nbsp;0 \| &nbsp;&nbsp;40 \|/s,
    );
    await api.showReport(queueReport(uri, original), 'made by hand');
  });

  it('shows nothing once the profile is cleared', async () => {
    await vscode.commands.executeCommand('cacheline.clear');
    assert.equal(await hoverTexts(uri, definition), '');
    assert.deepEqual(await lenses(), []);
    assert.deepEqual(api.memberTextsOf(uri), []);
    assert.deepEqual(await api.contendedData().getChildren(), []);
  });
});

describe('types without samples', function () {
  this.timeout(60_000);
  let uri: vscode.Uri;
  const settings = () => vscode.workspace.getConfiguration('cacheline.layout');
  const lineOf = (text: string): number =>
    readFileSync(uri.fsPath, 'utf8')
      .split('\n')
      .findIndex((line) => line.includes(text)) + 1;

  before(async () => {
    await activate();
    uri = source('producer_limit/fixed.c');
    await vscode.window.showTextDocument(uri);
    await settings().update('binary', program('producer_limit', 'fixed'), vscode.ConfigurationTarget.Global);
  });
  after(async () => {
    for (const name of ['alwaysShow', 'binary']) await settings().update(name, undefined, vscode.ConfigurationTarget.Global);
    await closeEditors();
  });

  it('have no card where nobody asked', async () => {
    assert.equal(await hoverTexts(uri, lineOf('struct queue {')), '');
  });

  it('have the layout alone where the setting says so: over definition, members and variables', async () => {
    await settings().update('alwaysShow', true, vscode.ConfigurationTarget.Global);
    for (const text of ['struct queue {', 'atomic_long limit;', '@variable queue']) {
      const card = await hoverTexts(uri, lineOf(text));
      assert.match(card, /\*\*`struct queue`\*\* · \d+ bytes on 2 cache lines/, text);
      assert.match(card, /\| `produced` \| &nbsp;&nbsp;`atomic_long` \| &nbsp;&nbsp;0–7 \| &nbsp;&nbsp;8 \|/);
      assert.doesNotMatch(card, /evidence|samples/);
    }
    assert.equal(await hoverTexts(uri, lineOf('#include "common.h"')), '');
    await settings().update('alwaysShow', false, vscode.ConfigurationTarget.Global);
  });

  it('have it also where another definition of their name has samples', async () => {
    await settings().update('alwaysShow', true, vscode.ConfigurationTarget.Global);
    const api = await activate();
    const twin = layout('queue', 8, [member('limit', 0, 8)], { file: '/elsewhere/queue.c', line: 3 });
    const heat = typeHeat(twin, [field('limit', 0, { stores: 40 })], { binary: program('producer_limit', 'fixed') });
    await api.showReport(report([], { types: [heat] }), 'made by hand');
    try {
      const card = await hoverTexts(uri, lineOf('struct queue {'));
      assert.match(card, /\*\*`struct queue`\*\* · \d+ bytes on 2 cache lines/);
      assert.doesNotMatch(card, /samples/);
    } finally {
      await vscode.commands.executeCommand('cacheline.clear');
      await settings().update('alwaysShow', false, vscode.ConfigurationTarget.Global);
    }
  });

  it('have it where the command asks for it', async () => {
    const asked = (line: number) => vscode.commands.executeCommand<boolean>('cacheline.showLayout', uri, line - 1);
    assert.equal(await asked(lineOf('struct queue {')), true);
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, lineOf('struct queue {') - 1);
    assert.equal(await asked(lineOf('#include "common.h"')), false);
    await settings().update('binary', '/no/such/program', vscode.ConfigurationTarget.Global);
    assert.equal(await asked(lineOf('struct queue {')), false);
  });
});
