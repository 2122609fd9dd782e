// The steps with two recordings, of an example before its quick fix and after it (advice.ts): chosen from the list, compared in a tab whose
// lines open by the keyboard, while the gutter shows what changed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { EDITED_PROGRAM, PROGRAM, SOURCE } from './advice';
import type { Window } from './window';

export const BEFORE = `${PROGRAM}.cacheline`;
export const AFTER = `${EDITED_PROGRAM}.cacheline`;

export interface CompareSteps {
  /** Known when the steps run. */
  window: () => Window;
  workspace: string;
}

export function describeCompare({ window, workspace }: CompareSteps): void {
  describe('with two recordings', () => {
    const lineOf = (marker: string): number =>
      readFileSync(path.join(workspace, SOURCE), 'utf8')
        .split('\n')
        .findIndex((line) => line.endsWith(marker)) + 1;

    before(async () => {
      await window().runCommand('View: Close All Editors');
    });

    it('compares them: the one that is open is offered first', async () => {
      await window().runCommand('Cacheline: Compare Recordings');
      const first = window().page.locator('.quick-input-widget .quick-input-list .monaco-list-row').first();
      await first.filter({ hasText: 'open now' }).waitFor();
      assert.ok((await first.innerText()).includes(AFTER));
      await choose(BEFORE);
      await window().page.getByPlaceholder('Choose the recording after the change').waitFor();
      await window().screenshot('9-compare-choose');
      await choose(AFTER);
      const page = await window().webview('tr.change');
      assert.match(await page.locator('h1').innerText(), /; (the waiting is gone|[\d.]+% less waiting a run) \((>99\.9|9\d\.\d)% sure\)/);
      const queue = page.getByRole('table', { name: 'Objects' }).getByRole('row', { name: /queue/ });
      assert.match(await queue.innerText(), /(gone|better)\s+queue\s+queue\.c:\d+\s+[\d.]+ m?s\s+[\d.]+ m?s\s+(>99\.9|9\d\.\d)%/);
      await window()
        .page.locator('.notifications-toasts')
        .getByText(/^Comparing /)
        .waitFor({ state: 'hidden' });
      await window().screenshot('9-compare');
    });

    it('shows the gain that was measured beside the predicted one', async () => {
      const page = await window().webview('tr.change');
      const section = page.locator('section').first();
      assert.match(await section.innerText(), /^Predicted and measured\s+The recorded runs took .* before, .* after\./);
      const advice = section.getByRole('row', { name: /'limit'/ });
      const text = (await advice.innerText()).replaceAll('\u00a0', ' ');
      const [, predicted, measured] = /times as fast[^]*?\s(\d+\.\d)%\s+(\d+\.\d)%\s*$/.exec(text) ?? [];
      assert.ok(Number(predicted) < 10 && Number(measured) < 10, `of the waiting is left, predicted and measured: ${text}`);
    });

    it('opens the line of a row by the keyboard, beside the tab, with what changed there', async () => {
      const page = await window().webview('tr.change');
      await page.locator('button.place').first().focus();
      await window().page.keyboard.press('ArrowDown');
      await window().page.keyboard.press('ArrowDown');
      await window().page.keyboard.press('Enter');
      // The click also waits until the tab is there.
      await window()
        .page.locator(`.tab.active[data-resource-name="${path.basename(SOURCE)}"]`)
        .click();
      await window().page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
      const lines = ['// @contended queue.produced', '// @contended queue.limit'].map(lineOf);
      const glyphs = await window().glyphLines();
      assert.ok(glyphs.length > 0 && glyphs.every((line) => lines.includes(line)), `${glyphs.join()} of ${lines.join()}`);
      const [line = 0] = glyphs;
      const words = await window().hover(line, 'queue');
      await window().screenshot('9-compare-source');
      assert.match(words, /(No longer waits|Waits less), by the two compared recordings\. .*: [\d.]+ m?s a run before, [\d.]+ m?s after/);
      assert.match((await window().textsAfterLines()).join(), /(no.longer.waits|waits.less):.[\d.]+.m?s.a.run.before/);
      await window().page.mouse.move(5, 5);
    });

    async function choose(name: string): Promise<void> {
      await window().fillQuickInput(name);
      await window().quickItem(name).waitFor();
      await window().page.keyboard.press('Enter');
    }
  });
}
