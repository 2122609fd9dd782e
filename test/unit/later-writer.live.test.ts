// Queues whose loads take all the time, and data that is mostly read: who writes is known from code.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CacheLine, Report } from '../../extension/protocol/report';
import { Command, root } from './command';
import { schemaErrors } from './schemas';

describe('stores that have no samples', function () {
  this.timeout(60_000);
  const command = new Command();
  command.install();
  let folder = '';

  /** The line of an object in a recording of the program. */
  const lineOf = async (object: string): Promise<CacheLine> => {
    const run = ['record', '--collector', 'clock', '-o', object, '--', './later-writer', object];
    const recorded = await command.run(run, { cwd: folder });
    assert.equal(recorded.status, 0, recorded.stderr);
    const { status, stdout, stderr } = await command.run(['report', object, '--format', 'json', '--show-all'], { cwd: folder });
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout) as Report;
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    const line = report.lines.find(({ accesses }) => accesses.some(({ data }) => data.object === object));
    assert.ok(line, `no line of ${object}`);
    return line;
  };

  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-later-')));
    execFileSync('cc', ['-O2', '-g', '-pthread', '-o', join(folder, 'later-writer'), join(root, 'test/fixtures/later-writer.c')]);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('a queue is shared falsely, and found', async () => {
    const line = await lineOf('queue');
    assert.equal(line.verdict, 'false sharing');
    assert.ok(line.accesses.some(({ storesLater, loads }) => loads > 0 && storesLater === 'always'));
    assert.equal((await command.run(['check', 'queue'], { cwd: folder })).status, 1);
    const { stdout } = await command.run(['report', 'queue', '--no-pager'], { cwd: folder });
    assert.doesNotMatch(stdout, /nobody writes/);
  });

  it('settings that are written once are read-shared, and pass', async () => {
    const line = await lineOf('settings');
    assert.equal(line.verdict, 'read-shared');
    assert.equal(line.ifWritten, undefined);
    const { status, stdout, stderr } = await command.run(['check', 'settings'], { cwd: folder });
    assert.equal(status, 0, stdout + stderr);
  });
});
