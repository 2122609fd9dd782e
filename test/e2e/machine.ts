// The steps without a launch: a process that runs is chosen by its command line, recorded until the status bar is clicked, and goes on;
// and the page that says what this machine can record.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import type { MachineView } from '../../extension/protocol/machine';
import type { Window } from './window';

const EXAMPLE = 'counter_array-contended';
/** Also what tells it from any other process. */
const ROUNDS = '4123456789012';

export interface MachineSteps {
  /** Known when the steps run. */
  window: () => Window;
  workspace: string;
}

export function describeMachine({ window, workspace }: MachineSteps): void {
  describe('with a process that runs', () => {
    let child: ChildProcess;

    before(async () => {
      await window().runCommand('View: Close All Editors');
      await window().runCommand('Notifications: Clear All Notifications');
      child = spawn(`./build/${EXAMPLE}`, [ROUNDS], { cwd: workspace, stdio: 'ignore' });
    });
    after(() => child.kill('SIGKILL'));

    it('attaches to it, and stops by the status bar', async () => {
      const { page } = window();
      await window().runCommand('Cacheline: Attach to Process');
      await window().fillQuickInput(ROUNDS);
      const row = window().quickItem(EXAMPLE);
      await row.waitFor();
      assert.match(await row.innerText(), new RegExp(`${EXAMPLE}[^]*${child.pid} · \\S+ · 5 threads`));
      await window().screenshot('13-choose-process');
      await page.keyboard.press('Enter');
      const status = page.locator('.statusbar-item').filter({ hasText: /\d s, [\d,]+ samples/ });
      await status.filter({ hasText: /[1-9]\.\d s, [\d,]{3,} samples/ }).waitFor({ timeout: 30_000 });
      await window().screenshot('13-attached');
      await status.click();
      await page
        .locator('.notifications-toasts')
        .getByText(new RegExp(`${EXAMPLE}: .*false sharing`))
        .waitFor({ timeout: 60_000 });
      const panel = await window().webview('.row.line');
      assert.match(await panel.locator('.row.line').first().innerText(), /counters[^]*false sharing/);
      assert.match(await panel.locator('header').innerText(), /Clock samples, [\d,]+ in/);
      await window().screenshot('13-attached-panel');
      assert.ok(child.exitCode === null && child.signalCode === null, 'the process was ended');
    });
  });

  describe('the page of this machine', () => {
    it('says what can be recorded, and tests it', async () => {
      await window().runCommand('View: Close All Editors');
      await window().runCommand('Notifications: Clear All Notifications');
      await window().runCommand('Cacheline: Check This Machine');
      const page = await window().webview('table.collectors');
      const clock = page.locator('tr.collector').filter({ has: page.locator('th', { hasText: /^clock/ }) });
      assert.match(await clock.innerText(), /usable/);
      await window().screenshot('14-machine');
      await page.getByRole('button', { name: 'Run Self-Test' }).click();
      await clock.getByText('passed').waitFor({ timeout: 60_000 });
      assert.match(await clock.innerText(), /false sharing/);
      await window().screenshot('14-machine-tested');
    });

    it('shows the command that lifts a blocker, with a button to copy it', async () => {
      const page = await window().webview('table.collectors');
      const blocker = { what: 'kernel.perf_event_paranoid', value: '4', fix: 'Allow it: `sudo sysctl kernel.perf_event_paranoid=2`' };
      const view: MachineView = {
        collectors: [
          {
            ...{ name: 'clock', meaning: '<b>text</b>', usable: false },
            blockers: [{ ...blocker, command: 'sudo sysctl kernel.perf_event_paranoid=2' }],
            note: '',
          },
        ],
        ...{ facts: [], selfTest: { state: 'failed', message: 'It ended.', nextStep: 'Try again.' } },
      };
      await page.evaluate((sent) => globalThis.postMessage({ type: 'machine', view: sent }), view);
      await page.getByRole('button', { name: 'Copy sudo sysctl kernel.perf_event_paranoid=2' }).waitFor();
      assert.match(
        await page.locator('main').innerText(),
        /No collector works here[^]*It ended\. Try again\.[^]*<b>text<\/b>[^]*paranoid: 4/,
      );
      await window().screenshot('14-machine-blocked');
    });
  });
}
