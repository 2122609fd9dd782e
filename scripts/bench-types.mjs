// How much of what is sampled gets a type, and the right field: the programs of test/fixtures/types, whose truth is known, recorded and reported.
//   node scripts/bench-types.mjs [--heap] [--details] [--rules] [PROGRAM...]
// `--heap` records with `cacheline record --heap`, which Go's allocator is not seen by; `--details` names the accesses that were not typed or not right; `--rules` reports each
// recording again without each rule of naming.
// Exits with 0 where it could measure, whatever it measured.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { printTable, progress, row, verdict } from './lib/bench-table.mjs';
import { isHere, languages } from './lib/compilers.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { ruleRows } from './lib/types-rules.mjs';
import { judge, readFields, readMarkers, readObjects } from './lib/types-truth.mjs';

const frequency = '1997';
const targets = { global: { typed: 0.95, right: 0.99 }, heap: { typed: 0.8, right: 0.95 } };
const details = 8;

const cacheline = path.join(root, 'bin/cacheline');
const fixtures = path.join(root, 'test/fixtures/types');

/** Records one build of one program; `report()` then judges what is said of it. */
async function record(folder, source, { compiler, command }, level, heap) {
  const program = path.join(folder, `${path.parse(source).name}-${compiler}-${level}`);
  const [tool, ...args] = command(level, program, source);
  await run(tool, args, { capture: true, timeoutSeconds: 300, cwd: folder });
  const recording = `${program}.cacheline`;
  const recorded = await run(
    process.execPath,
    [cacheline, 'record', ...(heap ? ['--heap'] : []), '-F', frequency, '-o', recording, '--', program],
    { capture: true, timeoutSeconds: 120 },
  );
  const markers = await readMarkers(source);
  return {
    title: `${path.basename(source)} ${compiler} -${level}`,
    async report(environment = {}) {
      const reported = await run(process.execPath, [cacheline, 'report', recording, '--show-all', '--format', 'json'], {
        capture: true,
        timeoutSeconds: 120,
        env: { ...process.env, ...environment },
      });
      const report = JSON.parse(reported.stdout);
      return { report, ...judge(report, source, markers, readObjects(recorded.stdout), readFields(recorded.stdout)) };
    },
  };
}

const share = (part, all) => (all === 0 ? '-' : `${((100 * part) / all).toFixed(1)}%`);

function add(sum, tally) {
  for (const [key, value] of Object.entries(tally ?? {})) sum[key] = (sum[key] ?? 0) + value;
  return sum;
}

/** One kind of object over some of the measurements. */
const sumOf = (measured, kind, wanted) =>
  measured.filter(wanted).reduce((sum, { tallies }) => add(sum, tallies[kind]), { all: 0, typed: 0, right: 0, unmarked: 0 });

function cells({ all, typed, right }) {
  return [`${all}`, share(typed, all), share(right, typed)];
}

function programRows(measured) {
  return [
    row('program', 'objects', 'compiler', 'samples', 'typed', 'right of these'),
    ...measured.flatMap(({ name, compiler, level, tallies }) =>
      Object.entries(tallies)
        .sort()
        .map(([kind, tally]) => row(name, kind, `${compiler} -${level}`, ...cells(tally))),
    ),
  ];
}

const isNative = ({ name }) => /\.c(pp)?$/.test(name);

function targetRows(measured) {
  const judged = (title, sum, { typed, right }) => [
    row(`${title}, typed`, share(sum.typed, sum.all), `at least ${typed * 100}%`, verdict(sum.all > 0 && sum.typed >= typed * sum.all)),
    row(
      `${title}, right of these`,
      share(sum.right, sum.typed),
      `at least ${right * 100}%`,
      verdict(sum.typed > 0 && sum.right >= right * sum.typed),
    ),
  ];
  const heapAt = (level) => sumOf(measured, 'heap', (one) => isNative(one) && one.level === level);
  const others = [
    ['heap objects, C and C++ at -O0', heapAt('O0')],
    ['heap objects, C and C++ at -O1', heapAt('O1')],
    ['stack objects, C and C++', sumOf(measured, 'stack', isNative)],
    ['globals, Rust', sumOf(measured, 'global', ({ compiler }) => compiler === 'rustc')],
    ['heap objects, Rust at -O0', sumOf(measured, 'heap', ({ compiler, level }) => compiler === 'rustc' && level === 'O0')],
    ['heap objects, Rust at -O1 and -O2', sumOf(measured, 'heap', ({ compiler, level }) => compiler === 'rustc' && level !== 'O0')],
    ['globals, Go', sumOf(measured, 'global', ({ compiler }) => compiler === 'go')],
    ['heap objects, Go', sumOf(measured, 'heap', ({ compiler }) => compiler === 'go')],
  ];
  return [
    ...judged('globals, C and C++', sumOf(measured, 'global', isNative), targets.global),
    ...judged('heap objects, C and C++ at -O2', heapAt('O2'), targets.heap),
    ...others
      .filter(([, { all }]) => all > 0)
      .map(([title, sum]) => row(title, share(sum.typed, sum.all), `${share(sum.right, sum.typed)} right of these`)),
  ];
}

function detailRows(measured) {
  const all = measured.flatMap(({ name, compiler, level, wrong }) =>
    wrong.map((one) => ({ ...one, where: `${name}:${one.line} ${compiler} -${level}` })),
  );
  const merged = new Map();
  for (const { where, truth, said, records } of all) {
    const key = [where, truth, said].join('\0');
    merged.set(key, (merged.get(key) ?? 0) + records);
  }
  return [...merged].sort(([, a], [, b]) => b - a).map(([key, records]) => row(`${records}`, ...key.split('\0')));
}

async function bench(args) {
  const { values, positionals: asked } = parseArgs({
    args,
    options: {
      heap: { type: 'boolean', default: false },
      details: { type: 'boolean', default: false },
      rules: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const { heap, details: withDetails, rules } = values;
  const sources = (await readdir(fixtures)).filter((name) => path.extname(name) in languages && !(heap && name.endsWith('.go')));
  const unknown = asked.find((name) => !sources.includes(name));
  if (unknown !== undefined) throw new ScriptError(`There is no program ${unknown}; there are ${sources.join(', ')}.`);
  await build();
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-types-'));
  const measured = [];
  const recordings = [];
  let rulesTable;
  const missing = new Set();
  try {
    for (const name of asked.length > 0 ? asked : sources.sort())
      for (const builder of languages[path.extname(name)]) {
        if (!(await isHere(builder.compiler))) {
          missing.add(builder.compiler);
          continue;
        }
        for (const level of builder.levels) {
          progress(`${name} by ${builder.compiler} -${level}`);
          const recording = await record(folder, path.join(fixtures, name), builder, level, heap);
          const { tallies, wrong } = await recording.report();
          measured.push({ name, compiler: builder.compiler, level, tallies, wrong });
          recordings.push(recording);
        }
      }
    if (rules) rulesTable = await ruleRows(recordings);
  } finally {
    progress('');
    await rm(folder, { recursive: true, force: true });
  }
  for (const compiler of missing) say(`bench: ${compiler} is not installed, so its builds are left out`);
  printTable('Samples on objects of known type', programRows(measured));
  const wrong = detailRows(measured);
  if (wrong.length > 0)
    printTable(
      withDetails ? 'Not typed, or not right' : `Not typed, or not right (the first ${details}; --details lists all)`,
      withDetails ? wrong : wrong.slice(0, details),
    );
  printTable('Coverage', targetRows(measured));
  if (rulesTable) printTable('Without each rule of naming', rulesTable);
}

if (isMain(import.meta.url)) void main(bench);
