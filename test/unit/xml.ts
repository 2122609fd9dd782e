// Whether a drawing is well-formed XML.
import assert from 'node:assert/strict';

/** The document as an XML parser would nest it; throws where tags do not match or text is not escaped. */
export function checkXml(text: string): void {
  const open: string[] = [];
  for (const [, closing, name, selfClosing] of text.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    if (closing === '/') assert.equal(open.pop(), name);
    else if (selfClosing !== '/') open.push(name!);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(text.replace(/<\/?[a-z]+[^<>]*>/g, ''), /[<>]|&(?!(lt|gt|amp|quot|#39);)/);
}
