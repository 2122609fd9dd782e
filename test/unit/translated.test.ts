// In another language everything that views of the editor show is in it: what stays English are names of data and code, units, commands of
// the machine's own, and sentences of the engine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { englishWords } from './translated-names';

/** Fields that are no text, but what a page tells apart or draws by; and warnings, which are the engine’s. */
const NOT_TEXT = new Set(['kind', 'state', 'status', 'place', 'values', 'id', 'warnings']);

/** Each text with its place: "threads/0/facts/1/text". */
function textsOf(value: unknown, place: string): { place: string; text: string }[] {
  if (typeof value === 'string') return [{ place, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (NOT_TEXT.has(key) ? [] : textsOf(inner, `${place}/${key}`)));
}

describe('in another language', () => {
  const shown = (): Record<string, unknown> =>
    JSON.parse(
      execFileSync(process.execPath, ['--import=tsx', path.join(__dirname, 'translated-texts.ts')], { encoding: 'utf8' }),
    ) as Record<string, unknown>;

  it('views have no English words but names', () => {
    const views = shown();
    // What a page makes its texts of: test/e2e/pages.test.ts.
    delete views['panel'];
    delete views['unfolded'];
    const english = textsOf(views, '').flatMap(({ place, text }) => englishWords(text).map((word) => `${place}: ${word} in "${text}"`));
    assert.deepEqual(english, []);
    assert.ok(
      Object.values(views).every((view) => /[\u0430-\u046f]/.test(JSON.stringify(view))),
      'each view has texts',
    );
  });
});
