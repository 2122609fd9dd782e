// The steps with a profile of more lines than the panel's page gets at once: what comes into view is asked for, and sorted by the engine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { MOST_LINES_AT_ONCE } from '../../extension/protocol/panel';
import type { CacheLine, Report } from '../../extension/protocol/report';
import type { RecordingSteps } from './recording';

const cacheline = path.resolve(__dirname, '../../bin/cacheline');
const NAME = 'long.cacheline';

/** Two threads add to the words of many lines for some seconds of CPU time. */
const SOURCE = `
#include <pthread.h>
#include <time.h>
static struct { volatile long words[8]; } lines[2500] __attribute__((aligned(64)));
static void *add(void *word) {
  struct timespec used;
  do {
    for (int line = 0; line < 2500; line++)
      for (int times = 0; times < 50; times++) lines[line].words[(long)word]++;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  } while (used.tv_sec < 3);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, add, (void *)1);
  add(0);
  return pthread_join(thread, 0);
}
`;

export function describeLongList({ window, workspace }: RecordingSteps): void {
  describe('with a profile of thousands of lines', () => {
    let lines: CacheLine[];

    before(function () {
      this.timeout(180_000);
      const [source, program, recording] = ['many.c', 'many', NAME].map((name) => path.join(workspace, name)) as [string, string, string];
      writeFileSync(source, SOURCE);
      execFileSync('gcc', ['-O1', '-g', '-pthread', '-o', program, source]);
      execFileSync(cacheline, ['record', '-F', '4000', '-o', recording, '--', program], { stdio: 'ignore' });
      const json = execFileSync(cacheline, ['report', recording, '--format', 'json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
      ({ lines } = JSON.parse(json) as Report);
      assert.ok(lines.length > MOST_LINES_AT_ONCE + 100, `${lines.length} lines`);
    });

    it('asks for the lines that come into view, and has the engine sort them', async () => {
      await window().runCommand('View: Close All Editors');
      await window().chooseInExplorerMenu(NAME, 'Open as Cache-Line Profile');
      const page = await window().webview('.row.line');
      const addressAt = (index: number): Promise<string> => page.locator(`.row.line[data-index="${index}"] .address`).innerText();
      assert.equal(await addressAt(0), lines[0]?.address);
      await page.locator('.row.line').first().focus();
      await page.page().keyboard.press('End');
      const last = lines.length - 1;
      assert.equal(await addressAt(last), lines[last]?.address);
      await window().screenshot('12-long-list');

      await page.locator('.titles .address button').click();
      const sorted = lines.map(({ address }) => BigInt(address)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const hex = (index: number): string => `0x${sorted[index]?.toString(16)}`;
      await page.locator('.row.line').first().focus();
      for (const [key, index] of [
        ['Home', 0],
        ['End', last],
      ] as const) {
        await page.page().keyboard.press(key);
        await page
          .locator(`.row.line[data-index="${index}"] .address`)
          .filter({ hasText: hex(index) })
          .waitFor();
      }
    });
  });
}
