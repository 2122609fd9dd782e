// Measuring where other programs use the processors too: what ran beside them is run again, up to a limit.
// Threads that have to share a processor do not contend, so a disturbed run says little about cache lines.
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { median } from './median.mjs';
import { root, run, ScriptError } from './run.mjs';

/** Processors that other programs may use meanwhile. */
const othersAllowed = 0.1;
/** Of /proc/stat: USER_HZ, which is 100 on all Linux that the project supports. */
const ticksPerSecond = 100;

const cputime = path.join(root, 'build/bench/cputime');

/** Compiles what `timed` needs. */
export async function buildCputime() {
  await mkdir(path.dirname(cputime), { recursive: true });
  await run('cc', ['-O2', '-o', cputime, path.join(root, 'test/fixtures/bench/cputime.c')]);
}

/** How long a try that follows a disturbed one waits for the others to end, and how often it looks. */
const [quietSeconds, lookSeconds] = [5, 0.25];

/** Seconds for which all processors together were used, or taken away by a hypervisor, since the machine started (proc_stat(5)). */
async function busySeconds() {
  const [line] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const [user, nice, system, , , irq, softirq, steal] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond;
}

/** Waits until other programs leave the processors alone, for some seconds at most. */
async function quietMoment() {
  for (const end = performance.now() + quietSeconds * 1000; performance.now() < end;) {
    const busy = await busySeconds();
    await setTimeout(lookSeconds * 1000);
    if ((await busySeconds()) - busy <= othersAllowed * lookSeconds) return;
  }
}

/**
 * Runs a command to its end.
 * @param folder takes a file with the times
 * @returns what `run` returns, with `cpu`: seconds that it and its children used on all processors
 */
export async function timed(folder, command, options) {
  const file = path.join(folder, 'seconds');
  const result = await run(cputime, [file, ...command], { capture: true, timeoutSeconds: 300, ...options });
  const [user, system] = (await readFile(file, 'utf8')).trim().split(' ').map(Number);
  return { ...result, cpu: user + system };
}

/**
 * @param tries how often `body` runs at most
 * @param body gets the number of the try, from 1, and returns an object with `cpu`: seconds that its programs used in all
 * @returns what it returned on the try that other programs disturbed least, and `disturbed`: whether they used more than a tenth of a processor
 */
export async function undisturbed(tries, body) {
  let best;
  for (let attempt = 1; attempt <= tries && !(best?.others <= othersAllowed); attempt++) {
    if (attempt > 1) await quietMoment();
    const begin = performance.now();
    const busy = await busySeconds();
    const result = await body(attempt);
    const others = ((await busySeconds()) - busy - result.cpu) / ((performance.now() - begin) / 1000);
    if (best === undefined || others < best.others) best = { result, others };
  }
  return { ...best.result, disturbed: best.others > othersAllowed };
}

/** @returns {Promise<{elapsed: number, cpu: number, stdout: string}>} seconds that the program says its threads took, and CPU seconds that it used in all */
export async function elapsedOf(folder, command) {
  const { stdout, cpu } = await timed(folder, command);
  const elapsed = Number(/^elapsed ([\d.]+) s$/m.exec(stdout)?.[1]);
  if (!(elapsed > 0)) throw new ScriptError(`${path.basename(command[0])} did not say how long it took:\n${stdout}`);
  return { elapsed, cpu, stdout };
}

/**
 * Runs two programs in pairs; the two runs of a pair take turns in going first.
 * @param first, second program and arguments, each with a last line "elapsed 1.234 s"
 * @param count how many pairs
 * @param tries of each pair, at most
 * @param note called with the number of the pair and of the try
 * @returns what `comparison` makes of them
 */
export async function inPairs(folder, first, second, { count, tries, note }) {
  const pairs = [];
  for (let number = 0; number < count; number++) {
    const pair = await undisturbed(tries, async (attempt) => {
      note?.(number + 1, attempt);
      const runs = {};
      const order = number % 2 === 0 ? ['first', 'second'] : ['second', 'first'];
      for (const which of order) runs[which] = await elapsedOf(folder, which === 'first' ? first : second);
      return { ...runs, cpu: runs.first.cpu + runs.second.cpu };
    });
    pairs.push(pair);
  }
  return comparison(pairs);
}

/**
 * Medians of pairs: seconds of either program, processors that it used, and first / second of each pair with the least and the most.
 * `disturbed`: pairs beside which other programs ran on each try.
 */
function comparison(pairs) {
  const middle = (value) => median(pairs.map(value));
  const ratios = pairs.map(({ first, second }) => first.elapsed / second.elapsed);
  const of = (which) => ({
    seconds: middle((pair) => pair[which].elapsed),
    processors: middle((pair) => pair[which].cpu / pair[which].elapsed),
    stdout: pairs[0][which].stdout,
  });
  return {
    first: of('first'),
    second: of('second'),
    ratio: median(ratios),
    low: Math.min(...ratios),
    high: Math.max(...ratios),
    disturbed: pairs.filter((pair) => pair.disturbed).length,
  };
}
