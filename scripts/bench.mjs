// What a recording costs the recorded program, and how much of what was sampled could be attributed.
//   node scripts/bench.mjs [PAIRS]     pairs of runs for the overhead, at least and by default 21
// Exits with 0 where it could measure, whatever it measured.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build } from './build.mjs';
import { printTable, progress, row, verdict } from './lib/bench-table.mjs';
import { buildExamples, readAnswers } from './lib/examples.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

const minimumPairs = 21;
const overheadTarget = 1.02;
const attributedTarget = 0.95;
/** Millions of steps a thread: about half a second. */
const work = '400';

const cacheline = path.join(root, 'bin/cacheline');
const fixtures = path.join(root, 'test/fixtures/bench');
const tools = path.join(root, 'build/bench');

/** @returns {Promise<{cpu: number, elapsed: number}>} seconds that `spin` used (user and system) and took */
async function measure(folder, recorded) {
  const result = path.join(folder, 'seconds');
  const target = [path.join(tools, 'cputime'), result, path.join(tools, 'spin'), work];
  const recording = path.join(folder, 'spin.cacheline');
  const command = recorded ? [process.execPath, cacheline, 'record', '-o', recording, '--', ...target] : target;
  await rm(recording, { recursive: true, force: true });
  await run(command[0], command.slice(1), { capture: true, timeoutSeconds: 120 });
  const [user, system, elapsed] = (await readFile(result, 'utf8')).trim().split(' ').map(Number);
  return { cpu: user + system, elapsed };
}

/** Ratios second/first of pairs of runs that take turns in going first. */
async function pairs(folder, count, recorded) {
  const ratios = [];
  for (let pair = 0; pair < count; pair++) {
    const order = pair % 2 === 0 ? [false, true] : [true, false];
    const runs = {};
    for (const second of order) runs[second] = await measure(folder, second && recorded);
    ratios.push({ cpu: runs.true.cpu / runs.false.cpu, elapsed: runs.true.elapsed / runs.false.elapsed });
    progress(`${recorded ? 'recorded' : 'control'} pair ${pair + 1} of ${count}`);
  }
  progress('');
  return { cpu: median(ratios.map(({ cpu }) => cpu)), elapsed: median(ratios.map(({ elapsed }) => elapsed)) };
}

async function overhead(folder, count) {
  await mkdir(tools, { recursive: true });
  for (const name of ['spin', 'cputime'])
    await run('cc', ['-O2', '-pthread', '-o', path.join(tools, name), path.join(fixtures, `${name}.c`)]);
  await measure(folder, true); // warm caches and files
  const recorded = await pairs(folder, count, true);
  const control = await pairs(folder, count, false);
  const limit = overheadTarget * control.cpu;
  return [
    row('CPU time, recorded / not', recorded.cpu.toFixed(4), `at most ${limit.toFixed(4)}`, verdict(recorded.cpu <= limit)),
    row('  control, not / not', control.cpu.toFixed(4)),
    row('  difference', (recorded.cpu - control.cpu).toFixed(4)),
    row('elapsed time, recorded / not', recorded.elapsed.toFixed(4)),
    row('  control, not / not', control.elapsed.toFixed(4)),
  ];
}

async function attribution(folder) {
  await buildExamples();
  const rows = [];
  for (const { name, program } of (await readAnswers()).programs) {
    const recording = path.join(folder, `${name}.cacheline`);
    const record = await run(process.execPath, [cacheline, 'record', '-o', recording, '--', program], {
      capture: true,
      check: false,
      timeoutSeconds: 120,
    });
    if (record.status !== 0) throw new ScriptError(`recording ${name} ended with status ${record.status}:\n${record.stderr}`);
    const report = await run(process.execPath, [cacheline, 'report', recording, '--format', 'json'], {
      capture: true,
      timeoutSeconds: 120,
    });
    const { samples } = JSON.parse(report.stdout);
    const share = samples.attributed / samples.total;
    const target = `at least ${(attributedTarget * 100).toFixed(0)}%`;
    rows.push(
      row(name, `${(share * 100).toFixed(2)}%`, target, verdict(share >= attributedTarget), `${samples.attributed} of ${samples.total}`),
    );
    await rm(recording, { recursive: true, force: true });
  }
  return rows;
}

async function bench([pairCount = String(minimumPairs)]) {
  const count = Number(pairCount);
  if (!(count >= minimumPairs)) throw new ScriptError(`at least ${minimumPairs} pairs are needed, not ${pairCount}`);
  await setup(['build']);
  await build();
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-'));
  try {
    say(`bench: ${cpus().length} CPUs, ${cpus()[0]?.model}; ${count} pairs with a recording and ${count} without, taking turns`);
    printTable('Overhead at the default rate on two busy threads (medians of ratios)', await overhead(folder, count));
    printTable('Samples attributed to an access', await attribution(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
