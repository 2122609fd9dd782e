// How right reports and advice are: the programs of test/corpus, whose answer is known, built, measured, recorded and judged.
//   node scripts/bench-accuracy.mjs [--quick] [--pairs N] [--details] [--only ROW,...] [--resume] [--write] [PROGRAM...]
// Each C and C++ program is built by gcc and clang at -O0 and -O2. What a fix gains is measured by paired runs, without a recording. Recordings are
// made by the clock collector and by the agent. `--quick`: one compiler and level a program, clock only, fewer pairs, at most 6 minutes; else at most
// 40. `--details` names what was not found or not right; `--write` puts the result into docs/accuracy.md, which says how it is judged.
// A row is a program in one form ("stop_flag gcc -O2"). `--only` and PROGRAM choose rows, also by a program's name or with `*`; `--resume` goes on with
// the rows that build/bench has of the same code and options.
// Exits with 0 where it could measure, whatever it measured, and with 1 where a program does not build, fails, or gives another result in its fixed
// form.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { falselyWaiting, judgeContended } from './lib/accuracy.mjs';
import { judgeAdvice, partings, predictionOf, readAdvice, resultOf, tryPatch } from './lib/accuracy-advice.mjs';
import { detailRows, formRows, targetRows, worthPatching } from './lib/accuracy-tables.mjs';
import { printTable, progress } from './lib/bench-table.mjs';
import { buildVariant, contendedMarkers, corpusFolder, formsOf, readCorpus } from './lib/corpus.mjs';
import { writeTables } from './lib/document-tables.mjs';
import { chooseRows, codeOf, endRows, machine, measureRows, rowOptions } from './lib/rows.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { buildCputime, elapsedOf, inPairs, timed, undisturbed } from './lib/undisturbed.mjs';

const cacheline = path.join(root, 'bin/cacheline');
/**
 * `recordSeconds`: least length of a recorded run. After `patience` seconds nothing that was disturbed is tried again, and at most two pairs are
 * run. After `limit` seconds the remaining rows are left out.
 */
const modes = {
  quick: { pairs: 2, tries: 2, recordSeconds: 0.5, patience: 150, limit: 330, collectors: ['clock'] },
  full: { pairs: 5, tries: 3, recordSeconds: 1, patience: 1440, limit: 2250, collectors: ['clock', 'agent'] },
};
const mostRounds = 20;
/** Of a recording: with fewer, single samples would be more than the share that is an alarm. */
const leastSamples = 200;

/** The collectors of `wanted` that this machine allows. */
async function usableCollectors(wanted) {
  const { stdout } = await run(process.execPath, [cacheline, 'doctor', '--format', 'json'], {
    capture: true,
    check: false,
    timeoutSeconds: 60,
  });
  const { collectors } = JSON.parse(stdout);
  const usable = wanted.filter((name) => collectors.some((one) => one.name === name && one.usable));
  for (const name of wanted)
    if (!usable.includes(name)) say(`bench:accuracy: the collector ${name} is not usable here: cacheline doctor says why`);
  if (usable.length === 0) throw new ScriptError('no collector is usable here, so nothing can be judged: cacheline doctor says why');
  return usable;
}

/**
 * Records a program with as many rounds as fill the time, and reports it. Where it ran faster than without a recording, so that there are few
 * samples, it is recorded once more with more rounds. `run`: seconds and output of a run without a recording.
 */
async function recordAndReport(context, program, run, collector) {
  const times = Math.min(mostRounds, Math.max(1, Math.ceil(context.recordSeconds / run.seconds)));
  const first = await recordOnce(context, program, run, collector, times);
  const { total } = first.report.samples;
  const more = Math.min(mostRounds, Math.ceil((times * leastSamples) / Math.max(total, 1)));
  return total >= leastSamples || more <= times ? first : recordOnce(context, program, run, collector, more);
}

