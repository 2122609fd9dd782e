// All tests, in three lanes: fast (no editor), host (inside the extension host), e2e (the packaged extension in a browser).
//   node scripts/test.mjs [fast] [host] [e2e] [theia]     without a lane: all but theia (the package in Eclipse Theia)
// Every section runs even where an earlier one failed. Those that watch running programs (which have the processors before
// all others) or an editor come one after the other; meanwhile all others run in the background, one after the other, on what is left.
// The C++ tests run with sanitizers; those of native/tests/live, where these have nothing to find, without them.
// The last lines name the slowest tests and what failed, and sum up: `N passed, M failed, K skipped`.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build, buildFolder, hostSuiteFolder } from './build.mjs';
import { buildExamples, examplesBin, examplesWorkspace } from './lib/examples.mjs';
import { liveProgram, runPrograms, testPrograms } from './lib/gtest.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { lastLines, none, sumOf, summaryLines, words } from './lib/summary.mjs';
import { setup } from './setup.mjs';
import { prepareTheia, theiaVersion } from './theia-host.mjs';
import { prepare, versions } from './vscode-host.mjs';

const mochaProgram = path.join(root, 'node_modules/mocha/bin/mocha.js');
const reporter = path.join(root, 'scripts/lib/mocha-reporter.cjs');

const lanes = {
  fast: [
    { name: 'fast: types', background: true, body: check('node_modules/typescript/bin/tsc', '--noEmit') },
    { name: 'fast: eslint', background: true, body: check('node_modules/eslint/bin/eslint.js', '.') },
    { name: 'fast: prettier', background: true, body: check('node_modules/prettier/bin/prettier.cjs', '--check', '.') },
    { name: 'fast: TypeScript', needsBuild: true, background: true, body: unit },
    { name: 'fast: C++ under asan+ubsan', needsBuild: true, background: true, body: sanitized },
    { name: 'fast: C++ with running programs', needsBuild: true, body: cpp },
    { name: 'fast: TypeScript with running programs', needsBuild: true, body: unitLive },
  ],
  host: versions.map((version) => ({ name: `host: VS Code ${version.name}`, needsBuild: true, editor: true, body: () => host(version) })),
  e2e: [
    { name: 'e2e: the package and its pages', needsBuild: true, body: packageTests },
    ...versions.map((version) => ({
      name: `e2e: VS Code ${version.name}`,
      needsBuild: true,
      editor: true,
      body: (options) => editor(version, options),
    })),
  ],
  theia: [{ name: `theia: Eclipse Theia ${theiaVersion}`, needsBuild: true, body: theia }],
};
const lanesOfCi = ['fast', 'host', 'e2e'];

/** A program that passes or fails as one test. */
function check(program, ...args) {
  return async ({ tell, yielding }) => {
    const { status, stdout, stderr } = await run(process.execPath, [path.join(root, program), ...args], {
      check: false,
      capture: true,
      yielding,
      timeoutSeconds: 600,
    });
    const output = `${stdout}${stderr}`;
    tell(output.trim());
    return status === 0 ? { ...none, passed: 1 } : failure(path.basename(program), lastLines(output));
  };
}

const failure = (name, message) => ({ ...none, failed: 1, failures: [{ name, message }] });

async function cpp() {
  return runPrograms(testPrograms(buildFolder, [liveProgram]), { foremost: true, timeoutSeconds: 900 });
}

async function sanitized(options) {
  const programs = testPrograms(path.join(root, 'build/asan'));
  const targets = programs.map((program) => path.basename(program));
  await run('cmake', ['--preset', 'asan', '--log-level=WARNING'], { capture: true });
  await run('ninja', ['-C', 'build/asan', '--quiet', ...targets], { ...options, capture: true, timeoutSeconds: 3000 });
  return runPrograms(programs, { ...options, timeoutSeconds: 1800 });
}

const unitTests = ['--config', 'test/unit/.mocharc.json'];

function unit(options) {
  return mocha([...unitTests, 'test/unit/*.test.ts', '--ignore', 'test/unit/*.live.test.ts'], 1800, options);
}

async function unitLive(options) {
  await buildExamples();
  return mocha([...unitTests, 'test/unit/*.live.test.ts'], 900, { ...options, foremost: true }, { CACHELINE_EXAMPLES_BIN: examplesBin });
}

async function packageTests(options) {
  await run(process.execPath, ['scripts/package.mjs', '--any-glibc'], { timeoutSeconds: 300 });
  return mocha(['--config', 'test/e2e/.mocharc.json', 'test/e2e/package.test.ts', 'test/e2e/pages.test.ts'], 180, options);
}

/** The newest VS Code runs all tests; older ones a few, marked by CACHELINE_SMOKE: profile, hover, panel and comparison. */
const isNewest = (version) => version === versions.at(-1);

