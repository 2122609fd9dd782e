// Makes cacheline-lens-linux-x64-VERSION.vsix: the bundles, the stripped addon and the libraries it needs, and the notices.
//   node scripts/package.mjs [--any-glibc]     --any-glibc: a package for this machine alone may need a newer glibc
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { addonFile, agentFile, build, bundleProducts, samplerFile, selfTestFile } from './build.mjs';
import { exampleRecordingsFolder } from './example-recordings.mjs';
import { glibcFloor, isNewer, readDynamic } from './lib/elf.mjs';
import { thirdPartyNotices } from './lib/notices.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

/** The newest glibc a published package may need: Debian 12's. */
export const glibcMaximum = [2, 36];

/** Of the system: every glibc system has them. */
export const systemLibraries = [
  /^libc\.so\.6$/,
  /^libm\.so\.6$/,
  /^libpthread\.so\.0$/,
  /^libdl\.so\.2$/,
  /^librt\.so\.1$/,
  /^ld-linux-x86-64\.so\.2$/,
];

/** Shipped beside the addon. Anything else that a binary links to fails the build. */
export const privateLibraries = [
  /^libdw\.so\.1$/,
  /^libelf\.so\.1$/,
  /^libZydis\.so\.\d+(\.\d+)?$/,
  /^libZycore\.so\.\d+(\.\d+)?$/,
  /^libzstd\.so\.1$/,
  /^libz\.so\.1$/,
  /^liblzma\.so\.5$/,
  /^libbz2\.so\.1\.0$/,
];

/** What the package takes as it is. */
const documents = ['README.md', 'LICENSE', 'CHANGELOG.md', 'bin', 'docs', 'l10n', 'media'];
/** Pictures are large: the package has those of the read-me and of the walkthrough. */
const images = 'docs/images';
/** A picture of a document: a line or two of its own. */
const picture = /^!\[[^\]]*\]\(([^)]+)\)\n\n?/gm;
/** Texts of the manifest: English, and translations. */
const manifestTexts = /^package\.nls(\.[\w-]+)?\.json$/;

const stage = path.join(root, 'build/package');

