// Each rule by which lines are found by names, on texts of a few lines.
import assert from 'node:assert/strict';
import { isMisnamed, placeByNames } from '../../extension/session/lines/line-names';
import { collectWords, type FileWords, type LineWords } from '../../extension/session/lines/line-words';
import { macroAround, macroUses, typeMakers, usesOfMakers } from '../../extension/session/layout/macros';
import { access, cacheLine, report } from './report-builder';
import { codeOf } from './report-lookups';

const declares = (...names: string[]): LineWords => ({ declares: new Set(names), uses: new Set(), found: false });
const uses = (...names: string[]): LineWords => ({ declares: new Set(), uses: new Set(names), found: false });
const found = (...names: string[]): LineWords => ({ ...declares(...names), found: true });

/** Where line 0, which declares `count`, is in the text. */
const placeOf = (...text: string[]): number | undefined => placeByNames(text, new Map([[0, declares('count')]]), [0]).get(0);

function placed(text: string[], words: [number, LineWords][], lines: number[]): (number | undefined)[] {
  const map = placeByNames(text, new Map(words), lines);
  return lines.map((line) => map.get(line));
}

describe('a line that seems to declare a name', () => {
  for (const line of [
    'long count;',
    'long count = 0, other;',
    'atomic_long *count;',
    'long other, count;',
    'long Totals::count = 0;',
    'struct alignas(64) count {',
    '    count: AtomicU64,',
    'let mut count = 1;',
  ])
    it(`rather than one that mentions it: ${line.trim()}`, () => {
      for (const mention of ['  return count;', '  count = 1;', '  sizeof count + 1', 'x + count + count + count + count + count + count'])
        assert.equal(placeOf(mention, line), 1, mention);
    });

  it('but not in a comment or a string', () => {
    for (const none of ['// long count;', '/* long count; */', 'puts("long count;");']) assert.equal(placeOf(none, ''), undefined, none);
  });

  it('counts by the share of the names that it has', () => {
    const both: [number, LineWords][] = [[0, declares('first', 'second')]];
    assert.deepEqual(placed(['x = first + second', 'long first;'], both, [0]), [0]);
    assert.deepEqual(placed(['x = first + second', 'long first, second;'], both, [0]), [1]);
  });
});

describe('lines by names', () => {
  it('that were found in the text stay, and tell nothing of others', () => {
    assert.deepEqual(placed(['', '', 'struct A {', '', '', ''], [[1, found('A')]], [1, 5]), [1, 5], 'nothing is known of others');
    const words: [number, LineWords][] = [
      [0, found('A')],
      [2, declares('count')],
    ];
    assert.deepEqual(placed(['', 'struct A;', '', 'long count;'], words, [0, 2]), [0, 3]);
  });

  it('are of a line that declares something not where its uses are', () => {
    assert.deepEqual(placed(['x = total;', ''], [[0, { ...declares('count'), uses: new Set(['total']) }]], [0]), [undefined]);
  });

  it('do not move for uses alone', () => {
    assert.deepEqual(placed(['', 'a + b + c'], [[0, uses('a', 'b', 'c')]], [0]), [0]);
    const words: [number, LineWords][] = [
      [0, declares('count')],
      [1, uses('a', 'b')],
    ];
    assert.deepEqual(placed(['long count;', 'a + b', ''], words, [1]), [1]);
  });

  it('do not change the shift for a mention', () => {
    const words: [number, LineWords][] = [
      [0, declares('count')],
      [1, declares('total')],
    ];
    assert.deepEqual(placed(['long count;', '', '', 'x = total + 1'], words, [0, 1]), [0, undefined]);
  });

  it('without names move with both neighbours, or stay where nothing moved', () => {
    const words = (...lines: number[]): [number, LineWords][] => lines.map((line, i) => [line, declares(`name_${i}`)]);
    assert.deepEqual(placed(['', 'long name_0;', '', '', 'long name_1;'], words(0, 3), [1, 2]), [2, 3]);
    assert.deepEqual(placed(['', 'long name_0;', '', '', '', 'long name_1;'], words(0, 3), [1, 2]), [undefined, undefined]);
    assert.deepEqual(placed(['', '', 'long name_0;', '', ''], words(2), [1, 3, 900]), [1, 3, undefined]);
    assert.deepEqual(placed(['', '', '', 'long name_0;', ''], words(2), [1, 3]), [undefined, undefined]);
  });

  it('that still hold their name did not become something else', () => {
    const names = new Set(['left', 'right']);
    assert.equal(isMisnamed('  long left, right;', '  long left;', new Set(['left']), names), false);
  });
});

