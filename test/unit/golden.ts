// Comparison with a stored text; UPDATE_GOLDENS=1 rewrites what is stored, to be read in the diff.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function matchGolden(name: string, text: string): void {
  const path = join(__dirname, 'goldens', name);
  if (process.env['UPDATE_GOLDENS'] === '1') writeFileSync(path, text);
  assert.equal(text, readFileSync(path, 'utf8'), `${name} differs; UPDATE_GOLDENS=1 accepts the new text`);
}
