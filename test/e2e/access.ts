// Whether everyone can use our pages: axe-core finds no violation in them, in the editor's four kinds of themes.
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Frame } from 'playwright-core';
import { AFTER, BEFORE } from './compare';
import type { Window } from './window';

/** By their names in the editor's list, with what a page is told of them. */
export const THEMES = [
  { theme: 'Dark Modern', kind: 'vscode-dark' },
  { theme: 'Light Modern', kind: 'vscode-light' },
  { theme: 'Dark High Contrast', kind: 'vscode-high-contrast' },
  { theme: 'Light High Contrast', kind: 'vscode-high-contrast-light' },
] as const;

/** @param window known when the steps run; the recordings of the steps before are in its workspace, and the last one is shown */
export function describeAccess(window: () => Window): void {
  describe('for everyone', () => {
    beforeEach(async () => {
      await window().runCommand('View: Close All Editors');
      await window().runCommand('Notifications: Clear All Notifications');
    });

    it('the panel: its answer, a line with its accesses, what is wrong with a filter, and its completion', async () => {
      await window().runCommand('Cacheline: Show Contended Lines');
      const panel = await window().webview('.row.line');
      await panel.locator('.row.line').first().click();
      await panel.locator('.row.access').first().waitFor();
      const box = panel.getByRole('combobox', { name: 'Filter' });
      await box.fill('verdict:wrong');
      await box.press('Enter');
      await panel.getByRole('alert').waitFor();
      await findNothing(panel, async () => {
        await box.fill('ver');
        await panel.getByRole('option', { name: 'verdict:' }).waitFor();
      });
    });

    it('the comparison', async () => {
      await window().runCommand('Cacheline: Compare Recordings');
      for (const name of [BEFORE, AFTER]) {
        await window().fillQuickInput(name);
        await window().quickItem(name).waitFor();
        await window().page.keyboard.press('Enter');
      }
      await findNothing(await window().webview('tr.change'));
    });

    it('the page of this machine', async () => {
      await window().runCommand('Cacheline: Check This Machine');
      await findNothing(await window().webview('table.collectors'));
    });

    /** Fails with each violation, its theme and the elements that have it. `prepare` runs in each theme. */
    async function findNothing(page: Frame, prepare?: () => Promise<void>): Promise<void> {
      await page.evaluate(axe.source);
      const found: string[] = [];
      for (const { theme, kind } of THEMES) {
        await window().chooseTheme(theme);
        await page.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
        await prepare?.();
        const { violations, passes } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
        await window().screenshot(`15-access-${(await page.title()).replaceAll(/\W+/g, '-')}-${kind}`);
        assert.ok(
          passes.some(({ id }) => id === 'color-contrast'),
          `${theme}: contrasts were not judged`,
        );
        for (const { id, help, nodes } of violations)
          found.push(...nodes.map(({ html, failureSummary }) => `${theme}: ${id}: ${help}\n  ${html}\n  ${failureSummary ?? ''}`));
      }
      assert.equal(found.length, 0, found.join('\n'));
    }
  });
}
