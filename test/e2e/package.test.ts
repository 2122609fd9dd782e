// The packaged extension: what is in it, what its binaries ask of the system, and that it runs where it was unpacked.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { glibcFloor, isNewer, readDynamic } from '../../scripts/lib/elf.mjs';
import type { DoctorReport } from '../../extension/protocol/engine';
import { glibcMaximum, privateLibraries, systemLibraries } from '../../scripts/package.mjs';
import { vsixFile } from './vsix';
import { readZip } from './zip';

/** Everything that may be in the package. */
const allowed = [
  /^\[Content_Types\]\.xml$/,
  /^extension\.vsixmanifest$/,
  /^extension\/(package\.json|package\.nls\.json|readme\.md|changelog\.md|LICENSE\.txt|THIRD_PARTY_NOTICES\.md)$/i,
  /^extension\/bin\/(terminal\/)?cacheline$/,
  /^extension\/dist\/(extension|helper|cli|panel|machine|compare)\.js$/,
  /^extension\/dist\/(panel|machine|compare)\.css$/,
  /^extension\/dist\/syntax\/(web-tree-sitter|tree-sitter-c|tree-sitter-cpp)\.wasm$/,
  /^extension\/dist\/native\/(cacheline\.node|cacheline_selftest|libcacheline_(heap|sampler)\.so)$/,
  /^extension\/dist\/native\/lib\/lib\w+\.so[.\d]*$/,
  /^extension\/dist\/example\/(counters\.c|(before|after)\.cacheline\/(perf\.data|meta\.json|blocked\.jsonl|agent)|files\/tmp\/cacheline-example-\w+\/(before|after)\/counters)$/,
  /^extension\/docs\/[\w./-]+\.(md|json|png|svg)$/,
  /^extension\/l10n\/bundle\.l10n\.json$/,
  /^extension\/media\/[\w./-]+\.(svg|png)$/,
  /^extension\/media\/walkthrough\/counters\.c$/,
];

