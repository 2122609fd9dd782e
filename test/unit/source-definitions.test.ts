// Where Rust and Go sources define structures, and which of them a type of the debug information is.
import assert from 'node:assert/strict';
import { definitionsIn } from '../../extension/session/layout/source-definitions';
import { fits, placeTypes } from '../../extension/session/layout/type-definitions';
import { field, layout, member, typeHeat } from './type-builder';

const RUST = `// struct Commented { a: u8 }
#[repr(C)]
pub struct Ring<T: Into<Vec<u8>>, const N: usize>
where
    T: Fn(u8) -> u8,
{
    #[allow(dead_code)]
    pub(crate) head: HashMap<K, V>, tail: fn(a: u8) -> u8,
    text: &'static str, // late: u8,
    bytes: [u8; 4],
}
pub struct Unit;
struct Pair(
    u64, HashMap<u8, u16>,
    u8,
);
fn f() { let text = "struct Quoted { z: u8 }"; let union = 3; let c = '{'; }
enum Shape { Nothing = 1, Square(u8),
  Circle {
    radius: u8,
  } }
`;

const GO = `package p
type (
	Board struct {
		X, Y int // Z int
		*sync.Mutex
		Base
		inner struct {
			q int
		}
		tag string \`json:"struct {"\`
		call func(a int, b int) struct{}
	}
	Ring[T any] struct { v T; w int }
)
type Shape interface { M() }
func f(x struct { a int }) { var y = struct{ b int }{1}; _ = y }
type Last struct {
	only int
}
`;

const found = (source: string, language: 'rust' | 'go') =>
  definitionsIn(source, language).map(({ name, line, members }) => ({ name, line, members: Object.fromEntries(members) }));

describe('definitions in sources', () => {
  it('are found in Rust with the lines of fields, of tuples and of variants', () => {
    assert.deepEqual(found(RUST, 'rust'), [
      { name: 'Ring', line: 3, members: { head: 8, tail: 8, text: 9, bytes: 10 } },
      { name: 'Unit', line: 12, members: {} },
      { name: 'Pair', line: 13, members: { 0: 14, 1: 14, 2: 15 } },
      { name: 'Shape', line: 18, members: { 'Square.0': 18, 'Circle.radius': 20 } },
    ]);
  });

  it('are found in Go with the lines of members, also of embedded ones', () => {
    assert.deepEqual(found(GO, 'go'), [
      { name: 'Board', line: 3, members: { X: 4, Y: 4, Mutex: 5, Base: 6, inner: 7, tag: 10, call: 11 } },
      { name: 'Ring', line: 13, members: { v: 13, w: 13 } },
      { name: 'Last', line: 17, members: { only: 18 } },
    ]);
  });

  it('end where the text ends', () => {
    assert.deepEqual(found('struct Open { a: u8, b: (u8', 'rust'), [{ name: 'Open', line: 1, members: { a: 1 } }]);
    assert.deepEqual(found('type Open struct {\n a int\n', 'go'), [{ name: 'Open', line: 1, members: { a: 2 } }]);
  });
});

describe('types without a place', () => {
  const unplaced = { file: '', line: 0 };
  const heat = (name: string, members: string[]) =>
    typeHeat(
      layout(
        name,
        16,
        members.map((one, index) => member(one, 8 * index, 8, { line: 0 })),
        unplaced,
      ),
      [field(members[0] ?? '', 0)],
    );
  const placed = (name: string, members: string[], sources: Record<string, string>) => {
    const type = heat(name, members);
    placeTypes([type], new Map(Object.entries(sources)));
    return [type.layout.file, type.layout.line, type.layout.members.map(({ line }) => line)];
  };

  it('get that of the definition with their name and members', () => {
    const source = 'pub struct Counters {\n  hits: u64,\n  misses: u64,\n}\n';
    const other = 'pub struct Counters {\n  hits: u64,\n}\n';
    const sources = { '/w/src/main.rs': source, '/w/src/other.rs': other, '/w/notes.txt': source };
    assert.deepEqual(placed('main::Counters', ['hits', 'misses'], sources), ['/w/src/main.rs', 1, [2, 3]]);
    assert.deepEqual(placed('main::Counters<u64, 4>', ['misses', 'hits'], sources), ['/w/src/main.rs', 1, [3, 2]]);
    assert.deepEqual(placed('main::Counters', ['other'], sources), ['', 0, [0]]);
  });

  it('of a macro are where it names the type and its members', () => {
    const macro = 'macro_rules! make { ($n:ident, $m:ident) => { struct $n { $m: u64, spare: u64 } }; }\n';
    const sources = { '/w/src/lib.rs': macro, '/w/src/main.rs': '// one\nmake!(Made,\n  hits);\n' };
    assert.deepEqual(placed('main::Made', ['hits', 'spare'], sources), ['/w/src/main.rs', 2, [3, 0]]);
    assert.deepEqual(placed('main::Made', ['hits'], { '/w/src/main.rs': sources['/w/src/main.rs'] }), ['', 0, [0]]);
    assert.deepEqual(placed('main::Other', ['hits'], sources), ['', 0, [0]]);
  });

  it('of several that fit, that of their module, else none', () => {
    const source = 'package p\ntype Worker struct {\n\tcount int64\n}\n';
    const sources = { '/w/pool/worker.go': source, '/w/jobs/worker.go': source };
    assert.deepEqual(placed('app/pool.Worker', ['count'], sources), ['/w/pool/worker.go', 2, [3]]);
    assert.deepEqual(placed('main.Worker', ['count'], sources), ['', 0, [0]]);
    assert.deepEqual(placed('app/pool.Worker[go.shape.int]', ['count'], sources), ['/w/pool/worker.go', 2, [3]]);
  });

  it('keep what debug information says', () => {
    const type = typeHeat(layout('main::Counters', 8, [member('hits', 0, 8, { line: 7 })], { file: '/w/a.c', line: 6 }), []);
    placeTypes([type], new Map([['/w/src/main.rs', 'struct Counters { hits: u64 }']]));
    assert.deepEqual([type.layout.file, type.layout.line, type.layout.members[0]?.line], ['/w/a.c', 6, 7]);
  });

  it('do not ask for what is inside of members', () => {
    const [definition] = definitionsIn('struct Outer { inner: Inner }', 'rust');
    const members = [
      member('inner', 0, 8),
      member('inner.deep', 0, 8, { depth: 1 }),
      member('discriminant', 8, 8, { role: 'discriminant' }),
    ];
    assert.ok(definition && fits(definition, layout('Outer', 16, members)));
  });
});
