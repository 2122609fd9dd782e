// The step of the composite action (action.yml): runs `cacheline check` as its inputs ask.
//   node scripts/action.mjs     inputs are CACHELINE_* of the environment; the exit status is that of the check
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { isMain, root, ScriptError } from './lib/run.mjs';

const input = (name) => (process.env[`CACHELINE_${name}`] ?? '').trim();

/** Where a program is recorded: always a new folder of the job. */
const recordingOfProgram = 'cacheline-check.cacheline';

function command(args, { errors = 'inherit' } = {}) {
  const own = input('COMMAND');
  const [program, ...first] = own === '' ? [process.execPath, path.join(root, 'bin/cacheline')] : [own];
  const { status, error, stderr } = spawnSync(program, [...first, ...args], { stdio: ['inherit', 'inherit', errors] });
  if (error !== undefined) throw new ScriptError(`${program} cannot be started: ${error.message}`);
  return { status: status ?? 1, stderr };
}

/** Of both outputs of the check. */
function checkOptions() {
  const options = [];
  for (const [option, name] of [
    ['--baseline', 'BASELINE'],
    ['--accept', 'ACCEPT'],
    ['--max-contended', 'MAX_CONTENDED'],
    ['--fail-on', 'FAIL_ON'],
  ])
    if (input(name) !== '') options.push(`${option}=${input(name)}`);
  if (input('ALLOW_BLIND') === 'true') options.push('--allow-blind');
  return options;
}

/** One word a line, or all on one line with spaces between. No shell reads them. */
function words(text) {
  return text.split(text.includes('\n') ? /\s*\n\s*/ : /\s+/).filter((word) => word !== '');
}

function run() {
  const program = words(input('PROGRAM'));
  if (program.length > 0 && input('RECORDING') !== '') throw new ScriptError('Give a program or a recording, not both.');
  if (program.length === 0 && input('RECORDING') === '') throw new ScriptError('Give a program or a recording to check.');
  let recording = input('RECORDING');
  if (program.length > 0) {
    recording = recordingOfProgram;
    const { status } = command(['record', '--force', '-o', recording, '--', ...program]);
    if (status !== 0) return status;
  }
  if (process.env.GITHUB_OUTPUT !== undefined) appendFileSync(process.env.GITHUB_OUTPUT, `recording=${path.resolve(recording)}\n`);
  const options = checkOptions();
  const { status } = command(['check', recording, ...options, '--format', 'github']);
  // Also of a check that failed, or is no pass: that is what is to be uploaded.
  return input('SARIF') === '' || ![0, 1, 3, 5].includes(status) ? status : writeSarif(recording, options, status);
}

/** @returns the status of the check, or why the file cannot be written; what the check says it has said already */
function writeSarif(recording, options, checked) {
  const { status, stderr } = command(['check', recording, ...options, '--format', 'sarif', '-o', input('SARIF')], { errors: 'pipe' });
  if (status !== checked) process.stderr.write(stderr);
  return status;
}

if (isMain(import.meta.url)) {
  try {
    process.exitCode = run();
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    process.stdout.write(`::error title=cacheline check::${error.message}\n`);
    process.exitCode = 2;
  }
}
