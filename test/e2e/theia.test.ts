// The package in Eclipse Theia (docs/editor.md says what Theia lacks): profile an example, see it in gutter, hover and panel, apply a fix.
// Environment: CACHELINE_WORKSPACE (a copy of examples/ with its programs in build/). Not part of CI: `npm run test:theia`.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Frame, Locator, Page } from 'playwright-core';
import { openBrowser } from '../../scripts/lib/host-lane.mjs';
import { startTheia, theiaVersion, type TheiaServer } from '../../scripts/theia-host.mjs';
import { vsixFile } from './vsix';

const EXAMPLE = 'producer_limit-contended';
const SOURCE = 'producer_limit/contended.c';
const MEMBER = '  atomic_long limit;';
const ALIGNED = '  _Alignas(64) atomic_long limit;';
const screenshots = path.resolve(__dirname, '../../test-results', `theia-${theiaVersion}`);

describe(`Eclipse Theia ${theiaVersion}`, function () {
  this.bail(true); // each step starts where the one before ended
  const workspace = process.env.CACHELINE_WORKSPACE;
  if (workspace === undefined) throw new Error('CACHELINE_WORKSPACE is not set: run `npm run test:theia`');
  const onDisk = (): string => readFileSync(path.join(workspace, SOURCE), 'utf8');
  let configFolder: string;
  let server: TheiaServer | undefined;
  let browser: Browser | undefined;
  let page: Page;

  before(async () => {
    mkdirSync(screenshots, { recursive: true });
    configFolder = mkdtempSync(path.join(tmpdir(), 'cacheline-theia-'));
    server = await startTheia({ workspace, configFolder, vsix: vsixFile() });
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    await page.goto(server.url);
    await page.locator('.theia-app-centers, #theia-app-shell').first().waitFor({ timeout: 60_000 });
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    await screenshot(`failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
    if (server) console.error(readFileSync(server.log, 'utf8').slice(-4000));
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(configFolder, { recursive: true, force: true, maxRetries: 5 });
  });

  const screenshot = (name: string): Promise<Buffer> => page.screenshot({ path: path.join(screenshots, `${name}.png`) });
  const input = (): Locator => page.locator('.quick-input-widget:visible .quick-input-box input').first();
  const item = (text: string): Locator => page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  const editor = (): Locator => page.locator('#theia-main-content-panel .monaco-editor:visible').first();

  /** The palette has the commands that there were when it was opened: extensions bring theirs some seconds after the window. */
  async function runCommand(title: string): Promise<void> {
    for (const deadline = Date.now() + 60_000; ;) {
      await page.keyboard.press('F1');
      const isThere = await (async () => {
        await input().fill(`>${title}`, { timeout: 3000 });
        await item(title).waitFor({ timeout: 3000 });
      })().then(
        () => true,
        (error: unknown) => Date.now() > deadline && Promise.reject(error as Error),
      );
      if (isThere) break;
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('Enter');
  }

  async function webview(selector: string): Promise<Frame> {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
      for (const frame of page.frames()) if ((await frame.locator(selector).count()) > 0) return frame;
      await page.waitForTimeout(100);
    }
    throw new Error(`no webview shows ${selector}`);
  }

  it('profiles a program from the command palette', async () => {
    await runCommand('Cacheline: Profile for False Sharing');
    await input().fill(EXAMPLE);
    await item(EXAMPLE).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-message').filter({ hasText: 'Arguments' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.quick-input-message').filter({ hasText: 'Working folder' }).waitFor();
    await page.keyboard.press('Enter');
    await page
      .locator('.theia-notification-list-item')
      .filter({ hasText: new RegExp(`${EXAMPLE}: .*sharing`) })
      .first()
      .waitFor({ timeout: 60_000 });
    await screenshot('1-profiled');
  });

  it('shows the answer and the lines in the panel, and opens the source', async () => {
    const panel = await webview('.row.line');
    assert.match(await panel.locator('.row.line').first().innerText(), /sharing/);
    await panel.locator('header .look button').first().click();
    await editor().locator('.view-line').first().waitFor();
    await screenshot('2-panel');
  });

  it('marks the contended lines in the gutter', async () => {
    await editor().locator('.glyph-margin-widgets .cgmr').first().waitFor();
    await screenshot('3-gutter');
  });

  it('tells in the hover who writes', async () => {
    const word = editor().locator('.view-line').filter({ hasText: '@contended queue.limit' }).first();
    const box = await word.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 12 });
    const hover = page.locator('.monaco-hover:visible').first();
    await hover.waitFor({ timeout: 30_000 });
    assert.match(await hover.innerText(), /sharing/);
    await screenshot('4-hover');
  });

  it('makes the edit of a quick fix', async () => {
    const original = onDisk();
    await editor().locator('.view-line').filter({ hasText: '@contended queue.limit' }).first().click();
    const fix = page
      .locator('.action-widget:visible .monaco-list-row.action')
      .filter({ hasText: /^Give / })
      .first();
    for (const deadline = Date.now() + 60_000; ;) {
      await page.keyboard.press('Control+.');
      const isThere = await fix.waitFor({ timeout: 5000 }).then(
        () => true,
        (error: unknown) => Date.now() > deadline && Promise.reject(error as Error),
      );
      if (isThere) break;
      await page.keyboard.press('Escape');
    }
    await screenshot('5-quick-fix');
    // By keys: what lies over the list takes clicks.
    const focused = page.locator('.action-widget:visible .monaco-list-row.action.focused');
    for (let tries = 0; !/^Give /.test((await focused.innerText()).trim()); ++tries) {
      assert.ok(tries < 20, 'no entry of the list can be chosen');
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
    await editor().locator('.view-line').filter({ hasText: ALIGNED.trim() }).waitFor();
    await screenshot('6-applied');
    await page.keyboard.press('Control+S');
    for (const deadline = Date.now() + 20_000; onDisk() === original && Date.now() < deadline;) await page.waitForTimeout(50);
    assert.equal(onDisk(), original.replace(MEMBER, ALIGNED));
  });
});
