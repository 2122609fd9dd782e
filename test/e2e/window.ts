// A window of VS Code in Chromium: what a person does with keyboard and mouse, and what they then see.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Frame, Page } from 'playwright-core';

/** In pixels, of the window's page. */
interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const explorerRowSelector = (name: string): string => `.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`;

export class Window {
  constructor(
    readonly page: Page,
    private readonly screenshots: string,
  ) {
    mkdirSync(screenshots, { recursive: true });
  }

  async open(url: string): Promise<void> {
    // The loader of these tests wraps named functions in a call of __name, which a page does not have.
    await this.page.addInitScript({ content: 'globalThis.__name = (target) => target;' });
    await this.page.goto(url);
    await this.isThere();
  }

  /** As the command does; the extension is started anew, too. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent('domcontentloaded', { timeout: 60_000 });
    await this.runCommand('Developer: Reload Window');
    await loaded;
    await this.isThere();
  }

  private async isThere(): Promise<void> {
    await this.page.locator('.monaco-workbench .statusbar').waitFor({ timeout: 60_000 });
  }

  screenshot(name: string): Promise<Buffer> {
    return this.page.screenshot({ path: path.join(this.screenshots, `${name}.png`), animations: 'disabled' });
  }

  /**
   * Runs a command by its title in the palette, which knows those of extensions only some time after the window is there. It is opened again where
   * something takes the focus from it, as a page that has just been shown does.
   */
  async runCommand(title: string): Promise<void> {
    for (const deadline = Date.now() + 60_000; ;) {
      await this.page.keyboard.press('F1');
      const isThere = await this.fillQuickInput(`>${title}`, 5000)
        .then(() => this.quickItem(title).waitFor({ timeout: 5000 }))
        .then(() => true)
        .catch((error: unknown) => Date.now() > deadline && Promise.reject(error as Error));
      if (isThere) break;
      await this.page.keyboard.press('Escape');
    }
    await this.page.keyboard.press('Enter');
  }

  /** A colour theme by its name in the editor's list. */
  async chooseTheme(name: string): Promise<void> {
    await this.leaveWebview();
    await this.page.keyboard.press('Control+K');
    await this.page.keyboard.press('Control+T');
    await this.fillQuickInput(name);
    await this.quickItem(name).waitFor();
    await this.page.keyboard.press('Enter');
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  }

  async openFile(name: string): Promise<void> {
    await this.leaveWebview();
    await this.page.keyboard.press('Control+P');
    await this.fillQuickInput(name);
    // The list of what was open last comes first: Enter must wait until the file itself is the one that is marked.
    const folder = path.dirname(name) === '.' ? '' : path.dirname(name);
    const marked = this.page.locator('.quick-input-widget .quick-input-list .monaco-list-row.focused');
    await marked
      .filter({ hasText: path.basename(name) })
      .filter({ hasText: folder })
      .waitFor();
    await this.page.keyboard.press('Enter');
    await this.page.locator(`.tab.active[data-resource-name="${path.basename(name)}"]`).waitFor();
    await this.page.locator('.editor-instance .view-line').first().waitFor();
  }

  /** Keys that a page has the focus for do not all reach the editor. */
  private async leaveWebview(): Promise<void> {
    await this.page.evaluate(() => {
      if (document.activeElement instanceof HTMLIFrameElement) document.activeElement.blur();
    });
  }

