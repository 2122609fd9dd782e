// The texts of `cacheline layout`: the type, its drawing, the list, and what is said of unknown names.
import assert from 'node:assert/strict';
import type { Layout } from '../../extension/protocol/layout';
import { declaration } from '../../extension/session/layout/layout-declaration';
import { layoutDrawing } from '../../extension/session/layout/layout-drawing';
import { typeListText } from '../../extension/session/layout/layout-list';
import { nearestNames, unknownType } from '../../extension/session/layout/layout-names';
import { layoutText } from '../../extension/session/layout/layout-text';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { matchGolden } from './golden';
import { connection, layoutOf, member, session, shape, summary } from './layout-builder';

const drawn = (layout: Layout, width = 80): string[] => layoutDrawing(layout, { width, style: PLAIN });
const hostile = layoutOf('evil\u001b[2J', 8, [member('a\u001b]0;x\u0007', 'int\u202e', 0, 4), member('\u009b1m', 'char', 4, 1)], {
  file: '/tmp/\u001b[31m.c',
});

describe('layout text', () => {
  it('of a structure at 80 columns', () => matchGolden('layout-connection-80.txt', layoutText([connection], { width: 80 })));

  const narrow = (layout: Layout): string => layoutText([layout], { width: 80 }).replace(/ +/g, ' ');

  it('of a class has its bases, its vtable pointer and nameless unions where they lie', () => {
    const text = narrow(session);
    for (const part of [
      /^class net::Session<std::pair<int, char>, 64> \{\n/,
      /\n \(base\) net::Base \{ \/\* 0 16 \*\/\n \(vtable pointer\) int \(\*\*_vptr\.Base\)\(void\); \/\* 0 8 \*\/\n int id; [^]*\n \};\n/,
      /\n union \{ \/\* 16 8 \*\/\n long whole; \/\* 16 8 \*\/\n int half\[2\]; \/\* 16 8 \*\/\n \};\n \/\* hole: 40 bytes \*\/\n/,
      /\n \/\* --- line 1 begins: byte 64 --- \*\/\n Money \{ [^]*std::atomic<int> cents; [^]*\n \} today;\n/,
      /\n std::map<.*>>\n names; \/\* 80 48 \*\/\n/,
      /\n \(virtual base\) net::Common; \/\* 128 64 \*\/\n/,
      /\n 0 \|vtable--\|id--\.\.\.\.\|whole\/h-\|.*\n 1 \|units---\|cen-\.\.\.\.\|names-+\|\n 2 \|net::Common-+\|\n$/,
    ])
      assert.match(text, part);
  });

  it('of an enum has its discriminant, and members of variants that share bytes', () => {
    const text = narrow(shape);
    assert.match(text, /\nenum geo::Shape \{\n.*\n \(discriminant\) u64; \/\* 0 8 \*\/\n/);
    assert.match(text, /\n Circle: f64 radius; \/\* 8 8 \*\/\n Polygon: \[u8; 16\] corners; \/\* 8 16 \*\/\n\};\n/);
    assert.match(text, /\nNo holes and no padding\.\n[^]*\n 0 \|discrim-\|corners\/radius---\|\n$/);
  });

  it('writes the place relative to the folder of the reader', () => {
    const layout = layoutOf('here', 4, [member('a', 'int', 0, 4)], { file: '/w/src/a.c', line: 7 });
    assert.match(layoutText([layout], { width: 80, folder: '/w' }), /^\/\* src\/a\.c:7 \*\/\n/);
    assert.match(layoutText([layout], { width: 80, folder: '/other' }), /^\/\* \/w\/src\/a\.c:7 \*\/\n/);
  });

  it('of several types with one name says so first', () => {
    const text = layoutText([layoutOf('twin', 4, [member('a', 'int', 0, 4)]), layoutOf('twin', 8, [member('b', 'long', 0, 8)])], {
      width: 80,
    });
    assert.match(text, /^2 types carry this name, with different layouts:\n/);
    assert.match(text, /int a;[^]*long b;/);
  });

  const table = layoutOf(
    'table',
    200,
    [
      member('mask', 'int', 0, 4),
      member('stats', 'struct {...}[8]', 8, 128, { straddles: true }),
      member('stats[0..7].lookups', 'long', 8, 8, { depth: 1, elements: 8 }),
      member('stats[0..7].tag', 'char', 16, 1, { depth: 1, elements: 8 }),
      member('stats[0..7].pair', 'pair[2]', 17, 6, { depth: 1, elements: 8 }),
      member('stats[0..7].pair[0..1].x', 'char', 17, 1, { depth: 2, elements: 16 }),
      member('stats[0..7].pair[0..1].y', 'short', 18, 2, { depth: 2, elements: 16 }),
      member('shards', '[4]main.shard', 136, 64),
      member('shards[0..3].n', 'int', 136, 8, { depth: 1, elements: 4, straddles: true }),
      member('open', 'pair[]', 200, 0),
      member('open[0..].x', 'char', 200, 1, { depth: 1, elements: 0 }),
    ],
    {
      holes: [
        { offset: 4, size: 4, bits: 0 },
        { offset: 23, size: 1, bits: 0, elements: 8 },
        { offset: 144, size: 8, bits: 0, elements: 4 },
      ],
    },
  );
  it('opens the elements of an array once, and says for which they stand', () => {
    const text = layoutText([table], { width: 80 });
    assert.match(text, / struct \{ [^]* \/\* \[0\.\.7\]: 16 bytes each \*\/\n {8}long lookups; [^]*\n {4}\} stats\[8\];\n/);
    assert.match(text, /\n {4}\[4\]main\.shard \{ [^]*\n {4}\} shards;\n/);
    assert.match(text, /\n {8}\} pair\[2\];\n/);
    assert.match(text, / \/\* \[0\.\.\]: as many as there are \*\/\n.*\n {4}\} open\[\];\n/);
    assert.match(text, / struct \{ +\/\* +8 +128 +! crosses lines 0-2 \*\/\n/);
    assert.match(text, /Unused: 13 holes of 44 bytes\.\nstats lies on more lines/);
  });
  it('does not count holes in elements that nobody has counted', () => {
    const open = { offset: 201, size: 3, bits: 0, elements: 0 };
    const waste = (holes: Layout['holes']): string[] =>
      layoutText([{ ...table, holes }], { width: 80 }).match(/.*(?:Unused|No holes).*/g) ?? [];
    assert.deepEqual(waste([open]), []);
    assert.deepEqual(waste([{ offset: 4, size: 4, bits: 0 }, open]), ['Unused: 1 hole of 4 bytes.']);
  });

  it('draws an array as one', () => {
    const closed = { ...table, members: table.members.filter(({ depth }) => depth === 0) };
    assert.deepEqual(drawn(table), drawn(closed));
  });

  it('says what a limit leaves out', () => {
    const text = (cutOff: Layout['cutOff']): string => layoutText([{ ...table, ...(cutOff && { cutOff }) }], { width: 200 });
    assert.match(text({ members: 11 }), /\nNot everything is shown: .* 11 members, .* byte 200 /);
    assert.match(text({ depth: 32 }), /\nNot everything is shown: .* 32 deep /);
    assert.doesNotMatch(text(undefined), /Not all/);
  });

  it('holds as many members as there are', () => {
    const members = Array.from({ length: 130_000 }, (_, i) => member(`m${i}`, 'int', 4 * i, 4));
    assert.match(layoutText([layoutOf('many', 520_000, members)], { width: 80 }), / int m129999; /);
  });

  it('of types that look alike says in which structures they differ', () => {
    const alike = layoutOf('mid', 16, [member('m', 'inner[2]', 0, 16)], { differsIn: ['inner'] });
    const text = layoutText([alike, alike], { width: 80 });
    assert.match(text, /layouts:\nThose that look alike differ inside inner: cacheline layout inner shows how\.\n/);
  });

  it('has a hole of bits before the bit-field behind it', () => {
    const bits = (name: string, at: number, wide: number) => member(name, 'unsigned', 0, 4, { bitOffset: at, bitSize: wide });
    const holes = [
      { offset: 0, size: 0, bits: 7 },
      { offset: 1, size: 0, bits: 2 },
      { offset: 2, size: 0, bits: 13 },
    ];
    const text = layoutText([layoutOf('s', 4, [bits('a', 0, 1), bits('b', 8, 1), bits('c', 11, 8)], { holes })], { width: 80 });
    assert.match(
      text,
      / a : 1;.*\n *\/\* hole: 7 bits \*\/\n *unsigned b : 1;.*\n *\/\* hole: 2 bits .*\n *unsigned c : 8;.*\n *\/\* hole: 13 bits /,
    );
  });

  it('says which bytes may be of virtual bases, and calls them nothing else', () => {
    const layout = layoutOf('X', 152, [member('_vptr', 'int (**)(void)', 0, 8, { role: 'vtable pointer' }), member('x', 'int', 8, 4)], {
      unplaced: [{ offset: 12, size: 140, bases: ['S', 'W'] }],
    });
    const text = layoutText([layout], { width: 80 });
    assert.match(text, /int x;[^]*\/\* bytes 12-151: may be of the virtual bases S and W \*\//);
    assert.match(text.replaceAll('\n', ' '), /does not say where the virtual bases S and W lie: 140 bytes from byte 12 on may be theirs\./);
    assert.doesNotMatch(text, /padding|hole|unused/i);
    assert.match(drawn(layout)[1] ?? '', /^ {3}0 \|vtable--\|x---S\/W\?-+\|$/);
  });

  it('says whose sizes are not known', () => {
    const layout = layoutOf('S', 40, [member('s', 'std::string', 0, 32, { incomplete: true }), member('n', 'long', 32, 8)]);
    assert.match(
      layoutText([layout], { width: 80 }).replaceAll('\n', ' '),
      /does not define the type of s: its size is at most the room up to/,
    );
  });

  it('says what was not read where a member has an unknown type', () => {
    const missing = { message: 'The debug information of p continues in a.dwo, which could not be read.', nextStep: 'Compile again.' };
    const layout = layoutOf('S', 40, [member('s', '(unknown type)', 0, 32, { incomplete: true }), member('n', 'long', 32, 8)], {
      align: null,
      missing,
    });
    const text = layoutText([layout], { width: 80 }).replaceAll('\n', ' ');
    assert.match(text, /type of s: its size is at most the room up to the next member\. The debug information of p continues in a\.dwo/);
    assert.match(text, /could not be read\. Compile again\./);
    assert.match(text, /alignment not stated,/);
    assert.doesNotMatch(text, /standalone/);
    const pointer = layoutOf('P', 8, [member('p', '(unknown type) *', 0, 8)], { align: 8, missing });
    assert.match(layoutText([pointer], { width: 80 }).replaceAll('\n', ' '), /No holes and no padding\. The debug information of p/);
  });

  it('is never wider than the width, and colours change no character', () => {
    for (const layout of [connection, session, shape, hostile])
      for (let width = 60; width < 160; width += 9) {
        const text = layoutText([layout], { width });
        for (const line of text.split('\n')) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);

        assert.equal(layoutText([layout], { width, style: COLOURED }).replace(/\u001b\[\d+m/g, ''), text);
      }
  });

  it('shows control characters of a binary as escapes', () => {
    for (const text of [layoutText([hostile], { width: 80 }), typeListText([summary('x\u001b[2J')], { width: 80, folder: '/' })])
      assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
    assert.match(layoutText([hostile], { width: 80 }), /evil\\x1b\[2J/);
  });
});

describe('layout declarations', () => {
  const of = (type: string, name = 'x'): string => declaration(member(name, type, 0, 8));
  it('puts the name where C has it', () => {
    assert.equal(of('int'), 'int x');
    assert.equal(of('const char *'), 'const char *x');
    assert.equal(of('char[4][8]'), 'char x[4][8]');
    assert.equal(of('int *[4]'), 'int *x[4]');
    assert.equal(of('void (*)(int)'), 'void (*x)(int)');
    assert.equal(of('void (*[3])(int)'), 'void (*x[3])(int)');
    assert.equal(of('int (*)[4]'), 'int (*x)[4]');
    assert.equal(of('int (ns::A::*)(char)'), 'int (ns::A::*x)(char)');
    assert.equal(of('int (*(*)(int (*)(char)))[3]'), 'int (*(*x)(int (*)(char)))[3]');
    assert.equal(of('void (*(*[2])(void))(int (*)[3])'), 'void (*(*x[2])(void))(int (*)[3])');
    assert.equal(of('int (*const *const)(int)'), 'int (*const *const x)(int)');
    assert.equal(of('int (*const (*)(void))(char)'), 'int (*const (*x)(void))(char)');
    assert.equal(of('long (Pool<int (*)[3], 4>::*)(char)'), 'long (Pool<int (*)[3], 4>::*x)(char)');
    assert.equal(of('int (&)[3]'), 'int (&x)[3]');
  });

  it('leaves template arguments and other languages alone', () => {
    assert.equal(of('std::function<void (*)(int[4])>'), 'std::function<void (*)(int[4])> x');
    assert.equal(of('std::atomic<long>[4]'), 'std::atomic<long> x[4]');
    assert.equal(of('[u8; 16]'), '[u8; 16] x');
    assert.equal(of('[]int'), '[]int x');
    assert.equal(of('&[u64]'), '&[u64] x');
    assert.equal(of('[4]int'), '[4]int x');
    assert.equal(of('map[string]int'), 'map[string]int x');
    assert.equal(of('*main.Gen[uint64]'), '*main.Gen[uint64] x');
    assert.equal(of('func(*int) (*int, error)'), 'func(*int) (*int, error) x');
    assert.equal(of('fn(&u8) -> bool'), 'fn(&u8) -> bool x');
    assert.equal(of('(&str, u8)'), '(&str, u8) x');
  });

  it('says what is no field, and which bits', () => {
    assert.equal(declaration(member('', 'Base', 0, 8, { role: 'virtual base' })), '(virtual base) Base');
    assert.equal(declaration(member('on', 'int', 0, 4, { bitOffset: 4, bitSize: 2 })), 'int on : 2');
    assert.equal(declaration(member('0', 'u8', 0, 1, { variant: 'Some' })), 'Some: u8 0');
    const discriminant = member('discriminant', 'u64', 0, 8, { role: 'discriminant' });
    assert.equal(declaration(discriminant), '(discriminant) u64');
    assert.equal(declaration({ ...discriminant, niche: 'Some' }), '(discriminant: niche in Some) u64');
    assert.equal(declaration(member('on', 'int[4]', 0, 4, { align: 64 })), 'alignas(64) int on[4]');
  });
});

describe('layout drawing', () => {
  it('has a column for each byte and a cell for eight', () => {
    const rows = drawn(
      layoutOf('s', 24, [member('a', 'int', 0, 4), member('bee', 'int', 4, 4), member('c', 'char', 8, 1), member('wide', 'long', 16, 8)]),
    );
    assert.deepEqual(rows.slice(1), ['   0 |a---bee-|c.......|wide----|']);
  });

  it('gives a member that spans cells one name, and repeats it on its next line', () => {
    const rows = drawn(
      layoutOf('s', 80, [
        member('head', 'char[60]', 0, 60),
        member('crossing', 'long', 60, 8, { straddles: true }),
        member('end', 'int', 76, 4),
      ]),
    );
    assert.match(rows[1] ?? '', /^ {3}0 \|head-{63}cro-\|$/);
    assert.equal(rows[2], '   1 |cro-....|....end-|');
  });

  it('draws bit-fields by the bytes they have, and names what shares a place', () => {
    const bits = (name: string, at: number, wide: number) => member(name, 'unsigned', 0, 4, { bitOffset: at, bitSize: wide });
    assert.deepEqual(drawn(layoutOf('s', 4, [bits('a', 0, 3), bits('b', 3, 7), bits('c', 16, 8)])).slice(1), ['   0 |a-c.|']);
    assert.deepEqual(drawn(layoutOf('u', 8, [member('w', 'long', 0, 8), member('h', 'int', 0, 4)], { kind: 'union' })).slice(1), [
      '   0 |w/h-----|',
    ]);
  });

  it('draws what lies in the tail padding of another member', () => {
    const members = [member('t', 'Tail', 0, 16), member('x', 'char', 13, 1), member('y', 'char', 15, 1)];
    assert.deepEqual(drawn(layoutOf('s', 16, members)).slice(1), ['   0 |t-------------x.y|']);
    assert.deepEqual(drawn(layoutOf('u', 16, members, { kind: 'union' })).slice(1), ['   0 |t----------------|']);
  });

  it('folds what fills many lines, however large', () => {
    const rows = drawn(layoutOf('s', 64 * 1e5 + 8, [member('n', 'long', 0, 8), member('slots', 'long[]', 8, 64 * 1e5)]));
    assert.equal(rows.length, 4);
    assert.match(rows[2] ?? '', /\.\.\. lines 1 to 99,999: slots$/);
    assert.match(rows[3] ?? '', /^100000 \|slots---\|$/);
  });

  it('breaks lines of 128 bytes in two rows, with the number on the first', () => {
    const rows = drawn(
      layoutOf(
        's',
        256,
        Array.from({ length: 32 }, (_, i) => member(`m${i}`, 'long', i * 8, 8)),
        { lineSize: 128 },
      ),
    );
    assert.deepEqual(
      rows.slice(1).map((row) => row.slice(0, 6)),
      ['   0 |', '     |', '   1 |', '     |'],
    );
  });

  it('ends for sizes that no type has', () => {
    assert.deepEqual(drawn(layoutOf('s', 0, [])), []);
    assert.deepEqual(drawn(layoutOf('s', 2 ** 63, [member('a', 'long', 2 ** 60, 8)])), []);
  });
});

describe('layout list', () => {
  const types = [
    summary('ns::Pool<Worker, 64>', { kind: 'class', size: 16384, lines: 256, file: '/src/a/pool.h', line: 12 }),
    summary('worker', { file: '' }),
  ];
  it('has a row of each type, with its place where it is known', () => {
    const [head, ...rows] = typeListText(types, { width: 80, folder: '/src' }).split('\n');
    assert.match(head!, /^ +Size +Lines +Type +Defined at$/);
    assert.match(rows[0]!, /^16,384 +256 +class ns::Pool<Worker, 64> +a\/pool\.h:12$/);
    assert.match(rows[1]!, /^ +24 +1 +struct worker$/);
    assert.equal(rows[3], '2 types');
  });
  it('says that there is none', () => assert.match(typeListText([], { width: 80, folder: '/' }), /no type with a name\. Compile with\s-g/));
});

describe('layout names', () => {
  const types = ['ns::Worker', 'ns::WorkerPool', 'std::vector<ns::Worker>', 'Order'].map((name) => summary(name));
  it('finds typing errors, other case and missing scopes', () => {
    assert.equal(nearestNames('Wroker', types)[0], 'ns::Worker');
    assert.equal(nearestNames('worker', types)[0], 'ns::Worker');
    assert.equal(nearestNames('nz::Worker', types)[0], 'ns::Worker');
    assert.deepEqual(nearestNames('Bord', [...types, summary('main.Board')]), ['main.Board']);
    assert.deepEqual(nearestNames('Completely', types), []);
    assert.deepEqual(nearestNames('Option<Number>', [...types, summary('core::Option<core::num::NonZero<u32>>')]), [
      'core::Option<core::num::NonZero<u32>>',
    ]);
  });

  it('makes sentences of them', () => {
    assert.match(unknownType('Odrer', 'a.out', types).nextStep, /^Did you mean 'Order'\?$/);
    assert.match(unknownType('Zebra', 'a.out', types).nextStep, /layout --list --in a\.out$/);
    assert.match(unknownType('x', 'a.out', []).nextStep, /no type with a name\. Compile with -g: -g1/);
  });

  it('lists the instances of a template', () => {
    const rings = ['ns::Ring<int>', 'ns::Ring<ns::Box<int>>', 'ns::Ring<int>::Part', 'RingBuffer<int>', 'main.Ring[int]'].map((name) =>
      summary(name),
    );
    const message = (asked: string, of = rings): string => unknownType(asked, 'a.out', of).message;
    assert.equal(
      message('Ring'),
      "'Ring' is a template, and a.out has 3 instances: 'ns::Ring<int>', 'ns::Ring<ns::Box<int>>' and 'main.Ring[int]'.",
    );
    assert.match(message('ns::Ring'), /has 2 instances: 'ns::Ring<int>' and 'ns::Ring<ns::Box<int>>'\.$/);
    assert.match(message('other::Ring'), /^There is no type/);
    assert.match(unknownType('Ring', 'a.out', rings).nextStep, /^Name one of them/);
    const many = Array.from({ length: 2000 }, (_, i) => summary(`Ring<${i}>`));
    assert.match(message('Ring', [...many, ...many]), /has 2,000 instances: 'Ring<0>', .*, 'Ring<9>' and 1,990 more\.$/);
  });
});
