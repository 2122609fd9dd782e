// Lines that are followed through edits, saving, closing, and changes made elsewhere.
import assert from 'node:assert/strict';
import { LineTracker, type TextChange } from '../../extension/session/lines/line-tracker';
import { mapLines } from '../../extension/session/lines/line-diff';
import type { FileWords } from '../../extension/session/lines/line-words';
import { cpuSeconds } from './fixtures';

const TEXT = 'int a;\nint b;\n\nvoid f() {\n  a++;\n  b++;\n}\n';
/** 0-based lines of `a++;` and `b++;`. */
const A = 4;
const B = 5;

function change(startLine: number, startCharacter: number, endLine: number, endCharacter: number, text: string): TextChange {
  return { range: { start: { line: startLine, character: startCharacter }, end: { line: endLine, character: endCharacter } }, text };
}

function opened(text = TEXT): LineTracker {
  const tracker = new LineTracker(text, [A, B]);
  tracker.show(text);
  return tracker;
}

describe('line tracker: more lines', () => {
  it('are found through what was saved and what was not', () => {
    const tracker = opened();
    tracker.edit([change(0, 0, 0, 0, '// one\n')]);
    tracker.save();
    tracker.edit([change(0, 0, 0, 0, '// two\n')]);
    tracker.add([0, A]);
    assert.equal(tracker.now(0), 2);
    assert.equal(tracker.now(A), A + 2);
    tracker.close();
    assert.equal(tracker.now(0), 1, 'the second edit was not saved');
  });

  it('are gone where their text is', () => {
    const tracker = opened();
    tracker.edit([change(0, 0, 1, 0, '')]);
    tracker.add([0, 1]);
    assert.equal(tracker.now(0), undefined);
    assert.deepEqual(tracker.originals(0), [1]);
  });
});

describe('line tracker: many changes', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => `  int value${i} = old;`);

  it('of one event are quick', () => {
    const tracker = new LineTracker(many.join('\n'), [7, 49_999]);
    tracker.show(many.join('\n'));
    const changes = Array.from({ length: 5000 }, (_, i) => change(49_990 - 10 * i, 0, 49_990 - 10 * i, 0, i % 2 === 0 ? '' : '\n'));
    const seconds = cpuSeconds(() => tracker.edit(changes));
    assert.ok(seconds < 1.5, `${seconds} s`);
    assert.deepEqual([tracker.now(7), tracker.now(49_999)], [8, 49_999 + 2500]);
  });

  it('may insert more lines than a call takes arguments', () => {
    const tracker = opened();
    tracker.edit([change(0, 0, 0, 0, '// x\n'.repeat(300_000))]);
    tracker.edit([change(0, 0, 0, 0, '// x\n'.repeat(9000))]);
    assert.deepEqual([tracker.now(A), tracker.originals(B + 309_000)], [A + 309_000, [B]]);
  });
});