  quickItem(text: string): ReturnType<Page['locator']> {
    return this.page.locator('.quick-input-widget .quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  }

  async fillQuickInput(text: string, timeout = 30_000): Promise<void> {
    const input = this.page.locator('.quick-input-widget:visible .quick-input-box input').first();
    await input.waitFor({ timeout });
    await input.fill(text, { timeout });
  }

  /** Waits for an input box with this prompt and accepts it: with `text`, or with what it proposes. */
  async acceptInput(prompt: RegExp, text?: string): Promise<void> {
    await this.page.locator('.quick-input-widget:visible .quick-input-message').filter({ hasText: prompt }).waitFor();
    if (text !== undefined) await this.fillQuickInput(text);
    await this.page.keyboard.press('Enter');
  }

  /** Profiles a program of the workspace, and waits for what is said of it, which is returned. */
  async profile(program: string, args?: string): Promise<string> {
    await this.startProfile(program, args);
    const said = this.page.locator('.notifications-toasts').getByText(new RegExp(`^${program}: `));
    await said.waitFor({ timeout: 60_000 });
    const text = await said.innerText();
    await this.runCommand('Notifications: Clear All Notifications');
    return text;
  }

  async startProfile(program: string, args?: string): Promise<void> {
    await this.runCommand('Notifications: Clear All Notifications');
    await this.runCommand('Cacheline: Profile for False Sharing');
    await this.fillQuickInput(program);
    await this.quickItem(program).waitFor();
    await this.page.keyboard.press('Enter');
    await this.acceptInput(/Arguments/, args);
    await this.acceptInput(/Working folder/);
  }

  /** Opens a recording of the workspace in its panel, by the command. */
  async openRecording(name: string): Promise<Frame> {
    await this.runCommand('Cacheline: Open Recording');
    await this.fillQuickInput(name);
    await this.quickItem(name).waitFor();
    await this.page.keyboard.press('Enter');
    return this.panelOf(name);
  }

  /** The panel of a recording of the workspace, which has a tab that may be hidden. */
  async panelOf(name: string): Promise<Frame> {
    const title = name.replace(/\.cacheline$/, '');
    await this.page.locator('.tab', { has: this.page.locator(`.label-name:text-is("${title}")`) }).click();
    const panel = await this.webview(`main:has(h1[title$="/${name}"])`, 60_000); // of a window that was just loaded
    await panel.locator('.tab-panel').waitFor();
    return panel;
  }

  async showTab(name: string): Promise<void> {
    await this.page.locator(`.tab[data-resource-name="${name}"]`).first().click();
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).first().waitFor();
  }

  /** Moves the cursor to the line until a lightbulb is there, and clicks it: its list stays open. Returns the titles in it. */
  async clickLightbulb(line: number, patienceMs: number): Promise<string[]> {
    const bulb = this.page.locator('.editor-group-container.active').locator('.lightBulbWidget:visible, .codicon-gutter-lightbulb:visible');
    for (const deadline = Date.now() + patienceMs; ;) {
      // Providers that answer late are asked again when the cursor moves.
      await this.goToLine(line === 1 ? 2 : 1);
      await this.goToLine(line);
      await this.page.keyboard.press('Home'); // to the code: in white space there is none
      const isThere = await bulb
        .first()
        .waitFor({ timeout: 3000 })
        .then(() => true)
        .catch((error: unknown) => Date.now() > deadline && Promise.reject(error as Error));
      if (isThere) break;
    }
    await bulb.first().click();
    await this.quickFix(/./).waitFor();
    return this.quickFixTitles();
  }

  /** The titles of the list of quick fixes of a line, which stays open; none where the editor says that there are none. */
  async quickFixes(line: number): Promise<string[]> {
    await this.goToLine(line);
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' }); // the key is the editor's
    const answer = this.page.locator('.action-widget:visible .monaco-list-row.action, .monaco-editor-overlaymessage').first();
    for (const deadline = Date.now() + 30_000; ;) {
      await this.page.keyboard.press('Control+.');
      // The words that there is nothing go with the next move of the focus.
      const isAnswered = await answer
        .waitFor({ state: 'attached', timeout: 5000 })
        .then(() => true)
        .catch((error: unknown) => Date.now() > deadline && Promise.reject(error as Error));
      if (isAnswered) return this.quickFixTitles();
    }
  }

  quickFix(title: RegExp): ReturnType<Page['locator']> {
    return this.page.locator('.action-widget:visible .monaco-list-row.action').filter({ hasText: title }).first();
  }

  /** Of the open list, by its keys: what lies over the list takes the first movement of the mouse. */
  async chooseQuickFix(title: RegExp): Promise<void> {
    await this.quickFix(title).waitFor();
    const focused = this.page.locator('.action-widget:visible .monaco-list-row.action.focused');
    for (let tries = 0; !title.test((await focused.innerText()).trim()); ++tries) {
      assert.ok(tries < 20, `no quick fix ${title} in the list`);
      const before = await focused.getAttribute('data-index');
      await this.page.keyboard.press('ArrowDown');
      await this.page.locator(`.action-widget:visible .monaco-list-row.action.focused:not([data-index="${before}"])`).waitFor();
    }
    await this.page.keyboard.press('Enter');
  }

  private async quickFixTitles(): Promise<string[]> {
    const texts = await this.page.locator('.action-widget:visible .monaco-list-row.action .title').allInnerTexts();
    return texts.map((text) => text.replaceAll('\u00a0', ' ').trim());
  }

  /** Line numbers of the active editor that carry an icon in the gutter. */
  async glyphLines(): Promise<number[]> {
    return this.page
      .locator('.editor-group-container.active .monaco-editor')
      .first()
      .evaluate((editor) => {
        const top = (element: Element): number => Math.round(element.getBoundingClientRect().top);
        const numbers = new Map(
          [...editor.querySelectorAll('.margin .line-numbers')].map((element) => [top(element), Number(element.textContent)]),
        );
        const glyphs = [...editor.querySelectorAll<HTMLElement>('.glyph-margin-widgets .cgmr')].filter(
          (element) => getComputedStyle(element).backgroundImage !== 'none' && element.getBoundingClientRect().width > 0,
        );
        return glyphs.map((glyph) => numbers.get(top(glyph)) ?? -1).sort((a, b) => a - b);
      });
  }

  /** The texts that decorations put after lines of the active editor. */
  async textsAfterLines(): Promise<string[]> {
    return this.page
      .locator('.editor-group-container.active .monaco-editor .view-line span')
      .evaluateAll((spans) =>
        spans.map((span) => getComputedStyle(span, '::after').content).filter((content) => /%| before/.test(content)),
      );
  }

  /**
   * The texts after lines of the active editor that carry an icon in the gutter, from its first line to its last. Only
   * what is on screen can be read, so the editor is scrolled through.
   */
  async heatOfLines(): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    await this.page.keyboard.press('Control+Home');
    for (let last = -1; ;) {
      await this.page.waitForTimeout(400);
      for (const line of await this.glyphLines()) found.set(line, await this.textAfterLine(line));
      await this.page.keyboard.press('PageDown');
      await this.page.waitForTimeout(200);
      const now = Number(/Ln (\d+)/.exec(await this.page.locator('[id="status.editor.selection"]').innerText())?.[1]);
      if (now === last) return new Map([...found].sort(([a], [b]) => a - b));
      last = now;
    }
  }

