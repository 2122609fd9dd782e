// `cacheline workset` end to end: programs whose footprints are known, used evenly and unevenly, on one set, and small ones.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { DataWorkingSet, ExplainedMissClass, MissClassName, WorksetDocument } from '../../extension/protocol/workset';
import { Command, root } from './command';
import { schemaErrors } from './schemas';

/** Lines of the caches that the tests compare with, whatever machine they run on: 64 sets of 12 ways, then 4096, then 65536 lines. */
const CACHES = [
  { level: 1, type: 'Data', bytes: 48 * 1024, lineSize: 64, ways: 12 },
  { level: 2, type: 'Unified', bytes: 256 * 1024, lineSize: 64, ways: 16 },
  { level: 3, type: 'Unified', bytes: 4096 * 1024, lineSize: 64, ways: 16 },
];

describe('cacheline workset', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  let folder = '';

  const run = (args: string[]) => command.run(['workset', ...args], { cwd: folder });
  const json = async (...args: string[]): Promise<WorksetDocument> => {
    const { status, stdout, stderr } = await run([...args, '--format', 'json']);
    assert.equal(status, 0, stderr);
    const document = JSON.parse(stdout) as WorksetDocument;
    assert.deepEqual(schemaErrors('cacheline-workset-1', document), []);
    return document;
  };
  const metaPath = (name: string): string => join(folder, name, 'meta.json');
  const metaOf = (name: string): RecordingMeta => JSON.parse(readFileSync(metaPath(name), 'utf8')) as RecordingMeta;
  const recorded = new Map<string, Promise<string>>();
  /** Its recording, which all tests that ask for it share. */
  const recordingOf = (...program: string[]): Promise<string> => {
    const key = program.join(' ');
    const recording = recorded.get(key) ?? record(...program);
    recorded.set(key, recording);
    return recording;
  };
  const record = async (...program: string[]): Promise<string> => {
    const name = `${program.join('-')}.cacheline`;
    const args = ['record', '--collector', 'clock', '--heap', '--force', '-o', name, '--', './footprints', ...program];
    const { status, stderr } = await command.run(args, { cwd: folder });
    assert.equal(status, 0, stderr);
    const meta = metaOf(name);
    assert.deepEqual(schemaErrors('cacheline-recording-1', meta), []);
    const cpus = meta.topology?.cores.flatMap((core) => core.cpus) ?? [];
    const caches = CACHES.flatMap((cache) => (cache.level === 3 ? [{ ...cache, cpus }] : cpus.map((cpu) => ({ ...cache, cpus: [cpu] }))));
    writeFileSync(metaPath(name), JSON.stringify({ ...meta, topology: { ...meta.topology, caches } }));
    return name;
  };
  const classOf = ({ missClasses }: WorksetDocument, name: MissClassName, level: number | null = null): ExplainedMissClass => {
    const found = missClasses.find((each) => each.class === name && (level === null || each.level === level));
    assert.ok(found, `${name} of level ${level} is missing`);
    return found;
  };
  const cells = ({ types }: WorksetDocument): DataWorkingSet => {
    const found = types.find(({ name }) => name === 'Cell');
    assert.ok(found, 'no sample is on a Cell');
    return found;
  };

  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-workset-')));
    execFileSync('cc', ['-O1', '-g', '-o', join(folder, 'footprints'), join(root, 'test/fixtures/footprints.c')]);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  // What the lower bound has to reach of the truth. Skewed: lines at the end are used less often, and some hardly.
  for (const [how, lines, least] of [
    ['even', 512, 0.7],
    ['even', 16384, 0.2],
    ['skewed', 4096, 0.3],
  ] as const)
    it(`bounds ${lines} lines that are used ${how === 'even' ? 'evenly' : 'unevenly'}`, async () => {
      const document = await json(await recordingOf(how, String(lines)));
      const { samples, lines: sampled, coverage, atLeast, estimate, atMost, peakBytes } = cells(document);
      // The row of docs/design/workset.md.
      const seen = `${samples} | ${sampled} | ${((coverage ?? NaN) * 100).toFixed(1)}%`;
      process.stdout.write(`      | ${how} | ${lines} | ${seen} | ${atLeast} | ${estimate} | ${atMost} |\n`);
      assert.ok(atLeast !== null && estimate !== null, 'nothing is estimated');
      // The lower end of a 95% interval: 1 recording in 40 may exceed the truth, but not by much.
      assert.ok(atLeast <= 1.3 * lines, `at least ${atLeast} of ${lines}`);
      assert.ok(atLeast >= least * lines, `at least ${atLeast} of ${lines}`);
      assert.ok(atLeast >= sampled);
      assert.equal(atMost, lines);
      assert.equal(peakBytes, lines * 64);
      const [site] = document.allocations.filter(({ name }) => name.startsWith('make_cells ('));
      assert.equal(site?.atMost, lines);
      assert.equal(site.atLeast, atLeast);
    });

  it('finds lines of one set in conflict, and not those of all sets', async () => {
    const conflict = classOf(await json(await recordingOf('stride', '64')), 'conflict');
    assert.equal(conflict.knowledge, 'possible');
    assert.equal(conflict.sets?.oversubscribed, 1);
    assert.equal(conflict.threads.length, 1);
    assert.match(conflict.remedy ?? '', /not a multiple of 4,096 bytes/);
    const small = await json(await recordingOf('even', '60'));
    assert.equal(classOf(small, 'conflict').knowledge, 'not seen');
    assert.equal(classOf(small, 'conflict').remedy, null);
    for (const level of [1, 2, 3]) assert.equal(classOf(small, 'capacity', level).knowledge, 'not seen');
    for (const name of ['false sharing', 'true sharing'] as const) assert.equal(classOf(small, name).knowledge, 'not seen');
  });

  it('finds that caches are too small, of those that are', async () => {
    const name = await recordingOf('even', '16384');
    const document = await json(name);
    for (const level of [1, 2]) {
      const capacity = classOf(document, 'capacity', level);
      assert.equal(capacity.knowledge, 'possible', `L${level}: ${capacity.evidence}`);
      assert.ok((capacity.lines ?? 0) > (capacity.cacheLines ?? Infinity));
    }
    assert.equal(classOf(document, 'capacity', 3).knowledge, 'not known');
    assert.equal(classOf(document, 'conflict').knowledge, 'not known');
    const { status, stdout, stderr } = await run([name, '--no-pager', '--width', '120']);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /capacity of L2: possible\. Of thread \d+: at least [\d,]+ \([\d.]+ KiB\) lines are used at a time/);
    assert.match(stdout, /Use less memory at a time/);
    assert.match(stdout, / 1 MiB +Cell$/m);
  });

  it('takes filters, and says what it cannot know', async () => {
    const name = await recordingOf('even', '60');
    const all = await json(name);
    const half = await json(name, '--time', '0%-50%');
    assert.ok(half.filtered !== null && half.filtered > 0.3 * all.samples);
    assert.ok(half.all.samples < 0.7 * all.all.samples);
    const none = await json(name, '--tid', '1');
    assert.equal(none.all.atLeast, null);
    assert.equal(none.all.reason, 'there are 0 samples, and 50 are needed');
    cpSync(join(folder, name), join(folder, 'older.cacheline'), { recursive: true });
    const older: Partial<RecordingMeta> = metaOf(name);
    delete older.topology;
    writeFileSync(metaPath('older.cacheline'), JSON.stringify(older));
    rmSync(join(folder, 'older.cacheline/allocations'));
    const document = await json('older.cacheline');
    assert.deepEqual(document.caches, []);
    assert.equal(classOf(document, 'capacity').knowledge, 'not known');
    assert.equal(cells(document).atMostReason, 'the recording has no heap blocks');
  });

  it('refuses what it does not take', async () => {
    for (const args of [
      ['--format', 'csv'],
      ['--bins', '3'],
      ['--width', '1'],
      ['a', 'b'],
      ['--time', '5,1'],
    ]) {
      const { status, stdout, stderr } = await run(args);
      assert.equal(status, 2, `${args.join(' ')}: ${stderr}`);
      assert.equal(stdout, '');
      assert.match(stderr, /cacheline workset --help/);
    }
    assert.equal((await run(['nowhere.cacheline'])).status, 3);
  });
});
