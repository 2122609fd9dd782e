// Widths, shortening, wrapping and making untrusted names harmless.
import assert from 'node:assert/strict';
import { notificationText } from '../../extension/protocol/printable';
import { percent } from '../../extension/protocol/words';
import {
  breakText,
  byteSize,
  displayWidth,
  enumerate,
  plural,
  printable,
  shortenEnd,
  shortenMembers,
  shortenMiddle,
  shortenStart,
  wrap,
} from '../../extension/session/text/terminal-text';

describe('terminal text', () => {
  it('makes every control and invisible format character visible', () => {
    assert.equal(printable('a\u001b[31mb\u0007\u009b0m\u007f'), 'a\\x1b[31mb\\x07\\x9b0m\\x7f');
    assert.equal(printable('x\ny\tz\r'), 'x\\ny\\tz\\x0d');
    assert.equal(printable('\u202egnp.exe\u2066\u200b\ufeff'), '\\u{202e}gnp.exe\\u{2066}\\u{200b}\\u{feff}');
    assert.equal(printable('\ud800 \u{e0041} \u2028'), '\\u{d800} \\u{e0041} \\u{2028}');
    assert.equal(printable('Ünïcode 計算 🦀 std::vector<int>'), 'Ünïcode 計算 🦀 std::vector<int>');
    for (let code = 0; code < 0xa0; ++code) {
      const shown = printable(String.fromCharCode(code));
      assert.match(shown, /^[\x20-\x7e]+$/, `code ${code}`);
    }
  });

  it('leaves nothing in a notification that VS Code makes a link of', () => {
    // As its linkedText.ts has it.
    const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/gi;
    for (const name of [
      '[x](command:workbench.action.terminal.new)',
      '[Fix](https://a.example/ "title")',
      '[[a]](file:///etc/passwd)',
      '[x]\u200b(command:y)',
      '[x]\n(command:y)',
      '[x](COMMAND:y)',
    ])
      assert.doesNotMatch(notificationText(`${name} was profiled.`), link, name);
    assert.equal(notificationText('[x](command:y)'), '[x] (command:y)');
    assert.equal(notificationText('one\n  two\u001b'), 'one two\\x1b');
    assert.equal(notificationText('int[4] (of 3)'), 'int[4] (of 3)');
  });

  it('knows the columns of a text', () => {
    assert.equal(displayWidth('plain'), 5);
    assert.equal(displayWidth('計算'), 4);
    assert.equal(displayWidth('e\u0301'), 1);
    assert.equal(displayWidth('…'), 1);
    assert.equal(displayWidth('🦀'), 2);
  });

  it('shortens to at most the width, whatever is in the text', () => {
    for (const text of [
      'std::vector<Histogram<long>>::add(long)',
      '計算スレッド計算スレッド',
      'e\u0301e\u0301e\u0301e\u0301e\u0301',
      '',
      'abc',
    ]) {
      for (let width = 1; width < 45; ++width) {
        for (const shorten of [shortenStart, shortenMiddle, shortenEnd, shortenMembers]) {
          const short = shorten(text, width);
          assert.ok(displayWidth(short) <= width, `${shorten.name}(${text}, ${width}) is ${short}`);
          if (displayWidth(text) <= width) assert.equal(short, text);
        }
      }
    }
    assert.equal(shortenMiddle('Worker::run(unsigned long)', 13), 'Worker… long)');
    assert.equal(shortenStart('/home/ada/src/main.cpp:12', 13), '…/main.cpp:12');
    assert.equal(shortenEnd('abcdef', 4), 'abc…');
    assert.equal(shortenMembers('Padded.desc.content_lock.state', 22), '….content_lock.state');
    assert.equal(shortenMembers('Padded.desc.content_lock.state', 6), 'Pad…te');
    assert.equal(shortenMembers('Pool<a.b>.slots[2].first | raw[8]', 24), '….first | raw[8]');
    assert.equal(shortenMembers('function(a.b, c.d)', 12), 'functi… c.d)');
  });

  it('breaks a text into pieces that fit, also where a wide character follows a break', () => {
    assert.deepEqual(breakText(',a計', 2), [',', 'a', '計']);
    assert.deepEqual(breakText('0,2,4,6,8', 5), ['0,2,', '4,6,8']);
  });

  it('wraps at spaces, hangs the rest, and shortens words that are too long', () => {
    assert.deepEqual(wrap('one two three four', 9), ['one two', 'three', 'four']);
    assert.deepEqual(wrap('one two three', 12, 'name: '), ['name: one', '      two', '      three']);
    assert.deepEqual(wrap('', 10), ['']);
    assert.deepEqual(wrap('abcdefghijklmnop', 9), ['abcd…mnop']);
  });

  it('writes numbers for people', () => {
    assert.equal(percent(0), '0.0%');
    assert.equal(percent(0.0001), '<0.1%');
    assert.equal(percent(0.31), '31.0%');
    assert.equal(percent(0.9999), '>99.9%');
    assert.equal(percent(1), '100.0%');
    assert.equal(plural(1, 'line'), '1 line');
    assert.equal(plural(12000, 'line'), '12,000 lines');
    assert.equal(plural(0, 'access', 'accesses'), '0 accesses');
    assert.equal(byteSize(0), '0.0 kB');
    assert.equal(byteSize(999_960), '1.0 MB');
    assert.equal(byteSize(12_345_678_900), '12.3 GB');
    assert.equal(enumerate([]), '');
    assert.equal(enumerate(['a', 'b', 'c']), 'a, b and c');
  });
});