  private async textAfterLine(line: number): Promise<string> {
    return this.page
      .locator('.editor-group-container.active .monaco-editor')
      .first()
      .evaluate((editor, wanted) => {
        const top = (element: Element): number => Math.round(element.getBoundingClientRect().top);
        const number = [...editor.querySelectorAll('.margin .line-numbers')].find((element) => element.textContent === String(wanted));
        const row = [...editor.querySelectorAll('.view-line')].find((element) => number && Math.abs(top(element) - top(number)) < 2);
        const texts = [...(row?.querySelectorAll('span') ?? [])].map((span) => getComputedStyle(span, '::after').content);
        const text = texts.find((content) => content !== 'none' && content !== 'normal' && content !== '""') ?? '';
        return text.replace(/^"|"$/g, '').replaceAll('\u00a0', ' ');
      }, line);
  }

  async goToLine(line: number): Promise<void> {
    await this.page.keyboard.press('Control+G');
    await this.fillQuickInput(`:${line}`);
    await this.page.keyboard.press('Enter');
    await this.waitForCursorLine(line);
  }

  /** The hover at the cursor, by its key. */
  async hoverAtCursor(): Promise<string> {
    await this.page.keyboard.press('Control+K');
    await this.page.keyboard.press('Control+I');
    const hover = this.page.locator('.monaco-hover:visible .hover-contents, .monaco-hover:visible .hover-row').first();
    await hover.waitFor({ timeout: 15_000 });
    await this.page.waitForTimeout(500);
    return (await this.page.locator('.monaco-hover:visible').first().innerText()).replaceAll('\u00a0', ' ');
  }

