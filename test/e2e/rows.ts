// The steps with a row of the panel: the line in full below the table, and the menu of a row.
import assert from 'node:assert/strict';
import type { Window } from './window';

export function describeRows({ window }: { window: () => Window }): void {
  describe('with a row of the panel', () => {
    it('shows the selected line in full below the table; Escape closes it', async () => {
      const panel = await window().webview('.row.line');
      const pane = panel.locator('.line-detail');
      await panel.locator('.row.line').first().locator('.share').click();
      await pane.waitFor();
      assert.match(await pane.locator('h2').innerText(), /^0x[0-9a-f]+ false sharing$/);
      assert.ok((await pane.locator('.stack').count()) >= 2, 'a bar for each of the two variables');
      const read = await pane.locator('.for-readers tbody tr').allTextContents();
      for (const name of ['messages_written', 'messages_read'])
        assert.ok(
          read.some((text) => text.includes(name)),
          read.join('\n'),
        );
      assert.match(await pane.locator('.reasons').innerText(), /% of the waiting is false \(between/);
      assert.match(await pane.locator('.waits').innerText(), /messages_written[^]*\d%/);
      assert.match(await pane.locator('.accesses').innerText(), /atomic[^]*contended\.c:\d+/);
      await window().screenshot('6-detail');
      await pane.getByRole('button', { name: 'Source' }).focus();
      await pane.getByRole('button', { name: 'Source' }).press('Escape');
      await pane.waitFor({ state: 'detached' });
    });

    it('has a menu that filters by it', async () => {
      const panel = await window().webview('.row.line');
      const row = panel.locator('.row.line').first();
      const address = await row.locator('.address').innerText();
      await row.locator('.share').click({ button: 'right' });
      const entries = window().page.locator('.monaco-menu .action-label:not(.separator)');
      await entries.first().waitFor();
      const texts = (await entries.allInnerTexts()).map((text) => text.trim());
      assert.deepEqual(texts, ['Open Source', 'Show Card', 'Copy as Markdown', 'Copy as CSV', 'Copy as JSON', 'Only This', 'Without This']);
      await window().screenshot('6-row-menu');
      await window().page.waitForTimeout(400); // a menu takes a click right after it opened for the one that opened it
      await entries.filter({ hasText: 'Only This' }).click();
      const chip = panel.getByRole('button', { name: `Remove line:${address}` });
      await chip.waitFor();
      assert.equal(await panel.locator('.row.line').count(), 1);
      await chip.click();
      await panel.locator('.chips').waitFor({ state: 'detached' });
    });
  });
}
