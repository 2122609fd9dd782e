// The steps with advice: a lightbulb on the contended line and on the type's definition, the preview of the edit, one undo, and the same
// program built from the edited source, which nothing waits in any more.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import type { Window } from './window';

export const PROGRAM = 'advised-queue';
/** Of the edited source. It has a name of its own, so that both recordings have. */
export const EDITED_PROGRAM = 'advised-queue-edited';
export const SOURCE = 'advised/queue.c';
/** Which of both waits more is up to the run. */
const TITLE = /^Give .*'limit'.* cache lines? of (?:its|their) own(?: \(predicted (?:up to )?\d+\.\dx\))?$/;
const MEMBER = '  atomic_long limit;';
const ALIGNED = '  _Alignas(64) atomic_long limit;';
/** Until the engine has answered, and until a program has run and was read: on a machine that is busy with other work. */
const PATIENCE_MS = 60_000;

export interface AdviceSteps {
  /** Known when the steps run. */
  window: () => Window;
  workspace: string;
}

export function describeAdvice({ window, workspace }: AdviceSteps): void {
  describe('with a change that ends the waiting', () => {
    const file = path.join(workspace, SOURCE);
    const onDisk = (): string => readFileSync(file, 'utf8');
    let original: string;

    const lineOf = (text: string): number => {
      const index = original.split('\n').findIndex((line) => line.includes(text));
      assert.ok(index >= 0, `${SOURCE} has no line with ${text}`);
      return index + 1;
    };
    /** As a person builds it who reads the source. */
    const build = (program: string): void => {
      const options = ['-std=c11', '-D_POSIX_C_SOURCE=200809L', '-O2', '-g', '-pthread', '-I', workspace];
      execFileSync('gcc', [...options, '-o', path.join(workspace, 'build', program), file]);
    };
    const save = async (text: string): Promise<void> => {
      await window().page.keyboard.press('Control+S');
      for (const deadline = Date.now() + PATIENCE_MS; onDisk() !== text && Date.now() < deadline;) await window().page.waitForTimeout(50);
      assert.equal(onDisk(), text);
    };
    const shown = (text: string): Locator =>
      window().page.locator('.editor-group-container.active .editor-instance .view-line').filter({ hasText: text.trim() });
    const comparison = (): Locator => window().page.locator('.monaco-diff-editor:visible');

    before(async () => {
      mkdirSync(path.dirname(file), { recursive: true });
      copyFileSync(path.join(workspace, 'producer_limit/contended.c'), file);
      original = onDisk();
      build(PROGRAM);
      await window().runCommand('View: Close All Editors');
      await window().openFile(SOURCE);
      await window().profile(PROGRAM);
      await window().showTab(path.basename(SOURCE));
      await window().page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
    });

    it('has a lightbulb on the contended line and on the definition', async () => {
      for (const [text, picture] of [
        ['@contended queue.limit', '8-lightbulb-line'],
        ['struct queue {', '8-lightbulb-definition'],
      ] as const) {
        const titles = (await window().clickLightbulb(lineOf(text), PATIENCE_MS)).filter((title) => title.includes('cache line'));
        await window().screenshot(picture);
        await window().page.keyboard.press('Escape');
        const [fix = ''] = titles;
        assert.match(fix, TITLE);
        assert.deepEqual(titles, [fix, `Preview: ${fix}`]);
      }
    });

    it('previews the edit beside the source', async () => {
      await window().quickFixes(lineOf('struct queue {'));
      await window().chooseQuickFix(/^Preview: Give /);
      const after = comparison().locator('.editor.modified');
      await after.locator('.view-line').filter({ hasText: ALIGNED.trim() }).waitFor();
      await after.locator('.line-insert').first().waitFor();
      const toast = window()
        .page.locator('.notifications-toasts')
        .getByText(/^Give .* of (?:its|their) own/);
      await toast.waitFor();
      await window().screenshot('8-preview');
      const words = (await toast.innerText()).replaceAll('\u00a0', ' ');
      assert.match(words, /Each object grows by 112 bytes\b/);
      assert.match(words, /touches 2 cache lines instead of 1\./);
      assert.match(await window().page.locator('.tab.active').first().innerText(), /Preview: Give .* of (?:its|their) own/);
      assert.equal(onDisk(), original, 'a preview edits nothing');
    });

    it('applies it, and takes it back by one undo', async () => {
      await window().page.locator('.editor-actions').getByRole('button', { name: 'Apply Advice' }).click();
      await comparison().waitFor({ state: 'detached' });
      await shown(ALIGNED).waitFor();
      await window().screenshot('8-applied');
      await window().page.keyboard.press('Control+Z');
      await shown(ALIGNED).waitFor({ state: 'detached' });
      await shown(MEMBER).waitFor();
      await save(original);
      await window().page.keyboard.press('Control+Y');
      await shown(ALIGNED).waitFor();
      await save(original.replace(MEMBER, ALIGNED));
    });

    it('finds nothing that waits when the edited program is profiled', async () => {
      build(EDITED_PROGRAM);
      const said = await window().profile(EDITED_PROGRAM);
      await window().screenshot('8-fixed');
      assert.doesNotMatch(said, /sharing \d/);
      await window().showTab(path.basename(SOURCE));
      await window().runCommand('Cacheline: Preview Advice');
      await window()
        .page.locator('.notifications-toasts')
        .getByText(/^No advice: /)
        .waitFor({ timeout: PATIENCE_MS });
      assert.deepEqual(await window().glyphLines(), []);
      for (const text of ['@contended queue.limit', 'struct queue {']) {
        const titles = await window().quickFixes(lineOf(text));
        await window().page.keyboard.press('Escape');
        assert.deepEqual(
          titles.filter((title) => title.includes('cache line')),
          [],
        );
      }
      await window().screenshot('8-fixed-source');
    });
  });
}
