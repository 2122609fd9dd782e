// Threads that take turns on one CPU do not wait for each other, and those that hand a line over between CPUs do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CacheLine, Report } from '../../extension/protocol/report';
import { Command, root } from './command';
import { schemaErrors } from './schemas';

/** The first two CPUs that this process may use. */
function usableCpus(): string[] {
  const list = /list: (.*)$/m.exec(execFileSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' }))?.[1] ?? '';
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
  });
}

describe('threads that take turns', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  let folder = '';
  let cpus: string[] = [];

  const record = async (name: string, args: readonly string[], ...options: string[]): Promise<Report> => {
    const line = ['record', '--collector', 'clock', ...options, '-o', name, '--', ...args];
    const recorded = await command.run(line, { cwd: folder });
    assert.equal(recorded.status, 0, recorded.stderr);
    const { status, stdout, stderr } = await command.run(['report', name, '--show-all', '--format', 'json'], { cwd: folder });
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout) as Report;
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    return report;
  };
  const wordsOf = (report: Report): CacheLine => {
    const line = report.lines.find(({ accesses }) => accesses.some(({ data }) => data.object === 'words'));
    assert.ok(line, 'the line of `words` has no samples');
    return line;
  };
  const assertTurns = (report: Report, basis: 'switches' | 'samples'): void => {
    const line = wordsOf(report);
    assert.equal(line.verdict, 'private');
    assert.deepEqual(line.flags, ['turns']);
    assert.equal(report.samples.contended, 0);
    assert.ok(report.turns);
    assert.equal(report.turns.basis, basis);
    assert.ok(report.turns.samples >= line.records, `${report.turns.samples} of ${line.records}`);
  };

  before(function () {
    cpus = usableCpus();
    if (cpus.length < 2) this.skip();
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-turns-')));
    const source = join(root, 'test/fixtures/turns.c');
    execFileSync('cc', ['-std=c11', '-O2', '-g', '-pthread', '-o', join(folder, 'turns'), source]);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [basis, ...options] of [['switches'], ['samples', '--no-switches']] as const) {
    it(`wait where a line is handed over between CPUs, though one of them sleeps (by ${basis})`, async () => {
      const [one = '', other = ''] = cpus;
      const report = await record(`between-${basis}`, ['./turns', 'hand-over', one, other], ...options);
      const line = wordsOf(report);
      assert.equal(line.verdict, 'false sharing');
      assert.deepEqual(line.flags, []);
      assert.ok(line.contended > 0.8 * line.records, `${line.contended} of ${line.records}`);
      assert.equal(report.turns?.basis, basis);
    });

    it(`do not wait where it is handed over on one CPU (by ${basis})`, async () => {
      const [one = ''] = cpus;
      assertTurns(await record(`one-${basis}`, ['./turns', 'hand-over', one, one], ...options), basis);
    });
  }

  it('do not wait while another thread keeps the other CPU busy', async () => {
    const [one = '', other = ''] = cpus;
    assertTurns(await record('beside', ['./turns', 'spin', one, one, other]), 'switches');
  });

  it('are what the report and advice begin with', async () => {
    const [one = ''] = cpus;
    const report = await record('all', ['taskset', '-c', one, './turns', 'spin', one, one]);
    assertTurns(report, 'switches');
    assert.equal(report.recording?.machine.usableCpus, 1);
    const text = await command.run(['report', 'all', '--no-pager', '--width', '200'], { cwd: folder });
    const [, words = ''] = text.stdout.split('\n\n');
    assert.equal(
      words.replace(/\s+/g, ' '),
      'Threads took turns on one CPU; nothing was contended in this run. Record again where 2 threads can run at once.',
    );
    const advice = await command.run(['advise', 'all'], { cwd: folder });
    assert.match(advice.stdout, /^No advice/m);
  });
});
