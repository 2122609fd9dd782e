// Texts of the editor that a translation has (scripts/l10n.mjs).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { t, useTranslations } from '../../extension/protocol/l10n';
import { bundleFile, l10nBundle, textsOf } from '../../scripts/l10n.mjs';

describe('texts of the editor', () => {
  it('are found in the code, where they are literals', () => {
    const source = "say(vscode.l10n.t('Analyzing {0}', basename(path)), vscode.l10n.t(`All`), other.t('no'));";
    assert.deepEqual(textsOf('a.ts', source), ['Analyzing {0}', 'All']);
    assert.throws(() => textsOf('a.ts', '\nvscode.l10n.t(`Analyzing ${name}`);'), /^ScriptError: a\.ts:2: /);
  });

  it('are found on pages and in the session, numbers with their words', () => {
    const source = "<p title={t('A ' + 'line')}>{plural(n, one ? 'byte' : 'bit')} {plural(n, 'child', 'children')}</p>";
    assert.deepEqual(textsOf('a.tsx', source), ['A line', '{0} byte', '{0} bit', '{0} bytes', '{0} bits', '{0} child', '{0} children']);
    assert.throws(() => textsOf('a.ts', 't(name);'), /^ScriptError: a\.ts:1: the text of t\(\) is a literal/);
  });

  it('are translated by the bundle that was set, in English without one', () => {
    try {
      useTranslations({ '{0} of {1}': '{1}: {0}' });
      assert.equal(t('{0} of {1}', '{1}', 2), '2: {1}');
      assert.equal(t('not translated {0}', 1), 'not translated 1');
    } finally {
      useTranslations(undefined);
    }
    assert.equal(t('{0} of {1}', 1, 2), '1 of 2');
  });

  it('are the ones of l10n/bundle.l10n.json', async () => {
    const bundle = await l10nBundle();
    assert.equal(readFileSync(bundleFile, 'utf8'), bundle, 'run "npm run l10n" and read the diff');
    assert.ok(Object.keys(JSON.parse(bundle) as object).length > 100);
  });
});
