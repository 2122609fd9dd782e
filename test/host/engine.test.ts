// The engine's process is killed: the editor and the shown profile stay, and the next profile works.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { activate, eventually, profile, program, source } from './support';

describe('engine killed by SIGKILL', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  const file = source('reader_writer/contended.c');

  before(async () => {
    api = await activate();
    assert.ok(await profile({ program: program('reader_writer', 'contended') }));
  });
  after(() => vscode.commands.executeCommand('cacheline.clear'));

  /** Whether its threads ran at once is another matter: engines start meanwhile. */
  async function isWhole(): Promise<void> {
    const samples = (await api.currentReport())?.samples;
    assert.ok(samples && samples.attributed > 0 && samples.lost === 0, JSON.stringify(samples));
  }

  it('while idle: is told, keeps the profile, restarts', async () => {
    const { count } = api.engineCrashes();
    const pid = api.enginePid();
    const heat = await api.heatOf(file);
    assert.ok(pid !== undefined && heat.length > 0);
    process.kill(pid, 'SIGKILL');
    await eventually('the crash is told', () => api.engineCrashes().count === count + 1);
    assert.match(api.engineCrashes().message ?? '', /engine ended unexpectedly \(SIGKILL/);
    assert.deepEqual(await api.heatOf(file), heat);
    await api.restartEngine();
    assert.ok(api.enginePid() !== undefined && api.enginePid() !== pid);
  });

  it('while recording: the command ends, the shown profile stays, the next profile works', async () => {
    const { count } = api.engineCrashes();
    const shown = await api.currentReport();
    const running = profile({ program: program('reader_writer', 'contended'), args: ['400000000'] });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const pid = api.recorderPid();
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGKILL');
    assert.equal(await running, undefined);
    assert.equal(api.engineCrashes().count, count + 1);
    assert.deepEqual(await api.currentReport(), shown);
    assert.ok(await profile({ program: program('reader_writer', 'contended') }));
    await isWhole();
  });

  it('while it analyzes and another program is recorded: the recording loses nothing', async () => {
    const { count } = api.engineCrashes();
    const recorder = api.recorderPid();
    const running = profile({ program: program('reader_writer', 'contended') });
    const pid = api.enginePid();
    assert.ok(pid !== undefined && pid !== recorder);
    process.kill(pid, 'SIGKILL');
    assert.ok(await running);
    assert.equal(api.engineCrashes().count, count + 1);
    assert.equal(api.recorderPid(), recorder);
    await isWhole();
  });
});
