// The example programs, compiled: beside the sources they were compiled from, so that debug information and editor agree.
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { root, run, say } from './run.mjs';

const examplesFolder = path.join(root, 'examples');
/** Where `make` puts the programs of the examples in this repository. */
export const examplesBin = path.join(root, 'build/examples');

/** Compiles the examples in `folder` into `out`; quick where nothing changed. */
export async function buildExamples(folder = examplesFolder, out = examplesBin) {
  say(`build: make -C ${path.relative(root, folder).startsWith('..') ? folder : path.relative(root, folder)}`);
  await run('make', ['--silent', '-C', folder, `OUT=${out}`], { timeoutSeconds: 300 });
}

let compiledCopy;

/** The folder that workspaces are made in, and beside it a copy that nobody changes: compiled there, and then moved. */
async function copyAndCompile() {
  const parent = await mkdtemp(path.join(tmpdir(), 'cacheline-workspace-'));
  process.once('exit', () => rmSync(parent, { recursive: true, force: true }));
  const folder = path.join(parent, 'examples');
  await cp(examplesFolder, folder, { recursive: true });
  await buildExamples(folder, path.join(folder, 'build'));
  const kept = path.join(parent, 'kept');
  await rename(folder, kept);
  return { folder, kept };
}

/**
 * A fresh copy of the examples, with its programs in `build`. All have one path, which the programs' debug information states: one at a time.
 * @returns {Promise<{folder: string, bin: string, remove: () => Promise<void>}>}
 */
export async function examplesWorkspace() {
  const { folder, kept } = await (compiledCopy ??= copyAndCompile());
  await cp(kept, folder, { recursive: true, preserveTimestamps: true });
  return { folder, bin: path.join(folder, 'build'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * What the examples are known to contain.
 * @returns {Promise<{demo: {contended: string, fixed: string}, programs: {name: string, source: string, program: string}[]}>}
 *   `program` is the path of the compiled example.
 */
export async function readAnswers(bin = examplesBin) {
  const { demo, programs } = JSON.parse(await readFile(path.join(examplesFolder, 'answers.json'), 'utf8'));
  return { demo, programs: programs.map((example) => ({ ...example, program: path.join(bin, example.name) })) };
}
