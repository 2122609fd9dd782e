// Layouts of C types by two compilers in two versions of DWARF, member by member against pahole.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAddon, NativeEngine } from '../../extension/engine/native';
import type { Layout, LayoutMember } from '../../extension/protocol/layout';
import { needsCommands } from './commands-here';
import { temporaryFolder } from './fixtures';
import { cSource } from './layout-c-sources';
import { parsePahole, type PaholeMember, type PaholeType } from './layout-pahole';

/** Named types of each binary; four binaries have more than a thousand. */
const TYPES = 320;

const BUILDS = [
  { compiler: 'gcc', dwarf: 4, seed: 11 },
  { compiler: 'gcc', dwarf: 5, seed: 12 },
  { compiler: 'clang', dwarf: 4, seed: 13 },
  { compiler: 'clang', dwarf: 5, seed: 14 },
] as const;

describe('layouts beside pahole', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  let engine: NativeEngine;

  before(() => {
    engine = new NativeEngine(loadAddon());
  });

  for (const { compiler, dwarf, seed } of BUILDS) {
    it(`agree for ${TYPES} C types of ${compiler} with DWARF ${dwarf}`, async function () {
      needsCommands(this, [compiler, 'pahole']);
      const source = cSource(seed, TYPES);
      const binary = join(folder.path, 'types');
      writeFileSync(`${binary}.c`, source.text);
      execFileSync(compiler, ['-w', '-g', `-gdwarf-${dwarf}`, '-o', binary, `${binary}.c`], { stdio: ['ignore', 'ignore', 'ignore'] });
      const judge = parsePahole(execFileSync('pahole', [binary], { encoding: 'utf8', maxBuffer: 1 << 28 }));
      const differences: string[] = [];
      let inBits = 0;
      for (const { name, isPacked } of source.types) {
        const theirs = judge.get(name);
        const ours = (await engine.call('layout', { binary, name })).layouts.map(ownLevel);
        assert.ok(theirs, `pahole does not print ${name}`);
        assert.equal(ours.length, 1, `${ours.length} layouts of ${name}`);
        const found = compare(ours[0]!, theirs);
        // In packed structures pahole counts the rest of a bit-field's unit as bits even where whole bytes of it are free.
        if (found.length > 0 && isPacked && unusedBits(ours[0]!) === unusedBitsOf(theirs) && found.every((one) => UNUSED.test(one)))
          inBits++;
        else differences.push(...found);
      }
      assert.deepEqual(differences, []);
      assert.ok(inBits < TYPES * 0.02, `${inBits} packed types whose unused bits are counted otherwise`);
    });
  }
});

/** Without what lies inside of members that have no name: pahole counts the holes of each level for itself. */
function ownLevel(layout: Layout): Layout {
  const opened = layout.members.filter(({ depth }, i) => depth === 0 && (layout.members[i + 1]?.depth ?? 0) > 0);
  return {
    ...layout,
    members: layout.members.filter(({ depth }) => depth === 0),
    holes: layout.holes.filter(({ offset: at }) => !opened.some(({ offset, size }) => at >= offset && at < offset + size)),
  };
}

const UNUSED = /^\w+: (padding|holes|bit holes) is /;

function compare(ours: Layout, theirs: PaholeType): string[] {
  const found: string[] = [];
  const same = (what: string, own: unknown, judged: unknown): void => {
    if (own !== judged) found.push(`${theirs.name}: ${what} is ${String(own)}, pahole says ${String(judged)}`);
  };
  same('members', ours.members.map(ownMember).join('; '), theirs.members.map(theirMember).join('; '));
  if (theirs.isUnion) return found;
  same('size', ours.size, theirs.size);
  same('lines', ours.lines, theirs.cacheLines);
  same('padding', ours.padding, theirs.padding);
  same(
    'holes',
    ours.holes
      .filter(({ size }) => size > 0)
      .map(({ size }) => size)
      .join(' '),
    theirs.holes.join(' '),
  );
  same(
    'bit holes',
    ours.holes
      .filter(({ bits }) => bits > 0)
      .map(({ bits }) => bits)
      .join(' '),
    theirs.bitHoles.join(' '),
  );
  return found;
}

function unusedBits({ holes, padding }: Layout): number {
  return holes.reduce((sum, { size, bits }) => sum + size * 8 + bits, padding * 8);
}

function unusedBitsOf({ holes, bitHoles, padding }: PaholeType): number {
  return [...holes, padding].reduce((sum, bytes) => sum + bytes * 8, 0) + bitHoles.reduce((sum, bits) => sum + bits, 0);
}

/** Bit-fields by the bits that they have: which storage unit these are counted from is a matter of taste. */
function ownMember({ name, offset, size, bitOffset, bitSize }: LayoutMember): string {
  return bitSize === null ? `${name} ${offset} ${size}` : `${name} bits ${offset * 8 + (bitOffset ?? 0)} ${bitSize}`;
}

function theirMember({ name, offset, size, bitOffset, bitSize }: PaholeMember): string {
  return bitSize === null ? `${name} ${offset} ${size}` : `${name} bits ${offset * 8 + (bitOffset ?? 0)} ${bitSize}`;
}
