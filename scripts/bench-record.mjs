// What each collector costs the recorded program, and what is lost at the default rates.
//   node scripts/bench-record.mjs [--pairs N] [--only TEXT]
// --pairs: rounds of runs a row, 21 by default; fewer for a quick look. --only: rows whose names contain the text.
// A round is the program alone, recorded, and alone again, taking turns in going first: the last ratio is the null control.
// Exits with 0 where it could measure, whatever it measured.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { printTable, progress, row, verdict } from './lib/bench-table.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

const enoughPairs = 21;
const lostSeconds = 30;
/** With fewer pairs than are needed for a figure. */
const quickSeconds = 3;

const cacheline = path.join(root, 'bin/cacheline');
const fixtures = path.join(root, 'test/fixtures/bench');
const tools = path.join(root, 'build/bench');

/** Half a second of work for two CPUs, on so many threads. */
const spin = (threads) => [path.join(tools, 'spin'), String(800 / threads), String(threads)];
/** Half a second of work for two CPUs, by 64 threads that work in turns: some 15,000 context switches a second of CPU time. */
const relay = () => [path.join(tools, 'relay'), '800', '64'];
/** --confirm begins to watch when there are samples to choose words by. */
const contendSeconds = 3;

/** Of additions to a contended line, which take from one to a hundred nanoseconds, as many as take that long here. */
async function contend(folder) {
  const program = (millions) => [path.join(tools, 'contend'), String(millions)];
  let millions = 5;
  for (;;) {
    const { elapsed } = await measure(folder, program(millions));
    if (elapsed > contendSeconds / 2) return program(Math.ceil((millions * contendSeconds) / elapsed));
    millions *= 2;
  }
}

const rows = (contended) => [
  { name: 'clock, 2 threads', collector: 'clock', program: spin(2), measure: 'cpu', target: 1.02 },
  { name: 'clock, 64 threads', collector: 'clock', program: spin(64), measure: 'cpu', target: 1.02 },
  ...[1000, 4000, 10_000].map((rate) => ({
    name: `clock at ${rate} Hz, 2 threads`,
    collector: 'clock',
    options: ['-F', String(rate)],
    program: spin(2),
    measure: 'cpu',
  })),
  { name: 'clock, 64 threads that take turns', collector: 'clock', program: relay(), measure: 'cpu' },
  {
    name: 'clock, 64 threads that take turns, --no-switches',
    collector: 'clock',
    options: ['--no-switches'],
    program: relay(),
    measure: 'cpu',
  },
  { name: 'agent, 2 threads', collector: 'agent', program: spin(2), measure: 'cpu', target: 1.03 },
  {
    name: 'watch by --confirm',
    collector: 'clock',
    options: ['--confirm'],
    program: contended,
    measure: 'elapsed',
    target: 1.1,
    watches: true,
  },
];

/** A recording that did not come about. */
class Unrecorded extends Error {}

/** @returns what the program used, in seconds, and where it was recorded what the recorder said */
async function measure(folder, program, options, collector) {
  const result = path.join(folder, 'seconds');
  const recording = path.join(folder, 'bench.cacheline');
  await rm(recording, { recursive: true, force: true });
  const target = [path.join(tools, 'cputime'), result, ...program];
  const command = options === undefined ? target : [process.execPath, cacheline, 'record', ...options, '-o', recording, '--', ...target];
  const { status, stderr } = await run(command[0], command.slice(1), { capture: true, check: false, timeoutSeconds: 300 });
  if (status !== 0) throw new Unrecorded(`status ${status}: ${stderr.split('\n')[0]}`);
  if (collector !== undefined) await checkCollector(recording, collector);
  const [user, system, elapsed] = (await readFile(result, 'utf8')).trim().split(' ').map(Number);
  return { cpu: user + system, elapsed, said: stderr };
}

/** A figure of another collector would be none of this one. */
async function checkCollector(recording, wanted) {
  const { collector } = JSON.parse(await readFile(path.join(recording, 'meta.json'), 'utf8'));
  if (collector !== wanted) throw new Unrecorded(`recorded by ${collector}`);
}

