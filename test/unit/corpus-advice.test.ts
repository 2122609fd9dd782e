// How bench:accuracy judges advice: what it reads, and what it does with a patch. The command's own answers are made up.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Advice } from '../../extension/protocol/advice';
import { judgeAdvice, partings, readAdvice, shareOfGain, tryPatch, type PatchResult } from '../../scripts/lib/accuracy-advice.mjs';
import { detailRows, formRows, targetRows, type JudgedForm } from '../../scripts/lib/accuracy-tables.mjs';
import { buildCputime } from '../../scripts/lib/undisturbed.mjs';
import { needsCommands } from './commands-here';
import { temporaryFolder } from './fixtures';

const SOURCE = '#include <stdio.h>\nint main(void) {\n  puts("result 7");\n  puts("elapsed 0.002 s");\n}\n';
const PATCH = `--- a/program.c
+++ b/program.c
@@ -1,5 +1,5 @@
 #include <stdio.h>
 int main(void) {
   puts("result 7");
-  puts("elapsed 0.002 s");
+  puts("elapsed 0.001 s");
 }
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

    /** @param fixed source of the fix by hand */
    async function attempt(patch: string, compiler = 'cc', fixed = SOURCE.replace('0.002', '0.0005')) {
      const source = join(folder.path, 'program.c');
      const program = join(folder.path, 'program');
      const by = { program: join(folder.path, 'fixed'), cost: { ratio: 4, low: 4, high: 4, disturbed: 0 }, alarms: {} };
      for (const [text, out] of [
        [fixed, by.program],
        [SOURCE, program],
      ] as const) {
        writeFileSync(source, text);
        execFileSync('cc', ['-g', '-o', out, source]);
      }
      const form = { builder: { command: (_: string, out: string, from: string) => [compiler, '-g', '-o', out, from] }, level: 'O2' };
      const recorded: unknown[] = [];
      const alarmsOf = (patched: string, run: { seconds: number; stdout: string }) => {
        recorded.push([readFileSync(patched).includes('0.001'), run.seconds]);
        return Promise.resolve({ clock: { share: 0.01, object: 't' } });
      };
      const options = { folder: folder.path, count: 1, tries: 1, alarmsOf };
      const result = await tryPatch(says(patch), { source, program }, by, form, options);
      assert.equal(readFileSync(source, 'utf8'), SOURCE, 'the source is as it was');
      return { ...result, recorded };
    }

    it('measures the patched form against the contended one, and records it', async function () {
      needsCommands(this, ['git', 'cc', 'objcopy']);
      const { step, cost, recorded, alarms } = await attempt(PATCH);
      // The program states its times, so this is none of the machine's.
      assert.deepEqual([step, cost?.ratio], ['measured', 2]);
      assert.deepEqual([recorded, alarms], [[[true, 0.001]], { clock: { share: 0.01, object: 't' } }]);
    });

    it('does not measure again what is the program of the fix by hand', async function () {
      needsCommands(this, ['git', 'cc', 'objcopy']);
      // Lines and symbols differ, as those of a source of another text do.
      const fixed = `// By hand.\n#define main main\n${SOURCE.replace('0.002', '0.001')}`;
      const { step, cost, alarms, recorded } = await attempt(PATCH, 'cc', fixed);
      assert.deepEqual([step, cost?.ratio, alarms, recorded], ['same code', 4, {}, []]);
    });

    it('says where the patched form has another result, and does not record it', async function () {
      needsCommands(this, ['git', 'cc', 'objcopy']);
      const { step, detail, cost, recorded } = await attempt(
        PATCH.replace('   puts("result 7");', '-  puts("result 7");\n+  puts("result 8");'),
      );
      assert.deepEqual([step, detail, cost, recorded], ['has another result', '8 in place of 7', null, []]);
    });

    it('says where there is none, where it does not apply, and where it does not compile', async function () {
      needsCommands(this, ['git', 'cc', 'objcopy']);
      assert.deepEqual([(await attempt('')).step, (await attempt('')).cost], ['none', null]);
      assert.equal((await attempt(PATCH.replace('-  puts("elapsed 0.002', '-  puts("elapsed 0.003'))).step, 'does not apply');
      assert.equal((await attempt(PATCH, 'false')).step, 'does not compile');
    });
  });
});

describe('tables of patched forms', () => {
  const cost = { ratio: 4, low: 3.9, high: 4.1, disturbed: 0 };
  const judged = (title: string, patch: Partial<PatchResult> | null): JudgedForm => ({
    title,
    program: { control: false, patchable: 'members' },
    cost,
    collectors: {},
    advice: {
      partings: [],
      predicted: null,
      patch: patch && { step: 'measured', detail: '', cost, alarms: {}, ...patch },
      why: true,
      definition: true,
    },
  });
  const alarms = (clock: number, agent: number) => ({
    alarms: { clock: { share: clock, object: 'ring' }, agent: { share: agent, object: 'ring' } },
  });
  const forms = [
    judged('quiet', alarms(0.01, 0.02)),
    judged('sharing', alarms(0.001, 0.031)),
    judged('unpatched', { step: 'none', cost: null, alarms: {} }),
    judged('not worth it', null),
  ];

  it('count those in which an object still waits falsely, by whichever collector sees it', () => {
    const target = (some: JudgedForm[]) => targetRows(some, []).find(([title]) => title === 'patched forms that still share falsely');
    assert.deepEqual(target(forms)?.slice(1), ['1 of 2', 'none', 'MISS']);
    assert.deepEqual(target(forms.slice(0, 1))?.slice(1), ['0 of 1', 'none', 'PASS']);
  });

  it('have the most that waits falsely of each, and details name the object', () => {
    const [head, ...rows] = formRows(forms, []);
    assert.equal(head?.at(-1), 'falsely waiting if patched');
    assert.deepEqual(
      rows.map((row) => row.at(-1)),
      ['2.0%', '3.1% ALARM', '-', '-'],
    );
    assert.deepEqual(detailRows(forms, []), [['sharing', 'agent', 'patched: 3.1% wait falsely at ring']]);
  });
});
