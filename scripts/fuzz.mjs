// Runs every libFuzzer target for some seconds; what they find stays in build/fuzz/findings.
//   node scripts/fuzz.mjs [SECONDS] [TARGET…]     60 s and all targets by default
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { setup } from './setup.mjs';

async function fuzz([seconds = '60', ...names]) {
  if (!(Number(seconds) > 0)) throw new ScriptError(`${seconds} is not a number of seconds`);
  await setup(['build', 'fuzz']);
  const folder = path.join(root, 'build/fuzz');
  await run('cmake', ['--preset', 'fuzz', '--log-level=WARNING'], { capture: true });
  await run('ninja', ['-C', folder, '--quiet']);
  const programs = path.join(folder, 'native/fuzz');
  const all = (await readdir(programs)).filter((name) => /^fuzz_\w+$/.test(name));
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new ScriptError(`no fuzz target ${unknown.join(', ')}; there are ${all.join(', ')}`);
  const targets = names.length > 0 ? names : all;
  const failed = [];
  for (const target of targets) {
    say(`\n=== ${target} for ${seconds} s`);
    const corpus = path.join(folder, 'corpus', target);
    const findings = path.join(folder, 'findings', target);
    await mkdir(corpus, { recursive: true });
    await mkdir(findings, { recursive: true });
    const { status } = await run(
      path.join(programs, target),
      [
        `-max_total_time=${seconds}`,
        '-timeout=10',
        '-rss_limit_mb=2048',
        '-verbosity=0',
        '-print_final_stats=1',
        `-artifact_prefix=${findings}/`,
        corpus,
      ],
      { check: false, timeoutSeconds: Number(seconds) + 120 },
    );
    if (status !== 0) failed.push(target);
  }
  say(failed.length > 0 ? `\nfindings in: ${failed.join(', ')}` : `\n${targets.length} targets, no findings`);
  return failed.length > 0 ? 1 : 0;
}

if (isMain(import.meta.url)) void main(fuzz);
