// Pictures of the panel's tabs and of the line in full, in the editor's four kinds of themes and in two sizes: for people to look at. What a
// page needs to be read is asserted: nothing reaches over the window's edge where it cannot be scrolled to.
// CACHELINE_LOOKS=all takes all of them, as `npm run pictures` does; else one theme a size.
import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { THEMES } from './access';
import type { Window } from './window';

const SIZES = [
  { width: 1600, height: 900 },
  { width: 1000, height: 700 },
] as const;
const TABS = ['Data', 'Functions', 'Threads', 'Source', 'Timeline'];
/** What a tab shows when it has its answer. */
const ANSWER = '.tab-scroll table, .timeline';

/** The panel is shown, with a profile of two variables on one line. */
export function describeLooks(window: () => Window): void {
  describe('looks right', () => {
    const all = process.env['CACHELINE_LOOKS'] === 'all';
    let themeBefore: string;

    before(async () => {
      const panel = await window().webview('.tab-panel');
      themeBefore = (await panel.locator('body').getAttribute('data-vscode-theme-name')) ?? '';
      assert.notEqual(themeBefore, '');
    });

    for (const [at, size] of SIZES.entries())
      for (const { theme, kind } of all ? THEMES : THEMES.slice(2 * at + 1, 2 * at + 2))
        it(`at ${size.width} x ${size.height} in ${theme}`, async () => {
          await window().page.setViewportSize(size);
          await window().chooseTheme(theme);
          const panel = await window().webview('.tab-panel');
          await panel.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
          const picture = async (name: string): Promise<void> => {
            await window().screenshot(`16-look-${size.width}-${kind}-${name}`);
            assert.deepEqual(await tooWide(panel), [], name);
          };
          for (const tab of TABS) {
            await panel.getByRole('tab', { name: tab, exact: true }).click();
            await panel.locator(ANSWER).first().waitFor();
            await picture(tab.toLowerCase());
          }
          await panel.getByRole('tab', { name: 'Lines' }).click();
          await panel.locator('.row.line').first().locator('.share').click();
          const pane = panel.locator('.line-detail');
          await pane.waitFor();
          await picture('detail');
          await pane.getByRole('button', { name: 'Close' }).click();
          await pane.waitFor({ state: 'detached' });
        });

    after(async () => {
      await window().page.setViewportSize(SIZES[0]);
      await window().chooseTheme(themeBefore);
    });
  });
}

/** Elements that reach over the window's edge and are in nothing that scrolls or cuts them. */
function tooWide(panel: Frame): Promise<string[]> {
  return panel.evaluate(() => {
    const isCut = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).overflowX !== 'visible' || isCut(element.parentElement));
    return [...document.querySelectorAll('main *')]
      .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1 && !isCut(element.parentElement))
      .map((element) => `${element.tagName}.${element.getAttribute('class') ?? ''}`);
  });
}
