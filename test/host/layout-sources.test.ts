// Cards where a source is not simply the file that was compiled: reached by several paths, compared with another, built again.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { Report } from '../../extension/protocol/report';
import { report } from '../unit/report-builder';
import { field, layout, member, typeHeat } from '../unit/type-builder';
import { activate, closeEditors, hoverTexts, workspaceFolder } from './support';

const PAIR = 'struct pair {\n  long left;\n};\n';

describe('cards of sources', function () {
  this.timeout(60_000);
  let api: CachelineApi;
  let folder: string;
  let outside: string;

  const show = (file: string, more: Partial<Report> = {}) => {
    const of = layout('pair', 8, [member('left', 0, 8, { line: 2 })], { file, line: 1 });
    const heat = typeHeat(of, [field('left', 0, { stores: 50, writers: [1, 2] })], { binary: path.join(folder, 'program') });
    return api.showReport(report([], { types: [heat], ...more }), 'made by hand');
  };

  before(async () => {
    api = await activate();
    folder = path.join(workspaceFolder(), 'sources');
    outside = mkdtempSync(path.join(tmpdir(), 'cacheline-outside-'));
    mkdirSync(path.join(folder, 'real'), { recursive: true });
    symlinkSync('real', path.join(folder, 'link'));
    symlinkSync(outside, path.join(folder, 'shared'));
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    await vscode.workspace.getConfiguration('cacheline.layout').update('alwaysShow', undefined, vscode.ConfigurationTarget.Global);
  });
  after(() => {
    rmSync(folder, { recursive: true });
    rmSync(outside, { recursive: true });
  });

  for (const [compiled, opened] of [
    ['real', 'link'],
    ['link', 'real'],
    ['outside', 'shared'],
    ['shared', 'shared'],
  ] as const) {
    it(`compiled as ${compiled}/pair.h and opened as ${opened}/pair.h`, async () => {
      const file = compiled === 'outside' ? path.join(outside, 'pair.h') : path.join(folder, compiled, 'pair.h');
      writeFileSync(file, PAIR);
      await show(file);
      const uri = vscode.Uri.file(path.join(folder, opened, 'pair.h'));
      await vscode.window.showTextDocument(uri);
      const edit = new vscode.WorkspaceEdit();
      edit.insert(uri, new vscode.Position(0, 0), '// one\n');
      assert.ok(await vscode.workspace.applyEdit(edit));
      assert.match(await hoverTexts(uri, 2), /\*\*`struct pair`\*\*/);
      assert.deepEqual(
        api.memberTextsOf(uri).map(({ line }) => line),
        [3],
      );
    });
  }

  it('are found among hundreds of files of one name', async () => {
    for (let index = 0; index < 250; ++index) {
      mkdirSync(path.join(folder, `crate${index}`), { recursive: true });
      writeFileSync(path.join(folder, `crate${index}`, 'mod.h'), PAIR);
    }
    for (const index of [3, 128, 249]) {
      await show(`/build/machine/crate${index}/mod.h`);
      assert.match(await hoverTexts(vscode.Uri.file(path.join(folder, `crate${index}`, 'mod.h')), 1), /struct pair/, `crate${index}`);
    }
  });

  it('open where the file is shown already, also beside another one', async () => {
    const [file, other] = [path.join(folder, 'pair.c'), path.join(folder, 'other.c')];
    writeFileSync(file, PAIR);
    writeFileSync(other, 'struct pair {\n};\n');
    await show(file);
    await vscode.commands.executeCommand('vscode.diff', vscode.Uri.file(other), vscode.Uri.file(file));
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, file);
    assert.equal(await vscode.commands.executeCommand('cacheline.showLayout', vscode.Uri.file(file), 0), true);
    const [tab, ...others] = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
    assert.ok(tab);
    assert.ok(tab.input instanceof vscode.TabInputTextDiff);
    assert.deepEqual(others, []);
    assert.equal(vscode.window.activeTextEditor.selection.active.character, PAIR.indexOf('pair'));
  });

  it('of a binary that was built again since the profile are those of its own lines', async () => {
    const text =
      'struct pair {\n  long left;\n};\nstruct cold {\n  long nothing;\n};\nstruct pair pair;\nstruct cold cold;\nint main() { return 0; }\n';
    const longer = `// one\n// two\n// three\n${text}`;
    const uri = vscode.Uri.file(path.join(folder, 'again.c'));
    const compile = () => execFileSync('cc', ['-g', '-o', path.join(folder, 'program'), uri.fsPath]);
    const past = new Date(1_000_000_000_000);
    writeFileSync(uri.fsPath, text);
    compile();
    for (const old of [uri.fsPath, path.join(folder, 'program')]) utimesSync(old, past, past);
    const binaries = [{ path: path.join(folder, 'program'), mtimeNs: String(past.getTime() * 1e6) }];
    await show(uri.fsPath, { recording: { startedAt: past.toISOString(), binaries, notTaken: [] } as unknown as Report['recording'] });
    await vscode.workspace.getConfiguration('cacheline.layout').update('alwaysShow', true, vscode.ConfigurationTarget.Global);
    const { document } = await vscode.window.showTextDocument(uri);
    const cards = async () => {
      const texts = await Promise.all(Array.from({ length: document.lineCount }, (_, line) => hoverTexts(uri, line + 1)));
      return texts.map((card) => /\*\*`struct (\w+)`/.exec(card)?.[1] ?? '');
    };
    const expected = ['pair', 'pair', '', 'cold', 'cold', '', 'pair', 'cold', '', ''];
    assert.deepEqual(await cards(), expected);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), longer.slice(0, longer.length - text.length));
    assert.ok(await vscode.workspace.applyEdit(edit));
    await document.save();
    assert.deepEqual(await cards(), ['', '', '', ...expected], 'the binary is the one of the profile');
    compile();
    assert.deepEqual(await cards(), ['', '', '', ...expected], 'the binary is a new one');
    assert.match(await hoverTexts(uri, 4), /source is newer than the binary/, 'of what was measured before');
    assert.doesNotMatch(await hoverTexts(uri, 7), /newer/);
  });

  it('say which part of the debug information is missing, where other definitions may be', async () => {
    const compile = (name: string, text: string): void => {
      writeFileSync(path.join(folder, `${name}.c`), text);
      execFileSync('cc', ['-g', '-gsplit-dwarf', '-c', `${name}.c`], { cwd: folder });
    };
    compile('near', 'struct conn {\n  int one;\n} near_conn;\nint main(void) { return 0; }\n');
    compile('far', 'struct conn {\n  long one;\n} far_conn;\n');
    execFileSync('cc', ['-o', 'program', 'near.o', 'far.o'], { cwd: folder });
    const uri = vscode.Uri.file(path.join(folder, 'near.c'));
    await show(path.join(folder, 'pair.c'));
    await vscode.workspace.getConfiguration('cacheline.layout').update('alwaysShow', true, vscode.ConfigurationTarget.Global);
    rmSync(path.join(folder, 'far.dwo'));
    const text = (await hoverTexts(uri, 1)).replaceAll('\\', '');
    assert.match(text, /\*\*`struct conn`\*\* · 4 bytes/);
    assert.match(
      text,
      /^\*The debug information of .* far\.dwo\. Definitions that are only there are not shown\. Keep the \.dwo files .*\*$/m,
    );
    assert.doesNotMatch(text, /does not define|incomplete/);
  });
});
