// `cacheline report` beside `perf c2c report --stdio` on the same synthetic recordings: time, memory, and the same totals.
//   node scripts/bench-report.mjs [--samples N] [--runs N] [--only few,hot,wide,names,growth,ordered,threads,profile] [--resume] [--write]
//     --samples   of the large recordings, by default 10,000,000; the others shrink in proportion
//     --runs      of each program, taking turns, by default and for the targets at least 5
//     --only      these rows, by name or with `*`
//     --resume    goes on with the rows that build/bench has of the same code and options
//     --write     the tables into docs/performance.md, too
// Exits with 0 where it could measure, whatever it measured; with 1 where the totals differ.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build, buildFolder } from './build.mjs';
import { printTable, progress, row, verdict } from './lib/bench-table.mjs';
import { largeProgram, smallProgram } from './lib/bench-programs.mjs';
import { writeTables } from './lib/document-tables.mjs';
import { measure } from './lib/measure.mjs';
import { buildExamples, examplesBin } from './lib/examples.mjs';
import { median } from './lib/median.mjs';
import { repeatRecording } from './lib/repeat-recording.mjs';
import { chooseRows, codeOf, endRows, machine, measureRows, rowOptions } from './lib/rows.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

const fullSamples = 10_000_000;
const patienceSeconds = 120;
const cacheline = path.join(root, 'bin/cacheline');
const synth = path.join(buildFolder, 'native/tests/cacheline_synth');

/** Every code address accesses every line, at up to all of its eight words. */
const hotShape = ['--lines', '2000', '--codes', '20', '--places', '8', '--variants', '15'];

/** Each line has a load and a store or two. */
const fewShape = ['--lines', '2000', '--codes', '20', '--places', '1', '--variants', '1'];

/** `samples`: share of --samples. */
const recordings = {
  few: { title: 'samples, 2,000 lines, 20 code addresses, few rows', samples: 1, shape: fewShape },
  chains: { title: 'the same with call chains', samples: 1, shape: [...fewShape, '--callchains'] },
  registers: { title: 'the same with registers', samples: 1, shape: [...fewShape, '--registers'] },
  blocks: { title: 'the same with heap blocks', samples: 1, shape: fewShape, blocks: true },
  hot: { title: 'samples, 2,000 lines, 20 code addresses', samples: 1, shape: hotShape },
  short: { title: 'samples, 2,000 lines, 20 code addresses', samples: 0.2, shape: hotShape },
  wide: { title: 'samples, 500,000 lines', samples: 1, shape: ['--lines', '500000', '--codes', '20'] },
  names: {
    title: 'samples, 20,000 code addresses of a C++ binary, with source lines',
    samples: 0.2,
    shape: ['--lines', '900', '--even', '--codes', '20000', '--variants', '8'],
    large: true,
  },
};

/** Each returns tables: title, rows, and of some `isSame`, which is false where totals differ. */
const bodies = { few, hot, wide, names, growth, ordered, threads, profile };

/** As cells, with a head, for a document. */
function documentTable({ title, rows }) {
  const columns = Math.max(...rows.map((cells) => cells.length));
  return [[title], ...rows].map((cells) => Array.from({ length: columns }, (_, column) => cells[column] ?? ''));
}

