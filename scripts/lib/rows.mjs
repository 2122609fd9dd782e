// The rows of a benchmark that takes long: each is measured by itself and kept at once, one line of JSON, so that a run that was stopped can go on.
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { addonFile, agentFile, samplerFile } from '../build.mjs';
import { progress } from './bench-table.mjs';
import { root, say as sayLine, ScriptError } from './run.mjs';

/** What these benchmarks have in common, for parseArgs. */
export const rowOptions = {
  only: { type: 'string' },
  resume: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
};

/** Begins the sentence that says where and how rows were measured. */
export const machine = () => `${cpus().length} CPUs, ${cpus()[0]?.model}`;

async function filesOf(one) {
  if (!(await stat(one)).isDirectory()) return [one];
  const names = (await readdir(one)).toSorted();
  return (await Promise.all(names.map((name) => filesOf(path.join(one, name))))).flat();
}

/**
 * Identifies what is measured: the built product.
 * @param others files and folders of what it is measured with, such as programs that it records
 */
export async function codeOf(...others) {
  const hash = createHash('sha256');
  for (const one of [addonFile, agentFile, samplerFile, path.join(root, 'dist/cli.js'), ...others])
    for (const file of await filesOf(one)) hash.update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}

/**
 * @param names of all rows
 * @param patterns each a name, the words it begins with, or either with `*` for any text; none: all rows
 * @returns the names that one of them fits, in the order of `names`
 */
export function chooseRows(names, patterns) {
  if (patterns.length === 0) return names;
  const escaped = (text) => text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replaceAll('*', '.*');
  const fits = patterns.map((pattern) => new RegExp(`^${escaped(pattern)}( .*)?$`));
  const unknown = patterns.filter((_, index) => !names.some((name) => fits[index].test(name)));
  if (unknown.length > 0)
    throw new ScriptError(`there is no row ${unknown.map((name) => `'${name}'`).join(', ')}; there are ${names.join(', ')}`);
  return names.filter((name) => fits.some((one) => one.test(name)));
}

/** @returns the rows of a file; those that cannot be read are left out, with a sentence */
async function readRows(file, tell) {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      return [JSON.parse(line)];
    } catch {
      tell(`dropped a row that was not written to its end: ${line.slice(0, 40)}…`);
      return [];
    }
  });
}

/** Replaces a file in one step. */
async function replaceFile(file, text) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.new`, text, { flush: true });
  await rename(`${file}.new`, file);
}

/**
 * Measures rows one after another. What was measured earlier stays in the file, unless it is measured anew.
 * @param bench "bench:NAME"; the rows are kept as bench-NAME.jsonl
 * @param options.names of all rows
 * @param options.chosen those to measure
 * @param options.resume takes what the file has of the same `code` and `how`, and measures only the rest of `chosen`
 * @param options.code see codeOf
 * @param options.how the sentence on machine and options that stands above the tables
 * @param options.measure gets a name; returns what JSON can hold, undefined where it leaves the row out. A ScriptError breaks that row only.
 * @param options.show gets name and value of each row, also of those taken from the file
 * @param options.folder, say where the file is and what takes sentences; for tests
 * @returns {Promise<{rows: Map<string, any>, missing: string[], broken: string[]}>} rows in the order of `names`; names without a row; sentences
 */
export async function measureRows(bench, options) {
  const { names, chosen, resume, code, how, measure, show, folder = path.join(root, 'build/bench'), say = sayLine } = options;
  const tell = (sentence) => say(`${bench}: ${sentence}`);
  const file = path.join(folder, `${bench.replace(':', '-')}.jsonl`);
  const isOurs = (row) => row.code === code && row.how === how;
  const earlier = await readRows(file, tell);
  const kept = earlier.filter((row) => resume || !isOurs(row) || !chosen.includes(row.name));
  await replaceFile(file, kept.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const found = new Map(resume ? kept.filter(isOurs).map(({ name, value }) => [name, value]) : []);
  const reused = names.filter((name) => found.has(name));
  if (resume) {
    tell(`taken from ${path.relative(root, file)}: ${reused.join(', ') || 'no row'}`);
    const others = kept.filter((row) => !isOurs(row));
    if (others.length > 0) tell(`not taken, because of other code or options: ${others.map(({ name }) => name).join(', ')}`);
  }
  for (const name of reused) show?.(name, found.get(name));
  const broken = [];
  for (const name of chosen.filter((one) => !found.has(one))) {
    try {
      const value = await measure(name);
      if (value === undefined) continue;
      await appendFile(file, `${JSON.stringify({ name, code, how, value })}\n`, { flush: true });
      found.set(name, value);
      show?.(name, value);
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      broken.push(`${name}: ${error.message}`);
    }
  }
  progress('');
  const isThere = (name) => found.has(name);
  return {
    rows: new Map(names.filter(isThere).map((name) => [name, found.get(name)])),
    missing: names.filter((name) => !isThere(name)),
    broken,
  };
}

/**
 * The end of a benchmark: says what broke, and has the tables of the documents written if every row is there.
 * @param write writes them; null: nobody asked for it
 * @returns the exit status
 */
export async function endRows(bench, { missing, broken }, write, say = sayLine) {
  for (const one of broken) say(`${bench}: broken: ${one}`);
  if (write !== null && missing.length === 0) await write();
  if (write !== null && missing.length > 0)
    say(`${bench}: no table was written, because rows are missing (--resume measures them): ${missing.join(', ')}`);
  return broken.length > 0 || (write !== null && missing.length > 0) ? 1 : 0;
}
