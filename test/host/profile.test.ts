// The command on a contended example: heat on the marked lines, hovers, the panel, and what follows from edits.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi, LineHeatState } from '../../extension/features/api';
import type { ToPanel } from '../../extension/protocol/panel';
import { activate, closeEditors, eventually, hoverTexts, markers, profile, program, source, workspaceFolder } from './support';

const FILE = 'reader_writer/contended.c';

describe('profile of a contended example', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let recording: string | undefined;
  let uri: vscode.Uri;

  const lines = (heat: LineHeatState[]): number[] => heat.map(({ line }) => line);
  const hottest = async (count: number): Promise<LineHeatState[]> =>
    [...(await api.heatOf(uri))].sort((a, b) => b.share - a.share).slice(0, count);

  before(async () => {
    api = await activate();
    uri = source(FILE);
    recording = await profile({ program: program('reader_writer', 'contended') });
  });

  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
  });

  it('records into the workspace and makes a report', async () => {
    assert.equal(path.dirname(recording ?? ''), workspaceFolder());
    assert.match(path.basename(recording ?? ''), /^reader_writer-contended(-\d+)?\.cacheline$/);
    assert.ok(existsSync(path.join(recording ?? '', 'perf.data')));
    const report = await api.currentReport();
    assert.ok(report);
    assert.deepEqual(report.evidence, ['clock']);
    assert.ok(report.samples.contended > 0);
    assert.equal(report.lines[0]?.verdict, 'false sharing');
  });

  it('heats the marked lines most', async () => {
    const marked = [...markers(uri, 'contended').values()].flat().sort((a, b) => a - b);
    const top = await hottest(marked.length);
    assert.deepEqual(
      lines(top).sort((a, b) => a - b),
      marked,
    );
    for (const { share, step, text, icon } of top) {
      assert.ok(share > 0.15 && share <= 1, `share ${share}`);
      assert.ok(step >= 4, `step ${step}`);
      assert.equal(icon, `heat-${step}`);
      assert.match(text, /^\d+% of contended samples, 1 thread writes$/);
    }
  });

  it('hovers over a contended line say variable, offset, who and evidence', async () => {
    await vscode.window.showTextDocument(uri);
    for (const [name, [line = 0]] of markers(uri, 'contended')) {
      const text = await hoverTexts(uri, line);
      assert.match(text, new RegExp(`\\*\\*\`${name}\`\\*\\* \\|`));
      assert.match(text, /false sharing/);
      assert.match(text, /evidence: \*\*clock\*\*/);
      assert.match(text, /1 thread writes/);
    }
  });

  it('hovers over the definition of a contended variable', async () => {
    for (const [name, [line = 0]] of markers(uri, 'variable')) {
      const text = await hoverTexts(uri, line, 2);
      assert.match(text, new RegExp(`\\*\\*\`${name}\`: false sharing\\*\\*`));
      assert.match(text, new RegExp(`\\*\\*\`${name}\`\\*\\* \\| &nbsp;&nbsp;0 \\| &nbsp;&nbsp;[\\d,]+\\satomic`));
    }
  });

  it('says nothing on other lines', async () => {
    assert.equal(await hoverTexts(uri, 1), '');
  });

  it('shows the lines in the panel, whose page asks for them', async () => {
    await vscode.commands.executeCommand('cacheline.showPanel');
    const { message } = await eventually('the page has the report', () => api.panelState().shown && api.panelState());
    assert.ok(message.type === 'report');
    assert.equal(message.summary.title, 'reader_writer-contended');
    const objects = message.lines[0]?.objects ?? '';
    for (const name of markers(uri, 'contended').keys()) assert.ok(objects.split(', ').includes(name), `${name} in ${objects}`);
  });

  it('filters what the panel and the gutter show, and says what is wrong with a filter', async () => {
    const heated = lines(await api.heatOf(uri));
    const shown = (): Extract<ToPanel, { type: 'report' }> => {
      const { message } = api.panelState();
      assert.ok(message.type === 'report');
      return message;
    };
    const filter = (text: string): Promise<void> => api.receiveFromPanel({ type: 'filter', version: shown().version, filter: text });
    const all = shown().total;
    await filter('verdict:nonsense');
    assert.deepEqual([shown().filter, shown().total], ['', all], 'the filter before stays');
    await filter('verdict:false');
    assert.equal(shown().filter, 'verdict:false');
    assert.match(shown().words.summary, / false sharing\.$/);
    await filter('object:no_such_variable');
    assert.deepEqual([shown().total, shown().lines], [0, []]);
    assert.match(shown().words.summary, /^The filter selects none of \d+ lines?\.$/);
    assert.deepEqual(await api.heatOf(uri), []);
    await filter('');
    assert.deepEqual([shown().filter, shown().total], ['', all]);
    assert.deepEqual(lines(await api.heatOf(uri)), heated);
  });

  it('opens places of the report from the panel, and no others', async () => {
    const [first] = [...markers(uri, 'contended').values()].flat();
    const file = [...((await api.currentReport())?.lines ?? [])]
      .flatMap(({ accesses }) => accesses)
      .find(({ line }) => line === first)?.file;
    await api.receiveFromPanel({ type: 'open', file: file ?? '', line: first ?? 0 });
    const editor = await eventually('the line is selected', () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.fsPath === uri.fsPath && active.selection.active.line === (first ?? 0) - 1 && active;
    });
    await api.receiveFromPanel({ type: 'open', file: '/etc/passwd', line: 1 });
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, editor.document.uri.fsPath);
    assert.ok(!vscode.workspace.textDocuments.some(({ uri: { fsPath } }) => fsPath === '/etc/passwd'));
  });

  it('switches the gutter to borders', async () => {
    const settings = vscode.workspace.getConfiguration('cacheline');
    await settings.update('gutterStyle', 'border', vscode.ConfigurationTarget.Global);
    try {
      await eventually('no icons', async () => (await api.heatOf(uri)).every(({ icon }) => icon === null));
    } finally {
      await settings.update('gutterStyle', undefined, vscode.ConfigurationTarget.Global);
    }
    await eventually('icons again', async () => (await api.heatOf(uri)).every(({ icon }) => icon !== null));
  });

  describe('with edits', () => {
    let original: string;
    let unedited: number[];

    before(async () => {
      original = readFileSync(uri.fsPath, 'utf8');
      unedited = lines(await api.heatOf(uri));
      assert.ok(unedited.length >= 2);
    });
    after(async () => {
      await closeEditors();
      writeFileSync(uri.fsPath, original);
    });

    const insertAbove = async (document: vscode.TextDocument, text: string): Promise<void> => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(0, 0), text);
      assert.ok(await vscode.workspace.applyEdit(edit));
    };

    it('moves with lines that are inserted above', async () => {
      const { document } = await vscode.window.showTextDocument(uri);
      await insertAbove(document, '// one\n// two\n');
      await eventually('heat moved', async () => lines(await api.heatOf(uri)).join() === unedited.map((line) => line + 2).join());
      for (const { text } of await api.heatOf(uri)) assert.match(text, /\(before your edits\)$/);
      const [line = 0] = [...markers(uri, 'contended').values()].flat();
      assert.match(await hoverTexts(uri, line + 2), /false sharing/);
    });

    it('comes back where edits that were saved left it', async () => {
      const document = await vscode.workspace.openTextDocument(uri);
      assert.ok(await document.save());
      await closeEditors();
      await vscode.window.showTextDocument(uri);
      assert.deepEqual(
        lines(await api.heatOf(uri)),
        unedited.map((line) => line + 2),
      );
      assert.deepEqual(
        lines(await hottest(2)).sort((a, b) => a - b),
        [...markers(uri, 'contended').values()].flat().sort((a, b) => a - b),
      );
    });

    it('follows what another program does to the file', async () => {
      await closeEditors();
      writeFileSync(uri.fsPath, `// by another program\n${original}`);
      await vscode.window.showTextDocument(uri);
      await eventually('heat moved', async () => lines(await api.heatOf(uri)).join() === unedited.map((line) => line + 1).join(), 30);
    });
  });

  describe('afterwards', () => {
    it('opens the recording again', async () => {
      const sum = (await api.currentReport())?.samples.contended;
      await vscode.commands.executeCommand('cacheline.clear');
      assert.equal(await api.currentReport(), undefined);
      assert.equal(await vscode.commands.executeCommand('cacheline.openRecording', recording), true);
      assert.equal((await api.currentReport())?.samples.contended, sum);
      assert.ok((await api.heatOf(uri)).length > 0);
    });

    it('clears', async () => {
      await vscode.commands.executeCommand('cacheline.clear');
      assert.deepEqual(await api.heatOf(uri), []);
      assert.equal(api.panelState().message.type, 'report', 'its panel stays');
      const [line = 0] = [...markers(uri, 'contended').values()].flat();
      assert.equal(await hoverTexts(uri, line), '');
    });
  });
});

