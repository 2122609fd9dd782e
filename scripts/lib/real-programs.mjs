// The programs of bench:real: where each comes from, how it is built, and what is known of its contended data. Nothing of theirs is kept here.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { root, run, ScriptError } from './run.mjs';

const sources = path.join(root, 'test/real');
const optimized = '-O2 -g -fno-omit-frame-pointer';

/**
 * `source`: what is built, for people. `build(folder)` downloads and builds below the folder, and returns
 *   - of a program that ends: `before` and `after`, commands with a last line "elapsed 1.234 s"; `after` has the maintainers' own fix, null: there is none,
 *   - of a server: `server` and `load`, commands; the load runs until it is killed, and the server listens on `port`,
 *   - of any other program: `command`.
 * `names`: types and members that are known to be contended, as debug information spells them; null: nothing is known.
 */
export const programs = [
  {
    name: 'ringbuf',
    source: 'crate ringbuf 0.2.2, 0.2.8',
    build: crate('ringbuf', '0.2.2', '0.2.8'),
    names: ['head', 'tail', 'data'].map((member) => `alloc::sync::ArcInner<ringbuf::ring_buffer::RingBuffer<u64>>.data.${member}`),
  },
  {
    name: 'triple_buffer',
    source: 'crate triple_buffer 2.0.0, 8.1.0',
    build: crate('triple_buffer', '2.0.0', '8.1.0'),
    names: ['back_info', 'buffers'].map((member) => `alloc::sync::ArcInner<triple_buffer::SharedState<u64>>.data.${member}`),
  },
  {
    name: 'dashmap',
    source: 'crate dashmap 5.5.3, 6.0.1',
    build: crate('dashmap', '5.5.3', '6.0.1'),
    names: [
      'lock_api::rwlock::RwLock<dashmap::lock::RawRwLock, hashbrown::map::HashMap<u64, dashmap::util::SharedValue<u64>, core::hash::BuildHasherDefault<real::SameHasher>, hashbrown::raw::alloc::inner::Global>>',
    ],
  },
  {
    name: 'crossbeam-epoch',
    source: 'crate crossbeam-epoch 0.9.15, 0.9.16',
    build: crate('crossbeam-epoch', '0.9.15', '0.9.16'),
    names: ['crossbeam_epoch::internal::Local', 'crossbeam_epoch::internal::Global'],
  },
  { name: 'sync.Pool', source: "Go's sync.Pool without its padding, and with it", build: syncPool, names: ['sync.poolLocal'] },
  { name: 'stress-ng --cacheline', source: 'Debian stress-ng, the binary package', build: stressNg, names: null },
  { name: 'memcached', source: 'Debian memcached, 4 threads', build: memcached, names: null },
  { name: 'redis', source: 'Debian redis, 2 I/O threads', build: redis, names: null },
  { name: 'LevelDB db_bench', source: 'Debian leveldb, 2 readers', build: levelDb, names: null },
];

/** A Rust program of test/real with two versions of the crate it is about. */
function crate(name, before, after) {
  const build = async (folder, version) => {
    await mkdir(path.join(folder, 'src'), { recursive: true });
    await cp(path.join(sources, `${name.replaceAll('-', '_')}.rs`), path.join(folder, 'src/main.rs'));
    await writeFile(
      path.join(folder, 'Cargo.toml'),
      `[package]\nname = "real"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n${name} = "=${version}"\n\n[profile.release]\ndebug = true\n`,
    );
    await run('cargo', ['build', '--release', '--quiet', '--target-dir', 'target'], { capture: true, cwd: folder, timeoutSeconds: 300 });
    return [path.join(folder, 'target/release/real')];
  };
  return async (folder) => ({
    before: await build(path.join(folder, before), before),
    after: await build(path.join(folder, after), after),
  });
}

/** sync.Pool's `poolLocal` ends with a `pad` to 128 bytes; an overlay takes it away. */
async function syncPool(folder) {
  const { stdout } = await run('go', ['env', 'GOROOT'], { capture: true, timeoutSeconds: 60 });
  const pool = path.join(stdout.trim(), 'src/sync/pool.go');
  const text = await readFile(pool, 'utf8');
  const without = text.replace(/^\tpad .*\n/m, '');
  if (without === text) throw new ScriptError(`${pool} has no line that begins with "pad": this version of Go pads in another way`);
  await writeFile(path.join(folder, 'pool.go'), without);
  await writeFile(path.join(folder, 'overlay.json'), JSON.stringify({ Replace: { [pool]: path.join(folder, 'pool.go') } }));
  const build = async (name, options) => {
    const program = path.join(folder, name);
    await run('go', ['build', ...options, '-o', program, path.join(sources, 'sync_pool.go')], { capture: true, timeoutSeconds: 300 });
    return [program];
  };
  return { before: await build('without', ['-overlay', path.join(folder, 'overlay.json')]), after: await build('with', []) };
}

