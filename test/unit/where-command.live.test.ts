// `cacheline where` of real processes and programs on this machine, whose memory and CPU time are known.
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { Report } from '../../extension/protocol/report';
import type { Where } from '../../extension/protocol/where';
import { canSynthesize, compileWorker, synthesize } from './c2c/synth';
import { Command, type Outcome, type RunOptions } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';
import { typeErrors } from './typed';

const LOOP = 'while :; do :; done';
/** SECONDS: two threads run for that much CPU time each; 64 MB are touched. */
const PROGRAM = `
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double seconds;
char* block;
static void* work(void* unused) {
  struct timespec t;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  while (t.tv_sec + t.tv_nsec * 1e-9 < seconds);
  return unused;
}
int main(int argc, char** argv) {
  seconds = argc > 1 ? atof(argv[1]) : 1;
  block = malloc(64000000);
  memset(block, 1, 64000000);
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return argc > 2 ? atoi(argv[2]) : 0;
}
`;

describe('cacheline where', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const children: ChildProcess[] = [];
  const at = (...names: string[]): string => join(folder.path, ...names);
  const run = (args: readonly string[], options: Partial<RunOptions> = {}): Promise<Outcome> =>
    command.run(args, { cwd: folder.path, ...options });
  const start = (...args: string[]): number => {
    const child = spawn(args[0]!, args.slice(1), { stdio: 'ignore' });
    children.push(child);
    assert.ok(child.pid !== undefined);
    return child.pid;
  };
  const whereOf = ({ status, stdout, stderr }: Outcome, wanted = 0): Where => {
    assert.equal(status, wanted, stderr);
    const where = JSON.parse(stdout) as Where;
    assert.deepEqual(schemaErrors('cacheline-where-1', where), []);
    return where;
  };
  const total = (amounts: Record<string, number>): number => Object.values(amounts).reduce((sum, ns) => sum + ns, 0);
  const nodes = readdirSync('/sys/devices/system/node').filter((name) => /^node\d+$/.test(name)).length;

  const program = (): string => {
    const path = at('worker');
    execFileSync('cc', ['-O1', '-pthread', '-o', path, '-x', 'c', '-'], { input: PROGRAM });
    return path;
  };
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  it('looks at a running process and says where its time and its memory are', async () => {
    const pid = start('sh', '-c', LOOP);
    const where = whereOf(await run(['where', '-p', String(pid), '--seconds', '1', '--format', 'json']));
    assert.deepEqual(
      typeErrors([`import type { Where } from '../../extension/protocol/where';`], [{ type: 'Where', text: JSON.stringify(where) }]),
      [],
    );
    assert.ok(where.seconds >= 0.9 && where.seconds < 20, String(where.seconds));
    assert.deepEqual(
      where.processes.map((process) => [process.pid, process.name, process.ended, process.command]),
      [[pid, 'sh', false, ['sh', '-c', LOOP]]],
    );
    const [thread] = where.threads;
    assert.deepEqual([thread?.tid, thread?.pid, thread?.name], [pid, pid, 'sh']);
    assert.ok(total(thread!.cpuRunNs) > 1e8 && total(thread!.cpuRunNs) < 1.2e9 * where.seconds, JSON.stringify(thread!.cpuRunNs));
    assert.equal(total(thread!.runNs), total(thread!.cpuRunNs));
    assert.ok(where.looks.threads > 5, String(where.looks.threads));
    const bytes = where.nodes.reduce((sum, node) => sum + (node.bytes ?? NaN), 0);
    assert.ok(bytes > 100_000 && bytes < 100_000_000, String(bytes));
    assert.deepEqual(
      where.nodes.flatMap(({ cpus }) => cpus).length,
      where.machine!.nodes.flatMap(({ cpus }) => cpus).length,
      'each CPU is on a node',
    );
    assert.equal(where.remoteShare, null);
  });

  it('says of a machine with one node that it has one', async function () {
    if (nodes !== 1) return this.skip();
    const pid = start('sleep', '100');
    const { status, stdout, stderr } = await run(['where', '-p', String(pid), '--seconds', '0.2']);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /^Machine\n {2}.*\b1 NUMA node\b/);
    assert.match(stdout, new RegExp(`^Memory of sleep \\(process ${pid}\\)$`, 'm'));
    assert.match(stdout, /^ {2}1 thread did not run\.$/m);
    assert.match(stdout, /^Conclusion\n {2}This machine has one NUMA node:/m);
    assert.doesNotMatch(stdout, /numactl/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  });

  it('runs a program to its end and passes its output and status through', async () => {
    const where = whereOf(await run(['where', '--format', 'json', '--', program(), '0.7', '5']), 5);
    const ran = where.threads.filter(({ cpuRunNs }) => total(cpuRunNs) > 3e8);
    assert.equal(ran.length, 2, JSON.stringify(where.threads));
    for (const { name, cpuRunNs } of ran) {
      assert.equal(name, 'worker');
      assert.ok(total(cpuRunNs) < 0.75e9, JSON.stringify(cpuRunNs));
    }
    const bytes = where.nodes.reduce((sum, node) => sum + (node.bytes ?? NaN), 0);
    assert.ok(bytes > 60_000_000 && bytes < 80_000_000, String(bytes));
    assert.deepEqual(where.processes[0]!.command, [at('worker'), '0.7', '5']);
    const { status, stdout, stderr } = await run(['where', '--', 'sh', '-c', 'echo out; echo err >&2; kill -9 $$']);
    assert.equal(status, 137);
    assert.match(stdout, /^out\nMachine\n/);
    assert.equal(stderr, 'err\n');
  });

  it('follows what the program starts', async () => {
    const where = whereOf(await run(['where', '--format', 'json', '--', 'sh', '-c', `${program()} 0.7 & wait`]));
    assert.deepEqual(where.processes.map(({ name }) => name).sort(), ['sh', 'worker']);
    const worker = where.processes.find(({ name }) => name === 'worker')!.pid;
    assert.equal(where.threads.filter(({ pid, cpuRunNs }) => pid === worker && total(cpuRunNs) > 3e8).length, 2);
  });

  it('writes to files', async () => {
    const { status, stdout, stderr } = await run(['where', '-o', 'w.json', '--format=json', '--svg', 'w.svg', '--', 'echo', 'hello']);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, 'hello\n');
    assert.deepEqual(schemaErrors('cacheline-where-1', JSON.parse(readFileSync(at('w.json'), 'utf8'))), []);
    assert.match(readFileSync(at('w.svg'), 'utf8'), /^<svg [^]*<\/svg>\n$/);
    const failed = await run(['where', '-o', 'no/such/folder', '--', 'true']);
    assert.equal(failed.status, 4);
    assert.match(failed.stderr, /no\/such\/folder cannot be written: .*ENOENT/);
  });

  it('is ended by Ctrl-C, and shows what was seen', async () => {
    const pid = start('sh', '-c', LOOP);
    const through = ['timeout', '--preserve-status', '--signal=INT', '3'];
    const { status, stdout } = await run(['where', '-p', String(pid), '--seconds', '100'], { through });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /Conclusion/);
  });

  it('ends with the process, and says what is no process', async () => {
    const pid = start('sleep', '0.5');
    const where = whereOf(await run(['where', '-p', String(pid), '--seconds', '60', '--format', 'json']));
    assert.ok(where.seconds < 30, String(where.seconds));
    assert.equal(where.processes[0]!.ended, true);
    for (const [args, message] of [
      [['-p', '4194303'], /there is no process 4194303/],
      [['--', 'no-such-program'], /there is no program no-such-program in PATH/],
      [['--', './worker.txt'], /worker\.txt is not executable/],
    ] as const) {
      writeFileSync(at('worker.txt'), '');
      const { status, stderr, stdout } = await run(['where', ...args]);
      assert.equal(status, 2, stderr);
      assert.match(stderr, message);
      assert.equal(stdout, '');
    }
  });

  it('shows what may be seen of another user’s process, and says why not the rest', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    const pid = start('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'sleep', '100');
    const args = ['where', '-p', String(pid), '--seconds', '0.2', '--format', 'json'];
    const { status, stdout, stderr } = await run(args, { through: ['setpriv', '--bounding-set', '-sys_ptrace,-perfmon,-sys_admin'] });
    assert.equal(status, 0, stderr);
    const where = JSON.parse(stdout) as Where;
    assert.match(where.memoryReason ?? '', /numa_maps is not readable for this user: look as the process's user, or as root/);
    assert.equal(where.nodes[0]!.bytes === null, nodes !== 1, 'the resident set is known, and so is its place on one node');
    assert.equal(where.threads[0]!.tid, pid);
  });

  it('says of a recording with data sources how many loads another node answered', async function () {
    if (!canSynthesize) return this.skip();
    const worker = compileWorker(folder.path, { pie: false });
    const { file, samples } = synthesize('intel', folder.path, { seed: 7, samples: 5000, lines: 40, binary: worker });
    const where = whereOf(await run(['where', '--from', file, '--format', 'json']));
    const report = JSON.parse((await run(['report', file, '--format', 'json'])).stdout) as Report;
    const { ldL1, ldL2, ldLlc, localDram, remoteHitm, remoteHit, remoteDram } = report.stats;
    const far = remoteHitm! + remoteHit! + remoteDram!;
    assert.ok(far > 0 && samples.length === 5000);
    assert.equal(where.remoteShare, far / (ldL1! + ldL2! + ldLlc! + localDram! + far));
    assert.equal(where.machine, null);
    assert.match((await run(['where', '--from', file])).stdout, /^ {2}Of the loads whose source is known, \d+(\.\d+)?% were answered by/m);
    const recorded = await run(['record', '-o', 'clock', '--', 'sh', '-c', 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done']);
    assert.equal(recorded.status, 0, recorded.stderr);
    const clock = whereOf(await run(['where', '--from', 'clock', '--format', 'json']));
    assert.equal(clock.remoteShare, null);
    assert.match(clock.conclusion, /takes data sources, which only a memory PMU records/);
    assert.ok(clock.machine!.nodes.length > 0);
    assert.deepEqual(
      clock.warnings.filter((text) => /stopped|killed|no end|cut short/.test(text)),
      [],
    );
    assert.equal((await run(['where', '--from', 'no-such'])).status, 3);
  });

  it('says of a recording that its program was killed, or that its file was cut', async () => {
    assert.equal(
      (await run(['record', '-o', 'killed', '--', 'sh', '-c', 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done; kill -9 $$'])).status,
      137,
    );
    assert.match((await run(['where', '--from', 'killed'])).stdout, /^Warnings\n {2}The recorded program was killed by signal 9\.$/m);
    truncateSync(at('killed', 'perf.data'), statSync(at('killed', 'perf.data')).size / 2);
    const { warnings } = whereOf(await run(['where', '--from', 'killed', '--format', 'json']));
    assert.match(warnings.join('\n'), /by signal 9\.\n[^]*the file ends at \d+: it was cut short/);
  });

  it('is kept with each recording: the machine, and on several nodes the place of memory and threads', async () => {
    const { status, stderr } = await run(['record', '-o', 'r', '--', program(), '0.7']);
    assert.equal(status, 0, stderr);
    const meta = JSON.parse(readFileSync(at('r', 'meta.json'), 'utf8')) as RecordingMeta;
    assert.deepEqual(schemaErrors('cacheline-recording-1', meta), []);
    assert.equal(meta.topology?.nodes.length, nodes);
    assert.equal(meta.topology.nodes.flatMap(({ cpus }) => cpus).length, meta.machine.cpus);
    assert.ok(meta.topology.caches.length > 0);
    assert.equal(meta.placement === null, nodes === 1);
    const report = JSON.parse((await run(['report', 'r', '--format', 'json'])).stdout) as { recording: RecordingMeta };
    assert.deepEqual(report.recording.topology, meta.topology);
  });
});
