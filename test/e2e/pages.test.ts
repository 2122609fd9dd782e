// Our pages in a browser without the editor, with made-up recordings in a made-up language (test/unit/translated-texts.ts), whose texts
// have no Latin letter: what is English are names and units. And what keys do: titles have tooltips that the keyboard reaches, and popups
// close.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { bundleProducts } from '../../scripts/build.mjs';
import { openBrowser } from '../../scripts/lib/host-lane.mjs';
import { englishWords, foreign } from '../unit/translated-names';

const root = path.resolve(__dirname, '../..');

interface Views {
  panel: [clock: unknown, sources: unknown];
  unfolded: { id: string; accesses: unknown[] };
  data: unknown;
  functions: unknown;
  timeline: unknown;
  threads: unknown[];
  machine: unknown;
  comparison: unknown;
}

describe('pages', () => {
  let views: Views;
  let dist: string;
  let browser: Browser;

  before(async function () {
    this.timeout(120_000);
    dist = mkdtempSync(path.join(tmpdir(), 'cacheline-pages-'));
    await bundleProducts({ outdir: dist, sourcemap: false });
    views = JSON.parse(
      execFileSync(process.execPath, ['--import=tsx', path.join(root, 'test/unit/translated-texts.ts')], { encoding: 'utf8' }),
    ) as Views;
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    rmSync(dist, { recursive: true });
  });

  /** The page, with what the host sends it first. */
  async function open(name: string, message: unknown, viewport = { width: 1400, height: 900 }): Promise<Page> {
    const bundle = JSON.parse(readFileSync(path.join(root, 'l10n/bundle.l10n.json'), 'utf8')) as Record<string, string>;
    const translated = JSON.stringify(Object.fromEntries(Object.keys(bundle).map((text) => [text, foreign(text)])));
    const page = await browser.newPage({ viewport });
    await page.setContent('<!DOCTYPE html><html><body><div id="root"></div></body></html>');
    await page.evaluate((l10n) => document.documentElement.setAttribute('data-l10n', l10n), translated);
    await page.addScriptTag({
      content: 'sent = []; acquireVsCodeApi = () => ({ postMessage: (one) => sent.push(one), getState() {}, setState() {} });',
    });
    await page.addStyleTag({ path: path.join(dist, `${name}.css`) });
    await page.addScriptTag({ path: path.join(dist, `${name}.js`) });
    await page.waitForFunction('sent.some(({ type }) => type === "ready")'); // it hears nothing before
    await say(page, message);
    return page;
  }

  async function say(page: Page, message: unknown): Promise<void> {
    await page.evaluate((sent) => globalThis.postMessage(sent), message);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
  }

  /** English words of all that a person reads or hears. */
  async function english(page: Page): Promise<string[]> {
    const texts = await page.evaluate(() => {
      const names = ['title', 'aria-label', 'placeholder', 'alt'];
      const said = [...document.querySelectorAll('*')].flatMap((one) => names.map((name) => one.getAttribute(name) ?? ''));
      return [document.body.innerText, ...said];
    });
    const lines = texts.flatMap((text) => text.split('\n'));
    return lines.flatMap((line) => englishWords(line).map((word) => `${word} in ${line}`));
  }

  /** Titles of columns without a tooltip. */
  function untold(page: Page): Promise<string[]> {
    return page.evaluate(() =>
      [...document.querySelectorAll('thead th, [role="columnheader"]')]
        .filter((cell) => cell.textContent !== '' && cell.closest('.for-readers') === null && cell.closest('.waits') === null)
        .filter((cell) => (cell.querySelector<HTMLElement>('[title]')?.title ?? '') === '')
        .map((cell) => cell.textContent),
    );
  }

  async function check(page: Page, what: string): Promise<void> {
    assert.deepEqual([await english(page), await untold(page)], [[], []], what);
  }

  it('the panel: each tab is in another language, and each title says what it means', async () => {
    const page = await open('panel', views.panel[0]);
    await page.locator('.row.line').first().waitFor();
    await check(page, 'lines');
    const tabs = [
      { tab: 'data', view: 'type', content: views.data },
      { tab: 'functions', view: 'pairs', content: views.functions },
      { tab: 'threads', view: 'threads', content: views.threads[0] },
      { tab: 'timeline', view: 'timeline', content: views.timeline },
    ];
    for (const { tab, view, content } of tabs) {
      await page.locator(`#tab-${tab}`).click();
      await say(page, { type: 'tab', version: 1, view, filter: '', content, problem: '' });
      await page.locator('.tab-scroll table, .timeline').first().waitFor();
      await check(page, tab);
    }
    await page.close();
  });

  describe('the filter of the panel', () => {
    interface Asked {
      type: string;
      filter: string;
    }
    const asked = (page: Page): Promise<string[]> =>
      page.evaluate(() =>
        (globalThis as unknown as { sent: Asked[] }).sent.filter(({ type }) => type === 'filter').map(({ filter }) => filter),
      );

    it('takes what is written and entered before the page is painted', async () => {
      const page = await open('panel', { type: 'empty' });
      await page.evaluate(async (report) => {
        const box = new Promise<HTMLInputElement>((resolve) => {
          new MutationObserver(() => {
            const found = document.querySelector<HTMLInputElement>('.filter input');
            if (found) resolve(found);
          }).observe(document.body, { childList: true, subtree: true });
        });
        globalThis.postMessage(report);
        const input = await box;
        input.value = 'verdict:true';
        input.dispatchEvent(new InputEvent('input', { bubbles: true }));
        await Promise.resolve(); // the page draws it
        input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
      }, views.panel[0]);
      assert.deepEqual(await asked(page), ['verdict:true']);
      await page.close();
    });

    it('keeps what is written while an earlier filter is applied, and follows the report where nothing is', async () => {
      const page = await open('panel', views.panel[0]);
      const box = page.locator('.filter input');
      await box.fill('verdict:true');
      await box.press('Enter');
      await box.fill('verdict:true cpu:0');
      await say(page, { ...(views.panel[0] as object), version: 2, filter: 'verdict:true' });
      assert.equal(await box.inputValue(), 'verdict:true cpu:0');
      await box.press('Enter');
      assert.deepEqual(await asked(page), ['verdict:true', 'verdict:true cpu:0']);
      await say(page, { ...(views.panel[0] as object), version: 3, filter: 'cpu:1' });
      assert.equal(await box.inputValue(), 'cpu:1');
      await page.close();
    });
  });

  it('asks for the accesses of a line when it is unfolded, and shows them when they come', async () => {
    const page = await open('panel', views.panel[0]);
    const row = page.locator('.row.line').first();
    await row.waitFor();
    await row.locator('.twisty').click();
    await page.locator('.row.line[aria-expanded=true]').waitFor();
    assert.equal(await page.locator('.row.access').count(), 0);
    const { id } = views.unfolded;
    const asked = await page.evaluate(() =>
      (globalThis as unknown as { sent: { type: string }[] }).sent.filter(({ type }) => type === 'unfold'),
    );
    assert.deepEqual(asked, [{ type: 'unfold', version: 1, id }]);
    await say(page, { type: 'unfolded', version: 1, line: views.unfolded });
    assert.equal(await page.locator('.row.access').count(), views.unfolded.accesses.length);
    await page.close();
  });

  it('leaves two thirds of a small window to the rows, and keeps them in reach at 200% zoom', async () => {
    const page = await open('panel', views.panel[0], { width: 500, height: 600 });
    // The editor's.
    await page.addStyleTag({ content: ':root { --vscode-font-size: 13px; --vscode-font-family: sans-serif; }' });
    const advice = {
      title: 'Give each its own cache line (predicted 4.5x)',
      words: 'Predicted. '.repeat(30),
      opens: 'preview',
      reason: '',
      more: 2,
    };
    await say(page, { type: 'advice', version: 1, advice, problem: '' });
    await page.locator('.remedy .title').waitFor();
    const head = await page.locator('header').boundingBox();
    assert.ok(head !== null && head.height <= 200, `${head?.height} of 600 pixels`);
    await page.setViewportSize({ width: 250, height: 300 });
    await page.locator('.row.line').first().click();
    assert.ok(await page.locator('.remedy button').first().isVisible());
    await page.close();
  });

  it('the comparison, and the page of this machine', async () => {
    const comparison = await open('compare', { type: 'comparison', version: 1, view: views.comparison });
    await comparison.locator('tr.change').first().waitFor();
    await check(comparison, 'comparison');
    await comparison.close();
    const machine = await open('machine', { type: 'machine', view: views.machine });
    await machine.locator('tr.collector').first().waitFor();
    await check(machine, 'machine');
    await machine.close();
  });

  it('the comparison has its shares in sight in a narrow column, and scrolls within its box to the rest', async () => {
    const page = await open('compare', { type: 'comparison', version: 1, view: views.comparison }, { width: 500, height: 900 });
    await page.addStyleTag({ content: ':root { --vscode-font-size: 13px; --vscode-font-family: sans-serif; }' });
    await page.locator('tr.change').first().waitFor();
    const box = await page.locator('.scroll').first().boundingBox();
    const sure = await page.locator('tr.change .number').first().boundingBox();
    assert.ok(box && sure && sure.x + sure.width <= box.x + box.width, JSON.stringify({ box, sure }));
    assert.ok(box.x + box.width <= 500, JSON.stringify(box));
    await page.close();
  });

  it('shows the tooltip of what has the focus by a key, until Escape; arrow keys go from title to title', async () => {
    const page = await open('compare', { type: 'comparison', version: 1, view: views.comparison });
    const [first, second] = [page.locator('.term').nth(0), page.locator('.term').nth(1)];
    const tip = page.locator('.tip');
    await first.waitFor();
    await page.keyboard.press('Tab');
    while (!(await first.evaluate((one) => one === document.activeElement))) await page.keyboard.press('Tab');
    await tip.waitFor();
    assert.equal(await tip.textContent(), await first.getAttribute('title'));
    await page.keyboard.press('ArrowRight');
    assert.ok(await second.evaluate((one) => one === document.activeElement));
    await tip.waitFor();
    assert.equal(await tip.textContent(), await second.getAttribute('title'));
    await page.keyboard.press('Escape');
    await tip.waitFor({ state: 'hidden' });
    await page.close();
  });

  it('shows the tooltip of what the page scrolls to, and hides it when a person scrolls on', async () => {
    const page = await open('compare', { type: 'comparison', version: 1, view: views.comparison }, { width: 1400, height: 120 });
    const [first, tip] = [page.locator('.term').first(), page.locator('.tip')];
    const hasFocus = (): Promise<boolean> => first.evaluate((one) => one === document.activeElement);
    await first.waitFor();
    for (let presses = 0; presses < 40 && !(await hasFocus()); presses++) await page.keyboard.press('Shift+Tab');
    await tip.waitFor({ timeout: 5000 });
    assert.equal(await tip.textContent(), await first.getAttribute('title'));
    await page.mouse.move(100, 100);
    await page.mouse.wheel(0, -50);
    await tip.waitFor({ state: 'hidden' });
    await page.close();
  });

  it('closes the popup of the columns by Escape, and gives the focus back', async () => {
    const page = await open('panel', views.panel[1]);
    const popup = page.locator('details.choices');
    const summary = popup.locator('summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    const box = popup.locator('input').first();
    await box.waitFor();
    await check(page, 'columns');
    await box.focus();
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'hidden' });
    assert.ok(await summary.evaluate((one) => one === document.activeElement));
    await page.close();
  });
});
