// Whether everyone can use our pages: axe-core finds no violation in them, in the editor's four kinds of themes and at a zoom of 200%, and
// keys reach all that a mouse reaches.
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
      await box.press('Escape');
      assert.equal(await panel.getByRole('listbox').count(), 0, 'Escape closes the completion');
      await box.press('Escape');
      assert.equal(await box.inputValue(), '', 'and then takes back what was typed');
      const row = panel.locator('.row.line').first();
      const lines = await panel.locator('.row.line').count();
      assert.deepEqual([await row.getAttribute('aria-posinset'), await row.getAttribute('aria-setsize')], ['1', String(lines)]);
      const [inside, all] = await Promise.all(
        ['posinset', 'setsize'].map((name) => panel.locator('.row.access').last().getAttribute(`aria-${name}`)),
      );
      assert.equal(inside, all, 'the last access is the last row below its line');
      await reachAll(panel);
    });

    it('the comparison', async () => {
      await window().runCommand('Cacheline: Compare Recordings');
      for (const name of [BEFORE, AFTER]) {
        await window().fillQuickInput(name);
        await window().quickItem(name).waitFor();
        await window().page.keyboard.press('Enter');
      }
      const page = await window().webview('tr.change');
      await findNothing(page);
      await reachAll(page);
    });

    it('the page of this machine', async () => {
      await window().runCommand('Cacheline: Check This Machine');
      const page = await window().webview('table.collectors');
      await findNothing(page);
      await reachAll(page);
    });

    /** Fails with each control that the Tab key does not reach. Of widgets with keys of their own one element is a stop. */
    async function reachAll(page: Frame): Promise<void> {
      const stops = 'a[href], button, input, select, summary, [tabindex]';
      const wanted = await page.locator(stops).evaluateAll((all) => {
        const reachable = all.filter((one) => (one as HTMLElement).tabIndex >= 0 && one.checkVisibility() && !one.matches(':disabled'));
        reachable.forEach((one, index) => one.setAttribute('data-stop', String(index)));
        return reachable.map((one) => one.outerHTML.slice(0, 160));
      });
      assert.ok(wanted.length > 2, 'the page has controls');
      await page.locator('[data-stop="0"]').focus();
      const reached = new Set(['0']);
      for (let presses = 0; presses < 2 * wanted.length + 4 && reached.size < wanted.length; ++presses) {
        await window().page.keyboard.press('Tab');
        const stop = await page.evaluate(() => document.activeElement?.getAttribute('data-stop') ?? '');
        if (stop !== '') reached.add(stop);
      }
      assert.deepEqual(
        wanted.filter((_, index) => !reached.has(String(index))),
        [],
        'Tab reaches no such control',
      );
    }

    /** Fails with each violation, its theme and the elements that have it. `prepare` runs in each theme. */
    async function findNothing(page: Frame, prepare?: () => Promise<void>): Promise<void> {
      await page.evaluate(axe.source);
      const found: string[] = [];
      const name = `15-access-${(await page.title()).replaceAll(/\W+/g, '-')}`;
      const judge = async (theme: string): Promise<void> => {
        const { violations, passes } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
        assert.ok(
          passes.some(({ id }) => id === 'color-contrast'),
          `${theme}: contrasts were not judged`,
        );
        for (const { id, help, nodes } of violations)
          found.push(...nodes.map(({ html, failureSummary }) => `${theme}: ${id}: ${help}\n  ${html}\n  ${failureSummary ?? ''}`));
      };
      for (const { theme, kind } of THEMES) {
        await window().chooseTheme(theme);
        await page.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
        await prepare?.();
        await judge(theme);
        await window().screenshot(`${name}-${kind}`);
      }
      const whole = window().page.viewportSize();
      assert.ok(whole);
      try {
        await window().page.setViewportSize({ width: whole.width / 2, height: whole.height / 2 });
        await prepare?.();
        await judge('at a zoom of 200%');
        await window().screenshot(`${name}-zoomed`);
        const cut = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (cut > 0) found.push(`at a zoom of 200%: the page is ${cut} pixels too wide`);
      } finally {
        await window().page.setViewportSize(whole);
      }
      assert.equal(found.length, 0, found.join('\n'));
    }
  });
}
