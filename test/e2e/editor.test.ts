// The whole road in a real editor: install the package, profile the example from the palette, see it on the source.
// Environment: CACHELINE_VSCODE (version), CACHELINE_WORKSPACE (a copy of examples/ with its programs in build/), CACHELINE_SMOKE (not empty: the
// first steps alone).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../scripts/lib/host-lane.mjs';
import { extensionHostLogs, installExtension, startServer, versions, type VSCodeServer } from '../../scripts/vscode-host.mjs';
import { describeAccess } from './access';
import { describeAdvice } from './advice';
import { describeCompare } from './compare';
import { describeHostile } from './hostile';
import { describeLayout } from './layout';
import { describeLooks } from './looks';
import { describeLongList } from './long-list';
import { describeMachine } from './machine';
import { describePanelTabs } from './panel-tabs';
import { describeRecording } from './recording';
import { describeReload } from './reload';
import { describeRestricted } from './restricted';
import { describeRows } from './rows';
import { describeTranslated } from './translated';
import { vsixFile } from './vsix';
import { describeWalkthrough } from './walkthrough';
import { Window } from './window';

const EXAMPLE = 'reader_writer-contended';
/** Enough to see it run for some seconds. */
const ROUNDS = '120000000';
const SOURCE = 'reader_writer/contended.c';

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run \`npm run test:e2e\``);
  return value;
}

const version = versions.find(({ name }) => name === needed('CACHELINE_VSCODE'));
if (version === undefined) throw new Error(`scripts/vscode-host.mjs knows no VS Code ${needed('CACHELINE_VSCODE')}`);
const workspace = needed('CACHELINE_WORKSPACE');

/** The number of the line that carries a marker comment. */
function markedLine(marker: string): number {
  const lines = readFileSync(path.join(workspace, SOURCE), 'utf8').split('\n');
  const index = lines.findIndex((line) => line.endsWith(`// ${marker}`));
  assert.ok(index >= 0, `${SOURCE} has no marker ${marker}`);
  return index + 1;
}

