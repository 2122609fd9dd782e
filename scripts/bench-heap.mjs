// What recording heap blocks costs programs that do little else than allocate.
//   node scripts/bench-heap.mjs [PAIRS]     pairs of runs a program, 11 by default
// Exits with 0 where it could measure, whatever it measured.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build } from './build.mjs';
import { printTable, progress, row, verdict } from './lib/bench-table.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

const defaultPairs = 11;
const target = 1.05;

const cacheline = path.join(root, 'bin/cacheline');
const fixtures = path.join(root, 'test/fixtures/bench');
const tools = path.join(root, 'build/bench');
const cpu = cpus().length - 1;

/**
 * Rounds, and how often each parsed document is summed up: what else the program does than allocate. Some seconds of CPU time: the 30,000 blocks
 * that each thread may have recorded at once, whatever the rate, are most of what half a second costs.
 */
const programs = [
  { name: 'allocates all the time', args: ['80000', '1'] },
  { name: 'allocates and works', args: ['12000', '150'] },
];
const plain = { name: 'not recorded', command: () => [] };
const sampled = { name: 'record', command: (folder) => ['record', '--force', '-o', folder, '--'] };
const heap = { name: 'record --heap', command: (folder) => ['record', '--heap', '--force', '-o', folder, '--'] };
const ways = [
  heap,
  {
    name: 'record --heap --heap-sampling 1',
    command: (folder) => ['record', '--heap', '--heap-sampling', '1', '--force', '-o', folder, '--'],
  },
  sampled,
];

/** @returns {Promise<number>} seconds of CPU time, user and system */
async function measure(file, way, args) {
  const target = ['taskset', '-c', String(cpu), path.join(tools, 'cputime'), file, path.join(tools, 'heap-parse'), ...args];
  const options = way.command(`${file}.cacheline`);
  const command = options.length === 0 ? target : [process.execPath, cacheline, ...options, ...target];
  await run(command[0], command.slice(1), { capture: true, timeoutSeconds: 300 });
  const [user, system] = (await readFile(file, 'utf8')).trim().split(' ').map(Number);
  return user + system;
}

/**
 * The median of the ratios of one way to another. Both run at a time, on one CPU, which takes turns of milliseconds between them: whatever else the
 * machine does happens to both.
 */
async function ratio(folder, way, base, args, count) {
  const ratios = [];
  for (let pair = 0; pair < count; pair++) {
    const [time, baseTime] = await Promise.all([
      measure(path.join(folder, 'way'), way, args),
      measure(path.join(folder, 'base'), base, args),
    ]);
    ratios.push(time / baseTime);
    progress(`${way.name}: pair ${pair + 1} of ${count}`);
  }
  progress('');
  return median(ratios);
}

async function rows(folder, { args }, count) {
  const blocksOf = async () => {
    const { heap: counts } = JSON.parse(await readFile(path.join(folder, 'way.cacheline/meta.json'), 'utf8'));
    return counts === null ? '' : `${counts.blocks} blocks recorded, ${counts.lost} lost`;
  };
  const control = await ratio(folder, plain, plain, args, count);
  const agent = await ratio(folder, heap, sampled, args, count);
  const table = [
    row(
      'the agent: record --heap / record',
      agent.toFixed(3),
      `at most ${(target * control).toFixed(3)}`,
      verdict(agent <= target * control),
      '',
    ),
  ];
  for (const way of ways) {
    const cost = await ratio(folder, way, plain, args, count);
    table.push(row(way.name, cost.toFixed(3), '', '', await blocksOf()));
  }
  table.push(row('control: not recorded', control.toFixed(3), '', '', ''));
  return table;
}

async function bench([pairCount = String(defaultPairs)]) {
  const count = Number(pairCount);
  if (!(Number.isInteger(count) && count >= 3)) throw new ScriptError(`at least 3 pairs are needed, not ${pairCount}`);
  await setup(['build']);
  await build();
  await mkdir(tools, { recursive: true });
  await run('c++', ['-O2', '-g', '-pthread', '-o', path.join(tools, 'heap-parse'), path.join(fixtures, 'heap-parse.cpp')]);
  await run('cc', ['-O2', '-o', path.join(tools, 'cputime'), path.join(fixtures, 'cputime.c')]);
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-heap-'));
  try {
    say(`bench:heap: ${cpus().length} CPUs, ${cpus()[0]?.model}; ${count} pairs each, side by side on one; CPU time recorded / not`);
    for (const program of programs) {
      const { stderr } = await run(path.join(tools, 'heap-parse'), program.args, { capture: true, timeoutSeconds: 120 });
      printTable(`A program that ${program.name}: ${stderr.trim()}`, await rows(folder, program, count));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
