// The steps in another language: a made-up translation, which puts each text in brackets, beside the bundle of the installed package, and a
// window in that language.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { Window } from './window';

/** No editor has texts of its own in it. */
const LANGUAGE = 'qps';

export interface TranslatedSteps {
  /** These are known when the steps run. */
  browser: () => Browser;
  url: () => string;
  /** Where extensions are installed. */
  extensions: () => string;
  screenshots: string;
  source: string;
  /** The number of a contended line of it, and a word in it. */
  line: number;
  word: string;
  program: string;
}

export function describeTranslated({ browser, url, extensions, screenshots, source, line, word, program }: TranslatedSteps): void {
  describe('in another language', () => {
    let window: Window;

    before(async () => {
      const [extension] = readdirSync(extensions()).filter((name) => name.startsWith('cacheline-lens'));
      assert.ok(extension !== undefined, `nothing is installed in ${extensions()}`);
      const folder = path.join(extensions(), extension, 'l10n');
      const bundle = JSON.parse(readFileSync(path.join(folder, 'bundle.l10n.json'), 'utf8')) as Record<string, string>;
      const translation = Object.fromEntries(Object.keys(bundle).map((text) => [text, `⟦${text}⟧`]));
      writeFileSync(path.join(folder, `bundle.l10n.${LANGUAGE}.json`), JSON.stringify(translation));
      const page = await browser().newPage({ viewport: { width: 1600, height: 900 } });
      await page.addInitScript({ content: `globalThis._VSCODE_NLS_LANGUAGE = '${LANGUAGE}';` });
      window = new Window(page, screenshots);
      await window.open(url());
    });
    after(() => window.page.close());

    it('notifications, the panel and hovers are in it', async () => {
      const { page } = window;
      await window.openFile(source);
      await window.runCommand('Cacheline: Profile for False Sharing');
      await window.fillQuickInput(program);
      await window.quickItem(program).waitFor();
      await page.keyboard.press('Enter');
      await window.acceptInput(/^⟦Arguments of the program.*⟧/);
      await window.acceptInput(/^⟦Working folder of the program⟧/);
      const toasts = page.locator('.notifications-toasts');
      await toasts.getByText(`⟦Profiling ${program}⟧`).waitFor();
      await toasts.getByText(new RegExp(`^${program}: ⟦`)).waitFor({ timeout: 60_000 });

      const panel = await window.webview('.row.line');
      assert.equal(await panel.locator('html').getAttribute('lang'), LANGUAGE);
      const titles = (await panel.locator('.titles .column').allInnerTexts()).map((title) => title.trim());
      assert.deepEqual([titles[0], titles[1], titles[2], titles.at(-1)], ['⟦Data⟧', '⟦Verdict⟧', '⟦Share⟧', '⟦Line⟧']);
      assert.match(await panel.getByRole('tab', { selected: true }).innerText(), /^⟦Lines⟧$/);
      assert.match(await panel.locator('.answer .summary').innerText(), /^⟦.*⟧/);
      await panel.getByRole('button', { name: '⟦Preview Fix⟧' }).waitFor({ timeout: 60_000 });
      assert.equal(await panel.locator('.row.line .chip').first().innerText(), '⟦false sharing⟧');
      await window.screenshot('16-translated');
      for (const tab of ['⟦Data⟧', '⟦Functions⟧', '⟦Threads⟧']) {
        await panel.getByRole('tab', { name: tab, exact: true }).click();
        const heads = panel.locator('.tab-scroll th');
        await heads.first().waitFor();
        for (const title of await heads.allInnerTexts()) assert.match(title.trim(), /^⟦.*⟧$/, tab);
      }
      await panel.getByRole('tab', { name: '⟦Lines⟧', exact: true }).click();

      await window.showTab(path.basename(source));
      await page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
      const hover = await window.hover(line, word);
      await window.screenshot('16-translated-hover');
      assert.match(hover, /⟦'\w+' waits to ⟦\w+⟧ 'messages_(written|read)' because /);
      for (const title of ['⟦bytes⟧', '⟦reads⟧', '⟦writes⟧', '⟦threads⟧']) assert.ok(hover.includes(title), `${title} in ${hover}`);
    });
  });
}