describe('names on lines', () => {
  const at = (file: string, line: number, name: string, what: string): FileWords => {
    const words: FileWords = new Map();
    collectWords({ file, types: new Map([[line, [{ name, what } as never]]]) }, words);
    return words;
  };
  const of = (words: FileWords, line: number): [string[], string[], boolean] => {
    const there = words.get(line - 1);
    return [[...(there?.declares ?? [])], [...(there?.uses ?? [])], there?.found ?? false];
  };

  it('of types of Rust and Go were found in the text', () => {
    assert.deepEqual(of(at('/a.rs', 3, 'Made', 'type'), 3), [['Made'], [], true]);
    assert.deepEqual(of(at('/a.rs', 3, 'made', 'variable'), 3), [['made'], [], false]);
    assert.deepEqual(of(at('/a.c', 3, 'made', 'type'), 3), [['made'], [], false]);
    assert.deepEqual(of(at('/a.c', 3, '', 'type'), 3), [[], [], false]);
  });

  it('of variables are those of debug information', () => {
    for (const [how, name] of [
      ['global', ['count']],
      ['stack', ['count']],
      ['code', []],
      [undefined, ['count']],
    ] as const) {
      const words: FileWords = new Map();
      collectWords({ file: '/a.c', definitions: new Map([[7, [{ object: 'count', ...(how && { how }) }]]]) }, words);
      assert.deepEqual(of(words, 7)[0], name, how);
    }
  });

  it('that accesses use are the member and the function that was inlined on that line', () => {
    const file = '/a.cpp';
    const frame = (name: string, where: string, line: number): { function: string; file: string; line: number } => ({
      ...{ function: name, file: where, line },
    });
    const one = access({
      data: { object: 'shared', offset: 0, definition: null, type: 'box', field: 'outer.items[2][3] | outer.other' },
      inlined: [frame('first<long>', '/other.cpp', 20), frame('second<std::pair<int, int>>(int)', file, 19), frame('third()', file, 20)],
    });
    const words: FileWords = new Map();
    collectWords({ file, code: codeOf(report([cacheLine([one])]), file) }, words);
    assert.deepEqual(of(words, 20)[1], ['shared', 'items', 'second']);
  });
});

describe('macros of a text', () => {
  it('are used by their whole name, of Rust also behind an attribute', () => {
    assert.deepEqual(macroUses('MY_COUNTER(a)\nCOUNTER(b)\n# if COUNTER(c)', 'COUNTER', 'c'), [1]);
    assert.deepEqual(macroUses('my_counters!(a);\n#[rustfmt::skip] counters!(b);', 'counters', 'rust'), [1]);
  });

  it('begin on their own line', () => {
    assert.equal(macroAround('fn f() {}\nmacro_rules! make { ($n:ident) => { struct $n { a: u64 } } }\n', 0, 'rust'), undefined);
  });

  it('make what is not in a comment, where it stands first', () => {
    const text = 'macro_rules! make { ($n:ident) => { struct $n { a: u64 } } }\nmake!( // Later\n  Made,\n  Made, Later);\n';
    const [use] = usesOfMakers(text, new Set(typeMakers(text)));
    assert.deepEqual(
      [...(use?.words ?? [])],
      [
        ['Made', 3],
        ['Later', 4],
      ],
    );
  });
});
