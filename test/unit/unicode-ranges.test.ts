// The engine's tables of Unicode hold what this side's regular expressions mean; UPDATE_GOLDENS=1 writes them anew.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { displayWidth, printable } from '../../extension/session/text/terminal-text';

const header = join(__dirname, '../../native/text/unicode_ranges.h');

type Range = [first: number, last: number];

/** Surrogates are no characters of UTF-8, and stay out. */
function rangesOf(belongs: (character: string) => boolean): Range[] {
  const ranges: Range[] = [];
  for (let code = 0; code <= 0x10ffff; ++code) {
    if ((code >= 0xd800 && code <= 0xdfff) || !belongs(String.fromCodePoint(code))) continue;
    const last = ranges.at(-1);
    if (last?.[1] === code - 1) last[1] = code;
    else ranges.push([code, code]);
  }
  return ranges;
}

const TABLES: Record<string, (character: string) => boolean> = {
  kUnprintable: (character) => printable(character) !== character,
  kZeroWidth: (character) => displayWidth(character) === 0,
  kDoubleWidth: (character) => displayWidth(character) === 2,
};

function headerText(): string {
  const tables = Object.entries(TABLES).map(([name, belongs]) => {
    const rows = [' '];
    for (const [first, last] of rangesOf(belongs)) {
      const text = ` {0x${first.toString(16)}, 0x${last.toString(16)}},`;
      if ((rows.at(-1) ?? '').length + text.length > 110) rows.push(' ');
      rows.push(`${rows.pop() ?? ''}${text}`);
    }
    return `inline constexpr CodeRange ${name}[] = {\n${rows.join('\n')}\n};\n`;
  });
  return [
    '// Which characters are escaped, take no column and take two. Written by test/unit/unicode-ranges.test.ts out\n',
    `// of the rules in extension/session/text/terminal-text.ts, with the data of Unicode ${process.versions['unicode'] ?? 'unknown'}.\n`,
    '#pragma once\n\nnamespace cacheline::text {\n\n',
    'struct CodeRange {\n  char32_t first, last;\n};\n\n// clang-format off\n',
    tables.join('\n'),
    '// clang-format on\n\n}  // namespace cacheline::text\n',
  ].join('');
}

describe('the engine’s tables of Unicode', () => {
  if (process.env['UPDATE_GOLDENS'] === '1') writeFileSync(header, headerText());
  const text = readFileSync(header, 'utf8');

  for (const [name, belongs] of Object.entries(TABLES)) {
    it(`${name} says what JavaScript says`, () => {
      const own = rangesOf(belongs);
      const [, body = ''] = new RegExp(`${name}\\[\\] = \\{\n([^;]*)\\};`).exec(text) ?? [];
      const theirs = [...body.matchAll(/\{(0x[0-9a-f]+), (0x[0-9a-f]+)\}/g)].map(([, first, last]): Range => [Number(first), Number(last)]);
      assert.ok(theirs.length > 20);
      // Another version of Unicode knows some characters more or less.
      if (text.includes(`Unicode ${process.versions['unicode'] ?? ''}.\n`)) assert.deepEqual(theirs, own);
      else
        assert.ok(
          theirs.filter(([first, last]) => own.some((range) => range[0] <= first && last <= range[1])).length > theirs.length * 0.9,
        );
    });
  }
});
