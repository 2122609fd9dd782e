// `cacheline report --by` on recordings by the clock of programs whose answers are known.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArguments } from '../../extension/cli/arguments';
import type { ReportArguments } from '../../extension/cli/report-arguments';
import { Command, root } from './command';
import { refuses } from './refused-arguments';
import { rowOf, sum, Tables } from './table-recording';

const source = join(root, 'test/fixtures/tables.c');

/** The number of the line with this marker. */
function lineOf(marker: string): number {
  const lines = readFileSync(source, 'utf8').split('\n');
  return lines.findIndex((line) => line.endsWith(`// @${marker}`)) + 1;
}

describe('report --by', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  let folder = '';
  const recordingOf = async (name: string, ...options: string[]): Promise<Tables> => {
    const { status, stderr } = await command.run(['record', '--collector', 'clock', '-o', name, ...options, '--', './tables'], {
      cwd: folder,
    });
    assert.equal(status, 0, stderr);
    return new Tables(command, () => folder, name);
  };
  let tables: Tables;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cacheline-tables-'));
    execFileSync('cc', ['-O1', '-g', '-pthread', '-o', join(folder, 'tables'), source]);
    tables = await recordingOf('clock');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('adds up to the report by every key, whatever a filter leaves', async () => {
    await tables.assertSums();
    await tables.assertSumsBy(['type', 'thread', 'time,line'], '--time', '20%-70%');
    const [thread] = (await tables.by('thread')).rows;
    await tables.assertSumsBy(['type', 'thread', 'node'], `--filter=-thread:${thread!.key.thread!.split(' ')[0]!}`);
  });

  it('knows what the program does', async () => {
    const tables = await recordingOf('heap', '--heap');
    const types = await tables.by('type');
    const counter = rowOf(types, 'counter');
    assert.equal(types.rows[0], counter, 'it has most contended samples');
    assert.equal(counter.verdict, 'false sharing');
    assert.ok(counter.falseShare! >= 0.8);
    assert.deepEqual([counter.instances, counter.bytes, counter.lines, counter.threads], [2, 32, 1, 2]);
    assert.ok(counter.programShare > 0.3, `${counter.programShare}`);
    assert.deepEqual([counter.hitm, counter.peer, counter.bounce, counter.ld, counter.st], [null, null, null, null, null]);
    const session = rowOf(types, 'session');
    assert.deepEqual([session.contended, session.verdict, session.instances, session.bytes], [0, 'private', 2, 256]);

    const { recording } = await tables.report();
    const period = 1e9 / recording!.frequency;
    assert.ok(Math.abs(counter.contendedNs! / (counter.contended * period) - 1) < 0.01, `${counter.contendedNs} ns`);

    assert.equal(rowOf(await tables.by('member'), 'counter.hits').contended, counter.contended);
    assert.equal(rowOf(await tables.by('type,member'), 'hits', 'member').key.type, 'counter');
    assert.equal(rowOf(await tables.by('object'), 'counters').contended, counter.contended);
    assert.equal(rowOf(await tables.by('allocation'), /^open_session \(.*tables\.c:\d+\)$/).samples, session.samples);
    assert.equal(rowOf(await tables.by('source'), `${source}:${lineOf('left')}`).verdict, 'false sharing');
    assert.equal(rowOf(await tables.by('file'), source).contended, counter.contended);
    assert.ok(rowOf(await tables.by('process'), /^\d+ tables$/).threads >= 2);

    const threads = await tables.by('thread');
    const [left, right] = [rowOf(threads, /^\d+ left$/), rowOf(threads, /^\d+ right$/)];
    assert.equal(left.contended + right.contended, counter.contended);
    assert.ok(Math.min(left.contended, right.contended) > 0.2 * counter.contended);
    const byThread = await tables.by('type,thread');
    const ofLeft = byThread.rows.find(({ key }) => key.type === 'counter' && key.thread?.endsWith(' left'));
    assert.deepEqual([ofLeft?.contended, ofLeft?.instances], [left.contended, 1]);
  });

  it('says which function waits for which, down to source lines', async () => {
    const functions = await tables.by('function');
    for (const [own, other] of [
      ['left', 'right'],
      ['right', 'left'],
    ] as const) {
      const { waitsFor = [], contended } = rowOf(functions, `count_${own}`);
      assert.ok(contended > 0);
      const [most] = waitsFor;
      assert.equal(most?.function, `count_${other}`);
      assert.ok(most.share > 0.95 && most.falseShare > 0.8, JSON.stringify(most));
      const [lines] = most.lines;
      assert.deepEqual([lines?.source, lines?.cause], [`${source}:${lineOf(own)}`, `${source}:${lineOf(other)}`]);
    }
    assert.deepEqual(rowOf(functions, 'count_alone').waitsFor, []);
    assert.match(await tables.text('function'), /Who waits for whom[^]*count_left +count_right/);
  });

  it('is a timeline', async () => {
    const { rows, bins } = await tables.by('time', '--bins', '10');
    assert.equal(rows.length, 10);
    assert.equal(bins?.count, 10);
    const contended = sum(rows, 'contended');
    assert.ok(sum(rows.slice(1, 4), 'contended') > 0.4 * contended, 'the first half');
    assert.ok(sum(rows.slice(6), 'contended') < 0.05 * contended, 'the second half');
    assert.ok(Math.min(...rows.slice(1, 9).map(({ samples }) => samples)) > 0);
    const sessions = (await tables.by('function,time', '--bins', '10')).rows.filter(({ key }) => key.function === 'count_alone');
    const times = sessions.map(({ key }) => Number.parseFloat(key.time!));
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
    const middle = (bins.from + bins.to) / 2;
    assert.ok(
      sum(
        sessions.filter(({ key }) => Number.parseFloat(key.time!) > middle - 0.3),
        'samples',
      ) >
        0.9 * sum(sessions, 'samples'),
    );
    // A key is a window of a filter.
    const window = await tables.by('time', '--bins', '1', '--filter', `time:${rows[2]!.key.time!}`);
    assert.ok(Math.abs(window.total.samples - rows[2]!.samples) <= 0.05 * rows[2]!.samples + 2);
  });

  it('is of recordings by the agent, too, and says what it cannot know', async () => {
    const tables = await recordingOf('agent', '--collector', 'agent');
    await tables.assertSumsBy(['type', 'thread', 'source,cpu']);
    const { collector, limits, rows } = await tables.by('type');
    assert.equal(collector, 'agent');
    assert.ok(
      limits.some((limit) => limit.startsWith('The agent samples')),
      limits.join(' '),
    );
    assert.ok(rows.some(({ key, contendedNs }) => key.type === 'counter' && contendedNs !== null));
  });

  it('refuses what it cannot use', async () => {
    refuses(['report', '--by', 'colour'], /--by takes line, object, .*'colour'/);
    refuses(['report', '--by', ''], /--by takes/);
    refuses(['report', '--by', 'type,'], /--by takes/);
    refuses(['report', '--by', 'type,type'], /two different keys/);
    refuses(['report', '--by', 'type,member,thread'], /one key or two, not 3/);
    refuses(['report', '--bins', '5'], /it needs --by/);
    refuses(['report', '--by', 'type', '--bins', '5'], /which --by type does not have/);
    for (const bins of ['0', '1.5', 'many', '10001']) refuses(['report', '--by', 'time', '--bins', bins], /--bins takes a whole number/);
    for (const option of [['-c', 'tid'], ['-g'], ['--stats'], ['-N'], ['--full-symbols'], ['--no-source']])
      refuses(['report', '--by', 'type', ...option], /is for the report: it cannot be used with --by/);
    const parsed = parseArguments(['report', 'a', '--by', 'type,time', '--bins', '3']) as ReportArguments;
    assert.deepEqual(parsed.table, { by: ['type', 'time'], bins: 3 });
    for (const [status, ...args] of [
      [2, 'nothing', '--by', 'colour'],
      [3, 'nothing', '--by', 'type'],
      [3, source, '--by', 'type'],
    ] as const)
      assert.equal((await command.run(['report', ...args], { cwd: folder })).status, status, args.join(' '));
  });
});
