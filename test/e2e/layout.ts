// The steps with types: the card over a struct's definition as a person sees it, the line above it, the texts behind its members,
// and the tree of contended data.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Window } from './window';

const EXAMPLE = 'producer_limit-contended';
const SOURCE = 'producer_limit/contended.c';

export interface LayoutSteps {
  /** Known when the steps run. */
  window: () => Window;
  workspace: string;
}

export function describeLayout({ window, workspace }: LayoutSteps): void {
  describe('with a struct that two threads use', () => {
    const lineOf = (text: string): number => {
      const lines = readFileSync(path.join(workspace, SOURCE), 'utf8').split('\n');
      const index = lines.findIndex((line) => line.includes(text));
      assert.ok(index >= 0, `${SOURCE} has no line with ${text}`);
      return index + 1;
    };

    before(async () => {
      await window().runCommand('View: Close All Editors');
      await window().openFile(SOURCE);
      await window().profile(EXAMPLE);
      await window().showTab(path.basename(SOURCE));
    });

    it('says above the definition and behind the members who uses them', async () => {
      const lens = window().page.locator('.codelens-decoration a').first();
      await lens.waitFor();
      assert.match(
        (await lens.innerText()).replaceAll('\u00a0', ' '),
        /^1 thread writes and 1 reads, 1 line, false sharing \d+%: show layout$/,
      );
      const texts = (await window().textsAfterLines()).map((text) => text.replaceAll('\u00a0', ' '));
      assert.ok(
        texts.some((text) => /byte 0 of queue: \d+% of contended samples, 1 thread writes/.test(text)),
        texts.join('\n'),
      );
    });

    it('draws the cache lines over the definition, with a table of the members', async () => {
      const text = await window().hover(lineOf('struct queue {'), 'queue');
      await window().screenshot('7-layout-card');
      assert.match(text, /struct queue · 16 bytes on 1 cache line/);
      assert.match(text, /produced\s+0–7\s+8\s+\d+\s+\d+/);
      assert.match(text, /limit\s+8–15\s+8\s+\d+\s+0\b/);
      assert.match(text, /evidence: clock/);
      const picture = window().page.locator('.monaco-hover:visible img[src^="data:image/svg+xml"]').first();
      const size = await picture.evaluate((image) => {
        const { naturalWidth, complete, alt } = image as HTMLImageElement;
        return { naturalWidth, complete, alt };
      });
      assert.deepEqual([size.complete, size.naturalWidth], [true, 720]);
      assert.match(size.alt, /^struct queue, 16 bytes on 1 cache line, aligned to 8; hot: /);
      const [card, drawn] = [await window().page.locator('.monaco-hover:visible').first().boundingBox(), await picture.boundingBox()];
      assert.ok(card && drawn && drawn.x >= card.x && drawn.x + drawn.width <= card.x + card.width, 'the picture fits the card');
    });

    it('shows it first over a variable of the type, then who accesses the variable', async () => {
      const text = await window().hover(lineOf('@variable queue'), '_Alignas');
      await window().screenshot('7-layout-variable');
      assert.match(text, /^struct queue ·[^]*queue: false sharing/);
    });

    it('opens the same card by a click on the line above', async () => {
      await window().page.mouse.move(5, 5);
      await window().page.locator('.monaco-hover:visible').waitFor({ state: 'hidden' });
      await window().page.locator('.codelens-decoration a').first().click();
      await window().page.locator('.monaco-hover:visible img[src^="data:image/svg+xml"]').first().waitFor({ timeout: 15_000 });
      await window().waitForCursorLine(lineOf('struct queue {'));
      await window().screenshot('7-layout-lens');
      await window().page.keyboard.press('Escape');
    });

    it('lists the contended data, down to the access, each opening its source', async () => {
      await window().runCommand('Cacheline: Focus on Contended Data View');
      const row = (label: string) => window().page.locator(`.pane-body .monaco-list-row[aria-label^="${label}"]`).first();
      for (const label of ['type struct queue', 'member produced', 'cache line']) {
        await row(label).click();
        await window().page.keyboard.press('ArrowRight');
      }
      await row('access produce').click();
      await window().waitForCursorLine(lineOf('@contended queue.produced'));
      await window().screenshot('7-contended-data');
      await window().runCommand('View: Toggle Primary Side Bar Visibility');
    });
  });
}
