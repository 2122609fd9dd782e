// Set-up of a Debian or Ubuntu machine: system packages by group, then the npm packages. Safe to run again.
//   node scripts/setup.mjs [build] [test] [bench] [real] [fuzz]     without a group: build and test
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';

/**
 * What a group needs: the package, or the first of several names that this distribution knows.
 * `program`: on the PATH, it does as well as the package. `optional`: without it some tests are skipped.
 */
const groups = {
  build: [
    { packages: ['g++'], program: 'c++' },
    { packages: ['make'], program: 'make' },
    { packages: ['cmake'], program: 'cmake' },
    { packages: ['ninja-build'], program: 'ninja' },
    { packages: ['pkg-config', 'pkgconf'], program: 'pkg-config' },
    { packages: ['libdw-dev'] },
    { packages: ['libelf-dev'] },
    { packages: ['libzstd-dev'] },
    { packages: ['libzydis-dev'] },
    { packages: ['rapidjson-dev'] },
    { packages: ['robin-map-dev', 'libtsl-robin-map-dev'] },
  ],
  package: [
    { packages: ['patchelf'], program: 'patchelf' },
    { packages: ['binutils'], program: 'strip' },
  ],
  test: [
    { packages: ['libgtest-dev'] },
    { packages: ['chromium', 'chromium-browser'], programs: ['chromium', 'chromium-browser', 'google-chrome'] },
    { packages: ['fonts-dejavu-core'] },
    { packages: ['python3'], program: 'python3' }, // node-gyp
    { packages: ['patchelf'], program: 'patchelf' },
    { packages: ['binutils'], program: 'objdump' },
    { packages: ['linux-perf', 'linux-tools-generic'], program: 'perf', optional: true },
    { packages: ['dwarves', 'pahole'], program: 'pahole', optional: true },
    { packages: ['clang'], program: 'clang++' }, // It compiles the tests with sanitizers in half the time.
    { packages: ['libclang-rt-dev', 'libclang-rt-14-dev'] },
    { packages: ['dwz'], program: 'dwz', optional: true },
    { packages: ['golang-go'], program: 'go', optional: true }, // pprof
    { packages: ['zsh'], program: 'zsh', optional: true }, // completions
    { packages: ['fish'], program: 'fish', optional: true },
  ],
  bench: [{ packages: ['libbenchmark-dev'] }],
  real: [
    { packages: ['cargo'], program: 'cargo' },
    { packages: ['golang-go'], program: 'go' },
    { packages: ['dpkg-dev'], program: 'dpkg-source' },
    { packages: ['stress-ng'], program: 'stress-ng' },
    { packages: ['libevent-dev'] }, // memcached
    { packages: ['libsnappy-dev'] }, // LevelDB, and the rest
    { packages: ['libgtest-dev'] },
    { packages: ['libgmock-dev'] },
  ],
  fuzz: [{ packages: ['clang'], program: 'clang++' }, { packages: ['libclang-rt-dev', 'libclang-rt-14-dev'] }],
};

/** The first of these programs on the PATH, or undefined. */
export function findProgram(...names) {
  for (const name of names)
    for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
      const file = path.join(folder, name);
      if (folder !== '' && existsSync(file)) return file;
    }
  return undefined;
}

/** The browser that the editor's tests drive; CACHELINE_CHROMIUM names another one. */
export function findChromium() {
  return process.env.CACHELINE_CHROMIUM ?? findProgram('chromium', 'chromium-browser', 'google-chrome');
}

/**
 * Installs what is missing of these groups and of the npm packages.
 * @throws ScriptError naming the exact command where this user may not install a required package.
 */
export async function setup(names) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) throw new ScriptError(`Node ${process.versions.node} is too old: install Node 20 or newer.`);
  await installSystemPackages(names);
  await installNpmPackages();
}

async function installSystemPackages(names) {
  const needs = new Map(names.flatMap((name) => groups[name]).map((need) => [need.packages[0], need]));
  if (findProgram('dpkg-query') === undefined || findProgram('apt-get') === undefined) {
    say('setup: no apt here. These Debian packages are needed; please install what your system calls them:');
    say(`       ${[...needs.keys()].join(' ')}`);
    return;
  }
  const missing = await withoutInstalled([...needs.values()]);
  if (missing.length === 0) {
    say(`setup: system packages (${names.join(', ')}) are there`);
    return;
  }
  const isRoot = process.getuid() === 0;
  const apt = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, capture: true, timeoutSeconds: 900 };
  if (isRoot) {
    say('setup: apt-get update');
    await run('apt-get', ['update', '-qq'], apt);
  }
  const { install, unknown } = await chooseNames(missing);
  if (!isRoot) {
    // Without root the package lists may be old or empty: apt will say what it does not know.
    const names = [...install, ...unknown.map((need) => need.packages[0])];
    const line = `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names.join(' ')}`;
    if (missing.some((need) => !need.optional))
      throw new ScriptError(`setup: system packages are missing. Run this, then try again:\n\n  ${line}\n`);
    say(`setup: some tests are skipped without these packages: ${line}`);
    return;
  }
  for (const need of unknown)
    if (need.optional) say(`setup: no package ${need.packages.join(' or ')} here; the tests that need it are skipped`);
    else throw new ScriptError(`setup: apt knows no package ${need.packages.join(' or ')}; install it and run this again.`);
  if (install.length === 0) return;
  say(`setup: apt-get install ${install.join(' ')}`);
  await run('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...install], apt);
}

async function withoutInstalled(needs) {
  const every = needs.flatMap((need) => need.packages);
  const query = await run('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package}\\n', ...every], { capture: true, check: false });
  const installed = new Set(
    query.stdout
      .split('\n')
      .filter((line) => line.startsWith('installed '))
      .map((line) => line.slice('installed '.length)),
  );
  return needs.filter((need) => {
    if (need.packages.some((name) => installed.has(name))) return false;
    const programs = need.programs ?? (need.program ? [need.program] : []);
    return programs.length === 0 || findProgram(...programs) === undefined;
  });
}

/** The name under which this distribution can install each need. */
async function chooseNames(needs) {
  const policy = await run('apt-cache', ['policy', ...needs.flatMap((need) => need.packages)], {
    capture: true,
    env: { ...process.env, LC_ALL: 'C' },
  });
  const available = new Set();
  for (const block of policy.stdout.split(/^(?=\S)/m)) {
    const name = /^(\S+):$/m.exec(block)?.[1];
    if (name !== undefined && !/^ {2}Candidate: \(none\)$/m.test(block)) available.add(name);
  }
  const choices = needs.map((need) => ({ need, name: need.packages.find((name) => available.has(name)) }));
  return {
    install: choices.flatMap(({ name }) => name ?? []),
    unknown: choices.filter(({ name }) => name === undefined).map(({ need }) => need),
  };
}

async function installNpmPackages() {
  const installed = path.join(root, 'node_modules/.package-lock.json');
  const wanted = path.join(root, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) {
    say(`setup: npm packages are there (${readdirSync(path.join(root, 'node_modules')).length} folders)`);
    return;
  }
  say('setup: npm ci');
  // No package here needs its install script: esbuild's program comes as a package of its own.
  await run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error'], { timeoutSeconds: 600 });
}

if (isMain(import.meta.url))
  void main(async (args) => {
    const unknown = args.filter((name) => !(name in groups));
    if (unknown.length > 0) throw new ScriptError(`unknown group ${unknown.join(', ')}; groups are ${Object.keys(groups).join(', ')}`);
    await setup(args.length > 0 ? args : ['build', 'package', 'test']);
  });