describe('profile of other programs', function () {
  this.timeout(120_000);
  let api: CachelineApi;

  before(async () => {
    api = await activate();
  });
  after(() => vscode.commands.executeCommand('cacheline.clear'));

  it('finds nothing contended in the fixed example', async () => {
    assert.ok(await profile({ program: program('reader_writer', 'fixed') }));
    const report = await api.currentReport();
    assert.ok(report && report.samples.attributed > 0);
    assert.deepEqual(
      report.lines.filter(({ verdict }) => verdict === 'false sharing'),
      [],
    );
    assert.ok((await api.heatOf(source('reader_writer/fixed.c'))).every(({ share }) => share < 1));
  });

  it('keeps and shows what was recorded when it is stopped', async () => {
    const running = profile({ program: program('counter_array', 'contended'), args: ['2000000000'] });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await vscode.commands.executeCommand('cacheline.stop');
    assert.ok(await running);
    assert.equal((await api.currentReport())?.recording?.interrupted, true);
    const [line] = markers(source('counter_array/contended.c'), 'contended').get('counters') ?? [];
    assert.ok((await api.heatOf(source('counter_array/contended.c'))).some((heat) => heat.line === line && heat.step === 5));
  });

  it('leaves the shown profile and the disk as they are where the program cannot run', async () => {
    const before = await api.currentReport();
    assert.equal(await profile({ program: '/no/such/program' }), undefined);
    assert.equal(await profile({ program: source('reader_writer/contended.c').fsPath }), undefined);
    assert.equal(await vscode.commands.executeCommand('cacheline.profile', { program: 5 }), undefined);
    assert.equal(await vscode.commands.executeCommand('cacheline.openRecording', '/no/such/recording'), false);
    assert.deepEqual(await api.currentReport(), before);
    assert.ok(!existsSync(path.join(workspaceFolder(), 'program.cacheline')));
    assert.ok(!existsSync(path.join(workspaceFolder(), 'contended.c.cacheline')));
  });

  it('uses the setting for the folder of recordings', async () => {
    const settings = vscode.workspace.getConfiguration('cacheline');
    await settings.update('recordingFolder', 'recordings/of tests', vscode.ConfigurationTarget.Workspace);
    try {
      const recording = await profile({ program: program('reader_writer', 'contended') });
      assert.equal(path.dirname(recording ?? ''), path.join(workspaceFolder(), 'recordings/of tests'));
    } finally {
      await settings.update('recordingFolder', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  it('says what this machine can record', async () => {
    assert.match(String(await vscode.commands.executeCommand('cacheline.checkMachine')), /clock +usable/);
  });
});
