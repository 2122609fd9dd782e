// Running processes: recorded for a while or until stopped, shown like a program that was launched, and left alone.
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import { activate, closeEditors, eventually, markers, program, source, workspaceFolder } from './support';

const FILE = 'counter_array/contended.c';
const FOREVER = '4000000000000';
/** What describes the process takes a tenth of it. */
const SAMPLED_BYTES = 30_000;

describe('attach to a process', function () {
  this.timeout(120_000);
  let api: CachelineApi;
  let child: ChildProcess;

  const attach = (argument: object): Thenable<string | undefined> =>
    vscode.commands.executeCommand<string | undefined>('cacheline.attach', argument);
  const recordings = (): string[] => readdirSync(workspaceFolder()).filter((name) => name.endsWith('.cacheline'));
  /** Does `then` when about a hundred samples are on disk, however long that takes here. */
  const attachUntilSampled = async (argument: object, then: () => unknown): Promise<string | undefined> => {
    const before = recordings();
    const running = attach(argument);
    const isSampled = (name: string): boolean => {
      const file = path.join(workspaceFolder(), name, 'perf.data');
      return !before.includes(name) && existsSync(file) && statSync(file).size > SAMPLED_BYTES;
    };
    await eventually('samples are on disk', () => recordings().some(isSampled), 60);
    await then();
    return running;
  };
  const runs = (): boolean => child.exitCode === null && child.signalCode === null;
  const hottestLine = async (): Promise<number | undefined> =>
    [...(await api.heatOf(source(FILE)))].sort((a, b) => b.share - a.share)[0]?.line;
  const markedLine = (): number | undefined => markers(source(FILE), 'contended').get('counters')?.[0];

  before(async () => {
    api = await activate();
  });
  beforeEach(() => {
    child = spawn(program('counter_array', 'contended'), [FOREVER], { stdio: 'ignore' });
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await vscode.commands.executeCommand('cacheline.clear');
    await closeEditors();
  });

  it('records it for the time asked for, shows what its threads contend for, and lets it run', async () => {
    const recording = await attach({ pid: child.pid, duration: 3 });
    assert.equal(path.dirname(recording ?? ''), workspaceFolder());
    assert.match(path.basename(recording ?? ''), /^counter_array-contended(-\d+)?\.cacheline$/);
    assert.ok(runs(), 'the process has ended');
    assert.equal((await api.currentReport())?.lines[0]?.verdict, 'false sharing');
    assert.equal(await hottestLine(), markedLine());
    const { message } = api.panelState();
    assert.ok(message.type === 'report');
    assert.equal(message.summary.title, 'counter_array-contended');
  });

  it('records it until it is stopped', async () => {
    assert.ok(await attachUntilSampled({ pid: String(child.pid) }, () => vscode.commands.executeCommand('cacheline.stop')));
    assert.ok(runs(), 'the process has ended');
    assert.equal(await hottestLine(), markedLine());
  });

  it('samples nothing while it is paused', async () => {
    const running = attach({ pid: child.pid, paused: true });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await vscode.commands.executeCommand('cacheline.stop');
    assert.ok(await running);
    assert.equal((await api.currentReport())?.samples.total, 0);
  });

  it('samples again when it is resumed', async () => {
    const argument = { pid: child.pid, paused: true };
    const resume = setTimeout(() => void vscode.commands.executeCommand('cacheline.resume'), 2000);
    assert.ok(await attachUntilSampled(argument, () => vscode.commands.executeCommand('cacheline.stop')));
    clearTimeout(resume);
    assert.equal(await hottestLine(), markedLine());
  });

  it('confirms by watchpoints who writes, where that is asked for', async function () {
    this.retries(5); // A hypervisor can lose a trap's reason, which ends the program (docs/design/recording.md).
    if (!/watch +usable/.test(String(await vscode.commands.executeCommand('cacheline.checkMachine')))) this.skip(); // no debug registers here
    assert.ok(await attach({ pid: child.pid, confirm: true, duration: 5 }));
    assert.deepEqual((await api.currentReport())?.evidence, ['clock', 'watch']);
    assert.equal((await api.currentReport())?.lines[0]?.verdict, 'false sharing');
    assert.ok(runs(), 'the process has ended');
  });

  it('watches what it is told to', async function () {
    this.retries(5); // A hypervisor can lose a trap's reason, which ends the program (docs/design/recording.md).
    if (!/watch +usable/.test(String(await vscode.commands.executeCommand('cacheline.checkMachine')))) this.skip(); // no debug registers here
    assert.ok(await attach({ pid: child.pid, watch: ['counters:8'], duration: 3 }));
    assert.deepEqual((await api.currentReport())?.evidence, ['clock', 'watch']);
    assert.equal(await attach({ pid: child.pid, watch: [5], duration: 3 }), undefined);
  });

  it('shows what was recorded of a process that ends', async () => {
    assert.ok(await attachUntilSampled({ pid: child.pid }, () => child.kill('SIGKILL')));
    assert.equal(await hottestLine(), markedLine());
  });

  it('records nothing where there is no such process, and leaves disk and profile as they were', async () => {
    const { pid: gone } = spawnSync('true');
    for (const argument of [{ pid: gone }, { pid: 'server' }, { pid: 0 }, { pid: child.pid, duration: -1 }, {}])
      assert.equal(await attach(argument), undefined, JSON.stringify(argument));
    assert.equal(await api.currentReport(), undefined);
    assert.ok(!existsSync(path.join(workspaceFolder(), `process-${gone}.cacheline`)));
  });
});
