// The steps with the walkthrough: it opens with its pictures, builds the example, and its links do what they say.
import assert from 'node:assert/strict';
import type { Window } from './window';

export function describeWalkthrough(window: () => Window): void {
  describe('with the walkthrough', () => {
    it('builds the example from its first step', async () => {
      await window().runCommand('View: Close All Editors');
      await window().runCommand('Cacheline: Find Your First False Sharing');
      const page = window().page.locator('.gettingStartedContainer');
      const steps = page.locator('.step-title');
      await steps.filter({ hasText: 'Build the example' }).waitFor();
      const titles = (await steps.allInnerTexts()).map((title) => title.trim());
      assert.deepEqual(titles.slice(0, 3), ['Build the example', 'Profile it', 'Hover over the contended line']);
      await page.locator('.getting-started-media img').first().waitFor();
      await window().screenshot('12-walkthrough');
      const build = page.getByRole('button', { name: 'Build the Example', exact: true });
      // A step that is done, of an earlier build of the example, is shown closed.
      if (!(await build.isVisible())) await steps.filter({ hasText: 'Build the example' }).click();
      await build.click();
      await window().page.locator('.tab[data-resource-name="counters.c"]').waitFor({ timeout: 30_000 });
      await steps.filter({ hasText: 'Fix it with the light bulb' }).click();
      await page.getByRole('button', { name: 'Preview the Fix', exact: true }).waitFor();
      await window().screenshot('12-walkthrough-fix');
      await window().runCommand('View: Close All Editors');
    });
  });
}