describe('the package', () => {
  const files = readZip(vsixFile());
  const names = [...files.keys()];
  let folder: string;
  let addon: string;
  let libraries: string[];

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cacheline-vsix-'));
    for (const [name, bytes] of files) {
      const file = path.join(folder, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    }
    addon = path.join(folder, 'extension/dist/native/cacheline.node');
    libraries = names.filter((name) => name.includes('/native/lib/')).map((name) => path.join(folder, name));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('holds nothing but what belongs in it', () => {
    assert.deepEqual(
      names.filter((name) => !name.endsWith('/') && !allowed.some((pattern) => pattern.test(name))),
      [],
    );
  });

  it('holds the pictures that its read-me, its walkthrough and its documents show, and no other', () => {
    const shown = new Set<string>();
    for (const name of names.filter((one) => one.endsWith('.md')))
      for (const [, target = ''] of readFileSync(path.join(folder, name), 'utf8').matchAll(/!\[[^\]]*\]\(([^)]+)\)/g))
        shown.add(path.join(path.dirname(name), target));
    for (const [, target = ''] of readFileSync(path.join(folder, 'extension/package.json'), 'utf8').matchAll(/"image": "([^"]+)"/g))
      shown.add(path.join('extension', target));
    const images = names.filter((name) => /^extension\/(docs|media\/walkthrough)\/.*\.(png|svg)$/.test(name));
    assert.deepEqual(images.sort(), [...shown].sort());
  });

  it('holds everything that it runs with', () => {
    const wanted = [
      'package.json',
      'package.nls.json',
      'l10n/bundle.l10n.json',
      'readme.md',
      'THIRD_PARTY_NOTICES.md',
      'bin/cacheline',
      'bin/terminal/cacheline',
      'dist/extension.js',
      'dist/helper.js',
    ];
    for (const name of [
      ...wanted,
      'dist/cli.js',
      'dist/panel.js',
      'dist/compare.js',
      'dist/compare.css',
      'dist/machine.js',
      'dist/machine.css',
      'dist/syntax/web-tree-sitter.wasm',
      'dist/syntax/tree-sitter-c.wasm',
      'dist/syntax/tree-sitter-cpp.wasm',
      'dist/native/cacheline.node',
      'dist/native/cacheline_selftest',
      'dist/native/libcacheline_heap.so',
      'dist/native/libcacheline_sampler.so',
    ])
      assert.ok(files.has(`extension/${name}`), `extension/${name} is missing`);
  });

  it('tells nothing of the machine that made it', () => {
    const root = path.resolve(__dirname, '../..');
    for (const [name, bytes] of files) {
      assert.ok(!bytes.includes(`${root}/`), `${name} names a path of ${root}`);
      assert.ok(!bytes.includes('sourceMappingURL='), `${name} refers to a source map`);
    }
  });

  it('has a notice for every library it ships and for the bundled packages', () => {
    const notices = readFileSync(path.join(folder, 'extension/THIRD_PARTY_NOTICES.md'), 'utf8');
    const sources: Record<string, string> = { dw: 'elfutils', elf: 'elfutils', Zydis: 'zydis', Zycore: 'zycore', z: 'zlib' };
    Object.assign(sources, { zstd: 'libzstd', lzma: 'xz-utils', bz2: 'bzip2' });
    const shipped = libraries.map((file) => sources[/^lib(\w+)\./.exec(path.basename(file))?.[1] ?? ''] ?? path.basename(file));
    for (const name of [
      ...shipped,
      'gcc',
      'robin-map',
      'rapidjson',
      'preact',
      'node-addon-api',
      'web-tree-sitter',
      'tree-sitter-c',
      'tree-sitter-cpp',
    ])
      assert.match(notices, new RegExp(`^## ${name}\\b`, 'm'));
  });

  it('has stripped binaries that link to nothing unexpected', () => {
    const known = [...systemLibraries, ...privateLibraries];
    const shipped = libraries.map((file) => path.basename(file));
    const agents = ['libcacheline_heap.so', 'libcacheline_sampler.so'].map((name) => path.join(path.dirname(addon), name));
    for (const agent of agents) assert.deepEqual(readDynamic(agent).needed, ['libc.so.6'], 'agents are loaded into other programs');
    for (const file of [addon, ...agents, ...libraries]) {
      const { needed } = readDynamic(file);
      for (const name of needed) {
        assert.ok(
          known.some((pattern) => pattern.test(name)),
          `${file} needs ${name}`,
        );
        assert.ok(systemLibraries.some((pattern) => pattern.test(name)) || shipped.includes(name), `${name} is not shipped`);
      }
      const sections = execFileSync('readelf', ['-SW', file], { encoding: 'utf8' });
      assert.doesNotMatch(sections, /\.debug_info|\.symtab/, `${file} is not stripped`);
    }
  });

  it('finds its libraries beside itself', () => {
    assert.equal(readDynamic(addon).rpath, '$ORIGIN/lib');
    for (const file of libraries) assert.equal(readDynamic(file).rpath, '$ORIGIN', file);
    // LD_LIBRARY_PATH leads to the system's copies; the shipped ones must win all the same.
    const script = `require(${JSON.stringify(addon)}); process.stdout.write(require('fs').readFileSync('/proc/self/maps', 'utf8'))`;
    for (const environment of [{}, { LD_LIBRARY_PATH: '/usr/lib/x86_64-linux-gnu' }]) {
      const maps = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env: { PATH: process.env['PATH'], ...environment } });
      const mapped = new Set(maps.split('\n').flatMap((line) => /\s(\/\S+)$/.exec(line)?.[1] ?? []));
      for (const file of libraries) assert.ok(mapped.has(file), `${path.basename(file)} was not loaded from the package`);
    }
  });

  it('runs on the glibc that it promises', function () {
    const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    const here = (report.header.glibcVersionRuntime ?? '').split('.').map(Number) as [number, number];
    if (isNewer(here, glibcMaximum)) {
      console.error(`      built on glibc ${here.join('.')}: a published package is built on ${glibcMaximum.join('.')} or older`);
      this.skip();
    }
    const selfTest = path.join(path.dirname(addon), 'cacheline_selftest');
    for (const file of [addon, selfTest, ...libraries]) assert.ok(!isNewer(glibcFloor(file), glibcMaximum), file);
  });

  it('runs its command line where it was unpacked', () => {
    const program = path.join(folder, 'extension/bin/cacheline');
    const doctor = JSON.parse(
      execFileSync(process.execPath, [program, 'doctor', '--self-test', '--format', 'json'], { encoding: 'utf8', cwd: folder }),
    ) as DoctorReport;
    for (const name of ['clock', 'agent'])
      assert.ok(
        doctor.selfTests?.some(({ collector, passed }) => collector === name && passed),
        name,
      );
  });

  it('records heap blocks with the agent it ships', () => {
    const program = path.join(folder, 'extension/bin/cacheline');
    const output = path.join(folder, 'blocks.cacheline');
    execFileSync(process.execPath, [program, 'record', '--heap', '-o', output, '--', '/bin/ls', '-R', folder], {
      cwd: folder,
      stdio: 'ignore',
    });
    const meta = JSON.parse(readFileSync(path.join(output, 'meta.json'), 'utf8')) as { heap?: { blocks: number } };
    assert.ok((meta.heap?.blocks ?? 0) > 0, 'no block of ls was recorded');
  });
});