describe('line tracker: edits', () => {
  const cases: [string, TextChange[], (number | undefined)[]][] = [
    ['lines inserted above', [change(0, 0, 0, 0, '// x\n// y\n')], [6, 7]],
    ['lines removed above', [change(0, 0, 1, 0, '')], [3, 4]],
    ['an edit below', [change(6, 0, 6, 1, '}\n}')], [A, B]],
    ['typing within the line', [change(A, 3, A, 3, 'bcd')], [A, B]],
    ['Enter at the start of the line', [change(A, 0, A, 0, '\n')], [5, 6]],
    ['Enter before the code of the line', [change(A, 2, A, 2, '\n  ')], [5, 6]],
    ['Enter at the end of the line', [change(A, 6, A, 6, '\n  c++;')], [A, 6]],
    ['Enter in the middle of the line', [change(A, 3, A, 3, '\n')], [A, 6]],
    ['a line inserted between', [change(B, 0, B, 0, '  c++;\n')], [A, 6]],
    ['the line retyped', [change(A, 2, A, 6, 'a += 1;')], [A, B]],
    ['the line deleted', [change(A, 0, B, 0, '')], [undefined, A]],
    ['both deleted', [change(3, 0, 6, 1, '')], [undefined, undefined]],
    ['the line joined to the one before', [change(3, 10, A, 2, ' ')], [3, 4]],
    ['indented by a formatter', [change(A, 0, B, 6, '      a++;\n      b++;')], [A, B]],
    ['swapped lines replaced as a whole', [change(A, 0, B, 6, '  c++;\n  a++;\n  b++;')], [5, 6]],
    ['several changes of one event, from the end', [change(B, 0, B, 0, '//\n'), change(0, 0, 0, 0, '//\n')], [5, 7]],
    ['Windows line ends', [change(0, 0, 0, 0, '// x\r\n')], [5, 6]],
  ];
  for (const [name, changes, expected] of cases) {
    it(name, () => {
      const tracker = opened();
      tracker.edit(changes);
      assert.deepEqual([tracker.now(A), tracker.now(B)], expected);
    });
  }

  it('knows whether the text is the one that it was made with', () => {
    const tracker = opened();
    assert.equal(tracker.isEdited, false);
    tracker.edit([change(0, 0, 0, 0, '// x\n')]);
    assert.equal(tracker.isEdited, true);
    tracker.save();
    tracker.close();
    assert.equal(tracker.isEdited, true, 'as it was saved');
    tracker.show(TEXT);
    assert.equal(tracker.isEdited, false, 'taken back');
  });

  it('stays with its code where something is typed in front of it and becomes a line of its own', () => {
    const tracker = opened();
    tracker.edit([change(A, 2, A, 2, 'c')]);
    tracker.edit([change(A, 3, A, 3, '++;')]);
    assert.equal(tracker.now(A), A, '"  c++;a++;"');
    tracker.edit([change(A, 6, A, 6, '\n  ')]);
    assert.deepEqual([tracker.now(A), tracker.now(B)], [A + 1, B + 1]);

    const commented = opened();
    commented.edit([change(A, 0, A, 0, '// why')]);
    commented.edit([change(A, 6, A, 6, '\n// ')]);
    assert.equal(commented.now(A), A + 1, 'editors go on with the comment');
  });

  it('answers for a document line which profile lines are there', () => {
    const tracker = opened();
    tracker.edit([change(0, 0, 0, 0, '\n')]);
    assert.deepEqual(tracker.originals(A + 1), [A]);
    assert.deepEqual(tracker.originals(A), []);
  });

  it('finds by its text what was deleted and comes back', () => {
    const tracker = opened();
    tracker.edit([change(A, 0, B, 0, '')]);
    assert.equal(tracker.now(A), undefined);
    tracker.show(TEXT); // undo
    assert.deepEqual([tracker.now(A), tracker.now(B)], [A, B]);
  });
});

const BLOCKS = `struct stale {
  long before;
  long left;
  long right;
};
struct stale stale_global;

struct other {
  long before;
  long left;
  long right;
};
struct other other_global;

int main() {}
`;