  /** Opens a file by double click, as a person does who does not know its editor. */
  async openFromExplorer(folder: string, name: string): Promise<void> {
    await this.page.keyboard.press('Control+Shift+E');
    await this.explorerRow(folder).click();
    await this.explorerRow(name).waitFor();
    await this.explorerRow(name).dblclick();
  }

  /** The entries of the context menu of a row. */
  async explorerMenu(name: string): Promise<string[]> {
    const entries = await this.openExplorerMenu(name);
    const texts = await entries.allInnerTexts();
    await this.page.keyboard.press('Escape');
    await entries.first().waitFor({ state: 'hidden' });
    return texts.map((text) => text.trim());
  }

  async chooseInExplorerMenu(name: string, entry: string): Promise<void> {
    const entries = await this.openExplorerMenu(name);
    await this.page.waitForTimeout(400); // a menu takes a click right after it opened for the one that opened it
    await entries.filter({ hasText: entry }).click();
  }

  private async openExplorerMenu(name: string): Promise<ReturnType<Page['locator']>> {
    await this.page.keyboard.press('Control+Shift+E');
    await this.scrollExplorerTo(name);
    await this.explorerRow(name).click({ button: 'right' });
    const entries = this.page.locator('.monaco-menu .action-label:not(.separator)');
    await entries.first().waitFor();
    return entries;
  }

  /** By the mouse: the explorer draws only the rows that fit into it, and has the focus or not. */
  private async scrollExplorerTo(name: string): Promise<void> {
    const boxOf = (selector: string): Promise<Box | null> =>
      this.page.evaluate((wanted) => {
        const box = document.querySelector(wanted)?.getBoundingClientRect();
        return box === undefined ? null : { x: box.x, y: box.y, width: box.width, height: box.height };
      }, selector);
    await this.page.waitForTimeout(200); // it scrolls to its own focused row first
    const list = await boxOf('.explorer-folders-view');
    assert.ok(list, 'the explorer is not there');
    await this.page.mouse.move(list.x + list.width / 2, list.y + list.height / 2);
    const scroll = async (pixels: number): Promise<Box | null> => {
      await this.page.mouse.wheel(0, pixels);
      await this.page.waitForTimeout(200);
      return boxOf(explorerRowSelector(name));
    };
    let drawn = await boxOf(explorerRowSelector(name));
    for (let page = 0; page < 8 && drawn === null; page++) drawn = await scroll(-list.height / 2);
    for (let page = 0; page < 16 && drawn === null; page++) drawn = await scroll(list.height / 2);
    assert.ok(drawn, `the explorer has no row ${name}`);
    // A shadow lies over the first pixels of a list that is scrolled, and a row can be cut at both of its ends.
    if (drawn.y - drawn.height < list.y) await scroll(-2 * drawn.height);
    else if (drawn.y + 2 * drawn.height > list.y + list.height) await scroll(2 * drawn.height);
    // New files appear up to a second later and push rows on: a click meanwhile would be another row's.
    for (let last = drawn.y, still = 0; still < 5;) {
      const row = await scroll(0);
      still = row?.y === last ? still + 1 : 0;
      last = row?.y ?? last;
    }
  }

  private explorerRow(name: string): ReturnType<Page['locator']> {
    return this.page.locator(explorerRowSelector(name)).first();
  }

