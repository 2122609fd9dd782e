// A C++ library with about 200 MB of debug information, nearly all of it types: what indexing costs. It is only read.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { root, run, say } from './run.mjs';

const units = 13;
const tablesOfUnit = 100;

/** A type of the middle unit, and how its members are called. */
export const oneType = `unit6::Table${tablesOfUnit / 2}`;

/** Every unit has types of its own; functions that only need their sizes keep the compiler from writing code. */
function unitSource(unit) {
  const tables = [];
  for (let table = 0; table < tablesOfUnit; table++) {
    const entry = `Entry${table}`;
    tables.push(`
struct ${entry} {
  std::uint64_t key, value[${1 + (table % 5)}];
  std::string name;
  std::unique_ptr<${entry}> next;
};
struct Table${table} {
  std::map<std::uint64_t, ${entry}> ordered;
  std::unordered_map<std::string, ${entry}> named;
  std::vector<${entry}> all;
  std::list<${entry}> recent;
  std::function<void(${entry}&)> changed;
  std::shared_ptr<${entry}> last;
  std::set<${entry}*> marked;
};
std::size_t size${table}(Table${table}& table) { return table.ordered.size() + table.named.size() + table.all.size(); }`);
  }
  const headers = ['cstdint', 'functional', 'list', 'map', 'memory', 'set', 'string', 'unordered_map', 'vector'];
  return `// Unit ${unit} of a library with much debug information.
${headers.map((header) => `#include <${header}>`).join('\n')}
namespace unit${unit} {
${tables.join('\n')}
}
`;
}

/**
 * Compiles the library once; later calls find it in build/bench.
 * @returns {Promise<string>} its path
 */
export async function typesLibrary() {
  const sources = Array.from({ length: units }, (_, unit) => unitSource(unit));
  const hash = createHash('sha256').update(sources.join('\0')).digest('hex').slice(0, 16);
  const folder = path.join(root, 'build/bench', `types-${hash}`);
  const library = path.join(folder, 'libtypes.so');
  if (existsSync(library)) return library;
  say(`bench: compiling ${units} C++ files of ${tablesOfUnit} tables each (once, some minutes)`);
  const building = `${folder}.building`;
  await rm(building, { recursive: true, force: true });
  await mkdir(building, { recursive: true });
  const flags = ['-std=c++20', '-O0', '-g', '-fPIC', `-ffile-prefix-map=${building}=${folder}`];
  const objects = sources.map((_, unit) => path.join(building, `unit-${unit}.o`));
  const compile = async (unit) => {
    if (unit >= units) return;
    const source = path.join(building, `unit-${unit}.cpp`);
    await writeFile(source, sources[unit]);
    await run('c++', [...flags, '-c', '-o', objects[unit], source], { timeoutSeconds: 600 });
  };
  for (let unit = 0; unit < units; unit += 2) await Promise.all([compile(unit), compile(unit + 1)]);
  await run('c++', ['-shared', '-o', path.join(building, 'libtypes.so'), ...objects], { timeoutSeconds: 600 });
  await Promise.all(objects.map((object) => rm(object)));
  await rename(building, folder);
  return library;
}
