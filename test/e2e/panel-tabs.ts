// The steps with the tabs of the panel: data, functions, threads and time, by mouse and keys, with the numbers of the command line.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Table } from '../../extension/protocol/table';
import { unknownInWords } from '../../extension/session/table/unknown-names';
import type { RecordingSteps } from './recording';

const cacheline = path.resolve(__dirname, '../../bin/cacheline');

/** @param lines the source lines that wait */
export function describePanelTabs({ window, workspace }: RecordingSteps, recorded: string, lines: readonly number[]): void {
  describe('with the tabs of the panel', () => {
    const table = (...args: string[]): Table => {
      const name = readdirSync(workspace).find((entry) => entry === `${recorded}.cacheline`) ?? '';
      const recording = path.join(workspace, name);
      return JSON.parse(execFileSync(cacheline, ['report', recording, '--format', 'json', ...args], { encoding: 'utf8' })) as Table;
    };
    const english = (value: number): string => value.toLocaleString('en-US');

    it('groups samples by data, with the rows of the command line, and sorts them', async () => {
      const panel = await window().webview('.row.line');
      const lineTab = panel.getByRole('tab', { name: 'Lines' });
      assert.equal(await lineTab.getAttribute('aria-selected'), 'true');
      await lineTab.focus();
      await lineTab.press('ArrowRight');
      assert.equal(await panel.getByRole('tab', { name: 'Data' }).getAttribute('aria-selected'), 'true');
      assert.equal(await panel.locator('.row.line').count(), 0);
      await panel.locator('select.group-by').selectOption('object');
      const { rows, total } = table('--by', 'object');
      const shown = panel.locator('.tab-scroll tbody tr');
      await shown.first().waitFor();
      assert.equal(await shown.count(), rows.length);
      assert.match(await panel.locator('.totals').innerText(), new RegExp(`^${english(total.samples)} samples`));
      const names = (): Promise<string[]> => shown.locator('td.name').allInnerTexts();
      assert.deepEqual(
        await names(),
        rows.map(({ key }) => unknownInWords(key.object ?? '')),
      );
      await window().screenshot('6-tab-data');
      await panel.locator('th').filter({ hasText: 'Object' }).first().getByRole('button').click();
      const sorted = await names();
      assert.deepEqual(
        sorted,
        [...sorted].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })),
      );
      await panel.locator('select.group-by').selectOption('allocation');
      await panel.getByRole('alert').filter({ hasText: 'cacheline record --heap' }).waitFor();
    });

    it('unfolds who waits for whom, and opens the lines', async () => {
      const panel = await window().webview('.tab-panel');
      await panel.getByRole('tab', { name: 'Functions' }).click();
      const first = panel.locator('.tab-scroll tbody tr').first();
      await first.waitFor();
      await first.focus();
      await first.press('ArrowRight');
      const inside = panel.locator('tr.level-2');
      await inside.first().waitFor();
      assert.equal(await first.getAttribute('aria-expanded'), 'true');
      await window().screenshot('6-tab-functions');
      const wanted = Number(/:(\d+)/.exec(await inside.first().innerText())?.[1]);
      assert.ok(lines.includes(wanted), `line ${wanted}`);
      await first.press('ArrowDown');
      await inside.first().press('Enter');
      await window().waitForCursorLine(wanted);
    });

    it('draws threads over time, and says how evenly they work', async () => {
      const panel = await window().webview('.tab-panel');
      await panel.getByRole('tab', { name: 'Threads' }).click();
      await panel.locator('.lane').first().waitFor();
      assert.ok((await panel.locator('.lane').count()) >= 2);
      assert.ok((await panel.locator('.lane path.lane-contended').count()) >= 1);
      await panel.getByRole('heading', { name: /^CPUs of (NUMA node 0|an unknown NUMA node)$/ }).waitFor();
      await panel.getByText(/working threads of process \d+ work about equally long|times as long as/).waitFor();
      await window().screenshot('6-tab-threads');
    });

    it('shows the instructions of the selected line, and opens their source lines', async () => {
      const panel = await window().webview('.tab-panel');
      await panel.getByRole('tab', { name: 'Lines' }).click();
      await panel.locator('.row.line').first().locator('.share').click();
      await panel.locator('.line-detail').getByRole('button', { name: 'Instructions' }).click();
      assert.equal(await panel.getByRole('tab', { name: 'Source' }).getAttribute('aria-selected'), 'true');
      const shown = panel.locator('tr.shown');
      await shown.waitFor();
      assert.match(await shown.innerText(), /\d%[^]*\block [^]*messages_(written|read)\s+0x[0-9a-f]+/);
      const above = panel.locator('table.code tr.source').filter({ hasText: '@contended' }).first();
      await above.waitFor();
      const [, wanted] = /:(\d+)/.exec(await above.innerText()) ?? [];
      assert.ok(lines.includes(Number(wanted)), `line ${wanted}`);
      await window().screenshot('6-tab-source');
      await above.getByRole('button').click();
      await window().waitForCursorLine(Number(wanted));
      const other = await panel.locator('select.access option:not(:checked)').first().getAttribute('value');
      const title = await panel.locator('tr.shown').innerText();
      await panel.locator('select.access').selectOption(other);
      await panel.locator('tr.shown').filter({ hasNotText: title }).waitFor();
    });

    it('filters by a window that is drawn over the timeline', async () => {
      const panel = await window().webview('.tab-panel');
      await panel.getByRole('tab', { name: 'Timeline' }).click();
      const parts = panel.locator('.part');
      await parts.first().waitFor();
      const bins = await parts.count();
      const { rows } = table('--by', 'time', '--bins', String(bins));
      assert.equal(rows.length, bins);
      const middle = Math.floor(bins / 2);
      assert.match(
        (await parts.nth(middle).getAttribute('title')) ?? '',
        new RegExp(`: ${english(rows[middle]?.contended ?? -1)} contended`),
      );
      const [from, to] = [await parts.nth(middle).boundingBox(), await parts.nth(middle + 9).boundingBox()];
      assert.ok(from && to);
      const { mouse } = window().page;
      await mouse.move(from.x + from.width / 2, from.y + from.height / 2);
      await mouse.down();
      await mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 5 });
      await mouse.up();
      const time = `time:${(rows[middle]?.key.time ?? '').split('-')[0]}-${(rows[middle + 9]?.key.time ?? '').split('-')[1]}`;
      const chip = panel.getByRole('button', { name: `Remove ${time}` });
      await chip.waitFor();
      assert.equal(await parts.count(), bins, 'the timeline is of all times');
      assert.equal(await panel.locator('.part[aria-selected="true"]').count(), 10);
      await window().screenshot('6-tab-timeline');
      await panel.getByRole('tab', { name: 'Data' }).click();
      await panel.locator('select.group-by').selectOption('object');
      const { total } = table('--by', 'object', '--filter', time);
      await panel
        .locator('.totals')
        .filter({ hasText: `${english(total.samples)} samples` })
        .waitFor();
      await panel.getByRole('tab', { name: 'Timeline' }).click();
      await parts.first().press('Escape');
      await chip.waitFor({ state: 'detached' });
      await panel.getByRole('tab', { name: 'Lines' }).click();
      await panel.locator('.row.line').first().waitFor();
    });
  });
}
