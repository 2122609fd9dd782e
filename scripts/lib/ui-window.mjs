// A window of VS Code for `npm run bench:ui`: the editor in Chromium, what runs in its extension host, and probes in its pages.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../vscode-host.mjs';
import { openBrowser } from './host-lane.mjs';
import { root, say, ScriptError } from './run.mjs';

const patienceMs = 120_000;

/** The machine rests where its processors were busy for less than this share of two such intervals in turn. */
const rest = { busy: 0.1, intervalMs: 500, patienceMs: 60_000 };

/** A server and a browser; `close()` ends both. Windows are opened one after the other. */
export async function startEditor(version, workspace) {
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-ui-'));
  const cleanUp = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  const close = async () => {
    for (const step of cleanUp.splice(0)) await step();
  };
  try {
    const dataFolder = path.join(folder, 'server');
    await mkdir(dataFolder);
    const socketFile = path.join(folder, 'host.sock');
    const waiting = [];
    const hosts = createServer((socket) => waiting.shift()?.(socket));
    await new Promise((resolve, reject) => hosts.once('error', reject).listen(socketFile, resolve));
    cleanUp.unshift(() => hosts.close());
    const settings = { 'editor.minimap.enabled': false, 'window.autoDetectColorScheme': false };
    const server = await startServer(version, { dataFolder, settings, smokeTest: true, env: { CACHELINE_BENCH_SOCKET: socketFile } });
    cleanUp.unshift(() => server.stop());
    const browser = await openBrowser();
    cleanUp.unshift(() => browser.close());
    const open = async () => {
      const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
      for (const name of ['codeAutomationLog', 'codeAutomationExit']) await page.exposeFunction(name, () => {});
      await page.addInitScript(installProbe);
      const socket = new Promise((resolve) => waiting.push(resolve));
      const remote = (file) => `vscode-remote://${server.address}${file}`;
      await page.goto(
        server.url(workspace, [
          ['extensionDevelopmentPath', remote(root)],
          ['extensionTestsPath', remote(path.join(root, 'scripts/lib/ui-host.cjs'))],
        ]),
      );
      const connected = await Promise.race([socket, sleep(patienceMs, undefined, { ref: false })]);
      if (connected === undefined)
        throw new ScriptError(`VS Code ${version.name} did not run scripts/lib/ui-host.cjs within ${patienceMs / 1000} s`);
      const window = new UiWindow(page, connected);
      await machineRests(); // the editor goes on starting after its window is there
      return window;
    };
    return { open, close };
  } catch (error) {
    await close();
    throw error;
  }
}

class UiWindow {
  /** Calls that are not answered yet, by their number. */
  #calls = new Map();
  #last = 0;

  constructor(page, socket) {
    this.page = page;
    this.socket = socket;
    createInterface({ input: socket }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line);
      const { resolve, reject } = this.#calls.get(id);
      this.#calls.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(`in the extension host: ${error}`));
    });
  }

  /** Calls a function of scripts/lib/ui-host.cjs. */
  host(call, ...args) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.socket.write(`${JSON.stringify({ id, call, args })}\n`);
    });
  }

  /** The page of the panel in the newest frame that shows it, once it has painted rows. Looking for it slows the page down, so this looks seldom. */
  async panel() {
    return this.#until('the panel shows no rows', async () => {
      for (const frame of this.page.frames().reverse()) {
        const at = await frame.evaluate(() => globalThis.cachelineProbe?.firstRows).catch(whereGone);
        if (at !== undefined) return frame;
      }
      return undefined;
    });
  }

  /** Waits until the page has what it waits for in the background, so that nothing else runs. */
  async settle() {
    await this.#until('the panel got no advice', async () => ((await this.host('advised')) ? true : undefined));
    await machineRests();
  }

  async close() {
    this.socket.end();
    await this.page.close();
  }

  async #until(failure, find) {
    for (const end = performance.now() + patienceMs; performance.now() < end; await sleep(250)) {
      const found = await find();
      if (found !== undefined) return found;
    }
    throw new ScriptError(`${failure} within ${patienceMs / 1000} s`);
  }
}

/** Waits until the machine rests; where it does not, says so. */
async function machineRests() {
  const end = performance.now() + rest.patienceMs;
  for (let calm = 0, before = cpus(); calm < 2;) {
    await sleep(rest.intervalMs);
    const now = cpus();
    calm = busyShare(before, now) < rest.busy ? calm + 1 : 0;
    before = now;
    if (calm < 2 && performance.now() > end) return say('bench:ui: the machine does not come to rest, so these times are too long');
  }
}

/** Of the time of all processors between two readings. */
function busyShare(before, after) {
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const idle = (all) => sum(all.map(({ times }) => times.idle));
  const total = (all) => sum(all.map(({ times }) => sum(Object.values(times))));
  return 1 - (idle(after) - idle(before)) / (total(after) - total(before));
}

/** A frame may go while it is asked. */
function whereGone(error) {
  if (/detached|destroyed|closed|navigat/i.test(error.message)) return undefined;
  throw error;
}

/** Runs at the start of every frame. Moments are in ms since 1970. */
function installProbe() {
  const probe = (globalThis.cachelineProbe = {
    /** When the first rows of the panel were painted; undefined: there are none yet. */
    firstRows: undefined,
    /** Of messages to the page. */
    bytes: 0,
    lines: 0,
    now: () => performance.timeOrigin + performance.now(),
    /** Resolves with the moment right after the next frame is painted. */
    painted: () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve(probe.now());
          port2.postMessage(undefined);
        }),
      ),
    /** Resolves with the moment at which a frame is painted in which `isThere`, which is asked before each. */
    when: (isThere) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isThere()) requestAnimationFrame(look);
          else {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => resolve(probe.now());
            port2.postMessage(undefined);
          }
        };
        requestAnimationFrame(look);
      }),
    /** Rows of the table that can be seen, none of which waits for its line. */
    isFilled: () => document.querySelector('.row.line') !== null && document.querySelector('.row.missing') === null,
  });
  // The editor writes the document of a webview anew, which ends what waits for frames. Then it sets this, before the page's scripts.
  let acquire;
  Object.defineProperty(globalThis, 'acquireVsCodeApi', {
    configurable: true,
    get: () => acquire,
    set(value) {
      acquire = value;
      void probe.when(probe.isFilled).then((at) => (probe.firstRows = at));
      window.addEventListener('message', ({ data }) => {
        probe.bytes += new TextEncoder().encode(JSON.stringify(data)).length;
        probe.lines += (data.lines?.length ?? 0) + (data.ordered?.lines.length ?? 0);
      });
    },
  });
}
