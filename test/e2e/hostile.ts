// The steps with a program whose names look like markup, links, icons and terminal escapes: nowhere in the window do they become any of
// that.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Frame } from 'playwright-core';
import { buildHostileProgram, UNPRINTABLE } from '../fixtures/hostile-program';
import type { Window } from './window';

const FOLDER = 'hostile';
/** What the names would be if they were no text: an image, a link to a command, an icon. */
const MADE = 'img[src="x"], a[href*="command:workbench"], a[data-href*="command:workbench"], .codicon-alert, .codicon-bug';
const TABS = ['Data', 'Functions', 'Threads', 'Source', 'Timeline', 'Lines'];
const IN_PROGRAM = '<img src=x>';
const VARIABLE = '<img src=x onerror=alert(1)>';
const TYPE = 'struct [type](command:workb';

export interface HostileSteps {
  /** Known when the steps run. */
  window: () => Window;
  workspace: string;
}

export function describeHostile({ window, workspace }: HostileSteps): void {
  describe('with names that look like something else', () => {
    const dialogs: string[] = [];
    const nothingMade = async (where: string): Promise<void> => {
      for (const frame of window().page.frames()) {
        const made = await frame.locator(MADE).evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML));
        assert.deepEqual(made, [], where);
      }
      assert.deepEqual(dialogs, [], where);
    };
    const plain = async (frame: Frame, where: string): Promise<void> => {
      assert.doesNotMatch(await frame.locator('body').innerText(), UNPRINTABLE, where);
    };

    before(async () => {
      mkdirSync(path.join(workspace, FOLDER));
      buildHostileProgram(path.join(workspace, FOLDER));
      window().page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await window().runCommand('View: Close All Editors');
      await window().openFile(`${FOLDER}/hostile.c`);
    });

    it('the list of programs and notifications show them as text', async () => {
      const { page } = window();
      await window().runCommand('Notifications: Clear All Notifications');
      await window().runCommand('Cacheline: Profile for False Sharing');
      await window().fillQuickInput(IN_PROGRAM);
      await window().quickItem(IN_PROGRAM).waitFor();
      await nothingMade('the list');
      await page.keyboard.press('Enter');
      await window().acceptInput(/Arguments/);
      await window().acceptInput(/Working folder/);
      const toasts = page.locator('.notifications-toasts');
      await toasts.getByText(`Profiling ${IN_PROGRAM}`).waitFor();
      await nothingMade('what is said meanwhile');
      await toasts.getByText(/false sharing/).waitFor({ timeout: 60_000 });
      assert.ok((await toasts.innerText()).includes(IN_PROGRAM));
      await nothingMade('what is said at the end');
      await window().screenshot('18-hostile-notification');
    });

    it('so does the panel in each of its tabs', async () => {
      const panel = await window().webview('.row.line');
      assert.ok((await panel.locator('.row.line').first().innerText()).includes(VARIABLE));
      for (const tab of TABS) {
        await panel.getByRole('tab', { name: tab, exact: true }).click();
        await panel.locator('.tab-scroll table, .timeline, .row.line').first().waitFor();
        await nothingMade(tab);
        await plain(panel, tab);
      }
      await panel.locator('.row.line').first().locator('.share').click();
      await panel.locator('.line-detail').waitFor();
      await nothingMade('a line in full');
      await plain(panel, 'a line in full');
      await window().screenshot('18-hostile-panel');
    });

    it('so do hovers and the tree', async () => {
      await window().showTab('hostile.c');
      const lines = readFileSync(path.join(workspace, FOLDER, 'hostile.c'), 'utf8').split('\n');
      const text = await window().hover(lines.findIndex((line) => line.includes('.plain++')) + 1, 'hostile_variable_');
      assert.ok(text.includes(VARIABLE), text);
      await nothingMade('the hover');
      await window().screenshot('18-hostile-hover');
      await window().runCommand('Cacheline: Focus on Contended Data View');
      await window().page.locator('.pane-body .monaco-list-row').filter({ hasText: TYPE }).first().waitFor();
      await nothingMade('the tree');
      await window().screenshot('18-hostile-tree');
    });
  });
}
