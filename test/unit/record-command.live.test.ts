// `cacheline record` of what runs already, with each collector, with watchpoints and under control: real processes, the real kernel.
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DoctorReport } from '../../extension/protocol/engine';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { Report } from '../../extension/protocol/report';
import { Command, examples, root, type Outcome, type RunOptions } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

const LOOP = 'while :; do :; done';

describe('cacheline record', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const children: ChildProcess[] = [];
  const at = (...names: string[]): string => join(folder.path, ...names);
  const run = (args: readonly string[], options: Partial<RunOptions> = {}): Promise<Outcome> =>
    command.run(args, { cwd: folder.path, ...options });
  const metaOf = (name: string): RecordingMeta => {
    const meta = JSON.parse(readFileSync(at(name, 'meta.json'), 'utf8')) as RecordingMeta;
    assert.deepEqual(schemaErrors('cacheline-recording-1', meta), []);
    return meta;
  };
  const start = (...args: string[]): { child: ChildProcess; pid: number } => {
    const child = spawn(args[0]!, args.slice(1), { stdio: 'ignore' });
    children.push(child);
    assert.ok(child.pid !== undefined);
    return { child, pid: child.pid };
  };

  before(() => {
    execFileSync('make', ['--silent', '-C', join(root, 'examples'), `OUT=${examples}`]);
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  it('attaches to a running process, says to which, and leaves it running', async () => {
    const { child, pid } = start('sh', '-c', LOOP);
    const { status, stdout, stderr } = await run(['record', '-p', String(pid), '--duration', '3']);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, new RegExp(`^cacheline: recording sh \\(pid ${pid}, 1 thread\\)\\ncacheline: collector clock: `));
    assert.match(stderr, /the duration of 3 s was reached\n/);
    assert.equal(child.exitCode, null, 'it goes on');
    assert.deepEqual(readdirSync(folder.path), ['sh.cacheline']);
    const meta = metaOf('sh.cacheline');
    assert.deepEqual(meta.target, { kind: 'processes', ids: [pid], cpus: [], children: true });
    assert.deepEqual([meta.command, meta.program], [[], null]);
    const report = await run(['report', 'sh.cacheline']);
    assert.match(report.stdout, new RegExp(`\\nProgram {4}process ${pid}, attached to\\n`));
    assert.match(report.stdout, /\nCollector {2}clock: [^]*\nNot used {3}pmu: /);
  });

  it('a program that ran without one sample is no success, and one that ended before its first is', async () => {
    const program = join(examples, 'reader_writer-contended');
    // The agent is in env alone, which takes a fifth of the 25 ms between samples.
    const { status, stderr } = await run(['record', '--collector', 'agent', '-F', '40', '-o', 'r', '--', 'env', '-i', program]);
    assert.equal(status, 4, stderr);
    assert.match(stderr, /warning: only 0 samples/);
    assert.equal((await run(['record', '--collector', 'agent', '-o', 'short', '--', 'env', '-i', 'true'])).status, 0);
    assert.equal((await run(['record', '--collector', 'agent', '-o', 'own', '--', 'env', '-i', 'sh', '-c', 'exit 3'])).status, 3);
  });

  it('says which collector it takes before the program prints anything', async () => {
    const { status, stdout } = await run(['record', '-o', 'r', '--', 'echo', 'hello'], { terminal: true });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /^cacheline: collector \w+: .*\r\n(cacheline: not used: .*\r\n)+hello\r\n/);
    assert.doesNotMatch(stdout, /hello[^]*(collector|not used)/);
  });

  it('judges an empty recording by the rate that was recorded', async () => {
    const program = at('short');
    // 55 ms are 27 samples at 499 Hz, and 14 at the agent's 250 Hz.
    const input = '#include <time.h>\nint main(void) { while (clock() < 55 * CLOCKS_PER_SEC / 1000) {} }';
    execFileSync('cc', ['-o', program, '-x', 'c', '-'], { input });
    const { status, stderr } = await run(['record', '--collector', 'agent', '-o', 'r', '--', 'env', '-i', program]);
    assert.match(stderr, /warning: only (0 samples|1 sample)\b/, 'env may have one');
    assert.equal(status, 0, stderr);
    assert.equal(metaOf('r').frequency, 250);
  });

  it('says of a program that went to the background that it is no longer recorded', async () => {
    const { status, stdout, stderr } = await run(['record', '--', 'sh', '-c', `(${LOOP}) >/dev/null 2>&1 & echo $!`]);
    const pid = Number(stdout);
    process.kill(pid, 'SIGKILL');
    assert.equal(status, 0, stderr);
    assert.match(
      stderr,
      new RegExp(`warning: the program sh still runs in the background \\(process ${pid}, .* or record it with -p ${pid}\\n`),
    );
    const waits = run(['record', '--', 'sh', '-c', '(:) & sleep 1']);
    await sleep(700);
    start('sh', '-c', LOOP); // another's
    assert.doesNotMatch((await waits).stderr, /background/);
  });

  it('says of a stopped process that it is, and calls a recording as the whole name says', async () => {
    const path = at('a_name_of_more_than_fifteen_bytes');
    copyFileSync('/bin/sh', path);
    chmodSync(path, 0o755);
    const { child, pid } = start(path, '-c', LOOP);
    child.kill('SIGSTOP');
    const { status, stderr } = await run(['record', '-p', String(pid), '--duration', '0.3']);
    assert.equal(status, 4, stderr);
    assert.match(stderr, new RegExp(`recording a_name_of_more_than_fifteen_bytes \\(pid ${pid},`));
    assert.match(stderr, new RegExp(`warning: ${pid} \\(a_name_of_more_\\) is stopped: .*kill -CONT ${pid}`));
    assert.ok(readdirSync(folder.path).includes('a_name_of_more_than_fifteen_bytes.cacheline'));
  });

  it('names what a container runs while it lives, and says afterwards why it has no names', async function () {
    this.retries(5); // A hypervisor can lose a trap's reason, which ends the program (docs/design/recording.md).
    mkdirSync(at('inside'));
    const inner = at('inside', 'inner');
    const program = join(examples, 'reader_writer-contended');
    const enter = `mount -t tmpfs none ${at('inside')} && cp ${program} ${inner} && exec ${inner} 1000000000000`;
    const { child, pid } = start('unshare', '--mount', 'sh', '-c', enter);
    const exe = (): string => {
      try {
        return readlinkSync(`/proc/${pid}/exe`);
      } catch (error) {
        assert.match(String((error as NodeJS.ErrnoException).code), /^(ENOENT|ESRCH)$/); // it has ended
        return '';
      }
    };
    while (child.exitCode === null && !exe().endsWith('/inner')) await sleep(10);
    if (child.exitCode !== null) {
      console.error('      this user, or this container, may make no mount namespace');
      this.skip();
    }
    const { status, stderr } = await run(['record', '-p', String(pid), '--duration', '3', '--watch', 'messages_written', '-o', 'r']);
    assert.equal(status, 0, stderr);
    assert.ok(!existsSync(inner));
    const reportOf = async () => JSON.parse((await run(['report', 'r', '--format', 'json'])).stdout) as Report;
    const living = await reportOf();
    const [line] = living.lines;
    assert.equal(line?.confirmation?.words[0]?.name, 'messages_written');
    assert.match(line.accesses[0]?.file ?? '', /reader_writer/);
    child.kill('SIGKILL');
    while (exe() !== '') await sleep(10);
    const state = (await reportOf()).binaries.find(({ path }) => path === inner);
    assert.equal(state?.status, 'missing');
    assert.match(state.detail, /another mount namespace .* can no longer be reached under \/proc\/\d+\/root/);
  });

  it('a recording of something that does nothing is no success', async () => {
    const { pid } = start('sleep', '60');
    const { status, stderr } = await run(['record', '-p', String(pid), '--duration', '0.5']);
    assert.equal(status, 4, stderr);
    assert.match(stderr, /warning: only 0 samples/);
  });

  it('refuses processes that are not there', async () => {
    const { status, stderr } = await run(['record', '-p', '4194303']);
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^cacheline: [^\n]*4194303[^\n]*\n/);
    assert.doesNotMatch(stderr, /recording/);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  it('records the machine while a program runs, and passes its status on', async function () {
    if (process.getuid?.() !== 0) {
      console.error('      recording the whole machine takes root');
      this.skip();
    }
    const outcome = await run(['record', '-a', '-C', '0', '--', 'sh', '-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 3']);
    assert.equal(outcome.status, 3, outcome.stderr);
    assert.match(outcome.stderr, /^cacheline: recording the whole machine on CPU 0\n/);
    assert.deepEqual(metaOf('machine.cacheline').target?.kind, 'system');
  });

  it('begins and ends where a FIFO says so', async () => {
    execFileSync('mkfifo', [at('ctl'), at('ack')]);
    const loop = start('sh', '-c', LOOP);
    const acknowledged = start('sh', '-c', `exec cat "$1" > "$2"`, 'sh', at('ack'), at('answers'));
    const recorded = run(['record', '-p', String(loop.pid), '--control', 'fifo:ctl,ack', '-D', '-1', '-o', 'r']);
    // Opening waits for the reader.
    const say = (script: string) => execFileSync('sh', ['-c', script], { cwd: folder.path, timeout: 60_000 });
    say('echo enable > ctl');
    const data = at('r/perf.data');
    while (!existsSync(data) || statSync(data).size < 30_000) await sleep(20); // some hundred samples
    say('echo disable > ctl; echo stop > ctl');
    const { status, stderr } = await recorded;
    assert.equal(status, 0, stderr);
    assert.ok(metaOf('r').samples > 0);
    await new Promise((resolve) => (acknowledged.child.exitCode === null ? acknowledged.child.once('exit', resolve) : resolve(0)));
    assert.equal(readFileSync(at('answers'), 'utf8').replaceAll('\0', ''), 'ack\nack\nack\n');
  });

  it('reports of a FIFO that nobody wrote to that this is why there are no samples', async () => {
    execFileSync('mkfifo', [at('ctl')]);
    const recorded = await run(['record', '--control', 'fifo:ctl', '-D', '-1', '-o', 'r', '--', join(examples, 'reader_writer-contended')]);
    assert.equal(recorded.status, 4, recorded.stderr);
    const { stdout } = await run(['report', '--width', '200', 'r']);
    assert.match(stdout, /\nNothing was sampled: nobody wrote enable to ctl\.\n/);
    assert.doesNotMatch(stdout, /CPU time/);
  });

  it('records with the agent where it is asked for, and says nothing of the others', async () => {
    const program = join(examples, 'reader_writer-contended');
    const { status, stderr } = await run(['record', '--collector', 'agent', '-o', 'r', '--', program]);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^cacheline: collector agent: the agent was asked for: /);
    assert.doesNotMatch(stderr, /not used/);
    assert.deepEqual(metaOf('r').notTaken, []);
    const report = await run(['report', 'r', '--format', 'json']);
    const { collector, lines } = JSON.parse(report.stdout) as Report;
    assert.equal(collector, 'agent');
    assert.equal(lines[0]?.verdict, 'false sharing');
  });

  it('an impossible collector has status 4 and the blocker', async function () {
    const doctor = JSON.parse((await run(['doctor', '--format', 'json'])).stdout) as DoctorReport;
    const pmu = doctor.collectors.find(({ name }) => name === 'pmu');
    if (pmu?.usable) {
      console.error('      this machine has a memory PMU');
      this.skip();
    }
    const { status, stderr } = await run(['record', '--collector', 'pmu', '--', 'true']);
    assert.equal(status, 4, stderr);
    assert.ok(stderr.includes(pmu?.blockers[0]?.fix ?? 'nothing'), stderr);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  it('watches what is named, and refuses what names nothing', async function () {
    this.retries(5); // A hypervisor can lose a trap's reason, which ends the program (docs/design/recording.md).
    const program = [join(examples, 'reader_writer-contended'), '150000000'];
    const watched = await run(['record', '--watch', 'messages_written', '--force', '-o', 'r', '--', ...program]);
    assert.equal(watched.status, 0, watched.stderr);
    assert.match(watched.stderr, /, [\d,]+ access(es)? of 1 word watched, recorded in r;/);
    assert.ok(existsSync(at('r/watch.data')));
    const again = await run(['record', '--watch', 'messages_written', '--force', '-o', 'r', '--', ...program]);
    assert.equal(again.status, 0, 'what a recording holds can be replaced');
    const nothing = await run(['record', '--watch', 'no_such_name', '-o', 'n', '--', ...program]);
    assert.equal(nothing.status, 2, nothing.stderr);
    assert.match(nothing.stderr, /no_such_name/);
    // Another program could have it: said soon, and looked for until the end.
    const soon = { says: 'not watched so far: --watch no_such_name: ', then: (child: ChildProcess) => child.kill('SIGTERM') };
    const perhaps = await run(['record', '--watch', 'no_such_name', '-o', 'p', '--', 'sh', '-c', LOOP], { when: soon });
    assert.equal(perhaps.status, 2, perhaps.stderr);
    assert.match(
      perhaps.stderr,
      /so far: .*; sh can load or start .*, so the search goes on until the end\n[^]*nothing was watched: .*none of those has it\.\n/,
    );
    appendFileSync(at('r/thesis.txt'), 'mine');
    assert.equal((await run(['record', '--force', '-o', 'r', '--', 'true'])).status, 2);
  });
});
