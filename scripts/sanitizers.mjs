// The C++ tests under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer.
//   node scripts/sanitizers.mjs [asan] [tsan]     without a name: both
import path from 'node:path';
import { runPrograms, testPrograms } from './lib/gtest.mjs';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';
import { words } from './lib/summary.mjs';
import { setup } from './setup.mjs';

const presets = ['asan', 'tsan'];

async function sanitizers(names) {
  const unknown = names.filter((name) => !presets.includes(name));
  if (unknown.length > 0) throw new ScriptError(`unknown sanitizer ${unknown.join(', ')}; there are ${presets.join(', ')}`);
  await setup(['build', 'test']);
  const failed = [];
  for (const preset of names.length > 0 ? names : presets) {
    const folder = path.join(root, 'build', preset);
    say(`${preset}: build`);
    await run('cmake', ['--preset', preset, '--log-level=WARNING'], { capture: true });
    await run('ninja', ['-C', folder, '--quiet']);
    const results = await runPrograms(testPrograms(folder), { timeoutSeconds: 900 });
    say(words(results));
    if (results.failed > 0) failed.push(preset);
  }
  say(failed.length > 0 ? `failed: ${failed.join(', ')}` : 'no findings');
  return failed.length > 0 ? 1 : 0;
}

if (isMain(import.meta.url)) void main(sanitizers);
