// The steps in Restricted Mode, in a server of its own: what a folder that nobody trusts cannot make us start, and what is shown all the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { installExtension, startServer, type VSCodeServer, type VSCodeVersion } from '../../scripts/vscode-host.mjs';
import { vsixFile } from './vsix';
import { Window } from './window';

const root = path.resolve(__dirname, '../..');
const RECORDING = 'foreign.perf.data';
const SOURCE = 'descriptor/contended.c';
const DEFINITION = 'struct descriptor {';
const REFUSED = /^Recording is off in an untrusted workspace/;

export interface RestrictedSteps {
  version: VSCodeVersion;
  workspace: string;
  screenshots: string;
  newPage: () => Promise<Page>;
}

export function describeRestricted({ version, workspace, screenshots, newPage }: RestrictedSteps): void {
  describe('in Restricted Mode', () => {
    const settings = path.join(workspace, '.vscode/settings.json');
    /** What the folder's settings would have us start makes it. */
    const made = path.join(workspace, 'made-by-settings');
    const seen = new Set<string>();
    let watching: NodeJS.Timeout;
    let dataFolder: string;
    let server: VSCodeServer | undefined;
    let window: Window;

    before(async () => {
      const synth = path.join(root, 'build/release/native/tests/cacheline_synth');
      const binary = ['--binary', path.join(workspace, 'build/descriptor-contended'), '--codes', '24'];
      execFileSync(synth, ['intel', '-o', path.join(workspace, RECORDING), ...binary, '--samples', '20000', '--lines', '30']);
      mkdirSync(path.dirname(settings), { recursive: true });
      const launch = [{ name: 'of the folder', program: '/usr/bin/touch', args: [made] }];
      writeFileSync(settings, JSON.stringify({ 'cacheline.launch': launch }));
      dataFolder = mkdtempSync(path.join(tmpdir(), 'cacheline-restricted-'));
      mkdirSync(path.join(dataFolder, 'data'));
      await installExtension(version, dataFolder, vsixFile());
      server = await startServer(version, { dataFolder, restricted: true });
      watching = setInterval(() => programsOf(workspace).forEach((program) => seen.add(program)), 20);
      window = new Window(await newPage(), screenshots);
      await window.open(server.url(workspace));
    });

    after(async () => {
      clearInterval(watching);
      await window.page.close();
      await server?.stop();
      rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 });
      rmSync(path.dirname(settings), { recursive: true });
    });

    it('refuses to start a program, in words and before it asks for anything', async () => {
      const { page } = window;
      await page.locator('.statusbar-item').getByText('Restricted Mode').waitFor();
      await window.runCommand('Cacheline: Show Contended Lines');
      const empty = await window.webview('main.empty', 60_000);
      await empty.getByRole('button', { name: 'Profile a Program' }).click();
      await page.locator('.notifications-toasts').getByText(REFUSED).waitFor();
      await window.screenshot('18-restricted-refused');
      assert.ok(!(await page.locator('.quick-input-widget').isVisible()));
      await window.runCommand('Notifications: Clear All Notifications');
      await window.runCommand('Cacheline: Check This Machine');
      const machine = await window.webview('table.collectors');
      await machine.getByRole('button', { name: 'Run Self-Test' }).click();
      await machine.getByText(/Recording is off in an untrusted workspace/).waitFor();
    });

    it('opens a recording, and marks its sources', async () => {
      await window.runCommand('View: Close All Editors');
      const panel = await window.openRecording(RECORDING);
      await panel.locator('.row.line').first().waitFor();
      await window.openFile(SOURCE);
      await window.page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
      const [line = 0] = await window.glyphLines();
      await window.goToLine(line);
      assert.match(await window.hoverAtCursor(), /evidence: hitm/);
      await window.screenshot('18-restricted');
    });

    it('shows how a type of the recorded program lies on cache lines', async () => {
      const lines = readFileSync(path.join(workspace, SOURCE), 'utf8').split('\n');
      const text = await window.hover(lines.indexOf(DEFINITION) + 1, 'descriptor');
      await window.screenshot('18-restricted-layout');
      assert.match(text, /struct descriptor · 24 bytes on 1 cache line/);
    });

    it('no program of the folder or of its settings ran meanwhile', () => {
      assert.deepEqual([...seen], []);
      assert.ok(!existsSync(made));
    });
  });
}

/** Programs below the folder that run now, by their paths. */
function programsOf(folder: string): string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(programOf).filter((program) => program.startsWith(`${folder}/`));
}

function programOf(id: string): string {
  try {
    return readlinkSync(`/proc/${id}/exe`);
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''; // ended, or the kernel's own
    throw error;
  }
}