describe(`VS Code ${version.name}`, function () {
  this.bail(true); // each step starts where the one before ended
  const writes = markedLine('@contended messages_written');
  const reads = markedLine('@contended messages_read');
  let dataFolder: string;
  let server: VSCodeServer | undefined;
  let browser: Browser | undefined;
  let window: Window;
  const screenshots = path.resolve(__dirname, '../../test-results', version.name);

  const newPage = async (): Promise<Page> => {
    assert.ok(browser);
    return browser.newPage({ viewport: { width: 1600, height: 900 } });
  };

  before(async () => {
    dataFolder = mkdtempSync(path.join(tmpdir(), 'cacheline-e2e-'));
    mkdirSync(path.join(dataFolder, 'data'));
    await installExtension(version, dataFolder, vsixFile());
    // What contention costs on this machine: without it no gain is predicted.
    const env = { XDG_CACHE_HOME: path.join(dataFolder, 'cache') };
    execFileSync(process.execPath, [path.resolve(__dirname, '../../bin/cacheline'), 'doctor', '--calibrate'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    server = await startServer(version, { dataFolder, settings: { 'editor.minimap.enabled': false }, env });
    browser = await openBrowser();
    window = new Window(await newPage(), screenshots);
    await window.open(server.url(workspace));
  });

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') {
      await window.screenshot(`failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
      console.error(await extensionHostLogs(dataFolder));
    }
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('profiles a program from the command palette', async () => {
    await window.openFile(SOURCE);
    await window.page.keyboard.press('Control+B'); // room for code and panel side by side
    assert.deepEqual(await window.glyphLines(), []);
    await window.runCommand('Cacheline: Profile for False Sharing');
    await window.fillQuickInput(EXAMPLE);
    await window.quickItem(EXAMPLE).waitFor();
    await window.screenshot('1-choose-program');
    await window.page.keyboard.press('Enter');
    await window.acceptInput(/Arguments/, ROUNDS);
    await window.acceptInput(/Working folder/);
    const toast = window.page.locator('.notifications-toasts').getByText(`Profiling ${EXAMPLE}`);
    await toast.filter({ hasText: /\d samples/ }).waitFor();
    await window.screenshot('2-recording');
    await window.page
      .locator('.notifications-toasts')
      .getByText(new RegExp(`${EXAMPLE}: .*false sharing`))
      .waitFor({ timeout: 60_000 });
    await window.webview('.row.line');
    await window.screenshot('3-window');
  });

  it('marks the contended lines in the gutter', async () => {
    await window.runCommand('Notifications: Clear All Notifications');
    await window.page
      .locator(`.tab[data-resource-name="${path.basename(SOURCE)}"]`)
      .first()
      .click();
    await window.page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
    assert.deepEqual(await window.glyphLines(), [writes, reads]);
    await window.toggleMaximizedGroup();
    const texts = await window.textsAfterLines();
    assert.equal(texts.length, 2);
    for (const text of texts) assert.match(text, /\d%.of.contended.samples/);
    await window.screenshot('4-gutter');
  });

  it('tells in the hover who writes which variable at which offset', async () => {
    const atWrite = await window.hover(writes, 'messages_written');
    await window.screenshot('5-hover');
    assert.match(atWrite, /false sharing/);
    assert.match(atWrite, /0–7\s+messages_written\s/);
    assert.match(atWrite, /8–15\s+messages_read\s/);
    assert.match(atWrite, /writes/);
    assert.match(atWrite, /evidence: clock/);
    const atDefinition = await window.hover(markedLine('@variable messages_read'), 'messages_read');
    await window.screenshot('5-hover-definition');
    assert.match(atDefinition, /messages_read: false sharing/);
    assert.match(atDefinition, /8–15\s+messages_read\s/);
    assert.ok(atDefinition.includes(`${path.basename(SOURCE)}:${reads}`), atDefinition);
    await window.page.mouse.move(5, 5);
    await window.toggleMaximizedGroup();
  });

  it('lists the line in the panel and opens its source on a double click', async () => {
    const panel = await window.webview('.row.line');
    const answer = panel.locator('.answer');
    assert.match(await answer.locator('.summary').innerText(), /% of the program's samples .* false sharing\.$/);
    await answer.getByRole('button', { name: 'Preview Fix' }).waitFor({ timeout: 60_000 });
    assert.match(await answer.locator('.remedy .title').innerText(), /^Give .*'messages_(written|read)'/);
    const collector = panel.getByText('Collector', { exact: true });
    assert.ok(!(await collector.isVisible()), 'where numbers come from is folded');
    const provenance = panel.locator('.provenance > summary');
    assert.match(await provenance.innerText(), /Clock samples, [\d,]+ in \d+\.\d s/);
    await provenance.click();
    await collector.waitFor();
    await provenance.press('Enter');
    await collector.waitFor({ state: 'hidden' });
    const link = panel.locator('header .look button').first();
    const looked = /:(\d+)\)$/.exec(await link.innerText());
    await link.click();
    await window.waitForCursorLine(Number(looked?.[1]));
    await window.screenshot('6-answer');
    const row = panel.locator('.row.line').first();
    assert.match(await row.innerText(), /messages_written[^]*false sharing/);
    const titles = await panel.locator('.titles .column').allInnerTexts();
    assert.deepEqual(
      [titles[0], titles[1], titles[2], titles.at(-1)].map((title) => title?.trim()),
      ['Data', 'Verdict', 'Share', 'Line'],
    );
    assert.ok(await row.locator('.share .bar').isVisible(), 'bars beside an editor, too');
    // Both lines cost about the same: the row opens the costlier one of this run.
    await row.dblclick();
    assert.ok([writes, reads].includes(await window.cursorLine({ not: 1 })));
    assert.equal(await row.getAttribute('aria-selected'), 'true');
    assert.equal(await row.getAttribute('aria-expanded'), 'true');
    // The panel gets narrower as the source opens beside it: a click at that very moment may miss.
    const accesses = panel.locator('.row.access');
    const areThere = (): Promise<boolean> =>
      accesses
        .first()
        .waitFor({ timeout: 5000 })
        .then(
          () => true,
          () => false,
        );
    for (let tries = 0; tries < 3 && !(await areThere()); ++tries) await row.locator('.twisty').click();
    for (const [variable, line] of [
      ['messages_written', writes],
      ['messages_read', reads],
    ] as const) {
      await accesses.filter({ hasText: variable }).first().locator('.place').click();
      await window.waitForCursorLine(line);
    }
    await window.screenshot('6-panel');
    const detail = await panel.locator('.row.detail').boundingBox();
    const next = await accesses.first().boundingBox();
    assert.ok(detail && next && Math.abs(detail.y + detail.height - next.y) < 1.5, 'its words take the lines they need');
  });

  it('filters the table, with completion, chips and errors in words', async () => {
    const panel = await window.webview('.row.line');
    const rows = panel.locator('.row.line');
    const box = panel.getByRole('combobox', { name: 'Filter' });
    const before = await rows.count();
    await box.fill('ver');
    await panel.getByRole('option', { name: 'verdict:' }).waitFor();
    await box.press('ArrowDown');
    await box.press('Tab');
    assert.equal(await box.inputValue(), 'verdict:');
    await panel.getByRole('option', { name: 'verdict:true' }).waitFor();
    await window.screenshot('6-filter-completion');
    await box.fill('verdict:wrong');
    await box.press('Enter');
    assert.match(await panel.getByRole('alert').innerText(), /'verdict:wrong' is not a verdict/);
    assert.equal(await rows.count(), before);
    await box.fill('verdict:false object:messages_read');
    await box.press('Enter');
    const chip = panel.getByRole('button', { name: 'Remove object:messages_read' });
    await chip.waitFor();
    assert.equal(await rows.count(), 1);
    await window.screenshot('6-filter');
    await box.fill('verdict:false object:nothing');
    await box.press('Enter');
    await panel.getByText('The filter leaves nothing to show').waitFor();
    assert.equal(await rows.count(), 0);
    await panel.getByRole('button', { name: 'Remove object:nothing' }).click();
    await rows.first().waitFor();
    await panel.getByRole('button', { name: 'Remove verdict:false' }).click();
    await panel.locator('.chips').waitFor({ state: 'detached' });
    assert.equal(await rows.count(), before);
  });

  it('says which metrics clock samples do not have, and why', async () => {
    await window.runCommand('Cacheline: Heat Metric');
    const missing = window.quickItem('HITMs or peer hits');
    await missing.waitFor();
    assert.match(await missing.innerText(), /needs a memory PMU/);
    assert.match(await window.quickItem('Contended share').innerText(), /shown now/);
    await window.screenshot('6-heat-metric-clock');
    await window.page.keyboard.press('Escape');
  });

  if (process.env['CACHELINE_SMOKE']) {
    describeLayout({ window: () => window, workspace });
    return;
  }
  describeRows({ window: () => window });
  describePanelTabs({ window: () => window, workspace }, EXAMPLE, [writes, reads]);
  describeLooks(() => window);
  describeLayout({ window: () => window, workspace });
  describeAdvice({ window: () => window, workspace });
  describeCompare({ window: () => window, workspace });
  describeRecording({ window: () => window, workspace });
  describeLongList({ window: () => window, workspace });
  describeMachine({ window: () => window, workspace });
  describeWalkthrough(() => window);
  describeAccess(() => window);
  describeHostile({ window: () => window, workspace });
  describeReload({
    ...{ window: () => window, workspace, screenshots },
    newPage,
    url: () => server!.url(workspace),
  });
  describeRestricted({ version, workspace, screenshots, newPage });
  describeTranslated({
    browser: () => browser!,
    url: () => server!.url(workspace),
    extensions: () => path.join(dataFolder, 'extensions'),
    ...{ screenshots, source: SOURCE, line: writes, word: 'messages_written', program: EXAMPLE },
  });
});
