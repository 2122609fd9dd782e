// What the product says of real programs, which come from package registries and are built here: whether it finds the data that their
// maintainers parted, what the fix gained, and what is not known.
//   node scripts/bench-real.mjs [--pairs N] [--only PROGRAM,...] [--resume] [--write] [PROGRAM...]
// `--only` and PROGRAM choose rows by name, first word or with `*`; `--resume` goes on with the rows that build/bench has of the same code and options.
// `--write` puts the table into docs/accuracy.md, which says what its columns are. Downloads into and builds below a folder of its own.
// Exits with 0 where it could measure, whatever it measured, and with 1 where a program could not be had, does not build, or fails.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { falselyWaiting } from './lib/accuracy.mjs';
import { predictionOf, readAdvice } from './lib/accuracy-advice.mjs';
import { writeTables } from './lib/document-tables.mjs';
import { printTable, progress, row } from './lib/bench-table.mjs';
import { measure } from './lib/measure.mjs';
import { programs } from './lib/real-programs.mjs';
import { chooseRows, codeOf, endRows, machine, measureRows, rowOptions } from './lib/rows.mjs';
import { isMain, killGroup, main, root, run, say, ScriptError, start } from './lib/run.mjs';
import { setup } from './setup.mjs';
import { isRight } from './lib/types-truth.mjs';
import { buildCputime, inPairs } from './lib/undisturbed.mjs';

const cacheline = path.join(root, 'bin/cacheline');
const [recordSeconds, patienceSeconds, tries] = [4, 120, 3];

const command = (...args) => run(process.execPath, [cacheline, ...args], { capture: true, timeoutSeconds: patienceSeconds });

/** Records a program that ends by itself. */
async function recordProgram(recording, [program, ...args]) {
  await command('record', '--force', '--collector', 'clock', '-o', recording, '--', program, ...args);
}

/** Records a server for some seconds while its load runs. */
async function recordServer(folder, recording, { server, load, port }) {
  const child = start(server[0], server.slice(1), { cwd: folder, stdio: 'ignore' });
  let generator;
  try {
    await listening(port, child);
    generator = start(load[0], load.slice(1), { cwd: folder, stdio: 'ignore' });
    await setTimeout(500);
    const options = ['--force', '--collector', 'clock', '--duration', String(recordSeconds), '-o', recording];
    await command('record', ...options, '-p', String(child.pid));
    if (generator.exitCode !== null) throw new ScriptError(`the load of ${path.basename(server[0])} ended early: ${load.join(' ')}`);
  } finally {
    for (const { pid } of [generator, child].filter((one) => one !== undefined)) killGroup(pid);
  }
}

/** Waits until something listens on the port. */
async function listening(port, child) {
  for (const end = performance.now() + 10_000; performance.now() < end; await setTimeout(100)) {
    if (child.exitCode !== null) throw new ScriptError(`the server ended with status ${child.exitCode} before it listened on port ${port}`);
    const socket = connect(port, '127.0.0.1');
    const isThere = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isThere) return;
  }
  throw new ScriptError(`nothing listens on port ${port} after 10 s`);
}

async function report(folder, recording) {
  const output = path.join(folder, 'report.json');
  const options = ['report', '--format', 'json', recording];
  const { seconds } = await measure(cacheline, options, { output, timeoutSeconds: patienceSeconds });
  const { peakKb } = await measure(cacheline, options, { output, timeoutSeconds: patienceSeconds, watched: true });
  return { seconds, peakKb, report: JSON.parse((await command(...options)).stdout) };
}

/** Whether the known data is contended on a line that gains from parting, and how many contended samples name it. */
function judge({ lines }, names) {
  if (names === null) return { found: null, right: 0, contended: 0 };
  const judged = { found: false, right: 0, contended: 0 };
  for (const line of lines)
    for (const access of line.accesses) {
      const { type, field } = access.data;
      judged.contended += access.contended;
      if (access.contended === 0 || !isRight({ type: type ?? '', field: field ?? '' }, names)) continue;
      judged.right += access.contended;
      judged.found ||= line.verdict === 'false sharing' || line.verdict === 'mixed';
    }
  return judged;
}

