// The steps with two recordings, of an example and of its fix: chosen from the list, compared in a tab whose lines open by the keyboard.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Window } from './window';

const EXAMPLE = 'counter_array';
const MARKER = '// @contended counters';

export interface CompareSteps {
  /** Known when the steps run. */
  window: () => Window;
  workspace: string;
}

export function describeCompare({ window, workspace }: CompareSteps): void {
  describe('with two recordings', () => {
    before(async () => {
      await window().runCommand('View: Close All Editors');
      for (const variant of ['contended', 'fixed']) await window().profile(`${EXAMPLE}-${variant}`);
      await window().runCommand('View: Close All Editors');
    });

    it('compares them: the one that is open is offered first', async () => {
      await window().runCommand('Cacheline: Compare Recordings');
      const first = window().page.locator('.quick-input-widget .quick-input-list .monaco-list-row').first();
      await first.filter({ hasText: 'open now' }).waitFor();
      assert.match(await first.innerText(), new RegExp(`${EXAMPLE}-fixed`));
      await choose(`${EXAMPLE}-contended`);
      await window().page.getByPlaceholder('Choose the recording after the change').waitFor();
      await window().screenshot('9-compare-choose');
      await choose(`${EXAMPLE}-fixed`);
      const page = await window().webview('tr.change');
      assert.match(await page.locator('h1').innerText(), /^The waiting is gone: /);
      const counters = page.getByRole('table', { name: 'Objects' }).getByRole('row', { name: /counters/ });
      assert.match(await counters.innerText(), /gone\s+counters\s+contended\.c:\d+\s+\d\d\.\d%\s+0\.0%\s+(>99\.9|9\d\.\d)%/);
      assert.match(await page.locator('section').first().innerText(), /Predicted and measured[^]*counters[^]*times as fast[^]*0\.0%/);
      await window().screenshot('9-compare');
    });

    it('opens the line of a row by the keyboard, beside the tab', async () => {
      const page = await window().webview('tr.change');
      await page.locator('button.place').first().focus();
      await window().page.keyboard.press('ArrowDown');
      await window().page.keyboard.press('ArrowDown');
      await window().page.keyboard.press('Enter');
      const lines = readFileSync(path.join(workspace, EXAMPLE, 'contended.c'), 'utf8').split('\n');
      await window().waitForCursorLine(lines.findIndex((line) => line.endsWith(MARKER)) + 1);
      await window().page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
      await window().screenshot('9-compare-source');
    });

    async function choose(name: string): Promise<void> {
      await window().fillQuickInput(name);
      await window().quickItem(name).waitFor();
      await window().page.keyboard.press('Enter');
    }
  });
}
