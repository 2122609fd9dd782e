// Tables of recordings with data sources: against the list of samples that they were made from, and against the installed
// `perf mem report`, which adds the same samples up by data source, snoop, symbol and cache line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NativeEngine, type NativeAddon } from '../../extension/engine/native';
import { tableHeadOf, tableRowsOf } from '../../extension/engine/table-pieces';
import { EngineError, type TableParams } from '../../extension/protocol/engine';
import type { Report } from '../../extension/protocol/report';
import { TABLE_KEYS, type Table, type TableKey, type TableRow } from '../../extension/protocol/table';
import { analyze, hasAddon } from './c2c/engine';
import { addonPath } from './command';
import { hasPerf, runPerf } from './c2c/perf-c2c';
import type { Sample } from './c2c/recount';
import { canSynthesize, compileWorker, synthesize, type Recording } from './c2c/synth';
import { schemaErrors } from './schemas';
import { sum } from './table-recording';

const SCENARIOS = ['intel', 'intel-aux', 'amd', 'powerpc', 'peer', 'private-file', 'unmapped', 'no-physical'];
/** Where perf's rules for what is one line and one symbol are ours. */
const AS_PERF = ['intel', 'amd', 'powerpc', 'peer'];

async function tableOf(path: string, by: TableKey[], more: Partial<TableParams> = {}): Promise<Table> {
  const addon = createRequire(__filename)(addonPath) as NativeAddon;
  const pieces = await new NativeEngine(addon).table({ path, by, ...more });
  const table = { ...tableHeadOf(pieces), rows: [...tableRowsOf(pieces)] };
  assert.deepEqual(schemaErrors('cacheline-table-1', table), []);
  return table;
}

function counted<T>(items: readonly T[], keyOf: (item: T) => string, amount: (item: T) => number = () => 1): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + amount(item);
  return counts;
}

