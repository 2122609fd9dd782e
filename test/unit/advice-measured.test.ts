// What real programs' recordings are advised of: objects whose luck is their place, and locks with their data.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { loadAddon, NativeEngine } from '../../extension/engine/native';
import type { AdviceList } from '../../extension/protocol/advice';
import type { Report } from '../../extension/protocol/report';
import { Command, compileFixture } from './command';
import { onTwoProcessors, temporaryFolder } from './fixtures';

describe('advice on recordings', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const engine = new NativeEngine(loadAddon());
  const advise = (name: string): Promise<AdviceList> => engine.call('advise', { path: join(folder.path, name), showAll: false });

  async function recordAndReport(name: string, ...program: string[]): Promise<Report> {
    return onTwoProcessors(async () => {
      const recorded = await command.run(['record', '--force', '-F', '4000', '-o', name, '--', ...program], { cwd: folder.path });
      assert.equal(recorded.status, 0, recorded.stderr);
      return engine.call('analyze', { path: join(folder.path, name), showAll: false });
    });
  }

  it('latent sharing is where the program shares with that placement forced', async () => {
    const program = compileFixture('placed-clock', folder.path);
    const offsets = [0, 16, 32, 48];
    const contended: number[] = [];
    let quiet: string | undefined;
    for (const offset of offsets) {
      const report = await recordAndReport(`at-${offset}`, program, String(offset));
      if (report.lines.some((line) => line.contended > 0.02 * report.samples.total)) contended.push(offset);
      else quiet = `at-${offset}`;
    }
    assert.deepEqual(contended, [0, 16], 'placements that share a line');
    assert.ok(quiet !== undefined);
    const { advice, latent } = await advise(quiet);
    assert.deepEqual(
      advice.map(({ way }) => way).filter((way) => way !== 'none'),
      [],
    );
    const clock = latent.find(({ subject }) => subject.type === 'clock');
    assert.ok(clock, 'the clock is not listed');
    assert.deepEqual(clock.subject.members, ['limit', 'now']);
    const onLines = clock.placements.filter(({ lineSize }) => lineSize === 64).map(({ baseOffset }) => baseOffset);
    assert.deepEqual(onLines, contended);
  });

  it('tells which of two nested locks protects what', async () => {
    const program = compileFixture('nested-locks', folder.path);
    await recordAndReport('locks', program);
    const { advice } = await advise('locks');
    const ledger = advice.find(({ subject }) => subject.type === 'ledger');
    assert.ok(ledger, JSON.stringify(advice));
    assert.deepEqual(ledger.locks, [
      { name: 'inner', data: ['totals'] },
      { name: 'outer', data: ['entries'] },
    ]);
  });
});