  /** Drags an entry of the explorer onto the middle of the webview that shows `selector`, with Shift held. */
  async dragFromExplorer(name: string, selector: string): Promise<void> {
    const frame = await this.webview(selector);
    await this.page.keyboard.press('Control+Shift+E');
    await this.scrollExplorerTo(name);
    const from = await this.explorerRow(name).boundingBox();
    const to = await frame.locator('body').boundingBox();
    assert.ok(from && to);
    await this.page.mouse.move(from.x + 40, from.y + from.height / 2);
    await this.page.mouse.down();
    await this.page.mouse.move(from.x + 60, from.y + from.height / 2 + 4, { steps: 4 });
    await this.page.keyboard.down('Shift');
    await this.page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 });
    await this.page.waitForTimeout(300);
    await this.screenshot('11-drop');
    await this.page.mouse.up();
    await this.page.keyboard.up('Shift');
  }

  /** Shows the active editor group alone, or all again. */
  async toggleMaximizedGroup(): Promise<void> {
    await this.page.keyboard.press('Control+K');
    await this.page.keyboard.press('Control+M');
    await this.page.waitForTimeout(500);
  }

  /** Rests the mouse on the first occurrence of `word` in a line and returns the text of the hover that appears. */
  async hover(line: number, word: string): Promise<string> {
    const hover = this.page.locator('.monaco-hover:visible .hover-contents, .monaco-hover:visible .hover-row').first();
    // An editor that has just been opened at times shows nothing at the first rest.
    for (const timeout of [5000, 5000, 15_000]) {
      const box = await this.wordBox(line, word);
      await this.page.keyboard.press('Escape');
      await this.page.mouse.move(box.x + 300, box.y + 200);
      await this.page.locator('.monaco-hover:visible').waitFor({ state: 'hidden' });
      await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 12 });
      const shown = hover.waitFor({ timeout });
      if (timeout === 15_000) await shown;
      else if (
        await shown.then(
          () => true,
          () => false,
        )
      )
        break;
    }
    await this.page.waitForTimeout(500); // other providers' parts come and the card settles
    return (await this.page.locator('.monaco-hover:visible').first().innerText()).replaceAll('\u00a0', ' ');
  }

  private async wordBox(line: number, word: string): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await this.page.evaluate(
      ([wantedLine, wantedWord]) => {
        const editor = document.querySelector('.editor-group-container.active .monaco-editor');
        const number = [...(editor?.querySelectorAll('.margin .line-numbers') ?? [])].find(
          (element) => element.textContent === String(wantedLine),
        );
        const top = number?.getBoundingClientRect().top;
        if (!editor || top === undefined) return undefined;
        const row = [...editor.querySelectorAll('.view-line')].find((element) => Math.abs(element.getBoundingClientRect().top - top) < 2);
        const walker = row && document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
        while (walker?.nextNode()) {
          const at = walker.currentNode.textContent?.indexOf(wantedWord) ?? -1;
          if (at < 0) continue;
          const range = document.createRange();
          range.setStart(walker.currentNode, at);
          range.setEnd(walker.currentNode, at + wantedWord.length);
          const { x, y, width, height } = range.getBoundingClientRect();
          return { x, y, width, height };
        }
        return undefined;
      },
      [line, word] as const,
    );
    assert.ok(box, `line ${line} with "${word}" is not visible`);
    return box;
  }

  /** The page inside the webview that shows `selector`. */
  async webview(selector: string, patienceMs = 30_000): Promise<Frame> {
    const deadline = Date.now() + patienceMs;
    while (Date.now() < deadline) {
      for (const frame of this.page.frames()) {
        const shown = frame.locator(selector).count();
        if ((await shown.catch((error: unknown) => (frame.isDetached() ? 0 : Promise.reject(error as Error)))) > 0) return frame;
      }
      await this.page.waitForTimeout(100);
    }
    const texts = await Promise.all(this.page.frames().map((frame) => frame.locator('body').innerText({ timeout: 1000 }).catch(String)));
    throw new Error(`no webview shows ${selector}; the frames show ${JSON.stringify(texts.map((text) => text.slice(0, 300)))}`);
  }

  /** The line of the cursor, once it is another one than `not`. */
  async cursorLine({ not }: { not: number }): Promise<number> {
    const status = this.page.locator('[id="status.editor.selection"]');
    await status.filter({ hasNotText: `Ln ${not},` }).waitFor();
    return Number(/Ln (\d+)/.exec(await status.innerText())?.[1]);
  }

  async waitForCursorLine(line: number): Promise<void> {
    await this.page
      .locator('[id="status.editor.selection"]')
      .filter({ hasText: `Ln ${line},` })
      .waitFor();
  }
}
