// `cacheline threads` end to end: a program whose threads say themselves what they did.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { ThreadsDocument, ThreadSchedule } from '../../extension/protocol/threads';
import { Command, root } from './command';
import { needsCommands } from './commands-here';
import { schemaErrors } from './schemas';

interface Truth {
  tid: number;
  cpuNs: number;
  voluntary: number;
  involuntary: number;
  offNs: number;
}

/** What the program printed, by the thread's name. */
function truthOf(output: string): Map<string, Truth> {
  const truth = new Map<string, Truth>();
  for (const [, name, ...numbers] of output.matchAll(/^(\w+) (\d+) (\d+) (\d+) (\d+) (\d+)$/gm)) {
    const [tid = 0, cpuNs = 0, voluntary = 0, involuntary = 0, offNs = 0] = numbers.map(Number);
    truth.set(name ?? '', { tid, cpuNs, voluntary, involuntary, offNs });
  }
  assert.equal(truth.size, 4, output);
  return truth;
}

describe('cacheline threads', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  let folder = '';
  let truth = new Map<string, Truth>();

  const run = (args: string[]) => command.run(['threads', ...args], { cwd: folder });
  const json = async (...args: string[]): Promise<ThreadsDocument> => {
    const { status, stdout, stderr } = await run([...args, '--format', 'json']);
    assert.equal(status, 0, stderr);
    const document = JSON.parse(stdout) as ThreadsDocument;
    assert.deepEqual(schemaErrors('cacheline-threads-1', document), []);
    return document;
  };
  const metaOf = (recording: string): RecordingMeta =>
    JSON.parse(readFileSync(join(folder, recording, 'meta.json'), 'utf8')) as RecordingMeta;
  const threadNamed = ({ threads }: ThreadsDocument, name: string): ThreadSchedule => {
    const found = threads.find(({ comm }) => comm === name);
    assert.ok(found, `no thread is called ${name}`);
    return found;
  };
  const record = async (recording: string, ...options: string[]): Promise<Map<string, Truth>> => {
    const args = ['record', '--collector', 'clock', ...options, '-o', recording, '--', './working-threads'];
    const { status, stdout, stderr } = await command.run(args, { cwd: folder });
    assert.equal(status, 0, stderr);
    return truthOf(stdout);
  };

  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-threads-')));
    const source = join(root, 'test/fixtures/working-threads.c');
    execFileSync('cc', ['-O1', '-g', '-pthread', '-o', join(folder, 'working-threads'), source]);
    truth = await record('switches.cacheline');
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('agrees with what the threads say of themselves', async () => {
    const document = await json('switches.cacheline');
    assert.equal(document.basis, 'switches');
    assert.equal(document.lost, 0);
    assert.equal(document.threads.length, 5);
    for (const [name, { tid, cpuNs, voluntary, involuntary }] of truth) {
      const found = threadNamed(document, name);
      assert.equal(found.tid, tid);
      const tolerance = 0.03 * cpuNs + 2_000_000;
      assert.ok(Math.abs(found.runningNs - cpuNs) < tolerance, `${name} ran ${found.runningNs} ns, and says ${cpuNs}`);
      // It asks before it ends, and is switched out for the last time behind that.
      assert.ok(
        Math.abs((found.switches ?? 0) - voluntary - involuntary) <= 3,
        `${name}: ${found.switches}, and ${voluntary} + ${involuntary}`,
      );
      assert.ok(Math.abs((found.preempted ?? 0) - involuntary) <= 3, `${name}: ${found.preempted}, and ${involuntary}`);
      assert.equal(found.unknownNs, 0);
      const parts = found.runningNs + (found.runnableNs ?? 0) + (found.blockedNs ?? 0);
      assert.equal(parts, found.lastNs - found.firstNs);
      assert.equal(
        found.cpus.reduce((sum, { runningNs }) => sum + runningNs, 0),
        found.runningNs,
      );
    }
  });

  it('tells blocked from running', async () => {
    const document = await json('switches.cacheline');
    for (const name of ['sleeper', 'waiter']) {
      const { offNs = 0 } = truth.get(name) ?? {};
      const { blockedNs, lastNs, firstNs, runningNs } = threadNamed(document, name);
      assert.ok((blockedNs ?? 0) >= 0.97 * offNs, `${name} was blocked ${blockedNs} ns, and slept ${offNs} at least`);
      assert.ok((blockedNs ?? 0) <= lastNs - firstNs - runningNs);
    }
    for (const name of ['long', 'short']) {
      const { blockedNs, runningNs } = threadNamed(document, name);
      assert.ok((blockedNs ?? 0) < 0.05 * runningNs, `${name} was blocked ${blockedNs} ns`);
    }
  });

  it('says who works longer', async () => {
    const { imbalance } = await json('switches.cacheline');
    const [found] = imbalance;
    assert.ok(found);
    assert.equal(found.longest, truth.get('long')?.tid);
    assert.ok(Math.abs(found.ratio - 2) < 0.1, String(found.ratio));
    const text = await run(['switches.cacheline', '--no-pager', '--width', '120']);
    assert.equal(text.status, 0, text.stderr);
    assert.match(text.stdout, /^Thread \d+ \(long\) works (1\.9|2\.0|2\.1) times as long as the 2 other working threads on average\.$/m);
    assert.match(text.stdout, /^ {2}\d+ sleeper +\|[#+Xx.\- ]+\|$/m);
  });

  it('agrees with perf on every switch', async function () {
    needsCommands(this, ['perf']);
    const data = join(folder, 'switches.cacheline/perf.data');
    const script = execFileSync('perf', ['script', '--show-switch-events', '-F', 'tid,time,event', '-i', data], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const out = new Map<number, number>();
    for (const [, tid] of script.matchAll(/^ *(\d+) .*PERF_RECORD_SWITCH +OUT/gm)) out.set(Number(tid), (out.get(Number(tid)) ?? 0) + 1);
    const { threads } = await json('switches.cacheline');
    // What a thread does behind its EXIT record counts for none.
    for (const { tid, switches } of threads) assert.equal(switches, out.get(tid) ?? 0, `thread ${tid}`);
  });

  it('takes threads, a window and bins', async () => {
    const tid = truth.get('long')?.tid ?? 0;
    const one = await json('switches.cacheline', '--tid', String(tid), '--bins', '7');
    assert.deepEqual(
      one.threads.map((each) => each.tid),
      [tid],
    );
    assert.equal(one.threads[0]?.lane?.running.length, 7);
    const all = await json('switches.cacheline');
    const window = await json('switches.cacheline', '--time', '0.1,0.2');
    assert.ok(Math.abs(window.spanNs - 1e8) < 1e6, String(window.spanNs));
    assert.ok((window.threads[0]?.runningNs ?? 0) <= window.spanNs);
    const share = await json('switches.cacheline', '--time', '0%-50%');
    assert.ok(share.spanNs > 0.4 * all.spanNs && share.spanNs < 0.6 * all.spanNs, `${share.spanNs} of ${all.spanNs}`);
  });

  it('refuses what it does not take', async () => {
    for (const args of [
      ['--bins', '0'],
      ['--bins', '1001'],
      ['--bins', '1.5'],
      ['--cpu', '0'],
      ['--format', 'csv'],
      ['a', 'b'],
    ]) {
      const { status, stdout, stderr } = await run(args);
      assert.equal(status, 2, `${args.join(' ')}: ${stderr}`);
      assert.equal(stdout, '');
      assert.match(stderr, /cacheline threads --help/);
    }
    assert.equal((await run(['nowhere.cacheline'])).status, 3);
  });

  it('estimates from samples where switches are not recorded, and says so', async () => {
    const said = await record('samples.cacheline', '--no-switches');
    assert.deepEqual(metaOf('samples.cacheline').switches, { recorded: false, reason: 'they were not asked for (--no-switches)' });
    const document = await json('samples.cacheline');
    assert.equal(document.basis, 'samples');
    assert.equal(document.basisReason, 'they were not asked for (--no-switches)');
    const { cpuNs = 0 } = said.get('long') ?? {};
    const { runningNs, blockedNs, switches } = threadNamed(document, 'long');
    assert.ok(Math.abs(runningNs - cpuNs) < 0.3 * cpuNs, `${runningNs}, and ${cpuNs}`);
    assert.equal(blockedNs, null);
    assert.equal(switches, null);
  });

  it('estimates from the samples of the agent', async () => {
    const args = ['record', '--collector', 'agent', '-o', 'agent.cacheline', '--', './working-threads'];
    const { status, stdout, stderr } = await command.run(args, { cwd: folder });
    assert.equal(status, 0, stderr);
    const { cpuNs = 0 } = truthOf(stdout).get('long') ?? {};
    const document = await json('agent.cacheline');
    assert.equal(document.basis, 'samples');
    assert.equal(document.basisReason, 'this collector sees no context switches');
    const { runningNs } = threadNamed(document, 'long');
    assert.ok(Math.abs(runningNs - cpuNs) < 0.3 * cpuNs, `${runningNs}, and ${cpuNs}`);
  });

  it('reads what is left of a recording that was cut, and says so', async () => {
    cpSync(join(folder, 'switches.cacheline'), join(folder, 'cut.cacheline'), { recursive: true });
    const data = join(folder, 'cut.cacheline/perf.data');
    const whole = await json('switches.cacheline');
    truncateSync(data, Math.floor(statSync(data).size * 0.6) + 3);
    const document = await json('cut.cacheline');
    assert.ok(document.warnings.length > 0);
    assert.ok(document.spanNs < whole.spanNs && document.spanNs > 0, `${document.spanNs} of ${whole.spanNs}`);
    const text = await run(['cut.cacheline', '--no-pager']);
    assert.match(text.stdout, /^Warnings$/m);
  });

  it('reads recordings of older versions, which say nothing of switches', async () => {
    cpSync(join(folder, 'samples.cacheline'), join(folder, 'older.cacheline'), { recursive: true });
    const { switches, ...older } = metaOf('older.cacheline');
    assert.ok(switches);
    writeFileSync(join(folder, 'older.cacheline/meta.json'), JSON.stringify(older));
    assert.equal((await json('older.cacheline')).basisReason, 'the recording has none');
  });

  it('writes into meta.json that they are recorded', () => {
    const meta = metaOf('switches.cacheline');
    assert.deepEqual(meta.switches, { recorded: true, reason: null });
    assert.deepEqual(schemaErrors('cacheline-recording-1', meta), []);
  });
});
