// Advice in the editor: quick fixes where the source is read, the preview, and one member on a line of its own. Report and advice are made
// by hand, so that every place is known; the last test asks the engine.
import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import type { Advice, AdviceList } from '../../extension/protocol/advice';
import type { CachelineApi } from '../../extension/features/api';
import type { PanelAdvice } from '../../extension/protocol/panel';
import { advice, adviceList, membersChange } from '../unit/advice-builder';
import { access, cacheLine, report } from '../unit/report-builder';
import { lineIn, QUEUE_FILE, queueReport } from './queue-report';
import { activate, closeEditors, eventually, hoverTexts, profile, program, source } from './support';

const TITLE = "Give 'limit' a cache line of its own (predicted 2.1x)";
const MEMBER = '  atomic_long limit;';
const ALIGNED = '  _Alignas(64) atomic_long limit;';

describe('advice in the editor', function () {
  this.timeout(60_000);
  let api: CachelineApi;
  let uri: vscode.Uri;
  let original: string;

  const lineOf = (text: string): number => lineIn(original, text);
  const definition = (): number => lineOf('struct queue {');

  function advised(given: Partial<Advice> = {}): AdviceList {
    const place = { file: uri.fsPath, line: definition() };
    const members = ['produced', 'limit'].map((name, at) => ({
      name,
      type: 'atomic_long',
      offset: 8 * at,
      size: 8,
      bitSize: null,
      line: lineOf(`atomic_long ${name};`),
    }));
    const type = { name: 'queue', binary: '/no/such/program', size: 16, align: 8, definition: place, members };
    const change = membersChange(type, [[0], [1]]);
    return adviceList([
      advice({ subject: { type: 'queue', object: 'queue', members: ['limit'] }, way: 'pad', definition: place, change, ...given }),
    ]);
  }

  const show = (list = advised()): Promise<void> => api.showReport(queueReport(uri, original), 'made by hand', list);
  const actionsAt = async (line: number, in_ = uri): Promise<vscode.CodeAction[]> => {
    const position = new vscode.Position(line - 1, 2);
    const all = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      in_,
      new vscode.Range(position, position),
      vscode.CodeActionKind.QuickFix.value,
    );
    return all.filter(({ title, command }) => title.includes('cache line') || command?.command.startsWith('cacheline.') === true);
  };
  const titles = (actions: vscode.CodeAction[]): string[] => actions.map(({ title }) => title);
  const text = async (): Promise<string> => (await vscode.workspace.openTextDocument(uri)).getText();
  const revert = async (): Promise<void> => {
    await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await eventually('the text is as before', async () => (await text()) === original);
  };
  const preview = (): vscode.TabInputTextDiff | undefined => {
    const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
    return inputs.find((input) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === 'cacheline-advice') as
      vscode.TabInputTextDiff | undefined;
  };

  before(async () => {
    api = await activate();
    uri = source(QUEUE_FILE);
    original = readFileSync(uri.fsPath, 'utf8');
    await vscode.window.showTextDocument(uri);
    await show();
  });

  after(async () => {
    await closeEditors();
    writeFileSync(uri.fsPath, original);
    await vscode.commands.executeCommand('cacheline.clear');
  });

  it('is offered at the definition, the member that is waited for and the code that waits, and nowhere else', async () => {
    for (const line of [definition(), lineOf('atomic_long limit;'), lineOf('@contended queue.limit')])
      assert.deepEqual(titles(await actionsAt(line)), [TITLE, `Preview: ${TITLE}`], `line ${line}`);
    for (const line of [1, lineOf('static long rounds'), lineOf('int main')]) assert.deepEqual(await actionsAt(line), [], `line ${line}`);
    const { uri: other } = await vscode.workspace.openTextDocument(source('producer_limit/fixed.c'));
    assert.deepEqual(await actionsAt(1, other), []);
  });

  it('edits the text at once, and one undo takes it back', async () => {
    const [fix] = await actionsAt(definition());
    assert.ok(fix?.edit);
    await vscode.window.showTextDocument(uri);
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.equal(await text(), original.replace(MEMBER, ALIGNED));
    assert.deepEqual(await actionsAt(definition()), [], 'what is done is not offered');
    await vscode.commands.executeCommand('undo');
    assert.equal(await text(), original);
    assert.equal((await actionsAt(definition())).length, 2);
  });

  it('is edited where the definition is now', async () => {
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), '// one\n// two\n');
    assert.ok(await vscode.workspace.applyEdit(edit));
    const [fix] = await actionsAt(definition() + 2);
    assert.ok(fix?.edit && (await vscode.workspace.applyEdit(fix.edit)));
    assert.equal(await text(), `// one\n// two\n${original.replace(MEMBER, ALIGNED)}`);
    await revert();
  });

  it('is previewed beside the text, and applied', async () => {
    const [, action] = await actionsAt(definition());
    assert.equal(await vscode.commands.executeCommand(action!.command!.command, ...(action!.command!.arguments as unknown[])), true);
    const tab = await eventually('the comparison is open', preview);
    assert.equal(tab.original.toString(), uri.toString());
    const after = await vscode.workspace.openTextDocument(tab.modified);
    assert.equal(after.getText(), original.replace(MEMBER, ALIGNED));
    assert.equal(after.languageId, 'c');
    assert.equal(await text(), original, 'nothing is edited yet');
    assert.equal(await vscode.commands.executeCommand('cacheline.applyAdvice', tab.modified), true);
    assert.equal(await text(), original.replace(MEMBER, ALIGNED));
    await eventually('the comparison is closed', () => preview() === undefined);
    assert.equal(vscode.window.activeTextEditor?.document.uri.toString(), uri.toString());
    await vscode.commands.executeCommand('undo');
    assert.equal(await text(), original);
    assert.equal(await vscode.commands.executeCommand('cacheline.applyAdvice', tab.modified), false, 'the preview is over');
    assert.equal(await text(), original);
    await revert();
  });

  it('is discarded, by the active tab', async () => {
    assert.equal(await vscode.commands.executeCommand('cacheline.previewAdvice', 1), true);
    await eventually('the comparison is open', preview);
    assert.equal(await vscode.commands.executeCommand('cacheline.discardAdvice'), true);
    await eventually('the comparison is closed', () => preview() === undefined);
    assert.equal(await text(), original);
  });

  it('is not applied to a text that was changed since the preview', async () => {
    assert.equal(await vscode.commands.executeCommand('cacheline.previewAdvice', 1), true);
    const tab = await eventually('the comparison is open', preview);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), '// later\n');
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.equal(await vscode.commands.executeCommand('cacheline.applyAdvice', tab.modified), false);
    assert.equal(await text(), `// later\n${original}`);
    assert.equal(await vscode.commands.executeCommand('cacheline.discardAdvice', tab.modified), true);
    await revert();
  });

  it('is chosen from a list where no number is given', async () => {
    const running = vscode.commands.executeCommand('cacheline.previewAdvice');
    const tab = await eventually('the comparison is open', async () => {
      await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
      return preview();
    });
    assert.equal(await running, true);
    assert.equal(await vscode.commands.executeCommand('cacheline.discardAdvice', tab.modified), true);
  });

  it('of variables in two files is one comparison and one edit', async () => {
    const other = source('producer_limit/fixed.c');
    const before = readFileSync(other.fsPath, 'utf8');
    const variables = [uri, other].map(({ fsPath: file }) => {
      const line = readFileSync(file, 'utf8').split('\n').indexOf('static long rounds;') + 1;
      return { name: 'rounds', type: 'long', size: 8, definition: { file, line } };
    });
    const accesses = variables.map(({ definition: at }) =>
      access({ ...at, writes: 9, data: { object: 'rounds', offset: 0, definition: at, type: 'long' } }),
    );
    const change = { kind: 'align-variables' as const, binary: '', variables, alignment: 64 };
    await api.showReport(report([cacheLine(accesses)]), 'two files', advised({ change, way: 'align' }));
    assert.equal(await vscode.commands.executeCommand('cacheline.previewAdvice', 1), true);
    await eventually('the comparison is open', () => vscode.window.tabGroups.activeTabGroup.activeTab?.label.startsWith('Preview: '));
    assert.equal(await vscode.commands.executeCommand('cacheline.applyAdvice'), true);
    const aligned = (text: string): string => text.replace('static long rounds;', '_Alignas(64) static long rounds;');
    assert.equal(await text(), aligned(original));
    assert.equal((await vscode.workspace.openTextDocument(other)).getText(), aligned(before));
    assert.ok(vscode.window.tabGroups.all.every(({ tabs }) => tabs.every(({ label }) => !label.startsWith('Preview: '))));
    await vscode.window.showTextDocument(other);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await revert();
    await show();
  });

  describe('in the panel', () => {
    const panelTab = (): vscode.Tab | undefined =>
      vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label, isActive }) => isActive && label === 'made by hand');
    const shownAdvice = (title: string): Promise<PanelAdvice> =>
      eventually(`the page has the advice ${title}`, () => {
        const { advice: shown } = api.panelState();
        return shown?.title === title && shown;
      });

    before(async () => {
      await show();
      await vscode.commands.executeCommand('cacheline.showPanel');
    });
    after(() => show());

    it('comes after the rows, with what it gains and where to look first', async () => {
      const { words, opens, reason } = await shownAdvice(TITLE);
      assert.match(words, /^None of the waiting here remains after the change\. Predicted: the program runs 2\.1 times as fast/);
      assert.deepEqual([opens, reason], ['preview', '']);
      const { message } = api.panelState();
      assert.ok(message.type === 'report');
      assert.match(message.words.summary, /^100\.0% of the program's samples .* false sharing\.$/);
      const places = message.words.lookFirst.flatMap((part) => (typeof part === 'string' ? [] : [part.place]));
      assert.ok(
        places.some(({ file, line }) => file === uri.fsPath && line === lineOf('@contended queue.limit')),
        JSON.stringify(message.words.lookFirst),
      );
    });

    it('opens the preview in the sources, beside the panel', async () => {
      await api.receiveFromPanel({ type: 'advice' });
      const tab = await eventually('the comparison is open', preview);
      assert.ok(panelTab(), 'the panel stays in sight');
      assert.equal(await text(), original);
      assert.equal(await vscode.commands.executeCommand('cacheline.discardAdvice', tab.modified), true);
    });

    it('shows the card where no layout helps', async () => {
      await show(advised({ way: 'none', why: 'true-sharing', change: null }));
      const { words, opens, reason } = await shownAdvice("No layout helps 'queue'");
      assert.deepEqual([words, opens, reason], ['', 'card', '']);
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await api.receiveFromPanel({ type: 'advice' });
      const active = await eventually('the definition is shown', () => {
        const editor = vscode.window.activeTextEditor;
        return editor?.document.uri.fsPath === uri.fsPath && editor.selection.active.line === definition() - 1 && editor;
      });
      assert.ok(panelTab(), 'the panel stays in sight');
      assert.equal(active.document.isDirty, false);
    });

    it('is shown for a row by its buttons “Fix” and “Card”', async () => {
      const press = async (action: 'fix' | 'showCard'): Promise<void> => {
        const { message } = api.panelState();
        assert.ok(message.type === 'report');
        await api.receiveFromPanel({ type: 'row', action, version: message.version, line: message.lines[0]?.id ?? '' });
      };
      await show();
      await shownAdvice(TITLE);
      await press('fix');
      const tab = await eventually('the comparison is open', preview);
      assert.ok(panelTab(), 'the panel stays in sight');
      assert.equal(await vscode.commands.executeCommand('cacheline.discardAdvice', tab.modified), true);
      const editor = await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.One });
      editor.selection = new vscode.Selection(0, 0, 0, 0);
      await press('showCard');
      await eventually('the definition is shown', () => {
        const active = vscode.window.activeTextEditor;
        return active?.document.uri.fsPath === uri.fsPath && active.selection.active.line === definition() - 1;
      });
      const said: string[] = [];
      const own = vscode.window.showInformationMessage;
      Object.defineProperty(vscode.window, 'showInformationMessage', {
        configurable: true,
        value: (text: string) => Promise.resolve(void said.push(text)),
      });
      try {
        await show(adviceList([]));
        await press('fix');
      } finally {
        Object.defineProperty(vscode.window, 'showInformationMessage', { configurable: true, value: own });
      }
      assert.deepEqual(said, ['No advice is about the data of this row. “Cacheline: Preview Advice” lists what there is.']);
      assert.equal(preview(), undefined);
    });

    it('says why there is no edit', async () => {
      await show(advised({ change: null, way: 'stride' }));
      const { opens, reason } = await eventually('the page has the advice', () => api.panelState().advice);
      assert.equal(opens, 'card');
      assert.match(reason, /make the change by hand\.$/);
    });
  });

  it('is not taken for one of the profile that is shown later', async () => {
    const [, action] = await actionsAt(definition());
    const { command, arguments: given = [] } = action!.command!;
    await show(advised({ predicted: { ...advice().predicted, speedup: { low: 1.1, mid: 1.2, high: 1.3 } } }));
    assert.equal(await vscode.commands.executeCommand(command, ...(given as unknown[])), false);
    assert.equal(preview(), undefined);
    await show();
    assert.equal(await vscode.commands.executeCommand(command, ...(given as unknown[])), true);
    const tab = await eventually('the comparison is open', preview);
    assert.equal(await vscode.commands.executeCommand('cacheline.discardAdvice', tab.modified), true);
  });

  it('has no preview where there is no edit, no such advice or no profile', async () => {
    await show(advised({ change: null, way: 'stride' }));
    assert.deepEqual(await actionsAt(definition()), []);
    for (const number of [1, 2, 0]) assert.equal(await vscode.commands.executeCommand('cacheline.previewAdvice', number), false);
    await vscode.commands.executeCommand('cacheline.clear');
    assert.equal(await vscode.commands.executeCommand('cacheline.previewAdvice', 1), false);
    assert.deepEqual(await actionsAt(definition()), []);
    await show();
  });

  it('shows names of a recording as text', async () => {
    const name = '[x](command:workbench.action.quit)\u202e\n$(alert)';
    const list = advised();
    const [only] = list.advice;
    const change = only?.change?.kind === 'members' ? only.change : assert.fail('another change');
    change.type.members[1]!.name = name;
    await show(list);
    assert.deepEqual(await actionsAt(definition()), [], 'it does not agree with the text');
    await show();
  });

  it('edits no text that is newer than the binary', async () => {
    const made = queueReport(uri, original);
    const [heat] = made.types!;
    const binary = source('producer_limit/fixed.c').fsPath; // any file that is older
    utimesSync(binary, 1_000_000_000, 1_000_000_000);
    await api.showReport({ ...made, types: [{ ...heat!, binary }] }, 'older', advised());
    assert.deepEqual(await actionsAt(definition()), []);
    await show();
  });

  describe('of one member', () => {
    const link = /\[Put this member on a line of its own\]\(command:cacheline\.previewOwnLine\?([^)]+)\)/;

    it('is a link in its card, and not in that of the type', async () => {
      const [, encoded = ''] = link.exec(await hoverTexts(uri, lineOf('atomic_long produced;'))) ?? [];
      assert.deepEqual(JSON.parse(decodeURIComponent(encoded)), [uri.toString(), lineOf('atomic_long produced;') - 1, 'produced']);
      assert.doesNotMatch(await hoverTexts(uri, definition()), link);
      assert.doesNotMatch(await hoverTexts(uri, lineOf('@variable queue')), link);
    });

    it('puts it and what follows it on lines of their own', async () => {
      const line = lineOf('atomic_long produced;') - 1;
      assert.equal(await vscode.commands.executeCommand('cacheline.previewOwnLine', uri.toString(), line, 'produced'), true);
      const tab = await eventually('the comparison is open', preview);
      assert.equal(await vscode.commands.executeCommand('cacheline.applyAdvice', tab.modified), true);
      const both = original.replace(MEMBER, ALIGNED).replace('  atomic_long produced;', '  _Alignas(64) atomic_long produced;');
      assert.equal(await text(), both);
      await revert();
    });

    it('needs no profile where a binary is known', async () => {
      await vscode.commands.executeCommand('cacheline.clear');
      const settings = vscode.workspace.getConfiguration('cacheline');
      await settings.update('layout.binary', program('producer_limit', 'contended'), vscode.ConfigurationTarget.Workspace);
      try {
        const line = lineOf('atomic_long limit;') - 1;
        assert.equal(await vscode.commands.executeCommand('cacheline.previewOwnLine', uri, line, 'limit'), true);
        const tab = await eventually('the comparison is open', preview);
        assert.equal((await vscode.workspace.openTextDocument(tab.modified)).getText(), original.replace(MEMBER, ALIGNED));
        assert.equal(await vscode.commands.executeCommand('cacheline.discardAdvice', tab.modified), true);
      } finally {
        await settings.update('layout.binary', undefined, vscode.ConfigurationTarget.Workspace);
        await show();
      }
    });

    it('refuses what is no member, no file and no line', async () => {
      for (const args of [
        [uri, lineOf('static long rounds') - 1, 'rounds'],
        [uri, definition() - 1, 'queue'],
        ['untitled:x', 0, 'a'],
        [uri, -1, 'a'],
        [uri, 99_999, 'a'],
        [5, 0, 'a'],
        [],
      ])
        assert.equal(await vscode.commands.executeCommand('cacheline.previewOwnLine', ...args), false, JSON.stringify(args));
      assert.equal(preview(), undefined);
    });
  });

  it('comes from the engine for a profile that was recorded', async () => {
    assert.ok(await profile({ program: program('producer_limit', 'contended') }));
    await vscode.window.showTextDocument(uri);
    const actions = await eventually('an offer', async () => {
      const found = await actionsAt(definition());
      return found.length > 0 && found;
    });
    const [fix] = actions;
    assert.ok(fix?.edit && (await vscode.workspace.applyEdit(fix.edit)));
    assert.match(await text(), /_Alignas\(64\) atomic_long limit;/);
    await revert();
  });
});
