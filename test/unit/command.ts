// Runs the real `cacheline` command: the bundle of the sources as they are, the real addon, started through a link as npm does.
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleCommandLine } from '../../scripts/build.mjs';
import { goFirstToo } from '../../scripts/lib/run.mjs';
import { joinArguments } from '../../extension/session/record/launch';

export const root = join(__dirname, '../..');
export const addonPath = join(root, 'build/release/native/addon/cacheline.node');
export const examples = process.env['CACHELINE_EXAMPLES_BIN'] ?? join(root, 'build/examples');

export interface Outcome {
  /** 128+signal where it died of one. */
  status: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Runs these before the command, as in [program, ...arguments, cacheline, ...args]. */
  through?: readonly string[];
  /** Its three streams are a terminal; all output is then in `stdout`. */
  terminal?: boolean;
  /** Called with the process once its output contains the text. */
  when?: { says: string; then: (child: ChildProcess) => void };
}

const SIGNALS: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGTERM: 15 };

/** A package like the installed one, made before the tests of the surrounding `describe`. */
export class Command {
  private folder = '';
  private link = '';

  install(): void {
    before(async () => {
      assert.ok(existsSync(addonPath), `${addonPath} is missing: run "npm run build" first`);
      this.folder = mkdtempSync(join(tmpdir(), 'cacheline-command-'));
      writeFileSync(join(this.folder, 'package.json'), '{}');
      cpSync(join(root, 'bin'), join(this.folder, 'bin'), { recursive: true });
      mkdirSync(join(this.folder, 'dist/native'), { recursive: true });
      cpSync(addonPath, join(this.folder, 'dist/native/cacheline.node'));
      for (const name of ['libcacheline_heap.so', 'libcacheline_sampler.so', 'cacheline_selftest'])
        cpSync(join(addonPath, '..', name), join(this.folder, 'dist/native', name));
      this.link = join(this.folder, 'link');
      symlinkSync('bin/cacheline', this.link);
      await bundleCommandLine(join(this.folder, 'dist'));
    });
    after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** The package's own folder. */
  get package(): string {
    return this.folder;
  }

  /** In a process group of its own, as a shell gives a job. */
  run(args: readonly string[], { cwd, env = {}, through = [], terminal = false, when }: RunOptions): Promise<Outcome> {
    const line = [...through, this.link, ...args];
    // `exec`, so that the only child of `script` is the program, whichever shell runs the line.
    const [program = '', ...rest] = terminal ? ['script', '-qec', `exec ${joinArguments(line)}`, '/dev/null'] : line;
    const child = spawn(program, rest, { cwd, env: { ...process.env, ...env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined) goFirstToo(child.pid);
    const outcome: Outcome = { status: -1, stdout: '', stderr: '' };
    let waiting = when;
    const note = (): void => {
      if (waiting === undefined || !(outcome.stdout + outcome.stderr).includes(waiting.says)) return;
      const { then } = waiting;
      waiting = undefined;
      then(child);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      outcome.stdout += text;
      note();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      outcome.stderr += text;
      note();
    });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        outcome.status = code ?? 128 + (signal === null ? 0 : (SIGNALS[signal] ?? 0));
        resolve(outcome);
      });
    });
  }
}

/** Compiles a C program of test/fixtures. */
export function compileFixture(name: string, folder: string): string {
  const out = join(folder, name);
  execFileSync('cc', ['-O1', '-g', '-o', out, join(root, `test/fixtures/${name}.c`)]);
  return out;
}
