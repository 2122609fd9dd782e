// Lines of a profile in a text that is not the one that was compiled: found by names.
import assert from 'node:assert/strict';
import { isMisnamed, placeByNames } from '../../extension/session/lines/line-names';
import { collectWords, type FileWords } from '../../extension/session/lines/line-words';
import { access, cacheLine, report } from './report-builder';
import { field, layout, member, typeHeat } from './type-builder';
import { codeOf, typesOf } from './report-lookups';

const COMPILED = `#include "run.h"

struct stale {
  long before;
  atomic_long left;
  atomic_long right;
};
struct stale stale_global;

struct other {
  long before;
  atomic_long left;
  atomic_long right;
};
struct other other_global;

void *work(void *p) {
  while (!stopped())
    if (p) {
      ++stale_global.left;
      ++other_global.left;
    } else {
      ++stale_global.right;
      ++*p;
      ++other_global.right;
    }
}
`.split('\n');

/** Names of types, members and variables by the line that declares them; accesses by what they use. */
const DECLARED: [string, string][] = [
  ['struct stale {', 'stale'],
  ['struct stale stale_global;', 'stale_global'],
  ['struct other {', 'other'],
  ['struct other other_global;', 'other_global'],
];
const USED: [string, string[]][] = [
  ['++stale_global.left', ['stale_global', 'left']],
  ['++other_global.left', ['other_global', 'left']],
  ['++stale_global.right', ['stale_global', 'right']],
  ['++*p', ['elsewhere']],
  ['++other_global.right', ['other_global', 'right']],
];

function wordsOfCompiled(): FileWords {
  const words: FileWords = new Map();
  const lineOf = (text: string): number => COMPILED.findIndex((line) => line.includes(text));
  const add = (line: number, declares: string[], uses: string[]): unknown =>
    words.set(line, { declares: new Set(declares), uses: new Set(uses), found: false });
  for (const [text, name] of DECLARED) add(lineOf(text), [name], []);
  for (const type of ['struct stale {', 'struct other {'])
    for (const [index, name] of ['before', 'left', 'right'].entries()) add(lineOf(type) + 1 + index, [name], []);
  for (const [text, uses] of USED) add(lineOf(text), [], uses);
  return words;
}

/** What stands now where each line of the profile is found, by the line as it was compiled; in the text's order. */
function placed(text: readonly string[]): [string, string][] {
  const words = wordsOfCompiled();
  const lines = placeByNames(text, words, words.keys());
  return [...words.keys()].sort((a, b) => a - b).map((line) => [COMPILED[line] ?? '', text[lines.get(line) ?? -1] ?? 'nowhere']);
}

