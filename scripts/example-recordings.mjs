// The recordings that come with the extension: of the walkthrough's example before and after its fix, for machines without a compiler.
//   node scripts/example-recordings.mjs     writes dist/example; quick where that was done of the same source
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { isMain, main, root, run, say, ScriptError } from './lib/run.mjs';

export const exampleRecordingsFolder = path.join(root, 'dist/example');
const source = path.join(root, 'media/walkthrough/counters.c');
/** How often each thread counts: enough for some hundred samples, few enough for a small package. */
const rounds = '60000000';
/** What debug information calls the folder of the source: EXAMPLE_FOLDER of extension/session/example/example-program.ts. */
const recordedFolder = '/cacheline-example';
/** The member that the fix gives a cache line of its own. */
const [member, aligned] = ['  atomic_long used;', '  _Alignas(64) atomic_long used;'];

/** Makes `before.cacheline`, `after.cacheline`, and the recorded programs under their paths in `files`. */
export async function exampleRecordings() {
  const text = await readFile(source, 'utf8');
  if (!text.includes(member)) throw new ScriptError(`${path.relative(root, source)} has no line "${member.trim()}"`);
  const madeOf = path.join(exampleRecordingsFolder, 'counters.c');
  if ((await readFile(madeOf, 'utf8').catch(whenAbsent)) === text) return;
  say('build: recordings of the example');
  await rm(exampleRecordingsFolder, { recursive: true, force: true });
  const folder = await mkdtemp('/tmp/cacheline-example-');
  try {
    for (const [name, variant] of [
      ['before', text],
      ['after', text.replace(member, aligned)],
    ])
      await record(path.join(folder, name), variant, path.join(exampleRecordingsFolder, `${name}.cacheline`));
    await writeFile(madeOf, text); // last: says that all is there
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function record(folder, text, recording) {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'counters.c');
  await writeFile(file, text);
  const program = path.join(folder, 'counters');
  const flags = ['-std=c11', '-D_POSIX_C_SOURCE=200809L', '-O2', '-g', '-pthread', `-ffile-prefix-map=${folder}=${recordedFolder}`];
  await run('cc', [...flags, '-o', program, file], { timeoutSeconds: 60 });
  const cacheline = path.join(root, 'bin/cacheline');
  await mkdir(path.dirname(recording), { recursive: true });
  // Paths of the program go into the recording: so it lies where it names nothing of this machine.
  const options = { capture: true, cwd: folder, timeoutSeconds: 60 };
  await run(process.execPath, [cacheline, 'record', '--quiet', '--no-buildid-cache', '-o', recording, '--', program, rounds], options);
  const kept = path.join(exampleRecordingsFolder, 'files', program);
  await mkdir(path.dirname(kept), { recursive: true });
  await cp(program, kept, { preserveTimestamps: true });
}

function whenAbsent(error) {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

if (isMain(import.meta.url)) void main(exampleRecordings);