/** Medians of the ratios recorded / alone and alone / alone, and what the recorder said last. */
async function ratios(folder, { name, collector, options = [], program, measure: quantity }, count) {
  const ways = [undefined, ['--collector', collector, ...options], undefined];
  const recorded = [];
  const control = [];
  let said = '';
  for (let round = 0; round < count; round++) {
    const values = [];
    for (let turn = 0; turn < ways.length; turn++) {
      const way = (round + turn) % ways.length;
      const measured = await measure(folder, program, ways[way], ways[way] && collector);
      values[way] = measured[quantity];
      if (ways[way] !== undefined) ({ said } = measured);
    }
    recorded.push(values[1] / values[0]);
    control.push(values[2] / values[0]);
    progress(`${name}: round ${round + 1} of ${count}`);
  }
  progress('');
  return { recorded: median(recorded), control: median(control), said };
}

async function costs(folder, count, only) {
  const table = [];
  const wantedRows = rows(await contend(folder)).filter(({ name }) => name.includes(only));
  if (wantedRows.length === 0) throw new ScriptError(`--only: no row is called ${only}`);
  for (const wanted of wantedRows) {
    try {
      const { recorded, control, said } = await ratios(folder, wanted, count);
      const watched = /([\d,]+) access(?:es)? of ([\d,]+ words?) watched/.exec(said);
      const seen = !wanted.watches || (watched !== null && watched[1] !== '0');
      const limit = (wanted.target ?? 0) * control;
      table.push(
        row(
          wanted.name,
          recorded.toFixed(4),
          control.toFixed(4),
          wanted.target === undefined ? 'no target' : `at most ${limit.toFixed(4)}`,
          wanted.target === undefined ? '' : verdict(recorded <= limit && seen),
          `${wanted.measure === 'cpu' ? 'CPU time' : 'wall time'}${wanted.watches ? `; ${watched?.[0] ?? 'nothing was watched'}` : ''}`,
        ),
      );
    } catch (error) {
      if (!(error instanceof Unrecorded)) throw error;
      table.push(row(wanted.name, '', '', '', verdict(false), `not measured: ${error.message}`));
    }
  }
  return [row('', 'recorded', 'control', 'target'), ...table];
}

/** 64 busy threads on two CPUs: what is lost at the collector's default rate. */
async function lost(folder, collector, seconds) {
  const recording = path.join(folder, 'lost.cacheline');
  const record = [process.execPath, cacheline, 'record', '--collector', collector, '--duration', String(seconds), '-o', recording];
  const { stderr } = await run('taskset', ['-c', '0,1', ...record, '--', path.join(tools, 'spin'), '1e9', '64'], {
    capture: true,
    check: false,
    timeoutSeconds: seconds + 60,
  });
  const meta = await readFile(path.join(recording, 'meta.json'), 'utf8').then(JSON.parse, () => undefined);
  await rm(recording, { recursive: true, force: true });
  if (meta !== undefined && meta.collector !== collector)
    return row(collector, '', verdict(false), `not measured: recorded by ${meta.collector}`);
  if (meta === undefined) return row(collector, '', verdict(false), `not measured: ${stderr.split('\n')[0]}`);
  return row(collector, `${meta.lost} lost`, verdict(meta.lost === 0 && meta.samples > 0), `${meta.samples} samples`);
}

async function bench(args) {
  const { values } = parseArgs({
    args,
    options: { pairs: { type: 'string', default: String(enoughPairs) }, only: { type: 'string', default: '' } },
  });
  const count = Number(values.pairs);
  if (!(Number.isInteger(count) && count >= 1)) throw new ScriptError(`--pairs takes a whole number above 0, not '${values.pairs}'`);
  await setup(['build']);
  await build();
  await mkdir(tools, { recursive: true });
  for (const name of ['spin', 'relay', 'contend', 'cputime'])
    await run('cc', ['-O2', '-g', '-pthread', '-o', path.join(tools, name), path.join(fixtures, `${name}.c`)]);
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-record-'));
  try {
    const quick = count < enoughPairs ? ` (a quick look: figures take ${enoughPairs})` : '';
    say(`bench:record: ${cpus().length} CPUs, ${cpus()[0]?.model}; ${count} rounds a row${quick}`);
    await measure(folder, spin(2), []); // warm caches and files
    printTable('Cost: medians of the ratios recorded / alone, beside alone / alone', await costs(folder, count, values.only));
    if (values.only !== '') return;
    const seconds = count < enoughPairs ? quickSeconds : lostSeconds;
    const table = [];
    for (const collector of ['clock', 'agent']) table.push(await lost(folder, collector, seconds));
    printTable(`Lost records: 64 busy threads on two CPUs for ${seconds} s at the default rate`, table);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
