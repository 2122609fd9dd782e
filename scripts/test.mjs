// All tests, in three lanes: fast (no editor), host (inside the extension host), e2e (the packaged extension in a browser).
//   node scripts/test.mjs [fast] [host] [e2e] [theia]     without a lane: all but theia (the package in Eclipse Theia)
// Every section runs even where an earlier one failed. What asan needs is compiled beside those that do not judge recordings of programs.
// A C++ test runs once: with the sanitizers, or without them where these have nothing to find.
// The last lines name what failed and sum up: `N passed, M failed, K skipped`.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build, buildFolder, hostSuiteFolder } from './build.mjs';
import { buildExamples, examplesBin, examplesWorkspace } from './lib/examples.mjs';
import { runPrograms, testPrograms } from './lib/gtest.mjs';
import { isMain, main, root, run, say, ScriptError, withoutYielding } from './lib/run.mjs';
import { lastLines, none, sumOf, summaryLines, words } from './lib/summary.mjs';
import { setup } from './setup.mjs';
import { prepareTheia, theiaVersion } from './theia-host.mjs';
import { prepare, versions } from './vscode-host.mjs';

const mochaProgram = path.join(root, 'node_modules/mocha/bin/mocha.js');
const reporter = path.join(root, 'scripts/lib/mocha-reporter.cjs');

const lanes = {
  fast: [
    { name: 'fast: types', body: check('node_modules/typescript/bin/tsc', '--noEmit') },
    { name: 'fast: eslint', body: check('node_modules/eslint/bin/eslint.js', '.') },
    { name: 'fast: prettier', body: check('node_modules/prettier/bin/prettier.cjs', '--check', '.') },
    { name: 'fast: C++', needsBuild: true, alone: true, body: cpp },
    { name: 'fast: TypeScript', needsBuild: true, alone: true, body: unit },
    { name: 'fast: C++ under asan+ubsan', needsBuild: true, compile: compileSanitized, body: sanitized },
  ],
  host: versions.map((version) => ({ name: `host: VS Code ${version.name}`, needsBuild: true, body: () => host(version) })),
  e2e: [
    { name: 'e2e: the package and its pages', needsBuild: true, body: packageTests },
    ...versions.map((version) => ({ name: `e2e: VS Code ${version.name}`, needsBuild: true, body: () => editor(version) })),
  ],
  theia: [{ name: `theia: Eclipse Theia ${theiaVersion}`, needsBuild: true, body: theia }],
};
const lanesOfCi = ['fast', 'host', 'e2e'];

/** A program that passes or fails as one test. */
function check(program, ...args) {
  return async () => {
    const { status, stdout, stderr } = await run(process.execPath, [path.join(root, program), ...args], {
      check: false,
      capture: true,
      timeoutSeconds: 300,
    });
    const output = `${stdout}${stderr}`;
    process.stdout.write(output);
    return status === 0 ? { ...none, passed: 1 } : failure(path.basename(program), lastLines(output));
  };
}

const failure = (name, message) => ({ ...none, failed: 1, failures: [{ name, message }] });

/**
 * The tests that run without sanitizers, as `record.LiveRecorded.Test` of `test_record`: comparisons with other tools, programs that run step
 * by step, and what happens inside of recorded programs. Nothing of ours is instrumented there, and all of it takes long.
 */
const plainSuites = {
  record: /^(AgentAdversity|AgentCalls|LiveRecorded)\./,
  inference: /^LiveCoverage\./,
  layouts: /\/(CppJudge|PaholeJudge)\./,
  symbols: /\/(AgainstAddr2line|GoMachine)\./,
  decode: /^(Live|Objdump)\./,
};
const runsPlain = (program, test) => plainSuites[program]?.test(test) ?? false;

const ofPrograms = { timeoutSeconds: 900, again: /^(record|heap)\.|[./]Live/ };

async function cpp() {
  return runPrograms(testPrograms(buildFolder, Object.keys(plainSuites)), { ...ofPrograms, chosen: runsPlain });
}

const sanitizedPrograms = testPrograms(path.join(root, 'build/asan'));

async function compileSanitized() {
  const targets = sanitizedPrograms.map((program) => path.basename(program));
  await run('cmake', ['--preset', 'asan', '--log-level=WARNING'], { capture: true });
  await run('ninja', ['-C', 'build/asan', '--quiet', ...targets], { capture: true, yielding: true, timeoutSeconds: 3000 });
}

async function sanitized() {
  return runPrograms(sanitizedPrograms, { ...ofPrograms, chosen: (program, test) => !runsPlain(program, test) });
}

async function unit() {
  await buildExamples();
  return mocha(['--config', 'test/unit/.mocharc.json'], 1200, { CACHELINE_EXAMPLES_BIN: examplesBin });
}