/** Downloads and unpacks a source package of this Debian or Ubuntu machine. @returns the folder of the sources */
async function debianSource(folder, name) {
  const lists = path.join(folder, 'lists');
  await mkdir(path.join(lists, 'partial'), { recursive: true });
  const parts = path.join(folder, 'parts');
  await mkdir(parts);
  // The machine's own package sources, of which the distribution's also have source packages.
  for (const one of ['sources.list', 'sources.list.d/debian.sources', 'sources.list.d/ubuntu.sources']) {
    let text;
    try {
      text = await readFile(path.join('/etc/apt', one), 'utf8');
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
      continue;
    }
    await writeFile(path.join(parts, path.basename(one)), text.replace(/^deb\b/gm, 'deb-src').replace(/^Types: deb$/gm, 'Types: deb-src'));
  }
  const settings = { 'Dir::Etc::sourcelist': '/dev/null', 'Dir::Etc::sourceparts': parts, 'Dir::State::lists': lists };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  const apt = (...args) => run('apt-get', [...options, ...args], { capture: true, cwd: folder, timeoutSeconds: 300 });
  await apt('update');
  await apt('source', name);
  const found = (await readdir(folder, { withFileTypes: true })).find((entry) => entry.isDirectory() && entry.name.startsWith(`${name}-`));
  if (found === undefined) throw new ScriptError(`apt-get source ${name} left no folder ${name}-VERSION in ${folder}`);
  return path.join(folder, found.name);
}

const jobs = `-j${os.availableParallelism()}`;

async function make(cwd, ...args) {
  await run('make', [jobs, ...args], { capture: true, cwd, timeoutSeconds: 900 });
}

/** The distribution's program, which has no debug information. */
async function stressNg() {
  return { command: ['stress-ng', '--cacheline', '2', '--timeout', '4'] };
}

async function memcached(folder) {
  const source = await debianSource(folder, 'memcached');
  const flags = { ...process.env, CFLAGS: optimized };
  await run('./configure', ['--disable-docs'], { capture: true, cwd: source, env: flags, timeoutSeconds: 300 });
  await make(source, 'memcached');
  const port = 21311;
  const user = process.getuid() === 0 ? ['-u', 'root'] : [];
  return {
    port,
    server: [path.join(source, 'memcached'), '-p', String(port), '-l', '127.0.0.1', '-t', '4', ...user],
    load: [process.execPath, path.join(root, 'scripts/lib/memcached-load.mjs'), String(port)],
  };
}

async function redis(folder) {
  const source = await debianSource(folder, 'redis');
  await make(source, 'MALLOC=libc', `OPTIMIZATION=${optimized}`, 'BUILD_TLS=no');
  const port = 21312;
  const threads = ['--io-threads', '2', '--io-threads-do-reads', 'yes'];
  return {
    port,
    server: [path.join(source, 'src/redis-server'), '--port', String(port), '--save', '', ...threads],
    load: [path.join(source, 'src/redis-benchmark'), '-p', String(port), '-q', '-l', '-t', 'get,set', '-P', '16'],
  };
}

async function levelDb(folder) {
  const source = await debianSource(folder, 'leveldb');
  const building = path.join(folder, 'build');
  const options = ['-DCMAKE_BUILD_TYPE=RelWithDebInfo', '-DLEVELDB_BUILD_TESTS=OFF', '-DLEVELDB_BUILD_BENCHMARKS=OFF'];
  await run('cmake', ['-S', source, '-B', building, ...options], { capture: true, timeoutSeconds: 120 });
  await run('cmake', ['--build', building, jobs], { capture: true, timeoutSeconds: 600 });
  const program = path.join(folder, 'db_bench');
  const inputs = ['benchmarks/db_bench.cc', 'util/histogram.cc', 'util/testutil.cc'].map((name) => path.join(source, name));
  const includes = [source, path.join(source, 'include'), path.join(building, 'include')].map((name) => `-I${name}`);
  const flags = [...optimized.split(' '), '-DLEVELDB_PLATFORM_POSIX=1', ...includes];
  const libraries = [`-L${building}`, '-lleveldb', '-lpthread', '-lsnappy', '-lgtest', '-lgmock'];
  await run('c++', [...flags, '-o', program, ...inputs, ...libraries], { capture: true, timeoutSeconds: 300 });
  const bench = ['--benchmarks=fillseq,readrandom', '--threads=2', '--num=200000', `--db=${path.join(folder, 'database')}`];
  return { command: [program, ...bench] };
}