async function judgeProgram(folder, program, pairs) {
  const note = (what) => progress(`${program.name}: ${what}`);
  note('downloading and building');
  const built = await program.build(folder);
  const recording = path.join(folder, 'before.cacheline');
  note('recording');
  if (built.server !== undefined) await recordServer(folder, recording, built);
  else await recordProgram(recording, built.before ?? built.command);
  const before = await report(folder, recording);
  const advice = await readAdvice((options) =>
    run(process.execPath, [cacheline, 'advise', recording, ...options], { capture: true, check: false, timeoutSeconds: patienceSeconds }),
  );
  const result = { program, before, predicted: predictionOf(advice), ...judge(before.report, program.names) };
  if (built.after === undefined) return { ...result, cost: null, after: null };
  note('recording the fixed version');
  const fixed = path.join(folder, 'after.cacheline');
  await recordProgram(fixed, built.after);
  note('pairs');
  const cost = await inPairs(folder, built.before, built.after, { count: pairs, tries });
  return { ...result, cost, after: await report(folder, fixed) };
}

const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** Where no contended data is known beforehand, what the report names first. */
function foundCell(found, first) {
  if (found !== null) return found ? 'found' : 'not found';
  return first === undefined || first.contended === 0 ? 'nothing' : first.type || first.object;
}

function resultRow({ program, before, after, predicted, cost, found, right, contended }) {
  const { samples, objects } = before.report;
  const first = objects.toSorted((a, b) => b.contended - a.contended)[0];
  const shares = [before, after].filter((one) => one !== null).map((one) => percent(falselyWaiting(one.report).share));
  return row(
    program.name,
    program.source,
    foundCell(found, first),
    contended === 0 ? '-' : percent(right / contended),
    shares.join(' → '),
    predicted === null ? 'nothing' : `${predicted.low.toFixed(2)} to ${predicted.high.toFixed(2)}`,
    cost === null ? '-' : `${cost.ratio.toFixed(2)} (${cost.low.toFixed(2)} to ${cost.high.toFixed(2)})${cost.disturbed > 0 ? '*' : ''}`,
    percent(samples.total === 0 ? 0 : samples.attributed / samples.total),
    String(samples.total),
    `${before.seconds.toFixed(1)} s, ${(before.peakKb / 1024).toFixed(0)} MiB`,
  );
}

const head = row(
  'program',
  'from',
  'known data, or what waits most',
  'right member',
  'falsely waiting',
  'predicted',
  'measured',
  'coverage',
  'samples',
  'report',
);

async function bench(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { pairs: { type: 'string', default: '5' }, ...rowOptions },
  });
  const pairs = Number(values.pairs);
  if (!(Number.isInteger(pairs) && pairs >= 1)) throw new ScriptError(`--pairs takes a whole number above 0, not '${values.pairs}'`);
  const names = programs.map(({ name }) => name);
  const chosen = chooseRows(names, [...(values.only?.split(',') ?? []), ...positionals]);
  await setup(['build', 'real']);
  await build();
  await buildCputime();
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-real-'));
  try {
    process.env['XDG_CACHE_HOME'] = path.join(folder, 'cache');
    const { stdout } = await command('doctor', '--calibrate', '--format', 'json');
    const { file, reason } = JSON.parse(stdout).calibration;
    if (file === null) say(`bench:real: no speedup is predicted: ${reason}`);
    const how = `${machine()}; ${pairs} pairs; recorded by clock`;
    const code = await codeOf(...['test/real', 'scripts/lib/real-programs.mjs'].map((name) => path.join(root, name)));
    const measure = async (name) => {
      const program = programs.find((one) => one.name === name);
      const own = path.join(folder, name.replaceAll(/\W+/g, '-'));
      await mkdir(own);
      try {
        return resultRow(await judgeProgram(own, program, pairs));
      } finally {
        await rm(own, { recursive: true, force: true });
      }
    };
    const result = await measureRows('bench:real', { names, chosen, resume: values.resume, code, how, measure });
    const table = [head, ...result.rows.values()];
    printTable(`Real programs: ${how}`, table);
    const write = () => writeTables(path.join(root, 'docs/accuracy.md'), 'bench:real', how, [table]);
    return await endRows('bench:real', result, values.write ? write : null);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
