// Recording with perf_event_open really refused, as container runtimes do: the agent takes the samples, and the examples keep their answers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Report } from '../../extension/protocol/report';
import { Command, examples, root } from './command';
import { buildExamples, exampleRecording } from './example-recordings';
import { assertAttributed, assertVerdict, temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

interface Program {
  name: string;
  /** Not given where a run may find something or nothing. */
  top?: { verdict: string; or?: string; flags: string[]; minThreads: number; minProcesses: number } | null;
}
interface Meta {
  collector: string;
  collectorReason: string;
  frequency: number;
  notTaken: { collector: string; reason: string }[];
  warnings: string[];
}
const { programs } = JSON.parse(readFileSync(join(root, 'examples/answers.json'), 'utf8')) as { programs: Program[] };

describe('where perf_event_open is refused', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  let refused: string;

  before(() => {
    refused = buildExamples();
  });
  const record = (...args: string[]) => command.run(['record', ...args], { cwd: folder.path, through: [refused] });
  const metaOf = (name: string) => JSON.parse(readFileSync(resolve(folder.path, name, 'meta.json'), 'utf8')) as Meta;
  const reportOf = async (name: string): Promise<Report> => {
    const { status, stdout, stderr } = await command.run(['report', name, '--format', 'json'], { cwd: folder.path });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as Report;
  };

  // The same judge reads them as by the clock, so one of each kind is enough, and three that nothing contends for.
  const kindOf = ({ top }: Program): string => JSON.stringify([top?.verdict, top?.or, top?.flags, top?.minProcesses]);
  const kinds = new Map(programs.filter(({ top }) => top).map((program) => [kindOf(program), program]));
  const quiet = ['counter_array-fixed', 'small_blocks-fixed', 'private_after_fork-private'];
  for (const { name, top } of [...kinds.values(), ...programs.filter((program) => quiet.includes(program.name))])
    it(`${name} has the answer that it has by the clock`, async () => {
      const path = await exampleRecording(command, name, 'agent');
      const report = await reportOf(path);
      const meta = metaOf(path);
      assert.equal(meta.collector, 'agent');
      assert.match(meta.collectorReason, /CPU-time timer at 250 Hz/);
      assert.match(
        meta.notTaken.find(({ collector }) => collector === 'clock')?.reason ?? '',
        /perf_event_open is refused with EPERM.*seccomp/,
      );
      assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
      assert.deepEqual(report.evidence, ['clock']);
      assert.equal(report.collector, 'agent');
      const { total, lost } = report.samples;
      assert.ok(total >= 30, `${total} samples are too few to judge by`);
      assertAttributed(report.samples);
      assert.equal(lost, 0);
      if (top === undefined) return;
      const contended = report.lines.filter((line) => line.contended > 0);
      assert.equal(contended.length > 0, top !== null, JSON.stringify(contended.map(({ address, verdict }) => [address, verdict])));
      if (top === null) return;
      assert.ok(contended[0]);
      assertVerdict(contended[0], top.verdict, top.or);
      // Some hundred samples may have no write of a word that is seldom written: it then seems to be read only.
      const sure = (flags: string[]): string[] => flags.filter((flag) => flag !== 'mixed-use').sort();
      assert.deepEqual(sure(contended[0].flags), sure(top.flags));
      assert.ok(contended[0].threads.length >= top.minThreads);
    });

  it('says what keeps the agent out, too', async () => {
    execFileSync('cc', ['-static', '-o', join(folder.path, 'fixed'), '-x', 'c', '-'], { input: 'int main(void) { return 0; }' });
    const { status, stderr } = await record('-o', 'none', '--', './fixed');
    assert.equal(status, 4, stderr);
    assert.match(stderr, /perf_event_open is refused.*nor with the agent: it is statically linked/);
    assert.ok(!existsSync(join(folder.path, 'none/perf.data')));
  });

  it('leaves Go programs alone, by itself and where it is asked for', async () => {
    const input = '__attribute__((section(".go.buildinfo"), used)) static char info[] = "Go"; int main(void) { return 0; }';
    execFileSync('cc', ['-o', join(folder.path, 'go'), '-x', 'c', '-'], { input });
    const alone = await record('-o', 'go.cl', '--', './go');
    assert.equal(alone.status, 4, alone.stderr);
    assert.match(alone.stderr, /perf_event_open is refused.*nor with the agent: it is a Go program/);
    const asked = await record('--collector', 'agent', '-o', 'go.cl', '--', './go');
    assert.equal(asked.status, 4, asked.stderr);
    assert.match(asked.stderr, /cannot record with the agent: it is a Go program.*\n.*--collector clock, where perf_event_open is allowed/);
    assert.ok(!existsSync(join(folder.path, 'go.cl/perf.data')));
  });

  it('labels rates above the kernel tick as wall-clock', async () => {
    const { status, stderr } = await record('-F', '500', '-o', 'fast', '--', join(examples, 'reader_writer-contended'));
    assert.equal(status, 0, stderr);
    const meta = metaOf('fast');
    assert.equal(meta.frequency, 500);
    assert.match(meta.collectorReason, /wall-clock timer at 500 Hz/);
    assert.ok(meta.warnings.some((warning) => warning.includes('by the wall clock')));
    assert.equal((await reportOf('fast')).lines[0]?.verdict, 'false sharing');
  });

  it('records heap blocks with the other agent beside it', async () => {
    const { status, stderr } = await record('--heap', '-o', 'both', '--', process.execPath, '-e', 'for (let i = 0; i < 3e8; i++);');
    assert.equal(status, 0, stderr);
    const meta = metaOf('both') as Meta & { samples: number; heap: { blocks: number } };
    assert.equal(meta.collector, 'agent');
    assert.ok(meta.samples > 0);
    assert.ok(meta.heap.blocks > 0);
  });
});
