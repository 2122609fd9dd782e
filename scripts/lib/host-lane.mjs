// Runs a mocha suite inside the extension host of a real VS Code: a server, a window in Chromium, a results file.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { format } from 'node:util';
import { findChromium } from '../setup.mjs';
import { chromiumArguments, extensionHostLogs, startServer } from '../vscode-host.mjs';
import { say, ScriptError } from './run.mjs';

/** Starts Chromium; the caller closes it. */
export async function openBrowser() {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new ScriptError('no Chromium here: run `npm run setup`, or name one in CACHELINE_CHROMIUM');
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: chromiumArguments });
}

/**
 * @param options.extension folder of the extension under test (its package.json)
 * @param options.suite module with `run(): Promise<void>`, which writes its counts to the file CACHELINE_TEST_RESULTS names
 *   and what a person reads to the same name with `.log`
 * @param options.workspace folder that the window opens
 * @param options.env environment that the suite sees
 * @returns the text of the results file
 * @throws ScriptError where the suite wrote none within the time
 */
export async function runInsideHost(version, { extension, suite, workspace, env = {}, timeoutSeconds }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-host-'));
  const dataFolder = path.join(folder, 'server');
  const results = path.join(folder, 'results.json');
  await mkdir(dataFolder);
  const cleanUp = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  try {
    const server = await startServer(version, { dataFolder, smokeTest: true, env: { ...env, CACHELINE_TEST_RESULTS: results } });
    cleanUp.unshift(() => server.stop());
    const browser = await openBrowser();
    cleanUp.unshift(() => browser.close());

    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const console = [];
    await page.exposeFunction('codeAutomationLog', (type, args) => void console.push(format(...args)));
    let exit;
    const ended = new Promise((resolve) => (exit = resolve));
    await page.exposeFunction('codeAutomationExit', exit);
    const remote = (file) => `vscode-remote://${server.address}${file}`;
    await page.goto(
      server.url(workspace, [
        ['extensionDevelopmentPath', remote(extension)],
        ['extensionTestsPath', remote(suite)],
      ]),
    );
    const inTime = await Promise.race([ended.then(() => true), after(timeoutSeconds)]);
    const report = await readFile(`${results}.log`, 'utf8').catch(whenAbsent);
    if (report !== undefined) say(report);
    const text = await readFile(results, 'utf8').catch(whenAbsent);
    if (text !== undefined) return text;
    say([...console, await extensionHostLogs(dataFolder)].join('\n'));
    throw new ScriptError(
      `the suite in VS Code ${version.name} ${inTime ? 'ended without results' : `did not end within ${timeoutSeconds} s`}`,
    );
  } finally {
    for (const step of cleanUp) await step();
  }
}

function whenAbsent(error) {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

function after(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000, false).unref());
}
