// `cacheline layout` end to end: compiled programs, the real addon, the real command.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Layout, TypeSummary } from '../../extension/protocol/layout';
import { displayWidth } from '../../extension/session/text/terminal-text';
import { Command, type Outcome } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors, type SchemaName } from './schemas';

const C_SOURCE = `
struct money { long units; int cents; };
struct account {
  char kind;
  struct money today;
  unsigned open : 1, locked : 3;
  char note[60];
  long total;
} account;
struct esc_ape_name { int esc_ape_field; } escaping;
int main(void) { return account.kind; }
`;
const CPP_SOURCE = `
namespace shop {
struct Base { virtual void act() {} long base = 0; };
template <typename T, int N> struct Pool : Base { alignas(64) T items[N]; char last; };
struct Item { int key; double price; };
Pool<Item, 4> pool;
struct Entry { int one; };
Entry entry;
}
namespace other {
struct Entry { long two; };
Entry entry;
}
int main() { return 0; }
`;

describe('cacheline layout', function () {
  this.timeout(60_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  const run = (args: readonly string[]): Promise<Outcome> => command.run(['layout', ...args], { cwd: folder.path });
  const compile = (compiler: string, name: string, text: string, ...flags: string[]): void => {
    const source = at(`${name}${compiler === 'c++' ? '.cpp' : '.c'}`);
    writeFileSync(source, text);
    execFileSync(compiler, ['-g', ...flags, '-o', at(name), source]);
  };
  const json = async <T>(schema: SchemaName, args: readonly string[]): Promise<T> => {
    const { status, stdout, stderr } = await run([...args, '--format', 'json']);
    assert.equal(status, 0, stderr);
    const document = JSON.parse(stdout) as T;
    assert.deepEqual(schemaErrors(schema, document), []);
    return document;
  };
  const fails = (outcome: Outcome, status: number, message: RegExp): void => {
    assert.equal(outcome.status, status, outcome.stderr);
    assert.match(outcome.stderr, message);
    assert.equal(outcome.stdout, '');
    for (const line of outcome.stderr.trimEnd().split('\n')) assert.match(line, /^cacheline: [^\n]+$/);
  };

  it('prints a C type with holes, bit-fields, padding and the members that cross a line', async () => {
    compile('cc', 'bank', C_SOURCE);
    const layout = await json<Layout>('cacheline-layout', ['account', '--in', 'bank']);
    assert.deepEqual(
      layout.members.map(({ name, offset, size, bitOffset, bitSize, straddles }) => ({
        name,
        offset,
        size,
        bitOffset,
        bitSize,
        straddles,
      })),
      [
        { name: 'kind', offset: 0, size: 1, bitOffset: null, bitSize: null, straddles: false },
        { name: 'today', offset: 8, size: 16, bitOffset: null, bitSize: null, straddles: false },
        { name: 'open', offset: 24, size: 4, bitOffset: 0, bitSize: 1, straddles: false },
        { name: 'locked', offset: 24, size: 4, bitOffset: 1, bitSize: 3, straddles: false },
        { name: 'note', offset: 25, size: 60, bitOffset: null, bitSize: null, straddles: true },
        { name: 'total', offset: 88, size: 8, bitOffset: null, bitSize: null, straddles: false },
      ],
    );
    assert.deepEqual([layout.size, layout.align, layout.lines, layout.lineSize, layout.padding], [96, 8, 2, 64, 0]);
    assert.deepEqual(layout.holes, [
      { offset: 1, size: 7, bits: 0 },
      { offset: 24, size: 0, bits: 4 },
      { offset: 85, size: 3, bits: 0 },
    ]);
    const { status, stdout } = await run(['struct account', '--in', 'bank']);
    assert.equal(status, 0);
    assert.match(stdout, /^struct account \{\n/m);
    assert.match(stdout, /unsigned int locked : 3; +\/\* +24:1 +4 \*\/\n/);
    assert.match(stdout, /char note\[60\]; +\/\* +25 +60 {2}! crosses lines 0, 1 \*\/\n/);
    for (const line of stdout.split('\n')) assert.ok(displayWidth(line) <= 80, line);
  });

  it('expands members of members, and takes other line sizes', async () => {
    compile('cc', 'bank', C_SOURCE);
    const layout = await json<Layout>('cacheline-layout', ['account', '--in', 'bank', '--expand', '--line-size', '32']);
    assert.deepEqual([layout.lineSize, layout.lines], [32, 3]);
    const inner = layout.members.filter(({ depth }) => depth > 0).map(({ name, offset, depth }) => ({ name, offset, depth }));
    assert.deepEqual(inner, [
      { name: 'today.units', offset: 8, depth: 1 },
      { name: 'today.cents', offset: 16, depth: 1 },
    ]);
    assert.match((await run(['account', '--in', 'bank', '--expand'])).stdout, / money \{[^]*\n {8}int cents;[^]*\n {4}\} today;\n/);
  });

  it('shows the members of structures in arrays, and of those without a name always', async () => {
    compile(
      'cc',
      'arrays',
      `struct pair { char a; long b; };
struct board { int n; struct { char hot; long hits; } stats[8]; struct pair pairs[4]; } board;
int main(void) { return board.n; }
`,
    );
    const rows = async (...more: string[]): Promise<string[]> =>
      (await json<Layout>('cacheline-layout', ['board', '--in', 'arrays', ...more])).members.map(
        ({ name, offset, elements }) => `${name} ${offset}${elements === undefined ? '' : ` x${elements}`}`,
      );
    const stats = ['n 0', 'stats 8', 'stats[0..7].hot 8 x8', 'stats[0..7].hits 16 x8', 'pairs 136'];
    assert.deepEqual(await rows(), stats);
    assert.deepEqual(await rows('--expand'), [...stats, 'pairs[0..3].a 136 x4', 'pairs[0..3].b 144 x4']);
    const { stdout } = await run(['board', '--in', 'arrays']);
    assert.match(stdout, /struct \{ [^\n]*\n {8}\/\* \[0\.\.7\]: 16 bytes each \*\/\n {8}char hot;[^]*\n {4}\} stats\[8\];\n/);
    assert.match(stdout, /\nUnused: 9 holes of 60 bytes\.\n/);
  });

  it('finds C++ types with and without their scopes', async () => {
    compile('c++', 'shop', CPP_SOURCE);
    for (const name of ['shop::Pool<shop::Item, 4>', 'Pool<shop::Item,4>']) {
      const layout = await json<Layout>('cacheline-layout', [name, '--in', 'shop']);
      assert.deepEqual([layout.size, layout.align, layout.members[0]?.role], [192, 64, 'base']);
      assert.deepEqual(
        layout.members.map(({ name, align }) => [name, align]),
        [
          ['', undefined],
          ['items', 64],
          ['last', undefined],
        ],
      );
    }
    assert.match((await run(['Pool<shop::Item,4>', '--in', 'shop'])).stdout, / {4}alignas\(64\) shop::Item items\[4\]; /);
    const entries = await json<Layout[]>('cacheline-layout', ['Entry', '--in', 'shop']);
    assert.deepEqual(entries.map(({ name }) => name).sort(), ['other::Entry', 'shop::Entry']);
    fails(await run(['shop::Itm', '--in', 'shop']), 3, /no type 'shop::Itm' in shop\.\n.*Did you mean 'shop::Item'/);
    fails(await run(['Zebra', '--in', 'shop']), 3, /layout --list --in shop/);
  });

  it('gives a list where types of one name differ, with the place of each', async () => {
    const numbers = [...Array(10).keys()];
    for (const number of numbers) writeFileSync(at(`twin${number}.c`), `\nstruct twin { char bytes[${number + 1}]; } twin_${number};\n`);
    writeFileSync(at('same.c'), 'struct twin { char bytes[1]; } same;\nint main(void) { return 0; }\n');
    const sources = numbers.map((number) => `twin${number}.c`);
    execFileSync('cc', ['-g', '-o', 'twins', ...sources, 'same.c'], { cwd: folder.path });
    const layouts = await json<Layout[]>('cacheline-layout', ['twin', '--in', 'twins']);
    assert.deepEqual(
      layouts.map(({ size, file, line }) => `${size} ${basename(file)}:${line}`).sort(),
      numbers.map((number) => `${number + 1} twin${number}.c:2`).sort(),
    );
    const { stdout } = await run(['twin', '--in', 'twins']);
    assert.match(stdout, /^10 types carry this name/);
    for (const source of sources) assert.ok(stdout.includes(`${source}:2 */`), source);
  });

  it('lists the types of a binary', async () => {
    compile('c++', 'shop', CPP_SOURCE);
    const types = await json<TypeSummary[]>('cacheline-layout-list', ['--list', '--in', 'shop']);
    assert.deepEqual(
      types.map(({ name, size, lines }) => [name.replace(/\s/g, ''), size, lines]),
      [
        ['other::Entry', 8, 1],
        ['shop::Base', 16, 1],
        ['shop::Entry', 4, 1],
        ['shop::Item', 16, 1],
        ['shop::Pool<shop::Item,4>', 192, 3],
      ],
    );
    const { stdout } = await run(['--list', '--in', 'shop']);
    assert.match(stdout, /struct shop::Item +shop\.cpp:\d+\n/);
    assert.match(stdout, /\n5 types\n$/);
  });

  it('lists the types that it has where others are in a .dwo file that is missing, and says so', async () => {
    for (const name of ['here', 'gone']) writeFileSync(at(`${name}.c`), `struct ${name} { int ${name}; } ${name}_one;\n`);
    writeFileSync(at('main.c'), 'int main(void) { return 0; }\n');
    execFileSync('cc', ['-g', '-gsplit-dwarf', '-c', 'here.c', 'gone.c', 'main.c'], { cwd: folder.path });
    execFileSync('cc', ['-o', 'split', 'here.o', 'gone.o', 'main.o'], { cwd: folder.path });
    rmSync(at('gone.dwo'));
    const { status, stdout, stderr } = await run(['--list', '--in', 'split']);
    assert.equal(status, 0);
    assert.match(stdout, /struct here[^]*\n1 type\n$/);
    assert.match(stderr, /^cacheline: warning: .*gone\.dwo/);
    fails(await run(['gone', '--in', 'split']), 3, /gone\.dwo/);
  });

  it('says where another definition may be that is in a .dwo file that is missing', async () => {
    writeFileSync(at('near.c'), 'struct conn { int one; } near_one; int main(void) { return near_one.one; }\n');
    writeFileSync(at('far.c'), 'struct conn { long one, two; } far_one; struct only { int x; } only_one;\n');
    execFileSync('cc', ['-g', '-gsplit-dwarf', '-c', 'near.c', 'far.c'], { cwd: folder.path });
    execFileSync('cc', ['-o', 'conns', 'near.o', 'far.o'], { cwd: folder.path });
    const sizes = ({ stdout }: Outcome): number[] => [JSON.parse(stdout) as Layout | Layout[]].flat().map(({ size }) => size);
    const whole = await run(['conn', '--in', 'conns', '--format', 'json']);
    assert.deepEqual([sizes(whole), whole.stderr], [[4, 16], '']);
    rmSync(at('far.dwo'));
    const warning =
      'cacheline: warning: The debug information of conns continues in 1 .dwo file that was not found: far.dwo. ' +
      'A definition of conn that is only there is not shown. ' +
      'Keep the .dwo files where the compiler wrote them, or compile without -gsplit-dwarf.\n';
    const text = await run(['conn', '--in', 'conns']);
    assert.deepEqual([text.status, text.stderr], [0, warning]);
    assert.match(text.stdout, /^struct conn \{[^]*\bint one;/m);
    const answer = await run(['conn', '--in', 'conns', '--format', 'json']);
    assert.deepEqual([answer.status, sizes(answer), answer.stderr], [0, [4], warning]);
    assert.deepEqual(JSON.parse(answer.stdout), (JSON.parse(whole.stdout) as Layout[])[0]);
    fails(
      await run(['only', '--in', 'conns']),
      3,
      /^cacheline: The debug information of conns continues in .*far\.dwo\.\ncacheline: Keep /,
    );
  });

  it('shows control characters in names of a binary as escapes', async () => {
    compile('cc', 'bank', C_SOURCE);
    const bytes = readFileSync(at('bank'));
    for (let from = bytes.indexOf('esc_ape'); from >= 0; from = bytes.indexOf('esc_ape', from)) bytes.write('esc\u001b[2J', from, 'latin1');
    writeFileSync(at('evil'), bytes);
    const name = (await json<TypeSummary[]>('cacheline-layout-list', ['--list', '--in', 'evil'])).find(({ name: one }) =>
      one.includes('esc'),
    )?.name;
    assert.equal(name, 'esc\u001b[2J_name');
    for (const args of [['--list'], [name]]) {
      const { stdout } = await run([...args, '--in', 'evil']);
      assert.match(stdout, /esc\\x1b\[2J_name/);
      assert.ok(!stdout.includes('\u001b'));
    }
  });

  it('refuses what is no binary with debug information, with the next step', async () => {
    fails(await run(['account', '--in', 'absent']), 3, /absent/);
    writeFileSync(at('text'), 'no ELF file');
    fails(await run(['account', '--in', 'text']), 3, /^cacheline: text is not an ELF file\.\ncacheline: Name an ELF/);
    fails(await run(['account', '--in', '.']), 3, /^cacheline: \. is not a regular file\.\n/);
    execFileSync('ar', ['rc', 'archive.a', 'text'], { cwd: folder.path });
    fails(await run(['account', '--in', 'archive.a']), 3, /archive of object files/);
    compile('cc', 'stripped', C_SOURCE, '-s');
    const advice =
      /^cacheline: stripped is stripped: [^-]*\.\ncacheline: Use an unstripped build compiled with -g, or install its debug symbols\.\n$/;
    fails(await run(['account', '--in', 'stripped']), 3, advice);
    fails(await run(['--list', '--in', 'stripped']), 3, advice);
    compile('cc', 'bank', C_SOURCE);
    writeFileSync(at('half'), readFileSync(at('bank')).subarray(0, 6000));
    fails(await run(['account', '--in', 'half']), 3, /half is cut off: [^]* 6000 bytes/);
    const whole = readFileSync(at('bank'));
    writeFileSync(at('short'), whole.subarray(0, whole.length - 1));
    fails(
      await run(['account', '--in', 'short']),
      3,
      new RegExp(`short is cut off: its section headers would be at bytes \\d+ to ${whole.length}, but it has ${whole.length - 1} bytes`),
    );
    fails(await run(['account']), 2, /--in/);
  });
});