describe('lines by names', () => {
  const same = wordsOfCompiled();

  it('are where they were in the same text', () => {
    const lines = placeByNames(COMPILED, same, same.keys());
    assert.deepEqual(
      [...lines].filter(([line, now]) => line !== now),
      [],
    );
    assert.equal(lines.size, same.size);
  });

  const insertions: [string, (text: string[]) => string[]][] = [
    ['lines inserted at the top', (text) => ['// a', '// left, before', '', ...text]],
    ['a member inserted', (text) => text.flatMap((line) => (line.includes('long before') ? ['  long left_before, added;', line] : [line]))],
    ['lines inserted at several places', (text) => text.flatMap((line) => (/struct \w+ \w+;|work/.test(line) ? ['', line, '//'] : [line]))],
    ['a comment with the names in front', (text) => ['/* struct stale {', '  atomic_long left;', '}; */', ...text]],
    ['lines removed at the top', (text) => text.slice(2)],
  ];
  for (const [what, change] of insertions) {
    it(`are found again: ${what}`, () => {
      const text = change([...COMPILED]);
      for (const [before, now] of placed(text)) assert.equal(now, before);
    });
  }

  it('are nowhere where the text does not have the name, and others stay', () => {
    const text = COMPILED.map((line) => line.replace(/\bleft;/, 'renamed;')).slice(1);
    for (const [before, now] of placed(text))
      assert.equal(now, before.includes('long left;') ? 'nowhere' : before.replace('left;', 'renamed;'));
  });

  it('without a name are nowhere between lines that moved differently', () => {
    const text = COMPILED.flatMap((line) =>
      line.includes('++*p') ? [line, '  log();'] : line.includes('stopped') ? ['  log();', line] : [line],
    );
    const found = placed(text);
    assert.equal(found.find(([before]) => before.includes('++*p'))?.[1], 'nowhere');
    assert.equal(found.find(([before]) => before.includes('++other_global.left'))?.[1], '      ++other_global.left;');
  });

  it('are not where a name only happens to stand', () => {
    const text = COMPILED.map((line) => (line.startsWith('struct other other_global') ? '' : line));
    assert.equal(placed(text).find(([before]) => before.startsWith('struct other other_global'))?.[1], 'nowhere');
  });

  it('are nowhere in a text that has none of the names', () => {
    assert.equal(placeByNames(['int main() {', '}', ...Array<string>(40).fill('')], same, same.keys()).size, 0);
  });

  it('take any name for what it is, and the nearest of many lines', () => {
    const odd = new Map([[0, { declares: new Set(['a[0', '{impl#0}', 'x+y']), uses: new Set<string>(), found: false }]]);
    assert.deepEqual([...placeByNames(['int x;'], odd, [0])], []);
    const text = Array.from({ length: 3000 }, () => '  long count;');
    const words: FileWords = new Map([[1500, { declares: new Set(['count']), uses: new Set<string>(), found: false }]]);
    assert.deepEqual([...placeByNames(text, words, [1500])], [[1500, 1500]]);
  });

  it('stay where they are where no name is known that could tell', () => {
    const words: FileWords = new Map([[3, { declares: new Set<string>(), uses: new Set(['work']), found: false }]]);
    assert.deepEqual(
      [...placeByNames(COMPILED, words, [3, 5, 900])],
      [
        [3, 3],
        [5, 5],
      ],
    );
  });

  it('are found in 100,000 lines in well under a second', () => {
    const text = Array.from({ length: 100_000 }, (_, line) => `  long member_${line % 3000}; // of ${line}`);
    const words: FileWords = new Map(
      Array.from({ length: 3000 }, (_, line) => [
        line * 10,
        { declares: new Set([`member_${(line * 10) % 3000}`]), uses: new Set(), found: false },
      ]),
    );
    const start = process.cpuUsage();
    const lines = placeByNames(['', '', ...text], words, words.keys());
    assert.equal(lines.get(29_990), 29_992);
    assert.ok(process.cpuUsage(start).user < 2e6);
  });
});

describe('lines that became something else', () => {
  const names = new Set(['stale', 'other', 'left', 'right', 'inner']);
  const cases: [string, string, string[], boolean][] = [
    ['struct other {', 'struct stale {', ['stale'], true],
    ['struct stale : base {', 'struct stale {', ['stale'], false],
    ['struct renamed {', 'struct stale {', ['stale'], false],
    ['  struct inner renamed;', '  struct inner left;', ['left'], false],
    ['  long renamed; // once right', '  long left;', ['left'], false],
    ['  long right;', '  long left, lower;', ['left', 'lower'], true],
    ['  long lower;', '  long left, lower;', ['left', 'lower'], false],
    ['  COUNTER(web);', '  COUNTER(web);', ['web_counter'], false],
    ['  x = right;', '  x = 1;', [], false],
  ];
  for (const [now, before, own, expected] of cases) {
    it(`${before.trim()} → ${now.trim()}: ${expected ? 'is' : 'not'}`, () =>
      assert.equal(isMisnamed(now, before, new Set(own), names), expected));
  }
});

describe('names on lines of a report', () => {
  it('are those of types, members and variables, and what accesses use and call', () => {
    const file = '/src/a.cpp';
    const of = layout('std::box<long>', 16, [member('held', 0, 8, { line: 4 })], { file, line: 3 });
    const data = {
      object: 'app::shared',
      offset: 0,
      definition: { file, line: 9 },
      how: 'global' as const,
      type: 'std::box<long>',
      field: 'held[2]',
    };
    const inlined = [
      { function: 'std::atomic<long>::fetch_add(long, order)', file: '/usr/include/atomic', line: 500 },
      { function: 'work()', file, line: 20 },
    ];
    const made = report([cacheLine([access({ writes: 9, file: '/usr/include/atomic', line: 500, inlined, data })])], {
      types: [typeHeat(of, [field('held', 0, { stores: 9 })])],
    });
    const words: FileWords = new Map();
    const definitions = new Map([[9, [data]]]);
    collectWords({ file, types: typesOf(made).get(file), definitions, code: codeOf(made, file) }, words);
    const shown = [...words]
      .sort(([a], [b]) => a - b)
      .map(([line, { declares, uses }]) => [line + 1, [...declares].join(), [...uses].join()]);
    assert.deepEqual(shown, [
      [3, 'box', ''],
      [4, 'held', ''],
      [9, 'shared', ''],
      [20, '', 'shared,held,fetch_add'],
    ]);
  });
});
