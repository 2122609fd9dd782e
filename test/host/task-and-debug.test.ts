// Profiles that are started as tasks and by debug configurations.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { activate, closeEditors, eventually, program, workspaceFolder } from './support';

const TYPE = 'cacheline';
const ENTRY = { name: 'the counters', program: '${workspaceFolder}/build/counter_array-contended', args: ['20000000'] };
/** A task with the program and arguments of an entry would take the entry's place. */
const TASK_ARGS = ['20000001'];

/** Starts a task and waits for its end. */
async function finished(task: vscode.Task): Promise<number | undefined> {
  const ended = new Promise<number | undefined>((resolve) => {
    const subscription = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
      if (execution.task.name !== task.name) return;
      subscription.dispose();
      resolve(exitCode);
    });
  });
  await vscode.tasks.executeTask(task);
  return ended;
}

async function taskNamed(name: string): Promise<vscode.Task> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const found = (await vscode.tasks.fetchTasks({ type: TYPE })).find((task) => task.name === name);
    if (found) return found;
    assert.ok(Date.now() < deadline, `there is no task ${name}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describe('profiles from tasks and debug configurations', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  const folder = vscode.workspace.workspaceFolders?.[0];
  const settings = path.join(workspaceFolder(), '.vscode');
  const tasksFile = path.join(settings, 'tasks.json');
  const marker = path.join(workspaceFolder(), 'was built');
  const title = (): string | undefined => {
    const { message } = api.panelState();
    return message.type === 'report' ? message.summary.title : undefined;
  };

  /** Its rows are shown first, and then the gutter follows it. */
  const shown = (of: string): Promise<boolean> =>
    eventually(`the profile of ${of} is shown`, async () => title() === of && (await api.currentReport()) !== undefined, 60);

  before(async () => {
    api = await activate();
    mkdirSync(settings, { recursive: true });
    const tasks = [
      { label: 'count', type: TYPE, program: ENTRY.program, args: TASK_ARGS },
      { label: 'fails', type: TYPE, program: '/bin/sh', args: ['-c', 'exit 3'] },
      { label: 'no program', type: TYPE, program: 'no/such/program' },
      { label: 'endless', type: TYPE, program: '/bin/sh', args: ['-c', 'while :; do :; done'], duration: 1 },
      { label: 'build', type: TYPE, program: '/usr/bin/touch', args: [marker] },
    ];
    writeFileSync(tasksFile, JSON.stringify({ version: '2.0.0', tasks }));
    await vscode.workspace.getConfiguration('cacheline').update('launch', [ENTRY], vscode.ConfigurationTarget.Global);
  });
  afterEach(async () => {
    await closeEditors(); // While they close, another page may become the active one.
    await vscode.commands.executeCommand('cacheline.clear');
  });
  after(async () => {
    await vscode.workspace.getConfiguration('cacheline').update('launch', undefined, vscode.ConfigurationTarget.Global);
    rmSync(tasksFile);
    rmSync(marker, { force: true });
  });

  it('a task of tasks.json profiles its program and ends with its status', async () => {
    assert.equal(await finished(await taskNamed('count')), 0);
    assert.equal(title(), 'counter_array-contended');
    assert.equal((await api.currentReport())?.lines[0]?.verdict, 'false sharing');
    assert.equal(await finished(await taskNamed('fails')), 3);
  });

  it('a task ends with a status of its own where nothing ran, and with the duration', async () => {
    assert.equal(await finished(await taskNamed('no program')), 2);
    assert.equal(await api.currentReport(), undefined);
    assert.equal(await finished(await taskNamed('endless')), 128 + 15);
    assert.equal((await api.currentReport())?.recording?.interrupted, true);
  });

  it('launch entries are tasks', async () => {
    assert.equal(await finished(await taskNamed(ENTRY.name)), 0);
    assert.equal(title(), 'counter_array-contended');
  });

  it('ending a task ends its recording, which is kept', async () => {
    const task = await taskNamed('count');
    const execution = await vscode.tasks.executeTask(
      new vscode.Task({ ...task.definition, args: ['4000000000000'] }, folder ?? vscode.TaskScope.Workspace, 'long', TYPE, task.execution),
    );
    await new Promise((resolve) => setTimeout(resolve, 4000));
    execution.terminate();
    await shown('counter_array-contended');
    assert.equal((await api.currentReport())?.recording?.interrupted, true);
  });

  it('a debug configuration profiles, after its preLaunchTask and with its variables', async () => {
    const configuration = {
      ...{ type: TYPE, request: 'launch', name: 'x', preLaunchTask: 'build' },
      ...{ program: '${workspaceFolder}/build/reader_writer-contended', args: ['${workspaceFolderBasename}'] },
    };
    assert.equal(await vscode.debug.startDebugging(folder, configuration), false);
    // The task before it shows a profile, too.
    const command = async (): Promise<string[]> => (await api.currentReport())?.recording?.command ?? [];
    await eventually('the profile is shown', async () => (await command())[0] === program('reader_writer', 'contended'), 60);
    assert.deepEqual(await command(), [program('reader_writer', 'contended'), path.basename(workspaceFolder())]);
    assert.ok(existsSync(marker));
    assert.equal(vscode.debug.activeDebugSession, undefined);
  });

  it('a debug configuration attaches', async () => {
    const child = spawn(program('counter_array', 'contended'), ['4000000000000'], { stdio: 'ignore' });
    try {
      const configuration = { type: TYPE, request: 'attach', name: 'y', pid: String(child.pid), duration: 2 };
      assert.equal(await vscode.debug.startDebugging(folder, configuration), false);
      await shown('counter_array-contended');
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('a debug configuration that cannot be used changes nothing', async () => {
    for (const wrong of [
      { request: 'launch', program: 5 },
      { request: 'attach', pid: 'x' },
    ])
      assert.equal(await vscode.debug.startDebugging(folder, { type: TYPE, name: 'z', ...wrong }), false);
    assert.equal(await api.currentReport(), undefined);
  });
});
