// The programs of test/corpus: what is known of them, and how each is built.
import { cp, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isHere, languages } from './compilers.mjs';
import { root, run } from './run.mjs';

export const corpusFolder = path.join(root, 'test/corpus');
/** corpus.h includes common.h of the examples. */
export const corpusFlags = ['-D_GNU_SOURCE', `-I${corpusFolder}`, `-I${path.join(root, 'examples')}`];

const levels = ['O0', 'O2'];
const packages = { gcc: 'gcc', 'g++': 'g++', clang: 'clang', 'clang++': 'clang', rustc: 'rustc', go: 'golang' };

/** @returns the programs of corpus.json, whose fields docs/accuracy.md explains */
export async function readCorpus() {
  return JSON.parse(await readFile(path.join(corpusFolder, 'corpus.json'), 'utf8')).programs;
}

/** @returns {Map<number, string[]>} by line, from 1: the markers that a comment `// @contended NAME, NAME` names */
export function contendedMarkers(source) {
  return markersOf(source, 'contended');
}

/** @returns {Map<number, string[]>} the same of `// @definition NAME` */
export function definitionMarkers(source) {
  return markersOf(source, 'definition');
}

function markersOf(source, kind) {
  const markers = new Map();
  for (const [index, line] of source.split('\n').entries()) {
    const [, names] = new RegExp(`// @${kind} (.+?)\\s*$`).exec(line) ?? [];
    if (names !== undefined) markers.set(index + 1, names.split(', '));
  }
  return markers;
}

/**
 * How a program can be built here.
 * @param missing a set that takes a sentence for each compiler that is not installed
 * @returns {Promise<{builder: object, level: string, title: string}[]>} the forms, `title` as "gcc -O2"
 */
export async function formsOf(program, missing) {
  const forms = [];
  for (const builder of languages[path.extname(program.contended)]) {
    const { compiler } = builder;
    if (!(await isHere(compiler))) {
      missing.add(`${compiler} is not installed, so its builds are skipped: apt-get install ${packages[compiler]}`);
      continue;
    }
    for (const level of builder.levels) if (levels.includes(level)) forms.push({ builder, level, title: `${compiler} -${level}` });
  }
  return forms;
}

/**
 * Copies a source of the corpus into `folder` and builds it there, so that the debug information names the copy.
 * @returns {Promise<{source: string, program: string}>} paths
 */
export async function buildVariant(folder, source, form) {
  await mkdir(folder, { recursive: true });
  const copy = path.join(folder, path.basename(source));
  await cp(path.join(corpusFolder, source), copy);
  const program = path.join(folder, path.parse(source).name);
  await compile(copy, program, form);
  return { source: copy, program };
}

/** Throws where it does not compile. */
export async function compile(source, program, { builder, level }) {
  const [command, ...args] = builder.command(level, program, source, corpusFlags);
  await run(command, args, { capture: true, timeoutSeconds: 300, cwd: path.dirname(source) });
}
