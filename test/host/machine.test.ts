// The page of "Check This Machine": it asks for what it shows, tests collectors, and copies nothing but commands of its report.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { MachineView } from '../../extension/protocol/machine';
import { activate, closeEditors, eventually } from './support';

describe('check this machine', function () {
  this.timeout(120_000);
  let api: CachelineApi;

  const view = (): MachineView => {
    const { message } = api.machineState();
    assert.ok(message);
    return message.view;
  };

  before(async () => {
    api = await activate();
  });
  after(closeEditors);

  it('opens a page with every collector, and returns the same as text', async () => {
    const text = String(await vscode.commands.executeCommand('cacheline.checkMachine'));
    assert.match(text, /clock +usable/);
    await eventually('the page has the report', () => api.machineState().shown);
    assert.deepEqual(
      view().collectors.map(({ name }) => name),
      ['pmu', 'clock', 'watch', 'agent'],
    );
    for (const { name, usable, blockers } of view().collectors) {
      assert.equal(text.includes(`${name} `), true);
      assert.ok(usable || blockers.length > 0, `${name} is not usable, and nothing says why`);
    }
    assert.ok(view().facts.some(({ name, value }) => name === 'kernel' && value !== ''));
    assert.deepEqual(view().selfTest, { state: 'none' });
  });

  it('tests each collector that can be used', async () => {
    const running = api.receiveFromMachine({ type: 'selfTest' });
    assert.deepEqual(view().selfTest, { state: 'running' });
    await running;
    const { selfTest, collectors } = view();
    assert.ok(selfTest.state === 'done', JSON.stringify(selfTest));
    for (const { name } of collectors.filter(({ usable }) => usable)) {
      const result = selfTest.results.find(({ collector }) => collector === name);
      assert.ok(result?.passed, `${name}: ${JSON.stringify(result)}`);
      assert.ok(result.samples > 0 && result.found !== '');
    }
  });

  it('copies no text that is not a command of the report', async () => {
    await vscode.env.clipboard.writeText('untouched');
    await api.receiveFromMachine({ type: 'copy', collector: 'clock', blocker: 99 });
    await api.receiveFromMachine({ type: 'copy', collector: 'pmu', blocker: -1 });
    assert.equal(await vscode.env.clipboard.readText(), 'untouched');
  });

  it('looks again when asked, and closes', async () => {
    await api.receiveFromMachine({ type: 'check' });
    assert.equal(view().collectors.length, 4);
    await closeEditors();
    await eventually('the page is gone', () => !api.machineState().open);
  });
});
