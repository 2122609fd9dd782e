// How bench:accuracy judges advice: what it reads, and what it does with a patch. The command's own answers are made up.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Advice } from '../../extension/protocol/advice';
import { judgeAdvice, partings, readAdvice, shareOfGain, tryPatch } from '../../scripts/lib/accuracy-advice.mjs';
import { buildCputime } from '../../scripts/lib/undisturbed.mjs';
import { needsCommands } from './commands-here';
import { temporaryFolder } from './fixtures';

const SOURCE = '#!/bin/sh\necho elapsed 0.002 s\n';
const PATCH = `--- a/program.sh
+++ b/program.sh
@@ -1,2 +1,2 @@
 #!/bin/sh
-echo elapsed 0.002 s
+echo elapsed 0.001 s
`;

const entry = (over: Partial<Advice>): Advice =>
  ({
    subject: { type: 'T', object: 't', members: [] },
    why: 'mixed-use',
    way: 'align',
    definition: { file: 'a.c', line: 2 },
    ...over,
  }) as Advice;

describe('advice on the corpus', () => {
  const says =
    (stdout: string, status = 0, stderr = '') =>
    () =>
      Promise.resolve({ status, stdout, stderr });

  it('is not available where there is no such command, and an error where it fails', async () => {
    assert.equal(await readAdvice(says('', 2, "cacheline: Unknown command 'advise'.\n")), null);
    await assert.rejects(readAdvice(says('', 3, 'cannot be read')), /status 3\ncannot be read/);
    assert.deepEqual(await readAdvice(says('{"advice": []}')), []);
  });

  it('parts data in all ways but none and per-thread', () => {
    const advice = [entry({}), entry({ way: 'none' }), entry({ way: 'per-thread' }), entry({ way: 'split' })];
    assert.deepEqual(partings(advice), ['align T', 'split T']);
  });

  it('is held against the expected reason and the marked definition, on its line or the line above', () => {
    const judge = (source: string, over: Partial<Advice>) => judgeAdvice([entry(over)], { why: 'mixed-use', definition: 'T' }, source);
    assert.deepEqual(judge('\nstruct T {  // @definition T\n', {}), { why: true, definition: true });
    assert.deepEqual(judge('// @definition T\nstruct T {\n', {}), { why: true, definition: true });
    assert.deepEqual(judge('struct T {  // @definition T\n', { why: 'adjacent' }), { why: false, definition: false });
    assert.deepEqual(judge('// @definition T\n', { definition: null }), { why: true, definition: false });
  });

  it('saves as much as the fix, half of it, or nothing', () => {
    assert.equal(shareOfGain(2, 2), 1);
    assert.equal(shareOfGain(2, 4 / 3), 0.5);
    assert.equal(shareOfGain(2, 1), 0);
  });

  describe('with a patch', () => {
    const folder = temporaryFolder();
    before(buildCputime);

    /** A program of which the "compiler" makes a copy, or fails. */
    async function attempt(patch: string, compiler: readonly string[]) {
      const source = join(folder.path, 'program.sh');
      const program = join(folder.path, 'program');
      for (const file of [source, program]) {
        writeFileSync(file, SOURCE);
        chmodSync(file, 0o755);
      }
      const form = { builder: { command: (_: string, out: string, from: string) => [...compiler, from, out] }, level: 'O2' };
      const result = await tryPatch(says(patch), { source, program }, form, { folder: folder.path, count: 1, tries: 1 });
      assert.equal(readFileSync(source, 'utf8'), SOURCE, 'the source is as it was');
      return result;
    }

    it('measures the patched form against the contended one', async function () {
      needsCommands(this, ['git', 'cc']);
      const { step, cost } = await attempt(PATCH, ['cp']);
      // The program states its times, so this is none of the machine's.
      assert.deepEqual([step, cost?.ratio], ['measured', 2]);
    });

    it('says where there is none, where it does not apply, and where it does not compile', async function () {
      needsCommands(this, ['git', 'cc']);
      assert.deepEqual([(await attempt('', ['cp'])).step, (await attempt('', ['cp'])).cost], ['none', null]);
      assert.equal((await attempt(PATCH.replace('-echo elapsed 0.002', '-echo elapsed 0.003'), ['cp'])).step, 'does not apply');
      assert.equal((await attempt(PATCH, ['false'])).step, 'does not compile');
    });
  });
});