async function editor(version, options) {
  const workspace = await examplesWorkspace();
  try {
    return await mocha(['--config', 'test/e2e/.mocharc.json', 'test/e2e/editor.test.ts'], 700, options, {
      CACHELINE_VSCODE: version.name,
      CACHELINE_WORKSPACE: workspace.folder,
      CACHELINE_EXAMPLES_BIN: workspace.bin,
      CACHELINE_SMOKE: isNewest(version) ? '' : '1',
    });
  } finally {
    await workspace.remove();
  }
}

async function theia(options) {
  await prepareTheia();
  await run(process.execPath, ['scripts/package.mjs', '--any-glibc'], { timeoutSeconds: 300 });
  const workspace = await examplesWorkspace();
  try {
    const env = { CACHELINE_WORKSPACE: workspace.folder };
    return await mocha(['--config', 'test/e2e/.mocharc.json', 'test/e2e/theia.test.ts'], 400, options, env);
  } finally {
    await workspace.remove();
  }
}

async function host(version) {
  const { runInsideHost } = await import('./lib/host-lane.mjs');
  const workspace = await examplesWorkspace();
  try {
    return JSON.parse(
      await runInsideHost(version, {
        extension: root,
        suite: path.join(hostSuiteFolder, 'suite-index.js'),
        workspace: workspace.folder,
        env: { CACHELINE_EXAMPLES_BIN: workspace.bin, CACHELINE_SMOKE: isNewest(version) ? '' : '1' },
        timeoutSeconds: 420,
      }),
    );
  } finally {
    await workspace.remove();
  }
}

/** Runs mocha in a process of its own and returns its results. */
async function mocha(args, timeoutSeconds, { tell, yielding, foremost }, env = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-results-'));
  const results = path.join(folder, 'results.json');
  try {
    const { status, stdout, stderr, timedOut } = await run(process.execPath, [mochaProgram, '--reporter', reporter, ...args], {
      check: false,
      capture: yielding,
      yielding,
      foremost,
      timeoutSeconds,
      env: { ...process.env, ...env, CACHELINE_TEST_RESULTS: results },
    });
    if (yielding) tell(`${stdout}${stderr}`);
    if (timedOut) throw new ScriptError(`mocha did not end within ${timeoutSeconds} s`);
    if (!existsSync(results)) throw new ScriptError(`mocha ended with status ${status} before it ran a test`);
    const found = JSON.parse(await readFile(results, 'utf8'));
    // A failure outside of a test (at the end) shows in the status alone.
    return status !== 0 && found.failed === 0 ? { ...found, ...failure('mocha', `ended with status ${status} behind the tests`) } : found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/**
 * Runs one section and returns its results; whatever it throws is one failure of it. A body that returns nothing is no test.
 * @param body gets `yielding`, for what it starts, and `tell`, which takes what there is to say: at once, or where it yields, at its end
 */
async function section(name, body, yielding = false) {
  const told = [];
  const tell = yielding ? (text) => void told.push(text) : say;
  tell(`\n=== ${name}`);
  const started = performance.now();
  let results;
  try {
    results = (await body({ tell, yielding })) ?? none;
    if (results !== none && results.passed + results.failed + results.skipped === 0) throw new ScriptError('no test ran');
  } catch (error) {
    const text = error instanceof ScriptError ? error.message : error.stack;
    tell(text);
    results = failure('all of it', text);
  }
  const time = seconds(started);
  tell(`--- ${name}: ${results === none ? 'done' : words(results)} in ${time}`);
  if (told.length > 0) say(told.join('\n'));
  return { name, ...results, time };
}

async function inTurn(sections) {
  const results = [];
  for (const { name, body, background } of sections) results.push(await section(name, body, background));
  return results;
}

async function test(names) {
  const unknown = names.filter((name) => !(name in lanes));
  if (unknown.length > 0) throw new ScriptError(`unknown lane ${unknown.join(', ')}; lanes are ${Object.keys(lanes).join(', ')}`);
  const started = performance.now();
  const sections = (names.length > 0 ? names : lanesOfCi).flatMap((name) => lanes[name]);

  const built = await section('setup and build', async () => {
    await setup(['build', 'package', 'test']);
    const editors = sections.some(({ editor }) => editor) ? versions : [];
    await Promise.all([build({ tests: [liveProgram] }), ...editors.map(prepare)]);
  });
  const results = [built];
  for (const { name } of sections.filter(({ needsBuild }) => needsBuild && built.failed > 0))
    say(`\n=== ${name}\nnot run: the build failed`);
  const able = sections.filter(({ needsBuild }) => !needsBuild || built.failed === 0);
  const ran = await Promise.all([true, false].map((apart) => inTurn(able.filter(({ background = false }) => background === apart))));
  results.push(...ran.flat());

  say(`\n=== summary (${seconds(started)})`);
  say(summaryLines(results).join('\n'));
  return sumOf(results).failed > 0 ? 1 : 0;
}

if (isMain(import.meta.url)) void main(test);
