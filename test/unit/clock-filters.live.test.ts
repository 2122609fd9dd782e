// Options of `report` that choose samples and put them together, on a recording by the clock.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Report } from '../../extension/protocol/report';
import { Command, root } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

describe('filters on a clock recording', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();

  const text = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await command.run(['report', 'clock', ...args], { cwd: folder.path });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const json = async (...args: string[]): Promise<Report> => {
    const report = JSON.parse(await text('--format', 'json', ...args)) as Report;
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    return report;
  };

  beforeEach(async () => {
    const program = join(folder.path, 'callers');
    execFileSync('cc', ['-O2', '-g', '-pthread', '-o', program, join(root, 'test/fixtures/callers.c')]);
    const { status, stderr } = await command.run(['record', '--collector', 'clock', '-o', 'clock', '--', program], { cwd: folder.path });
    assert.equal(status, 0, stderr);
  });

  it('leave samples out, say how many, and split the recording without a rest', async () => {
    const all = await json('--show-all');
    assert.equal(all.samples.filtered, undefined);
    for (const [one, other] of [
      [
        ['--time', '0%-50%'],
        ['--time', '50%-100%'],
      ],
      [
        ['--cpu', '0'],
        ['--cpu', '1-1023'],
      ],
      [['--user'], ['--kernel']],
    ] as const) {
      const parts = [await json(...one), await json(...other)];
      for (const { samples } of parts) assert.equal(samples.total + samples.filtered!, all.samples.total, one.join(' '));
      const sum = parts.reduce((total, { samples }) => total + samples.total, 0);
      // Both ends of a window are in it.
      assert.ok(sum >= all.samples.total && sum <= all.samples.total + 2, `${one.join(' ')}: ${sum} of ${all.samples.total}`);
    }
    const [thread] = all.lines.find(({ contended }) => contended > 0)!.threads;
    const own = await json('--tid', String(thread!.tid), '--show-all');
    assert.equal(own.samples.contended, 0, 'nobody is left to compete with');
    assert.deepEqual(new Set(own.lines.flatMap(({ threads }) => threads.map(({ tid }) => tid))), new Set([thread!.tid]));
    assert.match(await text('--tid', String(thread!.tid)), /Samples +[\d,]+: [^:]* lost,\s+[\d,]+\s+more left out by\s+the filters/);
    assert.match(await text('--tid', '1'), /The filters left none of [\d,]+ samples/);
  });

  it('are terms that a person writes, too', async () => {
    const all = await json('--show-all');
    const [thread] = all.lines.find(({ contended }) => contended > 0)!.threads;
    assert.deepEqual(await json('--filter', `thread:${thread!.tid}`, '--show-all'), await json('--tid', String(thread!.tid), '--show-all'));
    assert.deepEqual(await json('--filter', 'time:0-50% mode:user'), await json('--time', '0%-50%', '--user'));
    const { selected, samples, lines } = await json('--show-all', '--filter', 'verdict:private');
    assert.deepEqual(selected, { lines: lines.length, of: all.lines.length });
    assert.ok(lines.length > 0 && lines.length < all.lines.length);
    assert.deepEqual(new Set(lines.map(({ verdict }) => verdict)), new Set(['private']));
    assert.deepEqual(samples, all.samples, 'terms of lines leave no sample out');
    assert.match(await text('--filter', 'verdict:private', '--show-all'), /The filter selects [\d,]+ of [\d,]+ lines/);
    assert.match(await text('--filter', 'function:nobody'), /The filter selects none of [\d,]+ lines?\./);
    const { status, stderr } = await command.run(['report', 'clock', '--filter', 'colour:red'], { cwd: folder.path });
    assert.equal(status, 2);
    assert.match(stderr, /'colour:red' is not a filter term\.\n.*Terms are time:/);
  });

  it('are joined by what makes rows, and by pairs of lines', async () => {
    const code = await json();
    const threads = await json('-c', 'tid,iaddr');
    assert.deepEqual(
      threads.lines.map(({ address, verdict, records }) => [address, verdict, records]),
      code.lines.map(({ address, verdict, records }) => [address, verdict, records]),
    );
    for (const { accesses } of threads.lines) for (const access of accesses) assert.equal(access.threads.length, 1);
    const pairs = await json('--double-cl');
    assert.equal(pairs.doubleLine, true);
    for (const { address } of pairs.lines) assert.equal(BigInt(address) % BigInt(2 * pairs.lineSize), 0n);
  });
});
