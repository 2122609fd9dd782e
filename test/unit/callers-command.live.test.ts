// Who called, in recordings of a real program by the clock: with stacks, with chains of frame pointers, and with neither. `perf script` judges.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Access, Report } from '../../extension/protocol/report';
import { Command, root } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

describe('callers', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const program = (): string => join(folder.path, 'callers');

  const run = async (...args: string[]): Promise<{ stdout: string; stderr: string }> => {
    const { status, stdout, stderr } = await command.run(args, { cwd: folder.path });
    assert.equal(status, 0, stderr);
    return { stdout, stderr };
  };
  /** The rows of `bump`, as `-g` reports them. */
  const bumps = async (name: string): Promise<Access[]> => {
    const report = JSON.parse((await run('report', '-g', name, '--format', 'json')).stdout) as Report;
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    const rows = report.lines.flatMap(({ accesses }) => accesses).filter(({ symbol }) => symbol === 'bump');
    assert.ok(rows.length > 0, JSON.stringify(report.samples));
    return rows;
  };
  /** "left work" and how many samples came by it. */
  const chains = (rows: readonly Access[], frames: number): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const chain of rows.flatMap(({ callers = [] }) => callers)) {
      assert.equal(chain.hitm, null);
      const key = chain.frames
        .slice(0, frames)
        .map(({ symbol, codeAddress }) => symbol || codeAddress)
        .join(' ');
      sums.set(key, (sums.get(key) ?? 0) + chain.records);
    }
    return sums;
  };

  beforeEach(() => {
    const flags = ['-O2', '-g', '-fno-omit-frame-pointer', '-momit-leaf-frame-pointer', '-pthread'];
    execFileSync('cc', [...flags, '-o', program(), join(root, 'test/fixtures/callers.c')]);
  });

  it('are those of the recorded stacks, as perf unwinds them', async () => {
    const { stderr } = await run('record', '--call-graph', 'dwarf', '-o', 'stacks', '--', program());
    assert.match(stderr, /next: cacheline report -g stacks\n/);
    const found = chains(await bumps('stacks'), 2);
    assert.deepEqual([...found.keys()].sort(), ['left work', 'right work']);

    const script = execFileSync('perf', ['script', '--no-inline', '-F', 'ip,sym', '-i', join(folder.path, 'stacks/perf.data')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1 << 28,
    });
    const theirs = script
      .split('\n\n')
      .map((sample) => [...sample.matchAll(/^\s*[0-9a-f]+ (\S+)/gm)].map(([, symbol]) => symbol))
      .filter(([innermost]) => innermost === 'bump');
    for (const [chain, records] of found) {
      const judged = theirs.filter(([, ...callers]) => callers.slice(0, 2).join(' ') === chain).length;
      // Samples of bump's last instructions may be no access of its own.
      assert.ok(judged > 0 && records <= judged, `${chain}: ${records}, perf ${judged}`);
    }
  });

  it('of frame pointers lack the caller of code that keeps none, and say so', async () => {
    await run('record', '-g', '-o', 'pointers', '--', program());
    assert.deepEqual([...chains(await bumps('pointers'), 2).keys()], ['0x0 work']);
    const { stdout } = await run('report', '-g', 'pointers');
    assert.match(
      stdout,
      /bump at offset \d+ was called from\n +\d+\.\d% {2}unknown \(record --call-graph dwarf tells\) < work \(callers\.c:\d+\)/,
    );
  });

  it('are absent where they were not recorded, or not asked for', async () => {
    await run('record', '-o', 'plain', '--', program());
    assert.deepEqual(
      (await bumps('plain')).map(({ callers }) => callers),
      [[]],
    );
    const asked = (await run('report', '-g', 'plain')).stdout.replace(/\s+/g, ' ');
    assert.match(asked, / No callers: the accesses have no call chains\. `cacheline record --call-graph dwarf` records them\. /);
    const { stdout } = await run('report', 'plain');
    assert.doesNotMatch(stdout, /called from|No callers/);
  });
});