async function bench(args) {
  const { values } = parseArgs({
    args,
    options: {
      samples: { type: 'string' },
      runs: { type: 'string', default: '5' },
      ...rowOptions,
    },
  });
  const plan = { samples: numberOf('--samples', values.samples ?? `${fullSamples}`, 10_000), runs: numberOf('--runs', values.runs, 1) };
  const rowNames = Object.keys(bodies);
  const chosen = chooseRows(rowNames, values.only?.split(',') ?? []);
  await setup(['build', 'test']);
  await run('cmake', ['--preset', 'release', '-DCACHELINE_TESTS=ON', '--log-level=WARNING'], { capture: true });
  await build();
  await run('ninja', ['-C', buildFolder, '--quiet', 'cacheline_synth']);
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-'));
  try {
    const isShort = plan.samples !== fullSamples || plan.runs < 5;
    const how = `${machine()}; ${plan.runs} runs of each program${isShort ? `, ${plan.samples.toLocaleString('en')} samples` : ''}`;
    say(`bench:report: ${how}, taking turns; load ${loadavg()[0].toFixed(1)}`);
    if (isShort) say('bench:report: shortened; the targets are for 10,000,000 samples and at least 5 runs');
    const result = await measureRows('bench:report', {
      names: rowNames,
      chosen,
      resume: values.resume,
      code: await codeOf(synth),
      how,
      measure: (name) => bodies[name](folder, plan),
      show: (_, tables) => tables.forEach(({ title, rows }) => printTable(title, rows)),
    });
    const tables = [...result.rows.values()].flat();
    const write = () => writeTables(path.join(root, 'docs/performance.md'), 'bench:report', how, tables.map(documentTable));
    const status = await endRows('bench:report', result, values.write ? write : null);
    return tables.some(({ isSame }) => isSame === false) ? 1 : status;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function numberOf(name, text, least) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least) throw new ScriptError(`${name} takes a number of at least ${least}, not ${text}`);
  return number;
}

async function few(folder, plan) {
  return withRecording(folder, plan, 'few', async (recording) => {
    const turns = await takeTurns(recording, plan.runs, [[]]);
    const [perf] = turns.perf;
    const rows = [
      ...timesAndMemory(recording, turns),
      ratioRow('perf / cacheline', perf, turns.ours, 20),
      row('anonymous memory', ...atMost(turns.ours.peakKb / 1024, 60), 'MiB'),
      row('cacheline / reading the bytes', ...atMost(turns.ours.seconds / turns.bytes, 5)),
      totalsRow(turns),
    ];
    return [{ title: recording.title, rows, isSame: isSameTotals(turns) }];
  });
}

async function hot(folder, plan) {
  return withRecording(folder, plan, 'hot', async (recording) => {
    const turns = await takeTurns(recording, plan.runs, [[]]);
    const [perf] = turns.perf;
    const rows = [
      ...timesAndMemory(recording, turns),
      ratioRow('perf / cacheline', perf, turns.ours, 30),
      row('anonymous memory, cacheline / perf', ...atMost(turns.ours.peakKb / perf.peakKb, 0.25)),
      row('cacheline / reading the bytes', ...atMost(turns.ours.seconds / turns.bytes, 3)),
      totalsRow(turns),
    ];
    return [{ title: recording.title, rows, isSame: isSameTotals(turns) }];
  });
}

async function wide(folder, plan) {
  return withRecording(folder, plan, 'wide', async (recording) => {
    const turns = await takeTurns(recording, plan.runs, [[]]);
    const [perf] = turns.perf;
    const rows = [
      ...timesAndMemory(recording, turns),
      ratioRow('perf / cacheline', perf, turns.ours, 20),
      row('anonymous memory, cacheline / perf', (turns.ours.peakKb / perf.peakKb).toFixed(3)),
      totalsRow(turns),
    ];
    return [{ title: recording.title, rows, isSame: isSameTotals(turns) }];
  });
}

async function names(folder, plan) {
  return withRecording(folder, plan, 'names', async (recording) => {
    const turns = await takeTurns(recording, plan.runs, [['--no-source'], []]);
    const [bare, full] = turns.perf;
    const rows = [
      ...timesAndMemory(recording, turns),
      ratioRow('perf --no-source / cacheline', bare, turns.ours, 6),
      ratioRow('perf with source lines / cacheline', full, turns.ours, 100),
      totalsRow(turns),
    ];
    return [{ title: recording.title, rows, isSame: isSameTotals(turns) }];
  });
}

