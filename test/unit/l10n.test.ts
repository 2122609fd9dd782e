// Texts of the editor that a translation has (scripts/l10n.mjs).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bundleFile, l10nBundle, textsOf } from '../../scripts/l10n.mjs';

describe('texts of the editor', () => {
  it('are found in the code, where they are literals', () => {
    const source = "say(vscode.l10n.t('Analyzing {0}', basename(path)), vscode.l10n.t(`All`), other.t('no'));";
    assert.deepEqual(textsOf('a.ts', source), ['Analyzing {0}', 'All']);
    assert.throws(() => textsOf('a.ts', '\nvscode.l10n.t(`Analyzing ${name}`);'), /^ScriptError: a\.ts:2: /);
  });

  it('are the ones of l10n/bundle.l10n.json', async () => {
    const bundle = await l10nBundle();
    assert.equal(readFileSync(bundleFile, 'utf8'), bundle, 'run "npm run l10n" and read the diff');
    assert.ok(Object.keys(JSON.parse(bundle) as object).length > 100);
  });
});
