// Servers of editors: started on a free port, with what they print in a file, and used as soon as they answer.
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { killGroup, ScriptError, start } from './run.mjs';

const PATIENCE_MS = 60_000;

/**
 * Starts a server and waits until it answers.
 * @param name of the server, where it does not start
 * @param url what it answers as soon as it can be used
 * @param log the file for all that it prints
 * @param options of child_process.spawn
 * @returns `stop()` ends every process of it
 */
export async function startAnswering(name, { url, log }, command, args, options) {
  const child = start(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = createWriteStream(log);
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const runs = () => child.exitCode === null && child.signalCode === null;
  const stop = async () => {
    if (runs()) killGroup(child.pid);
    await ended;
    output.end();
  };
  for (const deadline = Date.now() + PATIENCE_MS; !(await answers(url)); await sleep(100)) {
    if (runs() && Date.now() < deadline) continue;
    await stop();
    throw new ScriptError(`${name} did not start; its last words:\n${(await readFile(log, 'utf8')).slice(-2000)}`);
  }
  return { stop };
}

/** Whether somebody answers there. */
async function answers(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch (error) {
    if (error instanceof TypeError || error.name === 'TimeoutError') return false; // nobody listens yet
    throw error;
  }
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
