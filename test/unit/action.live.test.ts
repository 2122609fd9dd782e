// The composite action, as far as it runs outside of GitHub: its steps with their inputs, by the shell that they name.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { parseCheck } from '../../extension/cli/check-arguments';
import { Command, examples, root } from './command';
import { temporaryFolder } from './fixtures';
import { sarifErrors } from './sarif-schema';

interface Action {
  inputs: Record<string, { description: string; default: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: { id?: string; if?: string; shell: string; run: string; env?: Record<string, string> }[] };
}

const action = load(readFileSync(join(root, 'action.yml'), 'utf8')) as Action;

describe('composite action', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder.path, name);

  const recordingWithoutSamples = (): string => {
    const { status, stderr } = spawnSync(join(command.package, 'link'), ['record', '--force', '-o', 'empty', '--', 'true'], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    return 'empty';
  };

  /** Runs the steps whose condition holds. */
  const run = (inputs: Record<string, string>): { status: number; output: string } => {
    const given = { ...Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default])), ...inputs };
    const evaluated = (text: string): string =>
      text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => {
        assert.ok(name in given, `${name} is no input`);
        return given[name]!;
      });
    let output = '';
    for (const step of action.runs.steps) {
      if (step.if === "inputs.command == ''" && given['command'] !== '') continue;
      assert.equal(step.shell, 'bash');
      assert.doesNotMatch(step.run, /\$\{\{/, 'an input would be read as a script');
      const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, evaluated(text)]));
      const github = { GITHUB_ACTION_PATH: root, GITHUB_OUTPUT: at('output'), GITHUB_STEP_SUMMARY: at('summary.md') };
      const done = spawnSync('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step.run], {
        cwd: folder.path,
        encoding: 'utf8',
        env: { ...process.env, ...github, ...env },
      });
      output += done.stdout + done.stderr;
      if (done.status !== 0) return { status: done.status ?? -1, output };
    }
    return { status: 0, output };
  };

  it('records a program, checks it, annotates, summarizes and writes SARIF', () => {
    const inputs = { command: join(command.package, 'link'), sarif: 'findings.sarif', program: join(examples, 'reader_writer-contended') };
    const { status, output } = run(inputs);
    assert.equal(status, 1, output);
    assert.match(output, /^::error .*title=False sharing of /m);
    assert.match(readFileSync(at('summary.md'), 'utf8'), /\| new \|/);
    assert.deepEqual(sarifErrors(JSON.parse(readFileSync(at('findings.sarif'), 'utf8'))), []);
    assert.equal(readFileSync(at('output'), 'utf8'), `recording=${at('cacheline-check.cacheline')}\n`);
    assert.equal(action.outputs['recording']?.value, '${{ steps.check.outputs.recording }}');

    const known = run({ ...inputs, program: '', recording: 'cacheline-check.cacheline', baseline: 'cacheline-check.cacheline' });
    assert.equal(known.status, 0, known.output);
    assert.match(known.output, /^::notice .*It is known/m);
    const passed = { ...inputs, program: '', recording: 'cacheline-check.cacheline', 'max-contended': '100' };
    assert.equal(run(passed).status, 0);
    const unwritable = run({ ...passed, sarif: 'no/such/findings.sarif' });
    assert.equal(unwritable.status, 4);
    assert.match(unwritable.output, /no\/such\/findings\.sarif cannot be written/);
  });

  it('does not pass what could not be judged, and says so in annotations and SARIF', () => {
    const inputs = { command: join(command.package, 'link'), sarif: 'findings.sarif' };
    const program = '/bin/sh\n-c\ni=0; while [ $i -lt 300000 ]; do i=$((i+1)); done';
    assert.equal(run({ ...inputs, program }).status, 0, 'one thread shares nothing');
    const blind = run({ ...inputs, recording: recordingWithoutSamples(), 'allow-blind': 'false' });
    assert.equal(blind.status, 5, blind.output);
    assert.match(blind.output, /^::error title=cacheline check::No pass: there are no samples/m);
    assert.equal(blind.output.match(/this is not a pass/g)?.length, 1, 'it is said once');
    const sarif = readFileSync(at('findings.sarif'), 'utf8');
    assert.deepEqual(sarifErrors(JSON.parse(sarif)), []);
    assert.match(sarif, /"executionSuccessful":false/);
    assert.equal(run({ ...inputs, recording: recordingWithoutSamples(), 'allow-blind': 'true' }).status, 0);
    const failing = run({ ...inputs, program: '/bin/sh\n-c\nexit 5' });
    assert.equal(failing.status, 5, failing.output);
  });

  it('says what is wrong, and runs no input as a script', () => {
    const command_ = join(command.package, 'link');
    assert.deepEqual([run({ command: command_ }).status, run({ command: command_ }).output.startsWith('::error ')], [2, true]);
    assert.equal(run({ command: command_, program: 'a', recording: 'b' }).status, 2);
    const { status, output } = run({ command: command_, recording: `$(touch ${at('made')}); touch ${at('made')}` });
    assert.equal(status, 3, output);
    assert.equal(existsSync(at('made')), false);
    writeFileSync(at('accept.json'), '{}');
    assert.match(run({ command: command_, recording: 'x', accept: 'accept.json' }).output, /does not hold a list/);
    assert.equal(run({ command: at('none'), recording: 'x' }).status, 2);
  });

  it('has an input for each option of a check that is of use there', () => {
    const options = ['baseline', 'accept', 'max-contended', 'fail-on', 'allow-blind'];
    for (const name of options) {
      assert.ok(name in action.inputs, name);
      const value = { 'max-contended': '3', 'fail-on': 'false' }[name] ?? 'x';
      assert.notEqual(parseCheck([name === 'allow-blind' ? `--${name}` : `--${name}=${value}`]), 'help');
    }
    for (const [name, { description }] of Object.entries(action.inputs)) assert.ok(description.length > 10, name);
  });
});
