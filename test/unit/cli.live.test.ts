// The command end to end: real programs, the real addon, real signals.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DoctorReport } from '../../extension/protocol/engine';
import type { Report } from '../../extension/protocol/report';
import { Command, compileFixture, examples, type Outcome, type RunOptions } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

const LOOP = 'while :; do :; done';
/** Ends by itself after some tenths of a second of CPU time. */
const SHORT_LOOP = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done';

describe('cacheline command', function () {
  this.timeout(60_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const run = (args: readonly string[], options: Partial<RunOptions> = {}): Promise<Outcome> =>
    command.run(args, { cwd: folder.path, ...options });
  const reportOf = async (path: string): Promise<Report> => {
    const { status, stdout, stderr } = await run(['report', path, '--format', 'json']);
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout) as Report;
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    return report;
  };
  const fails = (outcome: Outcome, status: number, message: RegExp): void => {
    assert.equal(outcome.status, status, outcome.stderr);
    assert.match(outcome.stderr, message);
    assert.equal(outcome.stdout, '');
    for (const line of outcome.stderr.trimEnd().split('\n')) assert.match(line, /^cacheline: [^\n]+$/);
  };

  before(() => {
    execFileSync('make', ['--silent', '-C', join(__dirname, '../../examples'), `OUT=${examples}`]);
  });

  describe('with a recording of the contended example', () => {
    let recording: string;
    let outcome: Outcome;

    before(async () => {
      recording = join(command.package, 'reader_writer.cacheline');
      outcome = await command.run(['record', '-o', recording, '--', join(examples, 'reader_writer-contended')], { cwd: command.package });
    });

    it('record passes the program’s output and status through and sums up on standard error', () => {
      assert.equal(outcome.status, 0, outcome.stderr);
      assert.match(outcome.stdout, /^\d+ written, \d+ read\nelapsed [\d.]+ s\n$/);
      assert.match(
        outcome.stderr,
        /^cacheline: collector clock: [^\n]+\n(?:cacheline: not used: [^\n]+\n)*cacheline: [\d,]+ samples in [\d.]+ s, \d+ lost, recorded in .*; next: cacheline report .*reader_writer\.cacheline\n$/,
      );
      assert.deepEqual(readdirSync(recording).sort(), ['.build-id', 'blocked.jsonl', 'meta.json', 'perf.data']);
      assert.deepEqual(schemaErrors('cacheline-recording-1', JSON.parse(readFileSync(join(recording, 'meta.json'), 'utf8'))), []);
    });

    it('report --format json holds to the schema and names both variables', async () => {
      const report = await reportOf(recording);
      const [line] = report.lines;
      assert.ok(line);
      assert.equal(line.verdict, 'false sharing');
      assert.deepEqual(new Set(line.accesses.map(({ data }) => data.object)), new Set(['messages_written', 'messages_read']));
      const { total, attributed, unattributed } = report.samples;
      assert.equal(attributed + Object.values(unattributed).reduce((sum, value) => sum + value, 0), total);
    });

    it('report says in its first lines what was measured, by which collector and why', async () => {
      const { status, stdout, stderr } = await run(['report', recording]);
      assert.equal(status, 0, stderr);
      assert.equal(stderr, '');
      const head = stdout.split('\n\n')[0]!;
      assert.match(head, /^Recording .*reader_writer\.cacheline\nProgram .*reader_writer-contended/);
      assert.match(head, /\nCollector {2}clock: \S/);
      assert.match(head, /\nEvidence {3}clock: /);
      assert.match(stdout, /false sharing/);
      assert.match(stdout, / messages_written$/m);
      assert.match(stdout, / messages_read$/m);
      for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);

      assert.doesNotMatch(stdout, /\u001b/);
    });

    it('report takes --no-source and --full-symbols', async () => {
      const tables = async (...args: string[]): Promise<string> => {
        const { stdout } = await run(['report', ...args, recording]);
        return stdout.slice(stdout.indexOf('Contended cache lines'));
      };
      assert.match(await tables(), /\.c:\d/);
      assert.doesNotMatch(await tables('--no-source', '--full-symbols'), /\.c:\d/);
    });

    it('report reads a bare perf.data, and by default the newest recording here, else perf.data', async () => {
      copyFileSync(join(recording, 'perf.data'), at('perf.data'));
      const bare = await run(['report']);
      assert.equal(bare.status, 0, bare.stderr);
      assert.match(bare.stderr, /^cacheline: reading perf\.data\n$/);
      assert.match(bare.stdout, /Program {4}unknown: there is no meta\.json/);
      assert.equal((await reportOf('perf.data')).recording, null);
      for (const [name, time] of [
        ['old', 1_000_000],
        ['new', 2_000_000],
      ] as const) {
        mkdirSync(at(`${name}.cacheline`));
        copyFileSync(join(recording, 'perf.data'), at(`${name}.cacheline/perf.data`));
        utimesSync(at(`${name}.cacheline/perf.data`), time, time);
      }
      mkdirSync(at('newest-but-empty.cacheline'));
      assert.match((await run(['report'])).stderr, /^cacheline: reading new\.cacheline\n$/);
    });

    it('a reader that stops reading is no error; a full disk is', async () => {
      const through = (tail: string): readonly string[] => ['bash', '-c', `set -o pipefail; "$@" ${tail}`, 'bash'];
      assert.deepEqual(await run(['report', recording], { through: through('| true') }), { status: 0, stdout: '', stderr: '' });
      fails(await run(['report', recording], { through: through('> /dev/full') }), 74, /cannot be written: ENOSPC/);
    });

    it('colours on a terminal only, and not against NO_COLOR', async () => {
      const terminal = (env: Record<string, string>): Promise<Outcome> =>
        run(['report', recording], { terminal: true, env: { TERM: 'xterm', PAGER: 'cat', ...env } });
      assert.match((await terminal({ NO_COLOR: '' })).stdout, /\u001b\[31mfalse sharing/);
      assert.doesNotMatch((await terminal({ NO_COLOR: '1' })).stdout, /\u001b/);
      assert.doesNotMatch((await terminal({ TERM: 'dumb', NO_COLOR: '' })).stdout, /\u001b/);
    });

    it('--color decides over the terminal and NO_COLOR', async () => {
      const args = (when: string): string[] => ['report', recording, `--color=${when}`];
      const env = { TERM: 'xterm', PAGER: 'cat' };
      assert.match((await run(args('always'), { env: { ...env, NO_COLOR: '1' } })).stdout, /\u001b\[31mfalse sharing/);
      assert.doesNotMatch((await run(args('auto'), { env })).stdout, /\u001b/);
      assert.doesNotMatch((await run(args('never'), { terminal: true, env: { ...env, NO_COLOR: '' } })).stdout, /\u001b/);
    });

    it('--quiet says nothing but results, warnings and errors', async () => {
      const recorded = await run(['record', '-q', '-o', 'quiet.cacheline', '--', 'echo', 'hello']);
      assert.equal(recorded.stdout, 'hello\n');
      assert.match(recorded.stderr, /^(cacheline: warning: .*\n)*$/);
      assert.equal((await run(['report', '-q'])).stderr, '');
      fails(await run(['report', '--quiet', 'missing']), 3, /no recording missing/);
    });

    it('a recording cut anywhere is reported with a warning, or refused with one sentence', async () => {
      const { length } = readFileSync(join(recording, 'perf.data'));
      for (const size of [1, 50, 104, 3000, Math.floor(length / 2), length - 1]) {
        copyFileSync(join(recording, 'perf.data'), at('perf.data'));
        truncateSync(at('perf.data'), size);
        const cut = await run(['report', 'perf.data', '--format', 'json']);
        if (cut.status === 0) assert.notDeepEqual((JSON.parse(cut.stdout) as Report).warnings, [], `cut at ${size}`);
        else fails(cut, 3, /perf\.data/);
      }
    });
  });

  it('the fixed example has no contended line', async () => {
    const { status, stderr } = await run(['record', '-o', 'fixed', '--', join(examples, 'reader_writer-fixed')]);
    assert.equal(status, 0, stderr);
    assert.equal((await reportOf('fixed')).samples.contended, 0);
    assert.match((await run(['report', 'fixed'])).stdout, /No contended cache line was seen in [\d,]+ samples\./);
  });

  it('works with perf, pahole, addr2line, objdump and gdb replaced by programs that fail', async () => {
    mkdirSync(at('tools'));
    for (const tool of ['perf', 'pahole', 'addr2line', 'objdump', 'gdb', 'readelf', 'nm', 'c++filt']) {
      writeFileSync(at('tools', tool), `#!/bin/sh\necho "$0 $*" >> ${at('called')}\nexit 99\n`);
      chmodSync(at('tools', tool), 0o755);
    }
    const env = { PATH: `${at('tools')}:${process.env['PATH'] ?? ''}` };
    const recorded = await run(['record', '-o', 'r', '--', join(examples, 'producer_limit-contended')], { env });
    assert.equal(recorded.status, 0, recorded.stderr);
    const { status, stdout } = await run(['report', 'r'], { env });
    assert.equal(status, 0);
    assert.match(stdout, /queue\.produced/);
    assert.equal((await run(['doctor'], { env })).status, 0);
    assert.equal(existsSync(at('called')), false);
  });

  it('passes the program’s status through, 128+signal where it died of one', async () => {
    assert.equal((await run(['record', '--', 'sh', '-c', 'exit 7'])).status, 7);
    assert.equal((await run(['record', 'sh', '-c', 'kill -SEGV $$'])).status, 139);
    assert.equal((await run(['record', '--', 'sh', '-c', 'kill -9 $$'])).status, 137);
    assert.deepEqual(readdirSync(folder.path).sort(), ['sh-2.cacheline', 'sh-3.cacheline', 'sh.cacheline']);
  });

  it('passes standard streams through, arguments untouched', async () => {
    const outcome = await run(['record', '-o', 'r', '--', 'sh', '-c', 'cat; printf "%s|" "$@"; echo error >&2', '--', '-o', '', 'a b'], {
      through: ['sh', '-c', 'echo input | "$@"', 'sh'],
    });
    assert.equal(outcome.stdout, 'input\n-o||a b|');
    assert.match(outcome.stderr, /^(cacheline: (collector |not used: ).*\n)+error\n/);
  });

  it('does not record what cannot run, and leaves nothing behind', async () => {
    fails(await run(['record', '--', './missing']), 2, /missing/);
    fails(await run(['record', '--', 'no-such-program-anywhere']), 2, /no-such-program-anywhere/);
    writeFileSync(at('plain'), 'text');
    fails(await run(['record', '--', './plain']), 2, /plain.*not executable/);
    fails(await run(['record', '--', folder.path]), 2, /director|folder/);
    assert.deepEqual(readdirSync(folder.path), ['plain']);
  });

  it('never overwrites; --force replaces recordings only', async () => {
    mkdirSync(at('mine'));
    writeFileSync(at('mine/thesis.txt'), 'mine');
    fails(await run(['record', '-o', 'mine', '--', 'true']), 2, /not empty/);
    fails(await run(['record', '-o', 'mine', '--force', '--', 'true']), 2, /thesis\.txt/);
    assert.equal(readFileSync(at('mine/thesis.txt'), 'utf8'), 'mine');

    assert.equal((await run(['record', '-o', 'r', '--', 'true'])).status, 0);
    const before = readFileSync(at('r/meta.json'), 'utf8');
    fails(await run(['record', '-o', 'r', '--force', '--', './missing']), 2, /missing/);
    assert.equal(readFileSync(at('r/meta.json'), 'utf8'), before, 'a mistyped program costs no recording');
    assert.equal((await run(['record', '-o', 'r', '--force', '--', 'sh', '-c', 'exit 3'])).status, 3);
    assert.notEqual(readFileSync(at('r/meta.json'), 'utf8'), before);
    assert.deepEqual(readdirSync(folder.path).sort(), ['mine', 'r']);
  });

  it('Ctrl-C reaches the program, which ends in its own way; the recording is kept', async () => {
    // The shell takes 0.5 s to say goodbye, across several looks of the recorder at whether it should stop.
    const script = `trap "sleep 0.5; echo bye; exit 5" INT; echo ready; ${LOOP}`;
    const outcome = await run(['record', '-o', 'r', '--', 'sh', '-c', script], {
      when: { says: 'ready', then: ({ pid }) => void setTimeout(() => process.kill(-pid!, 'SIGINT'), 1000) },
    });
    assert.equal(outcome.status, 5, outcome.stderr);
    assert.equal(outcome.stdout, 'ready\nbye\n');
    assert.match(outcome.stderr, /recorded in r;/);
    assert.ok((await reportOf('r')).samples.total > 0);
  });

  it('Ctrl-C over and over keeps the recording and passes the status on', async () => {
    const outcome = await run(['record', '-o', 'r', '--', 'sh', '-c', `trap "exit 5" INT TERM; echo ready; ${LOOP}`], {
      when: {
        says: 'ready',
        then: (child) => {
          const timer = setInterval(() => child.kill('SIGINT'), 1);
          child.on('exit', () => clearInterval(timer));
        },
      },
    });
    assert.equal(outcome.status, 5, outcome.stderr);
    assert.match(outcome.stderr, /recorded in r;/);
    assert.deepEqual(schemaErrors('cacheline-recording-1', JSON.parse(readFileSync(at('r/meta.json'), 'utf8'))), []);
  });

  it('SIGINT and SIGTERM to the command alone end the program too; a stubborn one after 5 s', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const then = {
        says: 'ready',
        then: ({ pid }: { pid?: number | undefined }) => void setTimeout(() => process.kill(pid!, signal), 300),
      };
      const outcome = await run(['record', '-o', signal, '--', 'sh', '-c', `echo ready; ${LOOP}`], { when: then });
      assert.equal(outcome.status, 143, outcome.stderr);
      assert.equal((await reportOf(signal)).recording?.interrupted, true);
    }
    const started = performance.now();
    const stubborn = await run(['record', '-o', 'stubborn', '--', 'sh', '-c', `trap "" INT TERM; echo ready; ${LOOP}`], {
      when: {
        says: 'ready',
        then: ({ pid }) => {
          for (const delay of [300, 600, 900]) setTimeout(() => process.kill(pid!, 'SIGINT'), delay);
        },
      },
    });
    assert.equal(stubborn.status, 137, stubborn.stderr);
    assert.ok(performance.now() - started < 30_000, 'it waited 5 s once');
    assert.ok((await reportOf('stubborn')).samples.total > 0);
  });

  it('--duration ends the program', async () => {
    const outcome = await run(['record', '-o', 'r', '--duration', '0.5', '-F', '999', '-g', '--', 'sh', '-c', LOOP]);
    assert.equal(outcome.status, 143, outcome.stderr);
    assert.match(outcome.stderr, /the duration of 0\.5 s was reached/);
    assert.equal((await reportOf('r')).recording?.frequency, 999);
  });

  it('shows progress on a terminal only, and clears it', async () => {
    const outcome = await run(['record', '-o', 'r', '--duration', '2', '--', 'sh', '-c', LOOP], { terminal: true, env: { TERM: 'xterm' } });
    assert.match(outcome.stdout, /\rrecording \d\.\d s, \d+ samples?, [\d.]+ kB \(Ctrl-C stops and keeps it\)\u001b\[K/);
    assert.match(outcome.stdout, /\r\u001b\[Kcacheline: /);
    assert.doesNotMatch((await run(['record', '-o', 'r2', '--', 'sh', '-c', SHORT_LOOP])).stderr, /recording \d/);
  });

  it('a full disk costs the tail, not the recording or the program', async () => {
    const outcome = await run(['record', '-o', 'r', '--', 'sh', '-c', `i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; echo done`], {
      // Half-kilobyte blocks of POSIX; Node ignores SIGXFSZ, so that write() fails.
      through: ['sh', '-c', 'ulimit -f 24; exec "$@"', 'sh'],
    });
    assert.equal(outcome.stdout, 'done\n');
    assert.equal(outcome.status, 4, outcome.stderr);
    assert.match(outcome.stderr, /perf\.data.*File too large/);
    assert.match(outcome.stderr, /kept in .*\/r\./);
    assert.ok((await reportOf('r')).samples.total > 0);
  });

  it('where perf_event_open is refused it says so, with status 4 and the next step', async () => {
    const refused = compileFixture('refuse-perf', folder.path);
    const outcome = await run(['record', '--collector', 'clock', '--', 'true'], { through: [refused] });
    fails(outcome, 4, /perf_event/);
    assert.ok(outcome.stderr.split('\n').length > 2, 'a next step');
    assert.deepEqual(readdirSync(folder.path), ['refuse-perf']);
    const { status, stdout } = await run(['doctor', '--format', 'json'], { through: [refused] });
    assert.equal(status, 0);
    const clock = (JSON.parse(stdout) as { collectors: { name: string; usable: boolean; blockers: unknown[] }[] }).collectors.find(
      ({ name }) => name === 'clock',
    );
    assert.equal(clock?.usable, false);
    assert.notDeepEqual(clock.blockers, []);
  });

  it('what cannot be read has status 3', async () => {
    fails(await run(['report', 'missing']), 3, /no recording missing\.\ncacheline: Give a \.cacheline folder .*\.\n/);
    fails(await run(['report']), 3, /no recording in /);
    fails(await run(['report', '.']), 3, /perf\.data/);
    writeFileSync(at('garbage'), Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)));
    fails(await run(['report', 'garbage']), 3, /garbage/);
    writeFileSync(at('empty'), '');
    fails(await run(['report', 'empty']), 3, / empty is not a perf\.data file: it has only 0 bytes\.\n/);
  });

  it('wrong usage has status 2 and one hint', async () => {
    fails(await run([]), 2, /No command.*\n.*--help/);
    fails(await run(['record', '--frequency', 'fast', '--', 'true']), 2, /-F takes/);
    fails(await run(['report', '--no-such']), 2, /--no-such/);
  });

  it('doctor holds to the schema', async () => {
    const json = await run(['doctor', '--format', 'json']);
    assert.equal(json.status, 0, json.stderr);
    assert.deepEqual(schemaErrors('cacheline-doctor', JSON.parse(json.stdout)), []);
    const text = await run(['doctor']);
    assert.equal(text.status, 0);
    for (const name of ['pmu', 'clock', 'watch', 'agent']) assert.match(text.stdout, new RegExp(`^  ${name} +(not )?usable`, 'm'));
  });

  it('doctor --self-test finds what is true of the built-in program with each usable collector', async () => {
    const { status, stdout, stderr } = await run(['doctor', '--self-test', '--format', 'json']);
    assert.equal(status, 0, stderr + stdout);
    const doctor = JSON.parse(stdout) as DoctorReport;
    assert.deepEqual(schemaErrors('cacheline-doctor', doctor), []);
    const usable = doctor.collectors.filter((collector) => collector.usable).map(({ name }) => name);
    assert.ok(usable.includes('clock'), stdout);
    assert.deepEqual(
      doctor.selfTests?.map(({ collector }) => collector),
      usable,
    );
    for (const { samples, found } of doctor.selfTests ?? []) {
      assert.ok(samples > 0);
      for (const member of ['queue.produced', 'queue.consumed']) assert.ok(found.includes(member), found);
    }
    assert.deepEqual(readdirSync(folder.path), [], 'its recordings are gone');
  });

  it('help and version need no addon; everything else says that it is missing', async () => {
    const env = { CACHELINE_ADDON: at('nowhere.node') };
    assert.match((await run(['--help'], { env })).stdout, /Usage/);
    assert.match((await run(['--version'], { env })).stdout, /^cacheline \d+\.\d+\.\d+\n$/);
    fails(await run(['report', '.'], { env }), 69, /nowhere\.node: ENOENT/);
  });

  it('the launcher says when the command is not built', async () => {
    const bundle = join(command.package, 'dist/cli.js');
    const kept = readFileSync(bundle);
    rmSync(bundle);
    try {
      fails(await run(['--version']), 69, /not built/);
    } finally {
      writeFileSync(bundle, kept);
    }
  });

  it('names with control characters cannot reach the terminal', async () => {
    const evil = at('\u001b]0;owned\u0007\u001b[2Jprog');
    copyFileSync('/bin/true', evil);
    chmodSync(evil, 0o755);
    const recorded = await run(['record', '--', evil]);
    assert.equal(recorded.status, 0);
    const shown = await run(['report']);
    for (const text of [recorded.stderr, shown.stderr, shown.stdout]) {
      assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f]/);
      assert.match(text, /\\x1b/);
    }
  });
});
