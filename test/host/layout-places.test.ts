// Which line has which card: anonymous members and base classes, sources that are newer than their binary, binaries that are built
// again, and types whose debug information does not say where they are defined.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { Report } from '../../extension/protocol/report';
import { report } from '../unit/report-builder';
import { field, layout, member, typeHeat } from '../unit/type-builder';
import { activate, closeEditors, eventually, hoverTexts, workspaceFolder } from './support';

const CPP = `struct Base {
  long refs;
};
struct Account : Base {
  struct {
    long balance;
    union { long euros; double cents; };
  };
};
Account account;
int main() { return account.refs != 0; }
`;

const minute = (count: number): Date => new Date(1_000_000_000_000 + count * 60_000);

describe('places of cards', function () {
  this.timeout(60_000);
  let api: CachelineApi;
  let folder: string;
  const settings = () => vscode.workspace.getConfiguration('cacheline.layout');
  const file = (name: string): string => path.join(folder, name);
  const lineOf = (text: string, what: string): number => text.split('\n').findIndex((line) => line.includes(what)) + 1;

  function write(name: string, text: string, saved: Date): vscode.Uri {
    writeFileSync(file(name), text);
    utimesSync(file(name), saved, saved);
    return vscode.Uri.file(file(name));
  }

  function compile(name: string, built: Date): void {
    execFileSync('c++', ['-g', '-o', file('program'), file(name)]);
    utimesSync(file('program'), built, built);
  }

  before(async () => {
    api = await activate();
    folder = path.join(workspaceFolder(), 'places');
    mkdirSync(folder);
  });
  afterEach(async () => {
    for (const name of ['alwaysShow', 'binary']) await settings().update(name, undefined, vscode.ConfigurationTarget.Global);
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
  });
  after(() => rmSync(folder, { recursive: true }));

  async function alwaysShow(): Promise<void> {
    await settings().update('alwaysShow', true, vscode.ConfigurationTarget.Global);
    await settings().update('binary', file('program'), vscode.ConfigurationTarget.Global);
  }

  it('without a profile, members of anonymous structures are those of the type around them', async () => {
    const uri = write('account.cpp', CPP, minute(0));
    compile('account.cpp', minute(1));
    await alwaysShow();
    const card = await hoverTexts(uri, lineOf(CPP, 'double cents'));
    assert.match(card, /\*\*`struct Account`\*\* · 24 bytes/);
    for (const name of ['refs', 'balance', 'euros', 'cents']) assert.match(card, new RegExp(`\\| \`${name}\` \\|`));
    assert.match(await hoverTexts(uri, lineOf(CPP, 'long refs')), /\*\*`struct Base`\*\* · 8 bytes/, 'the class that it stands in');
  });

  it('after the next build lines are those of the text that was built', async () => {
    const uri = write('again.cpp', CPP, minute(0));
    compile('again.cpp', minute(1));
    await alwaysShow();
    await vscode.window.showTextDocument(uri);
    assert.match(await hoverTexts(uri, lineOf(CPP, 'struct Account')), /struct Account/);
    const { document } = vscode.window.activeTextEditor!;
    const longer = `// one\n// two\n// three\n${CPP}`;
    write('again.cpp', longer, minute(2));
    await eventually('the editor shows the new text', () => document.getText() === longer);
    assert.match(await hoverTexts(uri, lineOf(longer, 'struct Account')), /struct Account[^]*source is newer than the binary/);
    compile('again.cpp', minute(3));
    const card = await hoverTexts(uri, lineOf(longer, 'struct Account'));
    assert.match(card, /struct Account/);
    assert.doesNotMatch(card, /newer than the binary/);
    assert.equal(await hoverTexts(uri, lineOf(longer, '// three')), '');
  });

  it('edits from before a recording was opened cannot be followed, and those since then are', async () => {
    const uri = write('older.c', 'struct pair {\n  long left;\n};\n', minute(2));
    write('older', 'the binary', minute(0));
    const place = { file: uri.fsPath, line: 1 };
    const heat = typeHeat(layout('pair', 8, [member('left', 0, 8, { line: 2 })], place), [field('left', 0, { stores: 5, writers: [1] })], {
      binary: file('older'),
    });
    const recording = { startedAt: minute(1).toISOString(), binaries: [], notTaken: [] } as unknown as Report['recording'];
    const made = report([], { types: [heat], recording });
    await api.showReport(made, 'made by hand');
    assert.match(await hoverTexts(uri, 1), /rebuild and record again/);
    write('older.c', 'struct pair {\n  long left;\n};\n', minute(0));
    await api.showReport(made, 'made by hand');
    assert.doesNotMatch(await hoverTexts(uri, 1), /newer/);
    await vscode.window.showTextDocument(uri);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), '// one\n');
    assert.ok(await vscode.workspace.applyEdit(edit));
    await vscode.workspace.saveAll();
    assert.match(await hoverTexts(uri, 2), /Lines are tracked through the edits/);
  });

  it('what a type did is not said of a member without samples, and of a variable with a remark', async () => {
    const text =
      'struct Hot { long n; };\nstruct Cold {\n  Hot inside;\n};\nHot hot;\nCold cold;\nint main() { return cold.inside.n != hot.n; }\n';
    const uri = write('hot.cpp', text, minute(0));
    compile('hot.cpp', minute(1));
    const of = layout('Hot', 8, [member('n', 0, 8, { line: 1 })], { file: uri.fsPath, line: 1 });
    const heat = typeHeat(of, [field('n', 0, { stores: 5, writers: [1] })], { binary: file('program') });
    await api.showReport(report([], { types: [heat] }), 'made by hand');
    assert.equal(await hoverTexts(uri, lineOf(text, 'Hot inside')), '');
    assert.match(await hoverTexts(uri, lineOf(text, 'Hot hot')), /struct Hot[^]*cover all instances of the type[^]*only \\'hot\\'/);
  });

  it('a macro leads to what it made', async () => {
    const text =
      '#define COUNTER(name) \\\n  struct name##_counter { \\\n    long hits; \\\n  }\nCOUNTER(web) ALIGNED;\n#define ALIGNED __attribute__((aligned(64)))\n';
    const uri = write('macro.c', text, minute(0));
    const of = layout('web_counter', 8, [member('hits', 0, 8, { line: 5 })], { file: uri.fsPath, line: 5 });
    await api.showReport(report([], { types: [typeHeat(of, [field('hits', 0, { stores: 5, writers: [1] })])] }), 'made by hand');
    assert.match(await hoverTexts(uri, 5), /\*\*`struct web_counter`/);
    for (const line of [1, 3])
      assert.match(await hoverTexts(uri, line), /^`COUNTER` is a macro\. .* on the lines that use it: `web_counter` \(line 5\)\.$/);
    assert.equal(await hoverTexts(uri, 6), '');
  });

  it('of Rust and Go are found in the sources', async () => {
    const rust = write(
      'counters.rs',
      '// one\npub struct Counters {\n    pub hits: AtomicU64,\n    pub misses: AtomicU64,\n}\n',
      minute(0),
    );
    const go = write('board.go', 'package main\n\ntype Board struct {\n\tLeft, Right int64\n}\n', minute(0));
    const unknown = { file: '', line: 0 };
    const heat = (name: string, members: string[]) =>
      typeHeat(
        layout(
          name,
          16,
          members.map((one, index) => member(one, 8 * index, 8, { line: 0 })),
          unknown,
        ),
        members.map((one, index) => field(one, 8 * index, { stores: 50, writers: [index] })),
      );
    await api.showReport(
      report([], { types: [heat('main::Counters', ['hits', 'misses']), heat('main.Board', ['Left', 'Right'])] }),
      'made by hand',
    );
    for (const [uri, line, name] of [
      [rust, 2, 'main::Counters'],
      [rust, 4, 'main::Counters'],
      [go, 3, 'main.Board'],
      [go, 4, 'main.Board'],
    ] as const)
      assert.ok((await hoverTexts(uri, line)).startsWith(`**\`struct ${name}\`**`), `${name} on line ${line}`);
    assert.equal(await hoverTexts(rust, 1), '');
    await vscode.window.showTextDocument(rust);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', rust);
    assert.deepEqual(
      lenses.map(({ range }) => range.start.line),
      [1],
    );
    assert.deepEqual(
      api.memberTextsOf(rust).map(({ line }) => line),
      [3, 4],
    );
  });
});
