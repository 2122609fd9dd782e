// Builds the native addon and the bundles; quick where nothing changed.
//   node scripts/build.mjs [--tests]     --tests: all C++ test programs and the suite of the host lane too
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { folderPrograms, liveProgram } from './lib/gtest.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';

export const buildFolder = path.join(root, 'build/release');
export const addonFile = path.join(buildFolder, 'native/addon/cacheline.node');
/** Preloaded into programs by `record --heap`; the addon looks for it beside itself. */
export const agentFile = path.join(buildFolder, 'native/addon/libcacheline_heap.so');
/** Preloaded by `record --collector agent`; it lies there, too. */
export const samplerFile = path.join(buildFolder, 'native/addon/libcacheline_sampler.so');
/** What `doctor --self-test` records; it lies there, too. */
export const selfTestFile = path.join(buildFolder, 'native/addon/cacheline_selftest');
export const hostSuiteFolder = path.join(root, 'build/test-host');

/**
 * Builds what the products consist of: the addon in build/release, the bundles and the recordings of the example in dist.
 * @param options.tests the C++ test programs to build besides, by their names without `test_`, with what all tests need
 */
export async function build({ tests } = {}) {
  await buildNative(tests);
  say('build: esbuild');
  await bundleProducts({ outdir: 'dist', sourcemap: true });
  const { exampleRecordings } = await import('./example-recordings.mjs');
  await exampleRecordings();
  if (tests) await bundleHostSuite();
}

async function buildNative(tests) {
  const cache = await readFile(path.join(buildFolder, 'CMakeCache.txt'), 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });
  const hasTests = /^CACHELINE_TESTS:BOOL=ON$/m.test(cache);
  if (!existsSync(path.join(buildFolder, 'build.ninja')) || (tests && !hasTests)) {
    say('build: cmake --preset release');
    await run('cmake', ['--preset', 'release', `-DCACHELINE_TESTS=${tests || hasTests ? 'ON' : 'OFF'}`, '--log-level=WARNING'], {
      capture: true,
    });
  }
  say(`build: ninja (${tests ? 'addon and tests' : 'addon'})`);
  const ofTests = tests ? ['cacheline_synth', ...tests.map((name) => `test_${name}`)] : [];
  await run('ninja', ['-C', buildFolder, '--quiet', 'cacheline_addon', ...ofTests]);
  if (!existsSync(addonFile)) throw new ScriptError(`ninja built no ${addonFile}`);
}

/** Read by extension/session/advice/syntax.ts, which looks for them in `syntax` beside its bundle. */
const grammars = [
  'node_modules/web-tree-sitter/web-tree-sitter.wasm',
  'node_modules/tree-sitter-c/tree-sitter-c.wasm',
  'node_modules/tree-sitter-cpp/tree-sitter-cpp.wasm',
];

/**
 * The editor's API as one module with its names: else every module that imports it copies all of these when the extension starts, which
 * takes half as long as reading the whole bundle.
 */
const editorApi = {
  name: 'editor-api',
  setup({ onResolve, onLoad }) {
    const namespace = 'editor-api';
    onResolve({ filter: /^vscode$/ }, (from) =>
      from.namespace === namespace ? { path: 'vscode', external: true } : { path: 'vscode', namespace },
    );
    onLoad({ filter: /^vscode$/, namespace }, async () => {
      const types = await readFile(path.join(root, 'node_modules/@types/vscode/index.d.ts'), 'utf8');
      const names = new Set([...types.matchAll(/^\texport (?:class|const|enum|function|namespace) (\w+)/gm)].map(([, name]) => name));
      return { contents: `export const { ${[...names].join(', ')} } = require('vscode');` };
    });
  },
};

const common = { absWorkingDir: root, bundle: true, logLevel: 'warning', legalComments: 'none' };
const forNode = {
  ...common,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  plugins: [editorApi],
  minify: true, // The command line starts 5 ms earlier.
  // Its other form asks for the address of its own file, which a bundle of this format cannot tell.
  alias: { 'web-tree-sitter': path.join(root, 'node_modules/web-tree-sitter/web-tree-sitter.cjs') },
};
const forPage = {
  ...common,
  platform: 'browser',
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
};

/**
 * The extension, the engine's helper, the command line, the pages, and the grammars they read.
 * @returns {Promise<string[]>} the files that went in, relative to the root.
 */
export async function bundleProducts(output) {
  const esbuild = await import('esbuild');
  const node = { extension: 'extension/main.ts', helper: 'extension/engine/helper.ts', cli: 'extension/cli/main.ts' };
  const pages = { panel: 'webviews/panel/main.tsx', machine: 'webviews/machine/main.tsx', compare: 'webviews/compare/main.tsx' };
  const results = await Promise.all([
    esbuild.build({ ...forNode, ...output, entryPoints: node, metafile: true }),
    esbuild.build({ ...forPage, ...output, entryPoints: pages, metafile: true }),
  ]);
  await copyGrammars(output.outdir);
  return [...results.flatMap(({ metafile }) => Object.keys(metafile.inputs)), ...grammars];
}

/** The command line alone, as cli.js with the grammars it reads. */
export async function bundleCommandLine(outdir) {
  const esbuild = await import('esbuild');
  await esbuild.build({ ...forNode, outdir, entryPoints: { cli: 'extension/cli/main.ts' } });
  await copyGrammars(outdir);
}

async function copyGrammars(outdir) {
  const syntax = path.resolve(root, outdir, 'syntax');
  await mkdir(syntax, { recursive: true });
  for (const file of grammars) await cp(path.join(root, file), path.join(syntax, path.basename(file)));
}

async function bundleHostSuite() {
  const esbuild = await import('esbuild');
  await rm(hostSuiteFolder, { recursive: true, force: true });
  const names = await readdir(path.join(root, 'test/host'));
  const entryPoints = names.filter((name) => name === 'suite-index.ts' || name.endsWith('.test.ts')).map((name) => `test/host/${name}`);
  await esbuild.build({
    ...forNode,
    plugins: [],
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    entryPoints,
    outdir: hostSuiteFolder,
  });
}

if (isMain(import.meta.url)) void main(async (args) => build(args.includes('--tests') ? { tests: [...folderPrograms, liveProgram] } : {}));
