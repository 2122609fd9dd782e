// What each other layout of a contended example gains: its fix, or what must not be advised (parted). Without a recording.
//   node scripts/bench-examples.mjs [--pairs N] [EXAMPLE...]     5 pairs by default, of all examples that have another layout
// The two runs of a pair take turns in going first. Threads that have to share a processor do not contend; so a pair during which other
// programs used the processors is run again, up to a limit, and what stayed disturbed is counted in the table.
// Exits with 0 where it could measure, whatever it measured.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { printTable, progress, row } from './lib/bench-table.mjs';
import { buildExamples, examplesBin, readAnswers } from './lib/examples.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';

const defaultPairs = 5;
const triesPerPair = 5;
/** Processors that other programs may use while a pair runs. */
const othersAllowed = 0.1;
/** Of /proc/stat: USER_HZ, which is 100 on all Linux that the project supports. */
const ticksPerSecond = 100;

const cputime = path.join(root, 'build/bench/cputime');

/** Seconds for which all processors together were used, or taken away by a hypervisor, since the machine started (proc_stat(5)). */
async function busySeconds() {
  const [line] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const [user, nice, system, , , irq, softirq, steal] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond;
}

/** @returns {Promise<{elapsed: number, cpu: number}>} seconds that the example says its threads took, and CPU seconds that it used in all */
async function measure(folder, name) {
  const result = path.join(folder, 'seconds');
  const { stdout } = await run(cputime, [result, path.join(examplesBin, name)], { capture: true, timeoutSeconds: 300 });
  const elapsed = Number(/^elapsed ([\d.]+) s$/m.exec(stdout)?.[1]);
  if (!(elapsed > 0)) throw new ScriptError(`${name} did not say how long it took:\n${stdout}`);
  const [user, system] = (await readFile(result, 'utf8')).trim().split(' ').map(Number);
  return { elapsed, cpu: user + system };
}

/** One run of each variant in this order, and how many processors other programs used meanwhile. */
async function pair(folder, example, order) {
  const begin = performance.now();
  const busy = await busySeconds();
  const runs = {};
  for (const variant of order) runs[variant] = await measure(folder, `${example}-${variant}`);
  const own = Object.values(runs).reduce((sum, { cpu }) => sum + cpu, 0);
  const others = ((await busySeconds()) - busy - own) / ((performance.now() - begin) / 1000);
  return { ...runs, others };
}

async function pairs(folder, { example, layout }, count) {
  const kept = [];
  let disturbed = 0;
  for (let number = 0; number < count; number++) {
    const order = number % 2 === 0 ? ['contended', layout] : [layout, 'contended'];
    let best;
    for (let attempt = 0; attempt < triesPerPair && !(best?.others <= othersAllowed); attempt++) {
      progress(`${example}: pair ${number + 1} of ${count}, attempt ${attempt + 1}`);
      const now = await pair(folder, example, order);
      if (best === undefined || now.others < best.others) best = now;
    }
    if (best.others > othersAllowed) disturbed++;
    kept.push(best);
  }
  progress('');
  return { kept, disturbed };
}

async function gain(folder, { example, layout }, count) {
  const { kept, disturbed } = await pairs(folder, { example, layout }, count);
  const middle = (value) => median(kept.map(value));
  const ratios = kept.map((runs) => runs.contended.elapsed / runs[layout].elapsed);
  const processors = (variant) => middle((runs) => runs[variant].cpu / runs[variant].elapsed).toFixed(1);
  return row(
    `${example}, ${layout}`,
    middle((runs) => runs.contended.elapsed).toFixed(3),
    middle((runs) => runs[layout].elapsed).toFixed(3),
    median(ratios).toFixed(2),
    `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    `${processors('contended')}, ${processors(layout)}`,
    String(disturbed),
  );
}

async function bench(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { pairs: { type: 'string', default: String(defaultPairs) } },
  });
  const count = Number(values.pairs);
  if (!(Number.isInteger(count) && count >= 1)) throw new ScriptError(`--pairs takes a whole number above 0, not '${values.pairs}'`);
  const layouts = (await readAnswers()).programs.flatMap(({ name }) => {
    const [, example, layout] = /^(.+)-(fixed|parted)$/.exec(name) ?? [];
    return example === undefined ? [] : { example, layout };
  });
  const unknown = positionals.find((name) => !layouts.some(({ example }) => example === name));
  if (unknown !== undefined)
    throw new ScriptError(`no example '${unknown}' with another layout; there are ${layouts.map(({ example }) => example).join(', ')}`);
  await buildExamples();
  await mkdir(path.dirname(cputime), { recursive: true });
  await run('cc', ['-O2', '-o', cputime, path.join(root, 'test/fixtures/bench/cputime.c')]);
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-examples-'));
  try {
    say(`bench:examples: ${cpus().length} CPUs, ${cpus()[0]?.model}; ${count} pairs each`);
    const rows = [];
    for (const other of layouts)
      if (positionals.length === 0 || positionals.includes(other.example)) rows.push(await gain(folder, other, count));
    printTable('Elapsed seconds, medians; the ratio is contended / other layout of each pair', [
      row('', 'contended', 'other', 'ratio', 'from, to', 'CPUs used', 'disturbed pairs'),
      ...rows,
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
