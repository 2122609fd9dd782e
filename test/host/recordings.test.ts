// The view "Recordings" and what belongs around it: what it lists, its menu, terminals, and workspaces that are not trusted.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { ListedRecording } from '../../extension/session/record/recording-list';
import { activate, closeEditors, eventually, profile, program, synthesize, workspaceFolder } from './support';

/** Replaces a function of the editor that would ask a person. */
async function answering(
  name: 'showInputBox' | 'showWarningMessage' | 'showErrorMessage',
  answer: (...args: never[]) => unknown,
  run: () => Thenable<unknown>,
): Promise<void> {
  const own = Object.getOwnPropertyDescriptor(vscode.window, name);
  assert.ok(own);
  Object.defineProperty(vscode.window, name, { configurable: true, value: answer });
  try {
    await run();
  } finally {
    Object.defineProperty(vscode.window, name, own);
  }
}

describe('view of recordings', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let folder: string;
  let outside: string;
  let recorded: string;
  const at = (...names: string[]): string => path.join(folder, ...names);

  const rows = async (): Promise<ListedRecording[]> => (await api.recordings().getChildren()) ?? [];
  const rowOf = (wanted: string): Promise<ListedRecording> =>
    eventually(`${wanted} is listed`, async () => (await rows()).find((row) => row.path === wanted));
  const gone = (wanted: string): Promise<true> =>
    eventually(`${wanted} is not listed`, async () => !(await rows()).some((row) => row.path === wanted) || undefined);
  const isShown = (wanted: string): boolean =>
    api.recordingTabs().some(({ uri, shown, message }) => uri.fsPath === wanted && shown && message.type === 'report');
  const itemOf = async (row: ListedRecording): Promise<vscode.TreeItem> => api.recordings().getTreeItem(row);
  /** A copy of a recording, which says something else of itself. */
  const make = (parent: string, name: string, meta: object = {}): string => {
    const made = path.join(parent, name);
    cpSync(recorded, made, { recursive: true });
    const file = path.join(made, 'meta.json');
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...meta }));
    return made;
  };

  before(async () => {
    api = await activate();
    folder = mkdtempSync(path.join(workspaceFolder(), 'listed-'));
    outside = mkdtempSync(path.join(tmpdir(), 'cacheline-outside-'));
    synthesize(at('perf.data'), ['--samples', '2000', '--lines', '10']);
  });
  after(async () => {
    await vscode.workspace.getConfiguration('cacheline').update('recordingFolder', undefined, vscode.ConfigurationTarget.Global);
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
    for (const made of [folder, outside]) rmSync(made, { recursive: true, force: true });
  });

  it('lists a program that is profiled, the newest first, with when, collector and size', async () => {
    await rowOf(at('perf.data'));
    recorded = (await profile({ program: program('reader_writer', 'contended') })) ?? '';
    const row = await rowOf(recorded);
    assert.equal((await rows())[0]?.path, recorded);
    const item = await itemOf(row);
    assert.match(item.label as string, /^reader_writer-contended/);
    assert.match(String(item.description), /^\d\d:\d\d · (clock|pmu|agent) · [\d.]+ [kM]B$/);
    assert.equal(item.contextValue, 'recording');
    assert.ok(item.iconPath instanceof vscode.ThemeIcon && item.iconPath.id === 'eye', 'it is the one that is shown');
  });

  it('follows what comes and goes in the workspace', async () => {
    const made = make(folder, 'comes.cacheline', { command: ['/bin/x'], startedAt: '2026-01-02T03:04:05Z', durationSeconds: 0 });
    assert.equal((await itemOf(await rowOf(made))).contextValue, 'unfinished');
    rmSync(made, { recursive: true });
    await gone(made);
  });

  it('shows names as text', async () => {
    const made = make(folder, '$(zap) [x](command:y).cacheline', { command: ['<b>\u202e'], collector: '$(flame)' });
    const item = await itemOf(await rowOf(made));
    assert.equal(item.label, '$(zap) [x](command:y)');
    assert.equal(typeof item.tooltip, 'string', 'no Markdown');
    assert.match(String(item.description), /<b>\\u\{202e\} · \$\(flame\)/);
    rmSync(made, { recursive: true });
  });

  it('lists the folder of the setting, and what was opened from elsewhere', async () => {
    const made = make(outside, 'there.cacheline');
    const settings = vscode.workspace.getConfiguration('cacheline');
    await settings.update('recordingFolder', outside, vscode.ConfigurationTarget.Global);
    await rowOf(made);
    await settings.update('recordingFolder', undefined, vscode.ConfigurationTarget.Global);
    await gone(made);
    await vscode.commands.executeCommand('cacheline.openListed', { path: made });
    await eventually('its tab', () => isShown(made));
    await rowOf(made);
  });

  it('renames, and takes the open tab along', async () => {
    const made = make(folder, 'before.cacheline');
    const row = await rowOf(made);
    await vscode.commands.executeCommand('cacheline.openListed', row);
    await eventually('its tab', () => isShown(made));
    const refused: unknown[] = [];
    const answer = async (options: vscode.InputBoxOptions): Promise<string> => {
      assert.equal(options.value, 'before');
      for (const wrong of ['', '../up', 'taken']) refused.push(await options.validateInput?.(wrong));
      assert.equal(await options.validateInput?.('after 2'), undefined);
      return 'after 2';
    };
    mkdirSync(at('taken.cacheline'));
    await answering('showInputBox', answer, () => vscode.commands.executeCommand('cacheline.renameRecording', row));
    assert.ok(refused.every((reason) => typeof reason === 'string' && reason !== ''));
    await rowOf(at('after 2.cacheline'));
    await gone(made);
    await eventually('the tab', () => isShown(at('after 2.cacheline')));
    await eventually('the old tab has gone', () => !api.recordingTabs().some(({ uri }) => uri.fsPath === made));
    await closeEditors();
  });

  it('deletes for good only after a question, which says what else goes', async () => {
    const made = make(folder, 'old.cacheline');
    writeFileSync(path.join(made, 'notes.txt'), 'mine');
    const row = await rowOf(made);
    const asked: string[] = [];
    const ask = (choice: string | undefined) => (text: string, options: vscode.MessageOptions, offered: string) => {
      assert.ok(options.modal);
      asked.push(`${text} ${options.detail ?? ''} ${offered}`);
      return Promise.resolve(choice);
    };
    const remove = (): Thenable<unknown> => vscode.commands.executeCommand('cacheline.deleteRecording', row);
    await answering('showWarningMessage', ask(undefined), remove);
    assert.ok(existsSync(path.join(made, 'notes.txt')));
    assert.match(
      asked[0] ?? '',
      /^Permanently delete the recording "old"\? .*old\.cacheline\n.*not part of the recording: notes\.txt\.\n.*undone\. Delete$/s,
    );
    await answering('showWarningMessage', ask('Delete'), remove);
    assert.equal(existsSync(made), false);
    await gone(made);
  });

  it('begins and records nothing in a workspace that is not trusted, but lists and opens', async () => {
    const own = Object.getOwnPropertyDescriptor(vscode.workspace, 'isTrusted');
    assert.ok(own);
    Object.defineProperty(vscode.workspace, 'isTrusted', { configurable: true, value: false });
    const ran = at('ran');
    const said: string[] = [];
    const answer = (text: string): Promise<undefined> => {
      said.push(text);
      return Promise.resolve(undefined);
    };
    try {
      await answering('showErrorMessage', answer, () => profile({ program: '/usr/bin/touch', args: [ran] }));
      await answering('showErrorMessage', answer, () => vscode.commands.executeCommand('cacheline.attach', { pid: process.pid }));
      assert.equal(existsSync(ran), false);
      assert.equal(said.length, 2);
      for (const text of said) assert.match(text, /^Recording is off in an untrusted workspace.*Manage Workspace Trust/);
      assert.ok(await vscode.commands.executeCommand('cacheline.openRecording', at('perf.data')));
      await rowOf(at('perf.data'));
      await vscode.commands.executeCommand('cacheline.checkMachine');
      await api.receiveFromMachine({ type: 'selfTest' });
      const test = api.machineState().message?.view.selfTest;
      assert.ok(test?.state === 'failed' && said.includes(test.message), JSON.stringify(test));
    } finally {
      Object.defineProperty(vscode.workspace, 'isTrusted', own);
    }
  });

  it('restarts the engine by its command, and the shown profile answers again', async () => {
    const before = api.enginePid();
    assert.ok(before !== undefined);
    const report = await api.currentReport();
    await vscode.commands.executeCommand('cacheline.restartEngine');
    assert.ok(api.enginePid() !== undefined && api.enginePid() !== before);
    assert.deepEqual(await api.currentReport(), report);
  });

  describe('terminals', () => {
    const settings = vscode.workspace.getConfiguration('cacheline');
    after(() => settings.update('terminalPath', undefined, vscode.ConfigurationTarget.Global));
    const variables = (): Record<string, string> =>
      Object.fromEntries([...api.terminalVariables()].map(([name, { value }]) => [name, value]));

    it('have cacheline on their PATH, which runs without a Node there', () => {
      const { PATH = '', ...others } = variables();
      const shell = (command: string): string =>
        execFileSync('/bin/sh', ['-c', command], { env: { ...others, PATH: `/nowhere${PATH}` }, encoding: 'utf8' }).trim();
      const found = shell('command -v cacheline');
      assert.match(found, /\/bin\/terminal\/cacheline$/);
      assert.match(execFileSync(found, ['--version'], { env: { ...others, PATH: '/usr/bin:/bin' }, encoding: 'utf8' }), /^cacheline \d/);
      const env = { ...others, PATH: '/usr/bin:/bin' };
      const seen = execFileSync(found, ['record', '-o', path.join(outside, 'env.cacheline'), '--', 'env'], { env, encoding: 'utf8' });
      assert.match(seen, /^CACHELINE_NODE=/m);
      assert.doesNotMatch(seen, /ELECTRON_RUN_AS_NODE/, 'programs that are recorded are not told to be Node');
      const { description } = api.terminalVariables();
      assert.match(typeof description === 'string' ? description : '', /cacheline\.terminalPath/);
    });

    it('do not where the setting is off', async () => {
      await settings.update('terminalPath', false, vscode.ConfigurationTarget.Global);
      await eventually('nothing is changed', () => Object.keys(variables()).length === 0);
      await settings.update('terminalPath', undefined, vscode.ConfigurationTarget.Global);
      await eventually('it is there again', () => 'PATH' in variables());
    });
  });
});
