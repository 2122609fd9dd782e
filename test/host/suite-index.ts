// The suite that runs inside the extension host: every *.test.js beside it, counted into the file CACHELINE_TEST_RESULTS names.
import { appendFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';

/** Where CACHELINE_SMOKE is set: profiles, hovers, the panel and comparisons. */
const SMOKE = ['compare', 'layout', 'panel-rows', 'profile'];
const isChosen = (name: string): boolean => !process.env.CACHELINE_SMOKE || SMOKE.includes(name.replace('.test.js', ''));

/** Called by VS Code; rejects where a test failed. */
export async function run(): Promise<void> {
  const results = process.env.CACHELINE_TEST_RESULTS;
  if (results === undefined) throw new Error('CACHELINE_TEST_RESULTS does not name the file for the results');
  // The host's own console is full of the editor's words.
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => {
    appendFileSync(`${results}.log`, `${format(...args)}\n`);
  };
  const mocha = new Mocha({
    ui: 'bdd',
    color: false,
    timeout: 60_000,
    reporter: path.join(__dirname, '../../scripts/lib/mocha-reporter.cjs'),
  });
  for (const name of readdirSync(__dirname).sort())
    if (name.endsWith('.test.js') && isChosen(name)) mocha.addFile(path.join(__dirname, name));
  await new Promise<void>((resolve, reject) => {
    mocha.run((failures) => {
      if (failures === 0) resolve();
      else reject(new Error(`${failures} tests failed`));
    });
  });
}
