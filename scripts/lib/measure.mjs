// One run of a program: how long it took, or the most anonymous memory that it and its children had at one time.
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { killGroup, ScriptError, start } from './run.mjs';

const samplingMs = 20;
/** What this machine has every Node program do at its start (certificates take longer than Node itself) is none of the program's. */
const environment = { ...process.env, NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined };

/** VmRSS's anonymous part of a process and all below it, in KiB. */
function anonymousKb(pid) {
  const own = Number(/^RssAnon:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
  const children = textOf(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter((child) => child !== '');
  return children.reduce((sum, child) => sum + anonymousKb(child), own);
}

/** What ended meanwhile counts nothing. */
function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return '';
    throw error;
  }
}

/**
 * @param options.output a file that takes its standard output
 * @param options.timeoutSeconds kills it after this time
 * @param options.watched whether its memory is looked at, which takes some of the processors that it may need itself
 * @returns {Promise<{seconds: number, peakKb: number, timedOut: boolean}>} `peakKb` is 0 where it was not watched. Throws where it fails in any other way.
 */
export async function measure(command, args, { output, timeoutSeconds, watched = false }) {
  const file = await open(output, 'w');
  const started = performance.now();
  const child = start(command, args, { stdio: ['ignore', file.fd, 'pipe'], env: environment });
  const errors = [];
  child.stderr.on('data', (chunk) => errors.push(chunk));
  let peakKb = 0;
  const watch = setInterval(() => {
    if (watched && child.pid !== undefined) peakKb = Math.max(peakKb, anonymousKb(child.pid));
  }, samplingMs);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid);
  }, timeoutSeconds * 1000);
  try {
    const status = await new Promise((resolve, reject) => {
      child.once('error', (error) => reject(new ScriptError(`${command} could not be started: ${error.message}`)));
      child.once('exit', (code, signal) => resolve(code ?? signal));
    });
    const seconds = (performance.now() - started) / 1000;
    if (status !== 0 && !timedOut)
      throw new ScriptError(`${[command, ...args].join(' ')} ended with ${status}\n${Buffer.concat(errors).toString()}`);
    return { seconds, peakKb, timedOut };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    await file.close();
  }
}