async function packageTests() {
  await run(process.execPath, ['scripts/package.mjs', '--any-glibc'], { timeoutSeconds: 300 });
  return mocha(['--config', 'test/e2e/.mocharc.json', 'test/e2e/package.test.ts', 'test/e2e/pages.test.ts'], 180);
}

async function editor(version) {
  await prepare(version);
  const workspace = await examplesWorkspace();
  try {
    return await mocha(['--config', 'test/e2e/.mocharc.json', 'test/e2e/editor.test.ts'], 700, {
      CACHELINE_VSCODE: version.name,
      CACHELINE_WORKSPACE: workspace.folder,
      CACHELINE_EXAMPLES_BIN: workspace.bin,
    });
  } finally {
    await workspace.remove();
  }
}

async function theia() {
  await prepareTheia();
  await run(process.execPath, ['scripts/package.mjs', '--any-glibc'], { timeoutSeconds: 300 });
  const workspace = await examplesWorkspace();
  try {
    const env = { CACHELINE_WORKSPACE: workspace.folder };
    return await mocha(['--config', 'test/e2e/.mocharc.json', 'test/e2e/theia.test.ts'], 400, env);
  } finally {
    await workspace.remove();
  }
}

async function host(version) {
  await prepare(version);
  const { runInsideHost } = await import('./lib/host-lane.mjs');
  const workspace = await examplesWorkspace();
  try {
    return JSON.parse(
      await runInsideHost(version, {
        extension: root,
        suite: path.join(hostSuiteFolder, 'suite-index.js'),
        workspace: workspace.folder,
        env: { CACHELINE_EXAMPLES_BIN: workspace.bin },
        timeoutSeconds: 420,
      }),
    );
  } finally {
    await workspace.remove();
  }
}

/** Runs mocha in a process of its own and returns its results. */
async function mocha(args, timeoutSeconds, env = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-results-'));
  const results = path.join(folder, 'results.json');
  try {
    const { status, timedOut } = await run(process.execPath, [mochaProgram, '--reporter', reporter, ...args], {
      check: false,
      timeoutSeconds,
      env: { ...process.env, ...env, CACHELINE_TEST_RESULTS: results },
    });
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

/** Runs one section and returns its results; whatever it throws is one failure of it. A body that returns nothing is no test. */
async function section(name, body) {
  say(`\n=== ${name}`);
  const started = performance.now();
  let results;
  try {
    results = (await body()) ?? none;
    if (results !== none && results.passed + results.failed + results.skipped === 0) throw new ScriptError('no test ran');
  } catch (error) {
    const text = error instanceof ScriptError ? error.message : error.stack;
    say(text);
    results = failure('all of it', text);
  }
  const time = seconds(started);
  say(`--- ${name}: ${results === none ? 'done' : words(results)} in ${time}`);
  return { name, ...results, time };
}

/**
 * Sections wait for much, and few use two processors: what some need compiled is compiled beside the others, and they come last. It waits
 * while a section runs that is to be `alone`.
 * @returns the sections in the order to run them
 */
function withCompiling(sections) {
  const last = sections.filter(({ compile }) => compile);
  const waiting = last.map(({ compile, body, ...section }) => {
    const compiled = compile();
    compiled.catch(() => {}); // told of by the section
    return { ...section, body: () => compiled.then(body) };
  });
  const others = sections.filter(({ compile }) => !compile);
  return [...others.map(({ alone, body, ...section }) => ({ ...section, body: alone ? () => withoutYielding(body) : body })), ...waiting];
}

async function test(names) {
  const unknown = names.filter((name) => !(name in lanes));
  if (unknown.length > 0) throw new ScriptError(`unknown lane ${unknown.join(', ')}; lanes are ${Object.keys(lanes).join(', ')}`);
  const started = performance.now();
  const sections = (names.length > 0 ? names : lanesOfCi).flatMap((name) => lanes[name]);

  const built = await section('setup and build', async () => {
    await setup(['build', 'package', 'test']);
    await build({ tests: Object.keys(plainSuites) });
  });
  const results = [built];
  for (const { name } of sections.filter(({ needsBuild }) => needsBuild && built.failed > 0))
    say(`\n=== ${name}\nnot run: the build failed`);
  for (const { name, body } of withCompiling(sections.filter(({ needsBuild }) => !needsBuild || built.failed === 0)))
    results.push(await section(name, body));

  say(`\n=== summary (${seconds(started)})`);
  say(summaryLines(results).join('\n'));
  return sumOf(results).failed > 0 ? 1 : 0;
}

if (isMain(import.meta.url)) void main(test);