async function growth(folder, plan) {
  const seconds = {};
  const memory = {};
  for (const name of ['short', 'hot'])
    await withRecording(folder, plan, name, async (recording) => {
      const results = [];
      for (let i = 0; i <= plan.runs; i++) results.push(await ours(recording, i === 0));
      const result = summary(results);
      seconds[name] = result.seconds;
      memory[name] = result.peakKb;
    });
  const few = (plan.samples * recordings.short.samples).toLocaleString('en');
  const rows = [
    row('cacheline, time', ...atMost(seconds.hot / seconds.short, 5.5), `${seconds.short.toFixed(3)} s -> ${seconds.hot.toFixed(3)} s`),
    // With the same lines and code addresses it need not grow at all; a little is the buffers'.
    row(
      'cacheline, anonymous memory',
      ...atMost(memory.hot / memory.short, 1.25),
      `${megabytes(memory.short)} -> ${megabytes(memory.hot)}`,
    ),
  ];
  return [{ title: `growth, ${few} -> ${plan.samples.toLocaleString('en')} samples of the same 2,000 lines`, rows }];
}

/** What asks more of the samples, or chooses some of them, beside the plain report of the same samples. */
async function ordered(folder, plan) {
  // The samples of a recording take 64 ns each.
  const recorded = plan.samples * 64e-9;
  const window = ['--time', `${(recorded / 4).toFixed(6)},${((recorded * 3) / 4).toFixed(6)}`];
  const medians = {};
  const shapes = {
    few: { plain: [], window, rows: ['-c', 'tid,iaddr'] },
    chains: { chains: ['-g'] },
    registers: { registers: [] },
    blocks: { blocks: [] },
  };
  for (const [name, ways] of Object.entries(shapes))
    await withRecording(folder, plan, name, async (recording) => {
      for (const way of Object.keys(ways)) medians[way] = [];
      for (let i = 0; i < plan.runs; i++)
        for (const [way, options] of Object.entries(ways)) medians[way].push((await ours(recording, false, options)).seconds);
    });
  const clock = await clockSeconds(folder, plan);
  const seconds = Object.fromEntries(Object.entries(medians).map(([way, all]) => [way, median(all)]));
  const beside = (name, value) => row(name, ...atMost(value / seconds.plain, 2), `${value.toFixed(3)} s`);
  const title = `${plan.samples.toLocaleString('en')} samples, few rows: time beside that of the plain report, ${seconds.plain.toFixed(3)} s`;
  const rows = [
    beside('a time window of the half of them', seconds.window),
    beside('rows by thread and instruction', seconds.rows),
    beside('with call chains, -g', seconds.chains),
    beside('with registers', seconds.registers),
    beside('with heap blocks', seconds.blocks),
    beside('as many clock samples', clock),
  ];
  return [{ title, rows }];
}

/** The engine alone, in this process: more threads than CPUs beside as many as CPUs, and whether they give the same bytes. */
async function threads(folder, plan) {
  const tables = [];
  for (const name of ['few', 'hot', 'wide'])
    await withRecording(folder, plan, name, async ({ file, title }) => {
      const seconds = { 2: [], 5: [] };
      const texts = new Set();
      for (let i = 0; i < plan.runs; i++)
        for (const count of [2, 5]) {
          const began = performance.now();
          const { pieces } = await addon().analyze({ path: file, threads: count }, () => {}).done;
          seconds[count].push((performance.now() - began) / 1000);
          if (i === 0) texts.add(createHash('sha256').update(pieces.join('')).digest('hex'));
        }
      const [two, five] = [median(seconds[2]), median(seconds[5])];
      const isSame = texts.size === 1;
      const rows = [
        row('5 threads / 2 threads', ...atMost(five / two, 1.1), `${two.toFixed(3)} s, ${five.toFixed(3)} s`),
        row('their reports', isSame ? 'the same bytes' : 'DIFFERENT'),
      ];
      tables.push({ title, rows, isSame });
    });
  return tables;
}

