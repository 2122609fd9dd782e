// Comparing two recordings in the editor: an example before and after its fix, opened lines, and what is no recording.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { CompareRow, CompareView } from '../../extension/protocol/compare';
import { activate, closeEditors, eventually, hoverTexts, markers, profile, program, source, workspaceFolder } from './support';

const EXAMPLE = 'counter_array';

describe('compare recordings', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let was: string;
  let is: string;
  const contended = source(`${EXAMPLE}/contended.c`);

  const view = (): CompareView => {
    const { message } = api.compareState();
    assert.ok(message);
    return message.view;
  };
  const row = (kind: string, name: string): CompareRow => {
    const found = view()
      .tables.find((table) => table.kind === kind)
      ?.rows.find((one) => one.name === name);
    assert.ok(found, `${kind} ${name} in ${JSON.stringify(view().tables)}`);
    return found;
  };
  const compare = (...paths: unknown[]): Thenable<boolean> => vscode.commands.executeCommand<boolean>('cacheline.compare', ...paths);
  const open = ({ id }: CompareRow): Promise<void> =>
    api.receiveFromCompare({ type: 'open', version: api.compareState().message?.version ?? -1, row: id });
  const opened = (): string | undefined => {
    const editor = vscode.window.activeTextEditor;
    return editor && `${editor.document.uri.fsPath}:${editor.selection.active.line + 1}`;
  };

  before(async () => {
    api = await activate();
    const recorded = [await profile({ program: program(EXAMPLE, 'contended') }), await profile({ program: program(EXAMPLE, 'fixed') })];
    const [first, second] = recorded;
    assert.ok(first !== undefined && second !== undefined && first !== second, JSON.stringify(recorded));
    [was, is] = [first, second];
  });

  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
  });

  it('says that the waiting is gone, of which data and code, and what was predicted', async () => {
    assert.equal(await compare(was, vscode.Uri.file(is)), true);
    await eventually('the page has the comparison', () => api.compareState().shown);
    assert.match(view().conclusion, /^(.* as fast|A run takes .*); the waiting is gone \((>99\.9|9\d\.\d)% sure\)\.$/);
    assert.match(view().details, /\d+\.\d% of all samples were contended before, 0\.0% after\./);
    for (const [kind, name] of [
      ['object', 'counters'],
      ['function', 'count'],
    ] as const) {
      const { status, bar, numbers, sure, place } = row(kind, name);
      assert.deepEqual([status, bar.after], ['gone', 0], name);
      assert.ok(Number.parseFloat(numbers[0]?.before ?? '') > 30, `${name}: ${numbers[0]?.before}`);
      assert.match(sure, /^(>99\.9|9\d\.\d)%$/);
      assert.match(place, /^contended\.c:\d+$/);
    }
    assert.match(view().elapsed, /^The recorded runs took .* before, .* after\./);
    assert.match(view().predicted[0]?.advice ?? '', /counters/);
    assert.deepEqual([view().predicted[0]?.followed, view().predicted[0]?.measuredLeft], ['yes', '0.0%']);
    assert.match(view().notes.join('\n'), /programs are called counter_array-contended and counter_array-fixed/);
  });

  it('opens the line of the recording that has it, which then is the current profile', async () => {
    await vscode.commands.executeCommand('cacheline.clear');
    const [line = 0] = markers(contended, 'contended').get('counters') ?? [];
    await open(row('object', 'counters'));
    assert.equal(opened(), `${contended.fsPath}:${line}`);
    assert.equal((await api.currentReport())?.recording?.command[0], program(EXAMPLE, 'contended'));
    await eventually('heat', async () => (await api.heatOf(contended)).some((heat) => heat.line === line));
    assert.equal(api.compareState().open, true);
  });

  it('marks the lines that no longer wait, in gutter and hover, until the setting turns it off', async () => {
    const [line = 0] = markers(contended, 'contended').get('counters') ?? [];
    const settings = vscode.workspace.getConfiguration('cacheline');
    const found = await api.differencesOf(contended);
    assert.deepEqual(
      found?.map(({ line: at, direction }) => [at, direction]),
      [[line, 'better']],
    );
    assert.match(found[0]?.text ?? '', /^no longer waits: [\d.]+ m?s a run before, 0\.0 ms after$/);
    assert.match(await hoverTexts(contended, line), /^\*\*No longer waits\*\*, by the two compared recordings\./);
    await settings.update('compareHeat', false, vscode.ConfigurationTarget.Global);
    try {
      assert.equal(await api.differencesOf(contended), undefined);
      assert.doesNotMatch(await hoverTexts(contended, line), /No longer waits/);
    } finally {
      await settings.update('compareHeat', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('follows these lines through edits', async () => {
    const [line = 0] = markers(contended, 'contended').get('counters') ?? [];
    const edit = new vscode.WorkspaceEdit();
    edit.insert(contended, new vscode.Position(0, 0), '// one more\n');
    await vscode.workspace.applyEdit(edit);
    assert.deepEqual(
      (await api.differencesOf(contended))?.map((one) => one.line),
      [line + 1],
    );
    await vscode.window.showTextDocument(contended);
    await vscode.commands.executeCommand('undo');
    assert.deepEqual(
      (await api.differencesOf(contended))?.map((one) => one.line),
      [line],
    );
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('opens nothing for rows that there are not, nor for those of an earlier comparison', async () => {
    await closeSources();
    const version = api.compareState().message?.version ?? -1;
    for (const id of [-1, 1e6]) await api.receiveFromCompare({ type: 'open', version, row: id });
    await api.receiveFromCompare({ type: 'open', version: version - 1, row: row('object', 'counters').id });
    assert.equal(opened(), undefined);
  });

  it('compares the other way round, and copies Markdown', async () => {
    await api.receiveFromCompare({ type: 'swap' });
    assert.match(view().conclusion, /; the waiting is new \(.*; most of the waiting: counters\.$/);
    assert.equal(row('object', 'counters').status, 'new');
    assert.deepEqual(
      (await api.differencesOf(contended))?.map(({ direction }) => direction),
      ['worse'],
    );
    assert.ok(view().before.startsWith(`${vscode.workspace.asRelativePath(is)}, of `), view().before);
    await api.receiveFromCompare({ type: 'copy' });
    const text = await vscode.env.clipboard.readText();
    assert.match(text, /^## Cache-line contention, before and after/);
    assert.match(text, /\| new \|.*`counters`/);
  });

  it('keeps what it shows where a recording is none, or is gone', async () => {
    const shown = view().conclusion;
    const folder = mkdtempSync(path.join(workspaceFolder(), 'compare-'));
    try {
      const file = path.join(folder, 'perf.data');
      writeFileSync(file, 'no recording');
      assert.equal(await compare(was, file), false);
      assert.equal(await compare(path.join(folder, 'gone.cacheline'), is), false);
      assert.equal(view().conclusion, shown);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('names what each build had of a program that was built again in its place', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'cacheline-rebuilt-'));
    try {
      const built = path.join(folder, 'counters');
      const recorded: (string | undefined)[] = [];
      for (const form of ['contended', 'fixed']) {
        rmSync(built, { force: true });
        const file = source(`${EXAMPLE}/${form}.c`).fsPath;
        const flags = ['-std=c11', '-D_POSIX_C_SOURCE=200809L', '-O2', '-g', '-pthread', '-Wl,--build-id', `-I${workspaceFolder()}`];
        execFileSync('cc', [...flags, '-o', built, file]);
        recorded.push(await profile({ program: built }));
      }
      assert.equal(await compare(...recorded), true, JSON.stringify(recorded));
      const { status, bar, numbers, place } = row('object', 'counters');
      assert.deepEqual([status, bar.after], ['gone', 0]);
      assert.ok(Number.parseFloat(numbers[0]?.before ?? '') > 30, numbers[0]?.before);
      assert.match(place, /^contended\.c:\d+$/);
      assert.doesNotMatch(view().notes.join('\n'), /Nothing can be said/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('closes, and has nothing left', async () => {
    await closeEditors();
    await eventually('the page is gone', () => !api.compareState().open);
    assert.equal(api.compareState().message, undefined);
    await eventually('lines are those of the profile', async () => (await api.differencesOf(contended)) === undefined);
    await api.receiveFromCompare({ type: 'again' });
    assert.equal(api.compareState().open, false);
  });

  async function closeSources(): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => tab.input instanceof vscode.TabInputText);
    await vscode.window.tabGroups.close(tabs);
    await eventually('no source is open', () => vscode.window.activeTextEditor === undefined);
  }
});
