// A line that declares several things: which card is shown, and what stands above it.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { access, cacheLine, report } from '../unit/report-builder';
import { field, layout, member, typeHeat } from '../unit/type-builder';
import { activate, closeEditors, hoverTexts, workspaceFolder } from './support';

const TEXT = 'struct left { long hits; }; struct right { long hits; };\nstruct left l; struct right r;\n';

describe('a line that declares several types', function () {
  this.timeout(60_000);
  let api: CachelineApi;
  let uri: vscode.Uri;
  const [types = '', variables = ''] = TEXT.split('\n');

  const hot = (name: string, stores: number) => {
    const of = layout(name, 8, [member('hits', 0, 8, { line: 1 })], { file: uri.fsPath, line: 1 });
    return typeHeat(of, [field('hits', 0, { stores, writers: [1, 2] })]);
  };
  const lenses = () => vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri);

  before(async () => {
    api = await activate();
    uri = vscode.Uri.file(path.join(workspaceFolder(), 'line.c'));
    writeFileSync(uri.fsPath, TEXT);
    await vscode.window.showTextDocument(uri);
  });
  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    rmSync(uri.fsPath);
  });

  it('shows the one under the mouse first, also of variables', async () => {
    const definition = { file: uri.fsPath, line: 2 };
    const accesses = [
      access({ writes: 9, data: { object: 'l', offset: 0, how: 'global', type: 'left', field: 'hits', definition } }),
      access({ writes: 9, data: { object: 'r', offset: 0, how: 'global', type: 'right', field: 'hits', definition } }),
    ];
    await api.showReport(report([cacheLine(accesses)], { types: [hot('left', 90), hot('right', 10)] }), 'made by hand');
    for (const [line, text, word, expected] of [
      [1, types, 'left', 'left'],
      [1, types, 'right', 'right'],
      [1, types, 'struct', 'left'], // the hottest
      [2, variables, 'l;', 'left'],
      [2, variables, 'r;', 'right'],
    ] as const)
      assert.equal(/\*\*`struct (\w+)`/.exec(await hoverTexts(uri, line, text.indexOf(word)))?.[1], expected, `${line}: ${word}`);
  });

  it('opens the one whose line above was clicked', async () => {
    const [left, right] = await lenses();
    for (const [lens, name] of [
      [left, 'left'],
      [right, 'right'],
    ] as const) {
      await vscode.commands.executeCommand(lens?.command?.command ?? '', ...((lens?.command?.arguments ?? []) as unknown[]));
      assert.equal(vscode.window.activeTextEditor?.selection.active.character, types.indexOf(name), name);
    }
  });

  it('has no more above it than can be read', async () => {
    const many = Array.from({ length: 40 }, (_, index) => hot(`Pool<${'std::pair<int, int>, '.repeat(20)}${index}>`, 1000 - index));
    await api.showReport(report([], { types: many }), 'made by hand');
    const titles = (await lenses()).map(({ command }) => command?.title ?? '');
    assert.equal(titles.length, 4);
    assert.match(titles[0] ?? '', /^Pool<std::pair[^…]*…[^…]* 0>: 2 threads write, /);
    assert.ok(titles.every((title) => title.length < 130));
    assert.equal(titles[3], '37 more types on this line');
  });
});
