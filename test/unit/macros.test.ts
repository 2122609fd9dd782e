// Macros: whose definition a line belongs to, which lines use it, and Rust types that a macro makes.
import assert from 'node:assert/strict';
import { macroAround, macroUses, typeMakers, usesOfMakers } from '../../extension/session/layout/macros';
import { cpuSeconds } from './fixtures';

const C = `#include <stdatomic.h>
#define COUNTER(name) \\
  struct name##_counter { \\
    atomic_long name##_hits; \\
  }
#define OTHER COUNTER
COUNTER(web); // COUNTERS
struct COUNTER_OF_OTHERS { long n; };
`;
const RUST = `macro_rules! counters {
    ($name:ident, $first:ident) => { // struct $x
        pub struct $name {
            $first: AtomicU64,
        }
    };
}
macro_rules! say { ($what:expr) => { println!("struct $x {}", $what) }; }
counters!(
    Made,
    made_a
);
fn main() { say!(Made::default()); }
`;

describe('macros', () => {
  it('of C go on behind a backslash', () => {
    const around = C.split('\n').map((_, line) => macroAround(C, line, 'c'));
    assert.deepEqual(around.slice(0, 7), [undefined, ...Array<string>(4).fill('COUNTER'), undefined, undefined]);
    assert.equal(macroAround(C.replaceAll('\n', '\r\n'), 3, 'c'), 'COUNTER');
    assert.deepEqual(macroUses(C, 'COUNTER', 'c'), [6]);
  });

  it('of C count where they declare something', () => {
    const around = (text: string): string | undefined => macroAround(text, 0, 'c');
    for (const none of [
      'LINE 64',
      'ALIGNED(n) alignas(n)',
      'MAX 9 /* of a struct; */',
      'A "struct;"',
      'B 1 /* struct',
      'structs 3 // union;',
    ])
      assert.equal(around(`#define ${none}\nstruct s { long n; };`), undefined, none);
    for (const one of ['M struct s { int n', 'M(t, n) t n;', 'M(n) n##_hits', 'M(a, \\\n b) \\\r\n union a { b }'])
      assert.equal(around(`# define ${one}\nlong n;`), 'M', one);
  });

  it('of Rust end with their brackets', () => {
    const around = RUST.split('\n').map((_, line) => macroAround(RUST, line, 'rust'));
    assert.deepEqual(around.slice(0, 9), [...Array<string>(7).fill('counters'), undefined, undefined]);
    assert.deepEqual(macroUses(RUST, 'counters', 'rust'), [8]);
  });

  it('that make types do so where they are used', () => {
    const makers = typeMakers(RUST);
    assert.deepEqual(makers, ['counters']);
    const [use, ...others] = usesOfMakers(RUST, new Set(makers));
    assert.deepEqual(others, []);
    assert.deepEqual(
      [...(use?.words ?? [])],
      [
        ['Made', 10],
        ['made_a', 11],
      ],
    );
  });

  it('of Rust are many, some without an end', () => {
    const maker = 'macro_rules! make { ($name:ident) => { struct $name { a: u64 } } }\n';
    const many = maker.repeat(2000) + 'make!(First);\n' + 'make!(Open;\n'.repeat(2000);
    const seconds = cpuSeconds(() => {
      assert.equal(macroAround(many, 1999, 'rust'), 'make');
      assert.equal(macroAround(many, 2000, 'rust'), undefined);
      const uses = usesOfMakers(many, new Set(typeMakers(many)));
      assert.deepEqual([uses.length, [...(uses[0]?.words ?? [])]], [2001, [['First', 2001]]]);
    });
    assert.ok(seconds < 2, `${seconds} s`);
  });
});