const withoutZeros = (counts: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
const bySamples = (rows: readonly TableRow[], key: TableKey, text = (value: string) => value): Record<string, number> =>
  withoutZeros(
    counted(
      rows,
      (row) => text(row.key[key] ?? ''),
      ({ samples }) => samples,
    ),
  );
/** "file 0:25:77" as reports have it, with the device in hex. */
const spaceName = (space: string): string =>
  space.replace(/^file (\d+):(\d+):/, (_, major: string, minor: string) => `file ${hex(major)}:${hex(minor)}:`);
const hex = (digits: string): string => Number(digits).toString(16).padStart(2, '0');
const firstWord = (text: string): string => text.split(' ')[0] ?? '';
const isPlaced = ({ lines }: TableRow): boolean => lines > 0;

/** A load or a store with an address: it has a place on a line. */
const isAccess = ({ source, address }: Sample): boolean => address !== '0' && (BigInt(`0x${source}`) & 0x6n) !== 0n;

/** The rows of `perf mem report`: samples by the text of a sort key, of all events together. */
function perfMem(file: string, key: string): Record<string, number> {
  const rows = runPerf(['mem', 'report', '-i', file, '--stdio', '-n', '--sort', key])
    .split('\n')
    .flatMap((line): [number, string][] => {
      const [, samples, text = ''] = /^\s*[\d.]+%\s+(\d+)\s+(\S.*)$/.exec(line) ?? [];
      return samples === undefined ? [] : [[Number(samples), text.trim()]];
    });
  assert.notEqual(rows.length, 0, `perf mem report printed no rows by ${key}`);
  return counted(
    rows,
    ([, text]) => text,
    ([samples]) => samples,
  );
}

function assertTotal({ total, rows }: Table, { samples }: Pick<Report, 'samples'>, what: string): void {
  assert.deepEqual([total.samples, total.contended], [samples.total, samples.contended], what);
  assert.equal(sum(rows, 'misses'), total.misses ?? 0, what);
}

/**
 * perf's lines are "[.] 0x00007f1000000040" whatever the process, of shared mappings "[s] 0000000000000040" by the place in the file, and of
 * variables "[.] board::histogram+0x…"; what has no address is at 0.
 */
function assertLines(perf: Record<string, number>, rows: readonly TableRow[]): void {
  const kindOf = (mark: string, address: string): string => `${mark === 's' ? 'file' : 'memory'} ${BigInt(`0x${address}`).toString(16)}`;
  const theirs: Record<string, number> = {};
  let named = 0;
  for (const [text, samples] of Object.entries(perf)) {
    const [, mark = '', address] = /^\[(.)\] (?:0x)?([0-9a-f]{16})$/.exec(text) ?? [];
    if (address === undefined) named += samples;
    else theirs[kindOf(mark, address)] = (theirs[kindOf(mark, address)] ?? 0) + samples;
  }
  const ours = counted(
    rows,
    ({ key }) => {
      const [, space = '', address = '0'] = /^(.*):0x([0-9a-f]+)$/.exec(key.line ?? '') ?? [];
      return kindOf(space.startsWith('file') ? 's' : '.', address);
    },
    ({ samples }) => samples,
  );
  const common = Object.keys(theirs).filter((line) => line in ours);
  assert.ok(common.length > 20, `${common.length} lines in common`);
  for (const line of Object.keys(theirs)) assert.equal(ours[line] ?? 0, theirs[line], line);
  const rest = Object.entries(ours).reduce((all, [line, samples]) => all + (line in theirs ? 0 : samples), 0);
  assert.equal(rest, named, 'lines of variables');
}

/** Variables with static storage: "[.] board::histogram+0x98". */
function assertObjects(perf: Record<string, number>, rows: readonly TableRow[]): void {
  const theirs: Record<string, number> = {};
  for (const [text, samples] of Object.entries(perf)) {
    const [, name] = /^\[.\] ([\w:]+)\+0x[0-9a-f]+\s/.exec(`${text} `) ?? [];
    if (name !== undefined) theirs[name] = (theirs[name] ?? 0) + samples;
  }
  const ours = bySamples(rows, 'object');
  const common = Object.keys(theirs).filter((name) => name.includes('::') && name in ours);
  assert.ok(common.length > 0, JSON.stringify([theirs, ours]));
  for (const name of common) assert.equal(ours[name], theirs[name], name);
}

describe('tables of recordings with data sources', function () {
  this.timeout(120_000);
  let folder = '';
  let binary = '';
  before(function () {
    const why = !hasAddon
      ? 'the addon is not built: run "npm run build"'
      : canSynthesize
        ? undefined
        : 'cacheline_synth is not built: run "node scripts/build.mjs --tests"';
    if (why !== undefined) {
      console.error(`      skipped: ${why}`);
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'cacheline-tables-'));
    binary = compileWorker(folder, { pie: false });
  });
  after(() => {
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });
  const record = (scenario: string): Recording => synthesize(scenario, folder, { seed: 21, samples: 8000, lines: 120, binary });

  for (const scenario of SCENARIOS)
    it(`add up to the report, and are the samples' by thread, process, CPU and line: ${scenario}`, async () => {
      const { file, samples } = record(scenario);
      const report = await analyze({ path: file, showAll: true });
      const contended = report.lines.reduce((all, line) => all + line.contended, 0);
      const tables = new Map<TableKey, Table>();
      for (const key of TABLE_KEYS) {
        const table = await tableOf(file, [key]);
        tables.set(key, table);
        assertTotal(table, report, key);
        assert.equal(contended, table.total.contended);
        assert.equal(sum(table.rows, 'samples'), report.samples.total, key);
        assert.equal(sum(table.rows, 'contended'), contended, key);
        assert.equal(sum(table.rows, 'reads') + sum(table.rows, 'writes'), report.stats.loads! + report.stats.stores!, key);
        if (key !== 'line') continue;
        // Loads without an address are no loads of a line.
        const ofLines = table.rows.filter(isPlaced);
        const { localHitm, remoteHitm, localPeer, remotePeer } = report.stats;
        if (localHitm !== null) assert.equal(sum(ofLines, 'hitm'), localHitm + remoteHitm!, key);
        if (localPeer !== null) assert.equal(sum(ofLines, 'peer'), localPeer + remotePeer!, key);
        for (const row of table.rows) assert.equal(row.contendedNs, null);
      }
      const rows = (key: TableKey): TableRow[] => tables.get(key)!.rows;
      assert.deepEqual(
        bySamples(rows('thread'), 'thread', firstWord),
        counted(samples, ({ tid }) => `${tid}`),
      );
      assert.deepEqual(
        bySamples(rows('process'), 'process', firstWord),
        counted(samples, ({ pid }) => `${pid}`),
      );
      assert.deepEqual(
        bySamples(rows('cpu'), 'cpu'),
        counted(samples, ({ cpu }) => `${cpu}`),
      );
      const placed = samples.filter(isAccess);
      assert.deepEqual(
        bySamples(rows('line').filter(isPlaced), 'line'),
        counted(placed, ({ space, key }) => `${spaceName(space)}:0x${key}`),
      );
      for (const row of rows('line').filter(isPlaced)) {
        const of = row.bounce! * row.samples;
        assert.ok(Math.abs(of - ((row.hitm ?? 0) + (row.peer ?? 0))) < 0.01 || row.bounce === 1, row.key.line);
      }
    });

  it('are the samples of each part of the time', async () => {
    const { file, samples } = record('intel');
    const bins = 9;
    const { rows } = await tableOf(file, ['time'], { bins });
    const [first, last] = [samples[0]!.time, samples.at(-1)!.time];
    const expected = Array.from({ length: bins }, () => 0);
    for (const { time } of samples) expected[Math.floor(((time - first) * bins) / (last - first + 1))]!++;
    assert.deepEqual(
      rows.map((row) => row.samples),
      expected,
    );
  });

  it('of threads and CPUs that a filter leaves are those of the whole', async () => {
    const { file, samples } = record('intel');
    const tid = samples[0]!.tid;
    const { rows, filtered } = await tableOf(file, ['cpu', 'thread'], { tids: [tid] });
    const own = samples.filter((sample) => sample.tid === tid);
    assert.equal(filtered, samples.length - own.length);
    assert.deepEqual(
      bySamples(rows, 'cpu'),
      counted(own, ({ cpu }) => `${cpu}`),
    );
  });

  it('count as contended what -d displays, of lines of either size', async () => {
    const { file } = record('intel');
    for (const more of [{ display: 'lcl' }, { display: 'rmt' }, { doubleLine: true }] as const) {
      const { samples, lines } = await analyze({ path: file, showAll: true, ...more });
      const table = await tableOf(file, ['line'], more);
      assertTotal(table, { samples }, file);
      assert.equal(table.rows.filter(isPlaced).length, lines.length);
    }
  });

  describe('by perf mem report', () => {
    before(function () {
      if (hasPerf) return;
      console.error('      skipped: perf is not installed');
      this.skip();
    });

    it('are the same of a recording that can only be read in its order', async () => {
      const { file } = record('intel');
      // What perf writes into a pipe has a header of 16 bytes, and events as records.
      const { status, stdout } = spawnSync('perf', ['inject', '-i', file, '-o', '-'], { maxBuffer: 1 << 30 });
      assert.equal(status, 0);
      assert.equal(stdout.readBigUInt64LE(8), 16n, 'it is no pipe');
      const pipe = `${file}.pipe`;
      writeFileSync(pipe, stdout);
      for (const by of [['time'], ['thread', 'cpu'], ['object']] as TableKey[][]) {
        const [plain, piped] = [await tableOf(file, by), await tableOf(pipe, by)];
        assert.deepEqual(piped.rows, plain.rows, by.join());
      }
    });

    for (const scenario of AS_PERF)
      it(`have the same sums by mem, snoop, symbol_daddr and dcacheline: ${scenario}`, async () => {
        const { file } = record(scenario);
        const { rows } = await tableOf(file, ['line']);
        const level = (of: (row: TableRow) => number): number => rows.reduce((all, row) => all + of(row), 0);
        const mem = perfMem(file, 'mem');
        const total = Object.values(mem).reduce((all, samples) => all + samples, 0);
        assert.equal(total, sum(rows, 'samples'));
        const ofMem = (pattern: RegExp): number =>
          Object.entries(mem).reduce((all, [text, samples]) => all + (pattern.test(text) ? samples : 0), 0);
        assert.equal(
          ofMem(/^L1( or L1)? hit$/),
          level(({ ld, st }) => (ld?.l1 ?? 0) + (st?.l1Hit ?? 0)),
          JSON.stringify(mem),
        );
        assert.equal(
          ofMem(/^L2( or L2)? hit$/),
          level(({ ld }) => ld?.l2 ?? 0),
          JSON.stringify(mem),
        );
        assert.equal(
          ofMem(/^LFB.* hit$/),
          level(({ ld }) => ld?.fillBuffer ?? 0),
          JSON.stringify(mem),
        );

        // All but hits of the first cache and what is no cache's: perf's words for fill buffers, other caches and memory.
        assert.equal(
          ofMem(/^(L2|L3|LFB|Local|Remote|L1 .*miss)/),
          level(({ misses }) => misses ?? 0),
          JSON.stringify(mem),
        );

        const snoop = perfMem(file, 'snoop');
        assert.equal(snoop['HitM'] ?? 0, sum(rows, 'hitm'), JSON.stringify(snoop));

        assertLines(perfMem(file, 'dcacheline'), rows);
        assertObjects(perfMem(file, 'symbol_daddr'), (await tableOf(file, ['object'])).rows);
      });
  });

  it('of foreign recordings add up, or say why there are none', async function () {
    const corpus = process.env['CACHELINE_CORPUS'];
    if (corpus === undefined) {
      console.error('      skipped: CACHELINE_CORPUS is not set: it names a folder of perf.data files');
      this.skip();
    }
    const files = readdirSync(corpus, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => statSync(file).isFile() && !/\.(md|json)$/.test(file));
    let read = 0;
    for (const file of files)
      for (const by of [['line'], ['type', 'thread'], ['time'], ['function'], ['cpu', 'node']] as TableKey[][])
        try {
          const table = await tableOf(file, by);
          const report = await analyze({ path: file, showAll: true });
          assertTotal(table, report, file);
          assert.equal(sum(table.rows, 'samples'), report.samples.total, file);
          read++;
        } catch (error) {
          if (!(error instanceof EngineError)) throw error;
          assert.ok(['unreadable', 'usage'].includes(error.kind), `${file}: ${error.message}`);
        }
    assert.ok(read > 0, 'none of them could be read');
  });
});
