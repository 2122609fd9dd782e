// What `cacheline advise` says of a program of test/corpus, and whether its patch does as well as the fix by hand.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { compile, definitionMarkers } from './corpus.mjs';
import { run, ScriptError } from './run.mjs';
import { inPairs } from './undisturbed.mjs';

/** Of the time that the fix by hand saves, the share that a patch must save. */
export const gainShare = 0.9;

/** Ways of advice that part nothing. */
const partNothing = ['none', 'per-thread'];

/**
 * @param advise runs `cacheline advise` with more arguments in the folder of the sources: status, stdout, stderr
 * @returns {Promise<object[] | null>} the entries of cacheline-advice/1; null where this version has no such command
 */
export async function readAdvice(advise) {
  const { status, stdout, stderr } = await advise(['--format', 'json']);
  if (/(There is no|Unknown) command 'advise'/.test(stderr)) return null;
  if (status !== 0) throw new ScriptError(`cacheline advise ended with status ${status}\n${stderr}`);
  return JSON.parse(stdout).advice;
}

/** The advice to part data, as texts; there should be none on a control. */
export const partings = (advice) =>
  advice.filter(({ way }) => !partNothing.includes(way)).map(({ subject, way }) => `${way} ${subject.type || subject.object}`);

/**
 * What the first advice that changes something promises for the whole program.
 * @returns {{low: number, mid: number, high: number, bound: boolean} | null} `bound`: only low and high say something; null: it promises nothing,
 * because the machine is not calibrated for example. Where nothing is to be changed, no gain is promised.
 */
export function predictionOf(advice) {
  const changes = advice.filter(({ way }) => !partNothing.includes(way));
  if (changes.length === 0) return { low: 1, mid: 1, high: 1, bound: false };
  const [{ predicted }] = changes;
  return predicted.speedup === null ? null : { ...predicted.speedup, bound: predicted.basis.endsWith(', bound') };
}

/**
 * @param source text of the contended form
 * @returns {{why: boolean, definition: boolean}} whether an entry gives the expected reason, and whether one names the marked definition
 */
export function judgeAdvice(advice, { why, definition }, source) {
  const marked = [...definitionMarkers(source)].filter(([, names]) => names.includes(definition)).map(([line]) => line);
  const lines = source.split('\n');
  // A marker that has a line of its own stands above what it marks.
  const places = marked.map((line) => (lines[line - 1].startsWith('//') ? line + 1 : line));
  return {
    why: advice.some((entry) => entry.why === why),
    definition: advice.some((entry) => entry.definition !== null && places.includes(entry.definition.line)),
  };
}

/** What a program of the corpus computed, as it prints it. */
export const resultOf = ({ stdout }) => /^result (\d+)$/m.exec(stdout)?.[1];

/** Whether two programs are the same but for their symbols and debug information. */
async function isSameCode(folder, programs) {
  const bare = [];
  for (const [index, program] of programs.entries()) {
    const copy = path.join(folder, `bare-${index}`);
    await run('objcopy', ['--strip-all', '--remove-section=.note.gnu.build-id', program, copy], { capture: true, timeoutSeconds: 60 });
    bare.push(await readFile(copy));
  }
  return bare[0].equals(bare[1]);
}

/**
 * Applies the patch in the folder of the sources and builds the patched form there. Where that is the same program as the fix by hand, what was
 * measured of the fix holds; else the patched form is measured against the contended one, and recorded again. Leaves the source as it was.
 * @param built source and program of the contended form
 * @param fixed program, `cost` (contended over fixed) and `alarms` of the fix by hand
 * @param options folder of the pairs' times, count and tries of pairs; `alarmsOf(program, run)` records the patched form, of which `run` is one
 * without a recording, and says by collector what waits falsely in it
 * @returns {Promise<{step: string, detail: string, cost: object | null, alarms: object}>} `step`: "none" (there is no patch), "does not apply",
 * "does not compile", "has another result", "same code", "measured"; `cost`: contended over patched; `alarms`: of alarmsOf
 */
export async function tryPatch(advise, { source, program }, fixed, form, { folder, count, tries, alarmsOf }) {
  const failed = (step, detail) => ({ step, detail, cost: null, alarms: {} });
  const { status, stdout: patch, stderr } = await advise(['--patch']);
  if (status !== 0) throw new ScriptError(`cacheline advise --patch ended with status ${status}\n${stderr}`);
  if (patch.trim() === '') return failed('none', stderr.trim().replaceAll('\n', ' '));
  const sources = path.dirname(source);
  const original = await readFile(source);
  const file = path.join(folder, 'advice.patch');
  await writeFile(file, patch);
  try {
    const applied = await run('git', ['apply', file], { capture: true, check: false, cwd: sources, timeoutSeconds: 60 });
    if (applied.status !== 0) return failed('does not apply', applied.stderr.trim());
    const patched = path.join(folder, 'patched');
    try {
      await compile(source, patched, form);
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      return failed('does not compile', error.message);
    }
    if (await isSameCode(folder, [patched, fixed.program]))
      return { step: 'same code', detail: '', cost: fixed.cost, alarms: fixed.alarms };
    const cost = await inPairs(folder, [program], [patched], { count, tries });
    const [before, after] = [resultOf(cost.first), resultOf(cost.second)];
    if (after !== before) return failed('has another result', `${after} in place of ${before}`);
    return { step: 'measured', detail: '', cost, alarms: await alarmsOf(patched, cost.second) };
  } finally {
    await writeFile(source, original);
  }
}

/** The share of the time that the fix by hand saves which a patch saves, of contended / other form each. */
export const shareOfGain = (fixedRatio, patchedRatio) => (1 - 1 / patchedRatio) / (1 - 1 / fixedRatio);
