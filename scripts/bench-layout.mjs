// What types of a large binary cost: listing all of them for the first time beside pahole, and one layout once they are indexed.
//   node scripts/bench-layout.mjs [PAIRS]     pairs of runs, at least and by default 5
// Exits with 0 where it could measure, whatever it measured.
import { createRequire } from 'node:module';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { addonFile, build } from './build.mjs';
import { printTable, progress, row, verdict } from './lib/bench-table.mjs';
import { oneType, typesLibrary } from './lib/layout-binary.mjs';
import { measure } from './lib/measure.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, root, run, ScriptError } from './lib/run.mjs';

const fewestPairs = 5;
const layoutTargetSeconds = 1;
const ratioTarget = 1;
const patienceSeconds = 600;
const layoutRuns = 11;

const cacheline = path.join(root, 'bin/cacheline');
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
const seconds = (value) => `${value.toFixed(3)} s`;

/** The command with an index of its own, which lies in the folder. */
const ours = (folder, ...args) => [
  'env',
  `XDG_CACHE_HOME=${path.join(folder, 'cache')}`,
  process.execPath,
  cacheline,
  'layout',
  ...args,
  '--format',
  'json',
];

/** Bytes of the sections with debug information. */
async function debugBytes(library) {
  const { stdout } = await run('size', ['-A', library], { capture: true });
  return [...stdout.matchAll(/^\.debug\S*\s+(\d+)/gm)].reduce((sum, [, size]) => sum + Number(size), 0);
}

/** Both programs in turns, each first as often as the other. */
async function listings(library, folder, pairs) {
  const programs = [
    { name: 'ours', command: ours(folder, '--list', '--in', library) },
    // Else it reads the types in namespaces, classes and functions, too, and leaves them out.
    { name: 'pahole', command: ['pahole', '--show_private_classes', '--sizes', library] },
  ];
  const runs = { ours: [], pahole: [] };
  const peakKb = {};
  for (let pair = -1; pair < pairs; pair++) {
    for (const { name, command } of pair % 2 === 0 ? programs : [...programs].reverse()) {
      progress(`listing by ${name}, ${pair < 0 ? 'to warm up, and for the memory' : `pair ${pair + 1} of ${pairs}`}`);
      const [program, ...args] = command;
      await rm(path.join(folder, 'cache'), { recursive: true, force: true });
      const watched = pair < 0;
      const result = await measure(program, args, { output: path.join(folder, name), timeoutSeconds: patienceSeconds, watched });
      if (result.timedOut) throw new ScriptError(`${name} did not list ${library} within ${patienceSeconds} s`);
      if (watched) peakKb[name] = result.peakKb;
      else runs[name].push(result.seconds);
    }
  }
  progress('');
  return {
    ours: { seconds: median(runs.ours), peakKb: peakKb.ours },
    pahole: { seconds: median(runs.pahole), peakKb: peakKb.pahole },
    ratio: median(runs.ours.map((own, i) => runs.pahole[i] / own)),
    types: JSON.parse(await readFile(path.join(folder, 'ours'), 'utf8')).length,
    theirTypes: (await readFile(path.join(folder, 'pahole'), 'utf8')).split('\n').length - 1,
  };
}

/** One type by the command line, and in one process, as the editor's helper does it. */
async function oneLayout(library, folder) {
  const timedRuns = async (title, ...args) => {
    const times = [];
    const [program, ...rest] = ours(folder, ...args, '--in', library);
    for (let i = -1; i < fewestPairs; i++) {
      progress(`${title}, ${i < 0 ? 'to fill the index' : `${i + 1} of ${fewestPairs}`}`);
      const { seconds: time } = await measure(program, rest, { output: path.join(folder, 'one'), timeoutSeconds: patienceSeconds });
      if (i >= 0) times.push(time);
    }
    return median(times);
  };
  const listing = await timedRuns('listing once more', '--list');
  const command = await timedRuns('one layout by the command', oneType);
  progress('');
  const { name, members } = JSON.parse(await readFile(path.join(folder, 'one'), 'utf8'));
  if (name !== oneType || members.length !== 7)
    throw new ScriptError(`the layout of ${oneType} is not what was compiled: ${name}, ${members.length} members`);
  process.env.XDG_CACHE_HOME = path.join(folder, 'cache');
  const addon = createRequire(addonFile)(addonFile);
  const timed = async (params) => {
    const started = performance.now();
    const { layouts } = JSON.parse(await addon.layout({ binary: library, ...params }));
    if (layouts.length !== 1) throw new ScriptError(`${layouts.length} layouts of ${params.name}`);
    return (performance.now() - started) / 1000;
  };
  const first = await timed({ name: oneType });
  const later = [];
  for (let i = 0; i < layoutRuns; i++) later.push(await timed({ name: `unit${i % 13}::Table${i * 7}`, expand: i % 2 === 1 }));
  return { listing, command, first, later: median(later) };
}

async function bench([asked]) {
  const pairs = Math.max(fewestPairs, Number(asked ?? fewestPairs) || fewestPairs);
  await build();
  const library = await typesLibrary();
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-layout-'));
  try {
    const bytes = await debugBytes(library);
    const list = await listings(library, folder, pairs);
    const one = await oneLayout(library, folder);
    const listing = (name, { seconds: time, peakKb }, types) =>
      row(name, seconds(time), `${(peakKb / 1024).toFixed(0)} MiB anonymous`, `${types} types, median of ${pairs}`);
    printTable(`Types of a C++ library with ${megabytes(bytes)} of debug information`, [
      listing('cacheline layout --list', list.ours, list.types),
      listing('pahole --show_private_classes --sizes', list.pahole, list.theirTypes),
      row('the list once more, indexed', seconds(one.listing), '', `median of ${fewestPairs}`),
      row('one layout by the command, indexed', seconds(one.command), '', `median of ${fewestPairs}`),
      row('one layout, first of a process', seconds(one.first)),
      row('one layout, later ones', seconds(one.later), '', `median of ${layoutRuns}, other types`),
    ]);
    printTable('Targets', [
      row(
        'pahole / cacheline, pairs',
        `${list.ratio.toFixed(2)} x`,
        `at least ${ratioTarget.toFixed(1)} x`,
        verdict(list.ratio >= ratioTarget),
      ),
      row('one layout, once indexed', seconds(one.command), `under ${layoutTargetSeconds} s`, verdict(one.command < layoutTargetSeconds)),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
