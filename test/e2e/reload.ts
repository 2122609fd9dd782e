// The steps with a window that is loaded again, also while it records, and with two windows on one recording.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { Window } from './window';

const root = path.resolve(__dirname, '../..');
const FIRST = 'again-one.perf.data';
const SECOND = 'again-two.perf.data';
const EXAMPLE = 'counter_array-contended';
/** Enough to run until it is ended. Also what tells it from any other process. */
const ROUNDS = '4123456789013';

export interface ReloadSteps {
  /** These are known when the steps run. */
  window: () => Window;
  newPage: () => Promise<Page>;
  url: () => string;
  workspace: string;
  screenshots: string;
}

export function describeReload({ window, newPage, url, workspace, screenshots }: ReloadSteps): void {
  describe('when the window is loaded again', () => {
    before(async () => {
      const synth = path.join(root, 'build/release/native/tests/cacheline_synth');
      const binary = ['--binary', path.join(workspace, 'build/reader_writer-contended'), '--codes', '24'];
      for (const [name, samples, lines] of [
        [FIRST, '20000', '30'],
        [SECOND, '24000', '44'],
      ] as const)
        execFileSync(synth, ['intel', '-o', path.join(workspace, name), ...binary, '--samples', samples, '--lines', lines]);
      await window().runCommand('Notifications: Clear All Notifications');
    });

    it('each panel comes back with its recording, filter and tab', async () => {
      await window().runCommand('View: Close All Editors');
      const before = new Map<string, string[]>();
      for (const [name, filter, tab] of [
        [FIRST, 'verdict:true', 'Functions'],
        [SECOND, 'cpu:0-1', 'Data'],
      ] as const) {
        // Each opens beside the one before: both of them start at the same moment when they come back.
        const panel = await window().openRecording(name);
        const box = panel.getByRole('combobox', { name: 'Filter' });
        await box.fill(filter);
        await box.press('Enter');
        await panel.getByRole('button', { name: `Remove ${filter}` }).waitFor();
        await panel.getByRole('tab', { name: tab, exact: true }).click();
        before.set(name, await shownRows(panel));
      }
      await window().reload();
      for (const [name, filter, tab] of [
        [SECOND, 'cpu:0-1', 'Data'],
        [FIRST, 'verdict:true', 'Functions'],
      ] as const) {
        const panel = await window().panelOf(name);
        await panel.getByRole('button', { name: `Remove ${filter}` }).waitFor();
        assert.equal(await panel.getByRole('tab', { selected: true }).innerText(), tab);
        assert.deepEqual(await shownRows(panel), before.get(name), name);
        await window().screenshot(`17-again-${tab.toLowerCase()}`);
      }
    });

    it('a recording ends with the window: it is kept and can be opened, and its program is asked to end', async () => {
      const { page } = window();
      await window().runCommand('View: Close All Editors');
      const known = new Set(readdirSync(workspace));
      await window().startProfile(EXAMPLE, ROUNDS);
      await page
        .locator('.statusbar-item')
        .filter({ hasText: /[1-9]\.\d s, [\d,]{3,} samples/ })
        .waitFor({ timeout: 30_000 });
      assert.equal(running(), 1);
      await window().reload();
      for (const deadline = Date.now() + 20_000; running() > 0 && Date.now() < deadline;) await page.waitForTimeout(100);
      assert.equal(running(), 0, 'the program still runs');
      const [made = '', ...others] = readdirSync(workspace).filter((name) => !known.has(name));
      assert.deepEqual(others, []);
      const panel = await window().openRecording(made);
      assert.match(await panel.locator('.row.line').first().innerText(), /counters[^]*false sharing/);
      assert.doesNotMatch(await panel.locator('header').innerText(), /cut|incomplete|damaged/);
      await window().screenshot('17-again-recorded');
    });

    it('two windows show one recording, each by its own filter, also when the other one is loaded again', async () => {
      const other = new Window(await newPage(), screenshots);
      try {
        await other.open(url());
        const there = await other.openRecording(FIRST);
        const here = await window().openRecording(FIRST);
        const addresses = (panel: Frame): Promise<string[]> => panel.locator('.row.line .address').allInnerTexts();
        for (const panel of [here, there]) await panel.getByRole('tab', { name: 'Lines', exact: true }).click();
        await here.locator('.row.line').first().waitFor();
        const all = await addresses(here);
        assert.deepEqual(await addresses(there), all);
        const box = there.getByRole('combobox', { name: 'Filter' });
        await box.fill(`line:${all[1]}`);
        await box.press('Enter');
        await there.getByRole('button', { name: `Remove line:${all[1]}` }).waitFor();
        assert.deepEqual(await addresses(there), [all[1]]);
        await window().reload();
        await there.getByRole('tab', { name: 'Data', exact: true }).click();
        await shownRows(there);
        const again = await window().panelOf(FIRST);
        assert.deepEqual(await addresses(again), all);
        assert.equal(await again.locator('.chips').count(), 0);
      } finally {
        await other.page.close();
      }
    });
  });
}

/** The rows of the tab that is shown, once they are there. */
async function shownRows(panel: Frame): Promise<string[]> {
  const rows = panel.locator('.tab-scroll tbody tr');
  await rows.first().waitFor();
  return rows.allInnerTexts();
}

/** Processes of the program. */
function running(): number {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => commandOf(id).endsWith(`\0${ROUNDS}\0`)).length;
}

function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''; // it ended meanwhile
    throw error;
  }
}