async function recordOnce({ folder, tries }, program, { stdout }, collector, times) {
  const rounds = Number(/^rounds (\d+)$/m.exec(stdout)?.[1]);
  if (!(rounds > 0)) throw new ScriptError(`${program} did not say how many rounds it ran:\n${stdout}`);
  const recording = `${program}-${collector}.cacheline`;
  const options = ['record', '--force', '--collector', collector, '-o', recording, '--', program, String(rounds * times)];
  const { disturbed } = await undisturbed(tries(), () => timed(folder, [process.execPath, cacheline, ...options]));
  const reported = await run(process.execPath, [cacheline, 'report', recording, '--format', 'json'], {
    capture: true,
    timeoutSeconds: 120,
  });
  return { recording, report: JSON.parse(reported.stdout), disturbed };
}

/** How the two forms of a program compare; where there is one form, a run of it as `first`. */
async function measureCost({ folder, tries, pairs }, contended, other) {
  if (other !== null) return inPairs(folder, [contended.program], [other.program], { count: pairs(), tries: tries() });
  const { elapsed, stdout } = await elapsedOf(folder, [contended.program]);
  return { first: { seconds: elapsed, stdout }, ratio: null };
}

/** Goroutines' stacks have no room for the agent's signal (docs/agent.md). */
const records = (collector, { language }) => !(collector === 'agent' && language === 'go');

/** What waits falsely in a program by each of the collectors. `run`: seconds and output of a run without a recording. */
async function alarmsOf(context, collectors, program, run) {
  const alarms = {};
  for (const collector of collectors) alarms[collector] = falselyWaiting((await recordAndReport(context, program, run, collector)).report);
  return alarms;
}

/** One program by one compiler at one level: all that is measured of it. */
async function judgeForm(context, program, form) {
  const title = `${program.name} ${form.title}`;
  const folder = path.join(context.folder, title.replaceAll(' ', ''));
  const note = (what) => progress(`${title}: ${what}`);
  note('building');
  const contended = await buildVariant(folder, program.contended, form);
  const otherSource = program.fixed ?? program.parted;
  const other = otherSource === null ? null : await buildVariant(folder, otherSource, form);
  note('pairs');
  const cost = await measureCost(context, contended, other);
  if (other !== null && resultOf(cost.first) !== resultOf(cost.second))
    throw new ScriptError(
      `${title}: the result of ${program.contended} is ${resultOf(cost.first)}, that of ${otherSource} ${resultOf(cost.second)}`,
    );

  const text = await readFile(contended.source, 'utf8');
  const collectors = {};
  let first;
  for (const collector of context.collectors.filter((name) => records(name, program))) {
    note(collector);
    const now = await recordAndReport(context, contended.program, cost.first, collector);
    first ??= now.recording;
    const judged = judgeContended(now.report, program.members, path.basename(contended.source), contendedMarkers(text));
    let quiet = now;
    if (program.fixed !== null) quiet = await recordAndReport(context, other.program, cost.second, collector);
    collectors[collector] = { ...judged, alarm: falselyWaiting(quiet.report), disturbed: now.disturbed || quiet.disturbed };
  }
  note('advice');
  const alarms = Object.fromEntries(Object.entries(collectors).map(([name, { alarm }]) => [name, alarm]));
  const fixed = { program: other?.program, cost, alarms };
  const advice = await adviceOf({ ...context, collectors: Object.keys(collectors) }, program, form, contended, fixed, first, text);
  return { title, program, cost, collectors, advice };
}

/** What is advised after a recording, with what its patch does by each of the context's collectors; null where this version has no such command. */
async function adviceOf(context, program, form, contended, fixed, recording, text) {
  const advise = (options) =>
    run(process.execPath, [cacheline, 'advise', recording, ...options], {
      capture: true,
      check: false,
      cwd: path.dirname(contended.source),
      timeoutSeconds: 120,
    });
  const advice = await readAdvice(advise);
  if (advice === null) return null;
  const options = {
    folder: context.folder,
    count: context.pairs(),
    tries: context.tries(),
    alarmsOf: (patched, run) => alarmsOf(context, context.collectors, patched, run),
  };
  const patch = worthPatching(program, fixed.cost) ? await tryPatch(advise, contended, fixed, form, options) : null;
  return { partings: partings(advice), predicted: predictionOf(advice), patch, ...judgeAdvice(advice, program, text) };
}

