// The steps with a recording of another machine's memory PMU: opened from the explorer, its numbers in the table and on the
// source lines are those of the JSON report; another metric; a drop on the panel.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Access, Report } from '../../extension/protocol/report';
import type { Window } from './window';

const root = path.resolve(__dirname, '../..');
const FOLDER = 'server-recordings';
const MENU_ENTRY = 'Open as Cache-Line Profile';
const SOURCES = ['reader_writer/contended.c', 'common.h'];

export interface RecordingSteps {
  /** Known when the steps run. */
  window: () => Window;
  workspace: string;
}

/** Writes the recording into the workspace, and copies of it under other names. */
export function makeRecording(workspace: string): string {
  const file = path.join(workspace, FOLDER, 'perf.data');
  mkdirSync(path.dirname(file));
  const binary = path.join(workspace, 'build/reader_writer-contended');
  const synth = path.join(root, 'build/release/native/tests/cacheline_synth');
  execFileSync(synth, ['intel', '-o', file, '--binary', binary, '--samples', '20000', '--lines', '30', '--codes', '24']);
  copyFileSync(file, path.join(workspace, 'other name'));
  mkdirSync(path.join(workspace, 'copy.cacheline'));
  copyFileSync(file, path.join(workspace, 'copy.cacheline/perf.data'));
  return file;
}

const hitms = ({ hitm }: Pick<Access, 'hitm'>): number => (hitm?.local ?? 0) + (hitm?.remote ?? 0);
const english = (value: number): string => value.toLocaleString('en-US');

/** What the report says of the lines of a file: HITMs, or of lines that have none and store, those of the cache lines. */
function expectedHeat(report: Report, file: string): Map<number, { hitms: number; caused: number }> {
  const lines = new Map<number, { hitms: number; written: Set<string>; caused: number }>();
  for (const cacheLine of report.lines) {
    for (const access of cacheLine.accesses) {
      const places = [access, ...access.inlined].filter((place) => place.file === file && place.line > 0);
      for (const line of new Set(places.map((place) => place.line))) {
        const there = lines.get(line) ?? { hitms: 0, written: new Set(), caused: 0 };
        lines.set(line, there);
        there.hitms += hitms(access);
        const id = `${cacheLine.space} ${cacheLine.address}`;
        if (access.stores.total > 0 && !there.written.has(id)) {
          there.written.add(id);
          there.caused += hitms(cacheLine);
        }
      }
    }
  }
  return new Map([...lines].filter(([, { hitms: own, caused }]) => own > 0 || caused > 0).sort(([a], [b]) => a - b));
}

export function describeRecording({ window, workspace }: RecordingSteps): void {
  describe('with a recording of perf c2c', () => {
    let report: Report;

    before(() => {
      const file = makeRecording(workspace);
      const json = execFileSync(path.join(root, 'bin/cacheline'), ['report', file, '--format', 'json'], {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
      });
      report = JSON.parse(json) as Report;
      assert.ok(report.evidence.includes('hitm') && report.lines.length > 5);
    });

    it('opens it from the explorer, with the numbers of the JSON report', async () => {
      await window().runCommand('View: Close All Editors');
      await window().openFromExplorer(FOLDER, 'perf.data');
      const page = await window().webview('.sources .row.line');
      const [first] = report.lines;
      assert.ok(first);
      assert.ok((await page.locator('.row.line').count()) >= 5);
      const titles = (await page.locator('.titles').last().locator('.column').allInnerTexts()).map((text) => text.trim());
      const cells = (await page.locator('.row.line').first().locator('.column').allInnerTexts()).map((text) => text.trim());
      const cell = (title: string): string | undefined => cells[titles.indexOf(title)];
      assert.equal(cell('Line'), first.address);
      assert.equal(cell('Records'), english(first.records));
      assert.equal(cells[titles.indexOf('Total')], english(first.hitm?.total ?? -1), 'the first total is that of HITMs');
      for (const [index, line] of report.lines.slice(0, 5).entries())
        assert.equal(await page.locator('.row.line').nth(index).locator('.address').innerText(), line.address);
      await page.locator('.row.line .twisty').first().click();
      await window().screenshot('7-recording');
    });

    it('decorates every source line of the report with its number', async () => {
      for (const source of SOURCES) {
        await window().openFile(source);
        await window().page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
        const shown = await window().heatOfLines();
        const expected = expectedHeat(report, path.join(workspace, source));
        assert.ok(expected.size > 2, `${source} has ${expected.size} lines in the report`);
        assert.deepEqual([...shown.keys()], [...expected.keys()], source);
        for (const [line, { hitms: own, caused }] of expected) {
          const text = own > 0 ? `${english(own)} HITM${own === 1 ? '' : 's'} (` : `stores to lines with ${english(caused)} HITM`;
          assert.ok(shown.get(line)?.startsWith(text), `${source}:${line}: ${shown.get(line)} is not ${text}…`);
        }
        await window().screenshot(`8-decorated-${path.basename(source)}`);
      }
    });

    it('tells in the hover how many HITMs, how slow, and who', async () => {
      const [source = ''] = SOURCES;
      await window().openFile(source);
      const expected = [...expectedHeat(report, path.join(workspace, source))];
      const [line, { hitms: own }] = expected.reduce((a, b) => (b[1].hitms > a[1].hitms ? b : a));
      await window().goToLine(line);
      const text = await window().hoverAtCursor();
      await window().screenshot('9-hover-hitm');
      assert.ok(text.includes(`${english(own)} of the `), text);
      assert.match(text, /cycles on average\./);
      assert.match(text, /evidence: hitm, latency/);
    });

    it('heats by latency where that is chosen', async () => {
      await window().runCommand('Cacheline: Heat Metric');
      await window().quickItem('Latency').waitFor();
      await window().screenshot('10-heat-metric');
      await window().fillQuickInput('Latency');
      await window().page.keyboard.press('Enter');
      await window().page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
      await window().page.waitForFunction(() =>
        [...document.querySelectorAll('.monaco-editor .view-line span')].some((span) =>
          getComputedStyle(span, '::after').content.includes('cycles'),
        ),
      );
      await window().runCommand('Cacheline: Heat Metric');
      await window().fillQuickInput('HITMs');
      await window().page.keyboard.press('Enter');
    });

    it('opens by the explorer’s menu any file, and recordings’ folders', async () => {
      await window().runCommand('View: Close All Editors');
      assert.ok(!(await window().explorerMenu('reader_writer')).includes(MENU_ENTRY), 'an entry for another folder');
      await window().chooseInExplorerMenu('other name', MENU_ENTRY);
      await window().webview('.sources .row.line');
      await window().runCommand('View: Close All Editors');
      await window().chooseInExplorerMenu('copy.cacheline', MENU_ENTRY);
      const page = await window().webview('.sources .row.line');
      assert.equal(await page.locator('h1').innerText(), 'copy');
    });

    it('opens what is dragged from the explorer onto the panel with Shift held', async () => {
      await window().runCommand('View: Close All Editors');
      await window().runCommand('Cacheline: Clear');
      await window().runCommand('Cacheline: Show Contended Lines');
      const empty = await window().webview('main.empty');
      await empty.getByRole('button', { name: 'Open a Recording' }).click();
      await window().page.getByPlaceholder('Choose a recording').waitFor();
      await window().page.keyboard.press('Escape');
      await window().dragFromExplorer('perf.data', 'main.empty');
      const page = await window().webview('.sources .row.line');
      assert.equal(await page.locator('.row.line .address').first().innerText(), report.lines[0]?.address);
    });
  });
}
