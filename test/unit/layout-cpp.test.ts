// Layouts of C++ classes, judged by the compilers themselves: what we say of each becomes static_asserts and casts to its bases.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAddon, NativeEngine } from '../../extension/engine/native';
import type { Layout } from '../../extension/protocol/layout';
import { needsCommands } from './commands-here';
import { temporaryFolder } from './fixtures';
import { cppChecks, cppSource } from './layout-cpp-sources';

const CLASSES = 80;
const BUILDS = [
  { compiler: 'g++', dwarf: 4, seed: 21 },
  { compiler: 'g++', dwarf: 5, seed: 22 },
  { compiler: 'clang++', dwarf: 4, seed: 23 },
  { compiler: 'clang++', dwarf: 5, seed: 24 },
] as const;
const FLAGS = ['-std=c++20', '-w', '-fno-access-control'];

describe('layouts of C++ classes', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  let engine: NativeEngine;

  before(() => {
    engine = new NativeEngine(loadAddon());
  });

  for (const { compiler, dwarf, seed } of BUILDS) {
    it(`are what ${compiler} makes of them, with DWARF ${dwarf}`, async function () {
      needsCommands(this, [compiler]);
      const { text, classes } = cppSource(seed, CLASSES);
      const at = (name: string): string => join(folder.path, name);
      writeFileSync(at('classes.cpp'), text);
      execFileSync(compiler, [...FLAGS, '-g', `-gdwarf-${dwarf}`, '-shared', '-fPIC', '-o', at('classes.so'), at('classes.cpp')]);
      const layouts = new Map<string, Layout>();
      let unplaced = 0;
      for (const { name, fields, bases, virtualBases } of classes) {
        const [layout, ...more] = (await engine.call('layout', { binary: at('classes.so'), name })).layouts;
        assert.ok(layout && more.length === 0, `${more.length} more layouts of ${name}`);
        layouts.set(name, layout);
        const own = layout.members.filter(({ role }) => role === 'field').map(({ name: field }) => field);
        assert.deepEqual(own.sort(), [...fields].sort(), `members of ${name}`);
        const named = layout.members.filter(({ role }) => role === 'base' || role === 'virtual base').map(({ type }) => type);
        const missing = bases.filter((base) => !named.some((type) => spaceless(type) === spaceless(base)));
        assert.deepEqual(
          missing.filter((base) => !virtualBases.includes(base)),
          [],
          `bases of ${name}`,
        );
        // Those that take no room of their own may have none left to be in.
        if (layout.unplaced === undefined) continue;
        const open = layout.unplaced.flatMap((one) => one.bases.map(spaceless));
        unplaced += virtualBases.length;
        assert.deepEqual(
          virtualBases.filter((base) => !open.includes(spaceless(base))),
          [],
          `virtual bases of ${name}`,
        );
      }
      const aligned = [...layouts.values()].filter(({ align }) => align !== null).length;
      // clang leaves classes of the library, as std::string, to the unit that defines them.
      const fewest = compiler === 'g++' ? CLASSES * 0.8 : CLASSES * 0.4;
      assert.ok(aligned >= fewest && unplaced > 10, `${aligned} alignments known, ${unplaced} virtual bases unplaced`);
      writeFileSync(at('judge.cpp'), cppChecks(text, layouts));
      const judged = spawnSync(compiler, [...FLAGS, '-o', at('judge'), at('judge.cpp')], { encoding: 'utf8' });
      assert.deepEqual(
        judged.stderr.split('\n').filter((line) => line.includes('error:')),
        [],
      );
      assert.equal(spawnSync(at('judge'), { encoding: 'utf8' }).stdout, '');
    });
  }
});

function spaceless(name: string): string {
  return name.replace(/\s+/g, '');
}