/** Of a file with two structures that look alike, each line of which declares something. */
function ofBlocks(): { tracker: LineTracker; shown: () => string[]; lines: string[] } {
  const lines = BLOCKS.split('\n');
  const declared = [0, 1, 2, 3, 5, 7, 8, 9, 10, 12];
  const words: FileWords = new Map(
    declared.map((line) => [line, { declares: new Set([/(\w+)(?: \{|;)$/.exec(lines[line]!)![1]!]), uses: new Set(), found: false }]),
  );
  const tracker = new LineTracker(BLOCKS, declared, words);
  tracker.show(BLOCKS);
  return { tracker, lines, shown: () => declared.map((line) => `${line}: ${tracker.now(line) ?? 'nowhere'}`) };
}

describe('line tracker: what was lost', () => {
  const [LEFT, RIGHT] = [2, 3];
  const cut = change(LEFT, 0, RIGHT, 0, '');

  it('comes back where the line is pasted, also behind others, and stays there', () => {
    const { tracker } = ofBlocks();
    tracker.edit([cut]);
    assert.equal(tracker.now(LEFT), undefined);
    tracker.edit([change(LEFT + 1, 0, LEFT + 1, 0, '  long left;\n')]);
    assert.deepEqual([tracker.now(LEFT), tracker.now(RIGHT), tracker.now(9)], [RIGHT, LEFT, 9]);
    tracker.save();
    tracker.close();
    assert.deepEqual([tracker.now(LEFT), tracker.now(RIGHT)], [RIGHT, LEFT]);
  });

  it('comes back where an editor moves lines past each other', () => {
    const { tracker } = ofBlocks();
    // What VS Code does for Alt+Down on `left`: `right` goes and comes in front.
    tracker.edit([change(RIGHT, 0, RIGHT + 1, 0, ''), change(LEFT, 0, LEFT, 0, '  long right;\n')]);
    assert.deepEqual([tracker.now(LEFT), tracker.now(RIGHT)], [RIGHT, LEFT]);
  });

  it('comes back when the file is reverted or loaded again', () => {
    const { tracker, shown } = ofBlocks();
    const before = shown();
    tracker.edit([cut]);
    tracker.edit([change(LEFT, 0, LEFT, 0, '  long left;\n')]); // how it is set back
    assert.deepEqual(shown(), before);
    tracker.edit([change(0, 0, 13, 0, '')]);
    tracker.save();
    tracker.close();
    assert.equal(tracker.now(LEFT), undefined);
    tracker.show(BLOCKS);
    assert.deepEqual(shown(), before);
  });

  it('comes back where it was copied before it was deleted', () => {
    const { tracker } = ofBlocks();
    tracker.edit([change(RIGHT + 1, 0, RIGHT + 1, 0, '  long left;\n')]);
    assert.equal(tracker.now(LEFT), LEFT);
    tracker.edit([cut]);
    assert.deepEqual([tracker.now(LEFT), tracker.now(RIGHT)], [RIGHT, LEFT]);
  });

  it('does not take a line that is another one of the profile', () => {
    const { tracker, shown } = ofBlocks();
    tracker.edit([change(0, 0, 7, 0, '')]);
    assert.deepEqual(shown(), [
      '0: nowhere',
      '1: nowhere',
      '2: nowhere',
      '3: nowhere',
      '5: nowhere',
      '7: 0',
      '8: 1',
      '9: 2',
      '10: 3',
      '12: 5',
    ]);
  });

  it('is not a bracket that is typed somewhere', () => {
    const tracker = new LineTracker(TEXT, [6]);
    tracker.show(TEXT);
    tracker.edit([change(6, 0, 6, 1, '')]);
    tracker.edit([change(3, 0, 4, 0, '')]);
    tracker.edit([change(0, 0, 0, 0, '}\n')]);
    assert.notEqual(tracker.now(6), 0);
  });

  it('is looked for in 100,000 lines without being felt', () => {
    const text = Array.from({ length: 100_000 }, (_, line) => `line ${line};`).join('\n');
    const tracker = new LineTracker(
      text,
      Array.from({ length: 5000 }, (_, line) => line * 20),
    );
    tracker.show(text);
    tracker.edit([change(20, 0, 21, 0, '')]);
    const start = process.cpuUsage();
    for (let letter = 0; letter < 50; ++letter) tracker.edit([change(3, letter, 3, letter, 'x')]);
    assert.ok(process.cpuUsage(start).user / 50 < 20_000, 'µs a letter');
    tracker.edit([change(30, 0, 30, 0, 'line 20;\n')]);
    assert.equal(tracker.now(20), 30);
  });
});

describe('line tracker: what became something else', () => {
  const swapped = BLOCKS.replaceAll('stale', 'STALE').replaceAll('other', 'stale').replaceAll('STALE', 'other');

  it('goes with its structure where one is turned into the other letter by letter', () => {
    const { tracker, shown } = ofBlocks();
    const letters = (line: number, from: number, name: string): TextChange => change(line, from, line, from + 5, name);
    tracker.edit([
      letters(12, 13, 'stale'),
      letters(12, 7, 'stale'),
      letters(7, 7, 'stale'),
      letters(5, 13, 'other'),
      letters(5, 7, 'other'),
      letters(0, 7, 'other'),
    ]);
    assert.deepEqual(shown(), ['0: 7', '1: 8', '2: 9', '3: 10', '5: 12', '7: 0', '8: 1', '9: 2', '10: 3', '12: 5']);
    tracker.show(BLOCKS); // undo
    assert.equal(tracker.now(0), 0);
    tracker.show(swapped);
    assert.deepEqual([tracker.now(0), tracker.now(2), tracker.now(7)], [7, 9, 0]);
  });

  it('is nowhere as long as the line names another, and there again where it does not', () => {
    const { tracker } = ofBlocks();
    tracker.edit([change(0, 7, 0, 12, 'other')]);
    assert.deepEqual([tracker.now(0), tracker.originals(0)], [undefined, []]);
    tracker.edit([change(0, 12, 0, 12, '_name')]);
    assert.deepEqual([tracker.now(0), tracker.originals(0)], [0, [0]], 'a new name');
  });
});

describe('line tracker: a text that is newer than the binary', () => {
  it('is followed from where the names are, also for lines that come later', () => {
    const { lines } = ofBlocks();
    const words: FileWords = new Map([[0, { declares: new Set(['stale']), uses: new Set(), found: false }]]);
    const newer = ['// one', ...lines.slice(0, 2), '  long added;', ...lines.slice(2)].join('\n');
    const tracker = new LineTracker(newer, [0], words, true);
    assert.equal(tracker.now(0), 1);
    for (const [line, name] of [
      [2, 'left'],
      [3, 'gone'],
      [5, 'stale_global'],
    ] as const)
      words.set(line, { declares: new Set([name]), uses: new Set(), found: false });
    tracker.add([2, 3, 5]);
    assert.deepEqual(
      [0, 2, 3, 5].map((line) => tracker.now(line)),
      [1, 4, undefined, 7],
    );
    tracker.show(newer);
    tracker.edit([change(0, 0, 1, 0, '')]);
    assert.deepEqual(
      [0, 2, 3, 5].map((line) => tracker.now(line)),
      [0, 3, undefined, 6],
    );
  });
});

describe('line tracker: closing and opening', () => {
  it('keeps what was edited and saved', () => {
    const tracker = opened();
    tracker.edit([change(0, 0, 0, 0, '// x\n'), change(A + 1, 2, A + 1, 6, 'renamed++;')]);
    tracker.save();
    tracker.close();
    assert.equal(tracker.now(A), A + 1);
    tracker.show('// x\nint a;\nint b;\n\nvoid f() {\n  renamed++;\n  b++;\n}\n');
    assert.deepEqual([tracker.now(A), tracker.now(B)], [A + 1, B + 1]);
  });

  it('forgets edits that were not saved', () => {
    const tracker = opened();
    tracker.edit([change(0, 0, 0, 0, '// x\n')]);
    tracker.close();
    assert.equal(tracker.now(A), A);
    tracker.show(TEXT);
    assert.equal(tracker.now(A), A);
  });

  it('follows what another program did to the file meanwhile', () => {
    const tracker = new LineTracker(TEXT, [A, B]);
    tracker.show('// new\nint a;\nint b;\n\nvoid f() {\n  int c = 0;\n    a++;\n}\n');
    assert.deepEqual([tracker.now(A), tracker.now(B)], [6, undefined]);
  });
});

describe('line diff', () => {
  it('finds unique lines among repeated ones', () => {
    assert.deepEqual(
      [...mapLines(['{', 'x', '}', '{', 'y', '}'], ['{', 'w', '}', '{', 'x', '}', '{', 'y', '}'])].slice(1, 5),
      [4, 5, 6, 7],
    );
  });

  it('does not cross lines that moved past each other', () => {
    const map = [...mapLines(['a', 'b', 'c', 'd'], ['c', 'd', 'a', 'b'])].filter((line) => line >= 0);
    assert.deepEqual(
      map,
      [...map].sort((x, y) => x - y),
    );
    assert.equal(map.length, 2);
  });

  it('goes on behind a paste of any size', () => {
    const hot = Array.from({ length: 1000 }, (_, line) => line);
    const tracker = new LineTracker([...hot.map((line) => `gone ${line}`), 'kept'].join('\n'), [...hot, 1000]);
    const pasted = Array.from({ length: 300_000 }, (_, line) => `new ${line}`).join('\n');
    tracker.show([...hot.map((line) => `gone ${line}`), 'kept'].join('\n'));
    tracker.edit([{ range: { start: { line: 0, character: 0 }, end: { line: 999, character: 8 } }, text: pasted }]);
    assert.equal(tracker.now(1000), 300_000);
  });

  it('agrees with a plain longest-common-subsequence bound on random texts', () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    for (let round = 0; round < 300; ++round) {
      const before = Array.from({ length: random(30) }, () => `l${random(40)}`);
      const after = before.flatMap((line) => (random(6) === 0 ? [] : random(6) === 0 ? [`n${random(9)}`, line] : [line]));
      const map = [...mapLines(before, after)];
      let last = -1;
      for (const [index, line] of map.entries()) {
        if (line < 0) continue;
        assert.equal(after[line], before[index]);
        assert.ok(line > last, 'the order is kept');
        last = line;
      }
    }
  });

  it('takes 20,000 lines in well under a second', () => {
    const before = Array.from({ length: 20_000 }, (_, i) => `line ${i}`);
    const after = before.filter((_, i) => i % 7 !== 0);
    const seconds = cpuSeconds(() => assert.equal(mapLines(before, after)[8], after.indexOf('line 8')));
    assert.ok(seconds < 1, `${seconds} s`);
  });
});
