// One recording of each example by each collector, for all tests that only read it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFixture, examples, root, type Command } from './command';

let folder: string | undefined;
const recordings = new Map<string, Promise<string>>();

/** Compiles the examples, and refuse-perf beside them, which runs a program with perf_event_open refused; quick where nothing changed. */
export function buildExamples(): string {
  execFileSync('make', ['--silent', '-C', join(root, 'examples'), `OUT=${examples}`]);
  return compileFixture('refuse-perf', examples);
}

/** The path of the recording, which nobody may change. `name`: of the program, as `counter_array-fixed`. */
export function exampleRecording(command: Command, name: string, collector: 'clock' | 'agent' = 'clock'): Promise<string> {
  const known = recordings.get(`${collector} ${name}`);
  const recording = known ?? record(command, name, collector);
  recordings.set(`${collector} ${name}`, recording);
  return recording;
}

async function record(command: Command, name: string, collector: 'clock' | 'agent'): Promise<string> {
  if (folder === undefined) {
    const made = (folder = mkdtempSync(join(tmpdir(), 'cacheline-examples-')));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  const refused = buildExamples();
  const out = join(folder, `${name}-${collector}`);
  const recorded = await command.run(['record', '-o', out, '--', join(examples, name)], {
    cwd: folder,
    through: collector === 'agent' ? [refused] : [],
  });
  assert.equal(recorded.status, 0, recorded.stderr);
  return out;
}
