// What a report of a clock recording costs: CPU time a sample, beside `perf script` of the same samples.
//   node scripts/bench-clock.mjs [--runs N]     of either, taking turns, 7 by default
// Exits with 0 where it could measure, whatever it measured.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { printTable, progress, row } from './lib/bench-table.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

const frequency = '10000';
const cacheline = path.join(root, 'bin/cacheline');
const fixtures = path.join(root, 'test/fixtures/bench');
const tools = path.join(root, 'build/bench');

/** Much code and many heap objects, at two lengths: what more samples of the same cost shows between them. Then few instructions and one line. */
const programs = [
  { name: 'heap-parse, short', command: [path.join(tools, 'heap-parse'), '2000', '150'] },
  { name: 'heap-parse, long', command: [path.join(tools, 'heap-parse'), '12000', '150'] },
  { name: 'contend', command: [path.join(tools, 'contend'), '100'] },
];

/** @returns {Promise<number>} seconds of CPU time, user and system */
async function cpuSeconds(folder, command) {
  const file = path.join(folder, 'seconds');
  // What this machine has every Node program do at its start is none of the report's.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined };
  await run(path.join(tools, 'cputime'), [file, ...command], { capture: true, timeoutSeconds: 300, env });
  const [user, system] = (await readFile(file, 'utf8')).trim().split(' ').map(Number);
  return user + system;
}

/** Records a program and reports it, in turns with perf. */
async function measure(folder, { name, command }, runs) {
  const recording = path.join(folder, 'bench.cacheline');
  const options = ['--collector', 'clock', '-F', frequency, '--force', '-o', recording];
  await run(process.execPath, [cacheline, 'record', ...options, '--', ...command], { capture: true, timeoutSeconds: 300 });
  const report = [process.execPath, cacheline, 'report', '--format', 'json', recording];
  const { stdout } = await run(report[0], report.slice(1), { capture: true }); // the first one makes the index of types
  const times = { ours: [], perf: [], ratios: [] };
  for (let turn = 0; turn < runs; turn++) {
    progress(`${name}: run ${turn + 1} of ${runs}`);
    times.ours.push(await cpuSeconds(folder, report));
    times.perf.push(await cpuSeconds(folder, ['perf', 'script', '--force', '-i', path.join(recording, 'perf.data')]));
    times.ratios.push(times.ours.at(-1) / times.perf.at(-1));
  }
  progress('');
  return {
    name,
    samples: JSON.parse(stdout).samples.total,
    ours: median(times.ours),
    perf: median(times.perf),
    ratio: median(times.ratios),
  };
}

const seconds = (time) => `${time.toFixed(3)} s`;
const aSample = (time, samples) => `${((time / samples) * 1e6).toFixed(2)} us a sample`;

async function bench(args) {
  const { values } = parseArgs({ args, options: { runs: { type: 'string', default: '7' } } });
  const runs = Number(values.runs);
  if (!(Number.isInteger(runs) && runs >= 1)) throw new ScriptError(`--runs takes a number of at least 1, not ${values.runs}`);
  await setup(['build']);
  await build();
  await mkdir(tools, { recursive: true });
  await run('c++', ['-O2', '-g', '-pthread', '-o', path.join(tools, 'heap-parse'), path.join(fixtures, 'heap-parse.cpp')]);
  await run('cc', ['-O2', '-g', '-pthread', '-o', path.join(tools, 'contend'), path.join(fixtures, 'contend.c')]);
  await run('cc', ['-O2', '-o', path.join(tools, 'cputime'), path.join(fixtures, 'cputime.c')]);
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-clock-'));
  try {
    say(`bench:clock: ${cpus().length} CPUs, ${cpus()[0]?.model}; medians of ${runs} runs, taking turns; CPU time`);
    const results = [];
    for (const program of programs) results.push(await measure(folder, program, runs));
    printTable('cacheline report --format json beside perf script', [
      ...results.map(({ name, samples, ours, perf, ratio }) =>
        row(name, `${samples} samples`, seconds(ours), aSample(ours, samples), `perf ${seconds(perf)}`, `${ratio.toFixed(2)} x perf`),
      ),
    ]);
    const [short, long] = results;
    printTable('More samples of the same program', [
      row('cacheline', aSample(long.ours - short.ours, long.samples - short.samples)),
      row('perf', aSample(long.perf - short.perf, long.samples - short.samples)),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