function options(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      pairs: { type: 'string' },
      details: { type: 'boolean', default: false },
      ...rowOptions,
    },
  });
  const mode = values.quick ? modes.quick : modes.full;
  const pairs = values.pairs === undefined ? mode.pairs : Number(values.pairs);
  if (!(Number.isInteger(pairs) && pairs >= 1)) throw new ScriptError(`--pairs takes a whole number above 0, not '${values.pairs}'`);
  return { ...mode, ...values, pairs, only: [...(values.only?.split(',') ?? []), ...positionals] };
}

/**
 * What there is to measure, by the title of its row.
 * @param missing takes a sentence for each compiler that is not installed
 */
async function readForms(quick, missing) {
  const forms = new Map();
  for (const [index, program] of (await readCorpus()).entries()) {
    const all = await formsOf(program, missing);
    for (const form of quick ? all.slice(index % all.length, (index % all.length) + 1) : all)
      forms.set(`${program.name} ${form.title}`, { program, form });
  }
  return forms;
}

async function bench(args) {
  const mode = options(args);
  const missing = new Set();
  const forms = await readForms(mode.quick, missing);
  for (const sentence of missing) say(`bench:accuracy: ${sentence}`);
  const names = [...forms.keys()];
  const chosen = chooseRows(names, mode.only);
  await build();
  await buildCputime();
  const began = performance.now();
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-bench-accuracy-'));
  const seconds = () => (performance.now() - began) / 1000;
  const patient = () => seconds() < mode.patience;
  const limits = { tries: () => (patient() ? mode.tries : 1), pairs: () => (patient() ? mode.pairs : Math.min(mode.pairs, 2)) };
  let leftOut = 0;
  try {
    const collectors = await usableCollectors(mode.collectors);
    // What contention costs is measured for this bench alone: predictions rest on it.
    process.env['XDG_CACHE_HOME'] = path.join(folder, 'cache');
    const calibrate = ['doctor', '--calibrate', '--format', 'json'];
    const { stdout } = await run(process.execPath, [cacheline, ...calibrate], { capture: true, timeoutSeconds: 60 });
    const { file, reason } = JSON.parse(stdout).calibration;
    if (file === null) say(`bench:accuracy: no speedup is predicted: ${reason}`);
    const how = `${mode.quick ? 'quick run; ' : ''}${machine()}; ${mode.pairs} pairs a form; recorded by ${collectors.join(' and ')}`;
    say(`bench:accuracy: ${how}`);
    const code = await codeOf(corpusFolder, path.join(root, 'examples/common.h'));
    const measure = async (name) => {
      if (seconds() > mode.limit) return void leftOut++;
      const { program, form } = forms.get(name);
      return judgeForm({ ...mode, ...limits, collectors, folder }, program, form);
    };
    const result = await measureRows('bench:accuracy', { names, chosen, resume: mode.resume, code, how, measure });
    const judged = [...result.rows.values()];
    const table = formRows(judged, collectors);
    const targets = targetRows(judged, collectors);
    printTable('Each program: cost is contended / fixed or parted form, median of pairs; * disturbed by other programs', table);
    printTable('Accuracy', targets);
    if (mode.details) printTable('Not found, not right, or alarmed', detailRows(judged, collectors));
    const write = async () => {
      await writeTables(path.join(root, 'docs/accuracy.md'), 'bench:accuracy', how, [targets, table]);
      await writeTables(path.join(root, 'README.md'), 'bench:accuracy', how, [targets]);
    };
    if (leftOut > 0) say(`bench:accuracy: ${leftOut} rows left out after ${mode.limit} s: --resume measures them`);
    say(`bench:accuracy: ${result.rows.size} rows, ${(seconds() / 60).toFixed(1)} minutes`);
    return await endRows('bench:accuracy', result, mode.write ? write : null);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) void main(bench);
