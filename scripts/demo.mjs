// From a fresh checkout to a report: sets up, builds, records the contended example and its fixed twin, measures the speed-up.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build } from './build.mjs';
import { buildExamples, examplesBin, readAnswers } from './lib/examples.mjs';
import { median } from './lib/median.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

const cacheline = path.join(root, 'bin/cacheline');
const rounds = 5;

async function demo() {
  await setup(['build']);
  await build();
  await buildExamples();
  const { demo: names, programs } = await readAnswers();
  const [contended, fixed] = [names.contended, names.fixed].map((name) => programs.find((example) => example.name === name));
  if (contended === undefined || fixed === undefined) throw new ScriptError('examples/answers.json names no programs for the demo');

  const folder = await mkdtemp(path.join(tmpdir(), 'cacheline-demo-'));
  try {
    for (const [what, example] of [
      ['contended', contended],
      ['fixed', fixed],
    ]) {
      const recording = path.join(folder, `${example.name}.cacheline`);
      say(`\n=== the ${what} example, examples/${example.source}`);
      say(`$ cacheline record -- ${example.name}`);
      await run(process.execPath, [cacheline, 'record', '-o', recording, '--', example.program], { timeoutSeconds: 120 });
      say('\n$ cacheline report');
      await run(process.execPath, [cacheline, 'report', recording], { timeoutSeconds: 120 });
    }
    await speedUp(contended.program, fixed.program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function speedUp(contended, fixed) {
  say(`\n=== speed-up, without recording: ${rounds} runs each, taking turns`);
  const times = { contended: [], fixed: [] };
  for (let round = 0; round < rounds; round++) {
    times.contended.push(await elapsed(contended));
    times.fixed.push(await elapsed(fixed));
  }
  const [before, after] = [median(times.contended), median(times.fixed)];
  say(`contended ${before.toFixed(3)} s, fixed ${after.toFixed(3)} s (medians): ${(before / after).toFixed(1)} x as fast on this machine`);
}

/** Seconds that the example says its threads took. */
async function elapsed(program) {
  const { stdout } = await run(program, [], { capture: true, timeoutSeconds: 120 });
  const seconds = Number(/^elapsed ([\d.]+) s$/m.exec(stdout)?.[1]);
  if (!(seconds > 0)) throw new ScriptError(`${path.relative(examplesBin, program)} did not say how long it took:\n${stdout}`);
  return seconds;
}

if (isMain(import.meta.url)) void main(demo);
