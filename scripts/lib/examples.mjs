// The example programs, compiled: beside the sources they were compiled from, so that debug information and editor agree.
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root, run, say } from './run.mjs';

const examplesFolder = path.join(root, 'examples');
/** Where `make` puts the programs of the examples in this repository. */
export const examplesBin = path.join(root, 'build/examples');

/** Compiles the examples in `folder` into `out`; quick where nothing changed. */
export async function buildExamples(folder = examplesFolder, out = examplesBin) {
  say(`build: make -C ${path.relative(root, folder).startsWith('..') ? folder : path.relative(root, folder)}`);
  await run('make', ['--silent', '-C', folder, `OUT=${out}`], { timeoutSeconds: 300 });
}

/**
 * A copy of the examples in a new temporary folder, with its programs in `build`.
 * @returns {Promise<{folder: string, bin: string, remove: () => Promise<void>}>}
 */
export async function examplesWorkspace() {
  const parent = await mkdtemp(path.join(tmpdir(), 'cacheline-workspace-'));
  const folder = path.join(parent, 'examples');
  const remove = () => rm(parent, { recursive: true, force: true });
  try {
    await cp(examplesFolder, folder, { recursive: true });
    const bin = path.join(folder, 'build');
    await buildExamples(folder, bin);
    return { folder, bin, remove };
  } catch (error) {
    await remove();
    throw error;
  }
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
