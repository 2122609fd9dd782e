// Running other programs: argument arrays only, a process group each, a time limit, and nothing left behind.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** A failure a person can act on: printed without a stack by `main`. */
export class ScriptError extends Error {
  name = 'ScriptError';
}

export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** Process groups that are still alive; whatever ends this script ends them. */
const groups = new Set();

export function killGroup(pid, signal = 'SIGKILL') {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

process.on('exit', () => {
  for (const pid of groups) killGroup(pid);
});
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
]) {
  process.on(signal, () => {
    process.stderr.write(`ended by ${signal}\n`);
    process.exit(128 + number);
  });
}

/** Lets a program at the head of its own session, and what it starts, have the processors before others where this process has. */
export function goFirstToo(pid) {
  const own = '/proc/self/autogroup';
  const highest = constants.priority.PRIORITY_HIGHEST;
  if (existsSync(own) && readFileSync(own, 'utf8').trimEnd().endsWith(` nice ${highest}`)) prioritize(pid, highest);
}

function prioritize(pid, priority) {
  try {
    setPriority(pid, priority);
    // Sessions share alike, however nice their processes are (sched(7), autogroup).
    writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch (error) {
    // EPERM, EACCES: this user may not go first. ENOENT: no such groups here, then being nice is enough. ESRCH: it has ended.
    if (!['EPERM', 'EACCES', 'ENOENT', 'ESRCH'].includes(error.info?.code ?? error.code)) throw error;
  }
}

/**
 * Starts a program at the head of its own process group, which is killed when this script ends.
 * @param options of child_process.spawn; `stdio` is [no input, ours, ours] unless given.
 * @param options.yielding lets it have only what others leave of the processors: the kernel takes one that runs nothing else for free
 *   (SCHED_IDLE), and puts others' threads there rather than beside each other.
 * @param options.recording of what yields: it records programs, and would lose samples where it had nothing for long. It is only nice.
 * @param options.foremost lets it have the processors before others, as far as this user may: threads that have to share a processor with
 *   another program take turns on it, and show another sharing than they have by themselves. Whatever it waits for must not be one of the others.
 */
export function start(command, args, { yielding = false, recording = false, foremost = false, ...options } = {}) {
  const [program, ...given] = yielding && !recording ? ['chrt', '--idle', '0', command, ...args] : [command, ...args];
  const child = spawn(program, given, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options, detached: true });
  if (child.pid !== undefined) {
    const { pid } = child;
    if (yielding) prioritize(pid, constants.priority.PRIORITY_LOW);
    else if (foremost) prioritize(pid, constants.priority.PRIORITY_HIGHEST);
    groups.add(pid);
    child.once('exit', () => {
      killGroup(pid); // what the program left running
      groups.delete(pid);
    });
  }
  return child;
}

/**
 * Runs a program to its end.
 * @param options.timeoutSeconds kills the whole group after this time; none by default.
 * @param options.yielding, options.recording, options.foremost as of `start`.
 * @param options.capture returns stdout and stderr as text instead of passing them through.
 * @param options.check false: a status other than 0 is returned and not thrown.
 * @returns {{status: number, stdout: string, stderr: string, timedOut: boolean, seconds: number}} status is 128+signal where it died of one.
 */
export async function run(command, args, { timeoutSeconds, capture = false, check = true, ...options } = {}) {
  const started = performance.now();
  const child = start(command, args, capture ? { stdio: ['ignore', 'pipe', 'pipe'], ...options } : options);
  const text = { stdout: [], stderr: [] };
  for (const name of ['stdout', 'stderr']) child[name]?.on('data', (chunk) => text[name].push(chunk));
  let timedOut = false;
  const timer =
    timeoutSeconds &&
    setTimeout(() => {
      timedOut = true;
      killGroup(child.pid, 'SIGTERM'); // a test runner then ends its browser
      setTimeout(killGroup, 5000, child.pid).unref();
    }, timeoutSeconds * 1000);
  const status = await new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new ScriptError(`${command} could not be started: ${error.message}`)));
    child.once('close', (code, signal) => resolve(code ?? 128 + (signalNumbers[signal] ?? 0)));
  }).finally(() => clearTimeout(timer));
  const result = {
    status,
    stdout: Buffer.concat(text.stdout).toString(),
    stderr: Buffer.concat(text.stderr).toString(),
    timedOut,
    seconds: (performance.now() - started) / 1000,
  };
  if (check && status !== 0) {
    const why = timedOut ? `did not end within ${timeoutSeconds} s` : `ended with status ${status}`;
    const output = capture ? `\n${result.stderr || result.stdout}` : '';
    throw new ScriptError(`${[command, ...args].join(' ')} ${why}${output}`);
  }
  return result;
}

const signalNumbers = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

/** Whether this module is the program node was started with. */
export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(moduleUrl);
}

/** Whether the message alone says what is wrong: ours, and those of parseArgs. */
const isSentence = (error) => error instanceof ScriptError || String(error?.code).startsWith('ERR_PARSE_ARGS_');

/** Runs a script's main function: its number is the exit status, such an error one sentence on stderr. */
export async function main(body) {
  try {
    process.exitCode = (await body(process.argv.slice(2))) ?? 0;
  } catch (error) {
    process.stderr.write(`${isSentence(error) ? error.message : (error.stack ?? error)}\n`);
    process.exitCode = 1;
  }
}