/** Questions to an open profile. */
async function profile(folder, plan) {
  const tables = [];
  for (const name of ['few', 'wide'])
    await withRecording(folder, plan, name, async ({ file, title, samples }) => {
      const { handle } = await addon().open({ path: file }, () => {}).done;
      const seconds = async (ask) => {
        const all = [];
        for (let i = 0; i < plan.runs; i++) {
          const began = performance.now();
          await ask(i).done;
          all.push((performance.now() - began) / 1000);
        }
        return median(all);
      };
      const windows = ['10-60%', '20-70%', '0-50%'];
      const filter = await seconds((i) => addon().filter({ handle, filter: `time:${windows[i % windows.length]}` }, () => {}));
      const sorts = ['contended', 'address', 'records'];
      const ask = (sort, from) => addon().ask({ handle, question: 'lines', sort, from, count: 100, accesses: false });
      const sort = await seconds((i) => ask(sorts[i % sorts.length], 0));
      const page = await seconds((i) => ask('contended', 100 * i));
      addon().close({ handle });
      const rows = [
        row('change of a time filter, a million samples', ...atMost((filter * 1e6) / samples, 0.1), `${filter.toFixed(3)} s in all`),
        row('another order of the lines', ...atMost(sort * 1000, 50), 'ms'),
        row('another page', ...atMost(page * 1000, 50), 'ms'),
      ];
      tables.push({ title, rows });
    });
  return tables;
}

const addon = () => createRequire(import.meta.url)(path.join(buildFolder, 'native/addon/cacheline.node'));

/** Seconds of the report of a clock recording: of a few samples of a program, again and again. */
async function clockSeconds(folder, plan) {
  await buildExamples();
  const recording = path.join(folder, 'clock.cacheline');
  const file = path.join(folder, 'perf.data');
  const options = ['--collector', 'clock', '-F', '4000', '--force', '-o', recording];
  await run(cacheline, ['record', ...options, '--', path.join(examplesBin, 'counter_array-contended')], { capture: true });
  const samples = await repeatRecording(path.join(recording, 'perf.data'), file, plan.samples);
  try {
    const seconds = [];
    for (let i = 0; i < plan.runs; i++) seconds.push((await ours({ file, folder }, false)).seconds);
    return (median(seconds) * plan.samples) / samples;
  } finally {
    await rm(file, { force: true });
  }
}

/** Writes a recording for as long as `use` takes. */
async function withRecording(folder, plan, name, use) {
  const { title, samples, shape, large, blocks } = recordings[name];
  const parent = blocks ? await mkdtemp(path.join(folder, 'blocks-')) : folder;
  const file = path.join(parent, 'perf.data');
  const count = Math.round(plan.samples * samples);
  const binary = await (large ? largeProgram() : smallProgram());
  const allocations = blocks ? ['--allocations', path.join(parent, 'allocations')] : [];
  await run(synth, ['intel', '-o', file, '--samples', `${count}`, '--binary', binary, ...shape, ...allocations], { timeoutSeconds: 300 });
  try {
    const { size } = await stat(file);
    return await use({
      file: blocks ? parent : file,
      folder,
      samples: count,
      size,
      title: `${count.toLocaleString('en')} ${title} (${megabytes(size / 1024)})`,
    });
  } finally {
    await rm(file, { force: true });
  }
}

async function ours({ file, folder }, watched, options = []) {
  const output = path.join(folder, 'cacheline.txt');
  const result = await measure(cacheline, ['report', ...options, file], { output, timeoutSeconds: patienceSeconds, watched });
  if (result.timedOut) throw new ScriptError(`cacheline report did not end within ${patienceSeconds} s`);
  return result;
}

const perfs = ({ file, folder }, options, index, watched) =>
  measure('perf', ['c2c', 'report', '-i', file, '--stdio', ...options], {
    output: path.join(folder, `perf-${index}.txt`),
    timeoutSeconds: patienceSeconds,
    watched,
  });

/** The first run was watched, for its memory; the others, of which there are none where it was stopped, are for the time. */
const summary = ([watched, ...others]) => ({
  seconds: others.length === 0 ? watched.seconds : median(others.map(({ seconds }) => seconds)),
  peakKb: watched.peakKb,
  timedOut: [watched, ...others].some(({ timedOut }) => timedOut),
  runs: others.length,
});