async function makePackage(args) {
  await setup(['build', 'package']);
  await build();
  await rm(stage, { recursive: true, force: true });
  const native = path.join(stage, 'dist/native');
  const libraryFolder = path.join(native, 'lib');
  await mkdir(libraryFolder, { recursive: true });

  const sources = await bundleProducts({ outdir: path.join(stage, 'dist'), minify: true });
  await cp(exampleRecordingsFolder, path.join(stage, 'dist/example'), { recursive: true, preserveTimestamps: true });
  const addon = path.join(native, 'cacheline.node');
  await run('strip', ['--strip-unneeded', '-o', addon, addonFile]);
  const agents = [];
  for (const file of [agentFile, samplerFile]) {
    agents.push(path.join(native, path.basename(file)));
    await run('strip', ['--strip-unneeded', '-o', agents.at(-1), file]);
  }
  // Not stripped: its report needs its debug information.
  const selfTest = path.join(native, path.basename(selfTestFile));
  await cp(selfTestFile, selfTest);
  const libraries = await collectLibraries(addon, libraryFolder);
  await setSearchPath(addon, '$ORIGIN/lib');
  for (const { copy } of libraries) await setSearchPath(copy, '$ORIGIN');
  checkGlibc([addon, ...agents, selfTest, ...libraries.map(({ copy }) => copy)], args.includes('--any-glibc'));

  const notices = await thirdPartyNotices(
    libraries.map(({ original }) => original),
    sources,
  );
  say(`package: notices for ${notices.names.length} packages: ${notices.names.join(', ')}`);
  await writeFile(path.join(stage, 'THIRD_PARTY_NOTICES.md'), notices.text);
  const texts = (await readdir(root)).filter((name) => manifestTexts.test(name));
  for (const name of [...documents, ...texts]) await cp(path.join(root, name), path.join(stage, name), { recursive: true });

  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  await leaveOutPictures(`${await readFile(path.join(root, 'README.md'), 'utf8')}${JSON.stringify(manifest)}`);
  for (const name of ['scripts', 'devDependencies', 'private']) delete manifest[name];
  await writeFile(path.join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const vsix = path.join(root, `cacheline-lens-linux-x64-${manifest.version}.vsix`);
  await vsce(vsix);
  say(`package: ${path.relative(root, vsix)}`);
}

/** Takes the pictures that `shown` does not name out of the package and out of its documents. */
async function leaveOutPictures(shown) {
  for (const name of await readdir(path.join(stage, images)))
    if (!shown.includes(`${images}/${name}`)) await rm(path.join(stage, images, name));
  for (const name of await readdir(path.join(stage, 'docs'), { recursive: true })) {
    const file = path.join(stage, 'docs', name);
    if (!name.endsWith('.md')) continue;
    const text = await readFile(file, 'utf8');
    await writeFile(
      file,
      text.replace(picture, (whole, target) => (existsSync(path.join(path.dirname(file), target)) ? whole : '')),
    );
  }
}

/** Copies what the addon links to, and what that links to, into `folder`; `original` is the file that was found here. */
async function collectLibraries(addon, folder) {
  const { stdout } = await run('ldd', [addonFile], { capture: true });
  const places = new Map([...stdout.matchAll(/^\s*(\S+) => (\S+)/gm)].map(([, name, place]) => [name, place]));
  const libraries = new Map();
  const queue = [addon];
  for (const file of queue)
    for (const name of readDynamic(file).needed) {
      if (systemLibraries.some((pattern) => pattern.test(name)) || libraries.has(name)) continue;
      if (!privateLibraries.some((pattern) => pattern.test(name)))
        throw new ScriptError(`${path.basename(file)} links to ${name}, which is not on the list in scripts/package.mjs`);
      const place = places.get(name);
      if (place === undefined || !path.isAbsolute(place))
        throw new ScriptError(`${name}, which ${path.basename(file)} needs, was not found`);
      const copy = path.join(folder, name);
      const original = await realpath(place);
      await cp(original, copy);
      await chmod(copy, 0o644);
      libraries.set(name, { copy, original });
      queue.push(copy);
    }
  return [...libraries.values()];
}

/** DT_RPATH rather than DT_RUNPATH: LD_LIBRARY_PATH of the editor's surroundings then does not come first. */
async function setSearchPath(file, searchPath) {
  await run('patchelf', ['--force-rpath', '--set-rpath', searchPath, file]);
}

function checkGlibc(files, anyGlibc) {
  const floors = files.map((file) => ({ file, floor: glibcFloor(file) }));
  const newest = floors.reduce((a, b) => (isNewer(b.floor, a.floor) ? b : a));
  const [floor, maximum] = [newest.floor.join('.'), glibcMaximum.join('.')];
  say(`package: needs glibc ${floor} or newer (for ${path.basename(newest.file)}); at most ${maximum} is allowed`);
  if (isNewer(newest.floor, glibcMaximum) && !anyGlibc)
    throw new ScriptError(
      `A published package must run on glibc ${maximum}: build it on Debian 12, or use --any-glibc for this machine alone.`,
    );
}

async function vsce(vsix) {
  const program = path.join(root, 'node_modules/@vscode/vsce/vsce');
  const args = [
    'package',
    '--no-dependencies',
    '--target',
    'linux-x64',
    '--allow-missing-repository',
    '--no-rewrite-relative-links',
    '--out',
    vsix,
  ];
  const { stdout, stderr, status } = await run(process.execPath, [program, ...args], {
    cwd: stage,
    capture: true,
    check: false,
    timeoutSeconds: 120,
  });
  if (status !== 0) throw new ScriptError(`vsce failed:\n${stdout}${stderr}`);
}

if (isMain(import.meta.url)) void main(makePackage);
