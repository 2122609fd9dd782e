// The programs that synthetic recordings pretend to come from: a small one, and one of thousands of inlined templates with
// debug information, which shows what names cost. They are only read.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { root, run, say } from './run.mjs';

const units = 6;
const tablesOfUnit = 40;

/** The program of the tests. */
export async function smallProgram() {
  const out = path.join(root, 'build/bench/worker');
  await mkdir(path.dirname(out), { recursive: true });
  await run('c++', ['-O2', '-g', '-fno-pie', '-no-pie', '-o', out, path.join(root, 'test/fixtures/c2c/worker.cpp')], {
    timeoutSeconds: 120,
  });
  return out;
}

/** Every unit has its own types, so that each instance of the library's templates is code of its own. */
function unitSource(unit) {
  const functions = [];
  for (let table = 0; table < tablesOfUnit; table++) {
    functions.push(`
struct Entry_${unit}_${table} { std::uint64_t key, value[${1 + (table % 5)}]; std::string name; };

template <typename E, std::size_t Stride>
[[gnu::always_inline]] inline std::uint64_t gather_${table}(const std::vector<E>& from) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < from.size(); i += Stride) sum += from[i].value[0] ^ from[i].name.size();
  return sum;
}

std::uint64_t work_${unit}_${table}(std::vector<Entry_${unit}_${table}>& entries, std::map<std::uint64_t, Entry_${unit}_${table}>& index) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  for (auto& entry : entries) {
    entry.value[0] += gather_${table}<Entry_${unit}_${table}, ${1 + (table % 7)}>(entries);
    index[entry.key].value[0] = entry.value[0];
    index[entry.key].name += entry.name;
  }
  return index.empty() ? 0 : index.begin()->second.value[0];
}`);
  }
  return `// Unit ${unit} of the large program.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>
${functions.join('\n')}
`;
}

/**
 * Compiles the large program once; later calls find it in build/bench.
 * @returns {Promise<string>} its path
 */
export async function largeProgram() {
  const sources = Array.from({ length: units }, (_, unit) => unitSource(unit));
  const hash = createHash('sha256').update(sources.join('\0')).digest('hex').slice(0, 16);
  const folder = path.join(root, 'build/bench', `large-${hash}`);
  const program = path.join(folder, 'worker');
  if (existsSync(program)) return program;
  say(`bench: compiling ${units} C++ files of ${tablesOfUnit} tables each (once)`);
  const building = `${folder}.building`;
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true });
  // -ffile-prefix-map: the debug information names the folder's final place.
  const flags = ['-O2', '-g', '-fno-pie', `-ffile-prefix-map=${building}=${folder}`];
  const compile = async (unit) => {
    const source = path.join(building, `unit-${unit}.cpp`);
    await writeFile(source, sources[unit]);
    await run('c++', [...flags, '-c', '-o', path.join(building, `unit-${unit}.o`), source], { timeoutSeconds: 300 });
  };
  for (let unit = 0; unit < units; unit += 2) await Promise.all([compile(unit), compile(unit + 1)]);
  const main = path.join(building, 'main.cpp');
  await writeFile(main, '// The entry of the large program; the units are linked as they are.\nint main() {}\n');
  const objects = sources.map((_, unit) => path.join(building, `unit-${unit}.o`));
  await run('c++', [...flags, '-no-pie', '-o', path.join(building, 'worker'), main, ...objects], { timeoutSeconds: 300 });
  await Promise.all(objects.map((object) => rm(object)));
  await rename(building, folder);
  return program;
}