/**
 * Each run of ours is followed by one of every perf, after a turn in which all are watched; a perf that was stopped does not run again.
 * @returns medians; `totals`: what differs between ours and perf's, undefined where every perf was stopped
 */
async function takeTurns(recording, runs, options) {
  const bytes = [];
  const our = [];
  const their = options.map(() => []);
  for (let i = 0; i <= runs; i++) {
    progress(i === 0 ? 'memory' : `run ${i} of ${runs}`);
    bytes.push((await run('cat', [recording.file], { stdio: ['ignore', 'ignore', 'inherit'] })).seconds);
    our.push(await ours(recording, i === 0));
    for (const [index, results] of their.entries())
      if (!results.at(-1)?.timedOut) results.push(await perfs(recording, options[index], index, i === 0));
  }
  progress('');
  const perf = their.map(summary);
  const judge = perf.findIndex(({ timedOut }) => !timedOut);
  const totals = judge < 0 ? undefined : await differentTotals(recording, path.join(recording.folder, `perf-${judge}.txt`));
  return { bytes: median(bytes), ours: summary(our), perf, options, totals };
}

/** Sentences on statistics that differ; none is what is wanted. */
async function differentTotals({ file, folder }, perfOutput) {
  const output = path.join(folder, 'cacheline.json');
  await measure(cacheline, ['report', file, '--format', 'json'], { output, timeoutSeconds: patienceSeconds });
  const report = JSON.parse(await readFile(output, 'utf8'));
  const labels = JSON.parse(await readFile(path.join(root, 'test/fixtures/c2c/perf-labels.json'), 'utf8'));
  const [, general = '', shared = ''] = (await readFile(perfOutput, 'utf8')).split(
    /^ *(?:Trace|Global Shared Cache Line) Event Information *$/m,
  );
  const found = [];
  for (const [part, text] of [
    ['stats', general],
    ['shared', shared],
  ])
    for (const [label, name] of Object.entries(labels[part])) {
      const printed = text.split('\n').find((line) => line.slice(2).split(/\s*:/)[0] === label);
      const theirs = Number(printed?.split(':')[1]);
      const own = report[part][name];
      if (own !== theirs) found.push(`${part}.${name} is ${own}, perf says ${theirs}`);
    }
  return found;
}

function timesAndMemory(recording, { bytes, ours: our, perf, options }) {
  const line = (name, { seconds, peakKb, timedOut, runs }) =>
    row(
      name,
      `${seconds.toFixed(3)} s`,
      `${megabytes(peakKb)} anonymous`,
      `${(recording.samples / seconds / 1e6).toFixed(2)} M samples/s`,
      timedOut ? 'stopped' : `median of ${runs}`,
    );
  return [
    row('cat, warm', `${bytes.toFixed(3)} s`),
    line('cacheline report', our),
    ...perf.map((result, index) => line(['perf c2c report --stdio', ...options[index]].join(' '), result)),
  ];
}

const atMost = (value, limit) => [value.toFixed(3), `at most ${limit}`, verdict(value <= limit)];

/** A perf that was stopped would have taken longer: its ratio is a lower bound. */
function ratioRow(name, perf, our, least) {
  const ratio = perf.seconds / our.seconds;
  const misses = perf.timedOut && ratio < least ? 'open' : verdict(ratio >= least);
  return row(name, `${perf.timedOut ? 'over ' : ''}${ratio.toFixed(1)} x`, `at least ${least} x`, misses);
}

function totalsRow({ totals }) {
  if (totals === undefined) return row('totals', 'perf was stopped: nothing to compare with');
  return row('totals', totals.length === 0 ? 'the same' : `DIFFERENT: ${totals.join('; ')}`);
}

const isSameTotals = ({ totals }) => totals === undefined || totals.length === 0;

const megabytes = (kb) => `${(kb / 1024).toFixed(1)} MiB`;

if (isMain(import.meta.url)) void main(bench);
