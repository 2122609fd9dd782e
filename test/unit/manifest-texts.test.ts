// Texts of package.json are in package.nls.json, so that a translation is a file beside it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
const texts = JSON.parse(readFileSync(path.join(root, 'package.nls.json'), 'utf8')) as Record<string, string>;

/** Properties that VS Code shows. */
const SHOWN = new Set([
  ...['altText', 'category', 'contents', 'deprecationMessage', 'description', 'displayName', 'enumDescriptions', 'label'],
  ...['markdownDescription', 'markdownEnumDescriptions', 'title', 'name'],
]);

interface Text {
  /** "contributes/commands/0/title" */
  place: string;
  text: string;
  shown: boolean;
}

/** All texts of a value; entries of a list are as shown as the list. */
function textsOf(value: unknown, place: string, shown: boolean): Text[] {
  if (typeof value === 'string') return [{ place, text: value, shown }];
  if (typeof value !== 'object' || value === null) return [];
  const inList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, `${place}/${key}`, inList ? shown : SHOWN.has(key)));
}

/** What the editor reads: the extension's `name`, for instance, is none of it. */
const read = ['displayName', 'description', 'capabilities', 'contributes'].flatMap((key) => textsOf(manifest[key], key, SHOWN.has(key)));
const keyOf = ({ text }: Text): string | undefined => /^%(.+)%$/.exec(text)?.[1];

describe('texts of the manifest', () => {
  it('none is in package.json', () => {
    const literal = read.filter((text) => text.shown && keyOf(text) === undefined);
    assert.deepEqual(
      literal.map(({ place, text }) => `${place}: ${text}`),
      [],
      'put these into package.nls.json',
    );
    assert.ok(read.filter(({ shown }) => shown).length > 100);
  });

  it('each key has a text, and each text is used', () => {
    const used = new Set(read.flatMap((text) => keyOf(text) ?? []));
    assert.deepEqual([...used].sort(), Object.keys(texts).sort());
    assert.deepEqual(
      Object.entries(texts).filter(([, text]) => text.trim() === ''),
      [],
    );
  });
});
