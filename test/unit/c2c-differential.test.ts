// The engine against the installed perf, number by number, on synthetic recordings of every kind of machine: all statistics and
// every cell of both tables. An independent recount of the same samples stands beside them: it agrees with perf on all of them,
// so it may judge where perf cannot be asked, and where perf's lines are not cache lines.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AnalyzeParams } from '../../extension/protocol/engine';
import type { Report } from '../../extension/protocol/report';
import { analyze, hasAddon } from './c2c/engine';
import { tablesOfReport } from './c2c/from-report';
import { hasPerf, perfC2c } from './c2c/perf-c2c';
import { doubleLineRules, perfRules, reportRules } from './c2c/perf-rules';
import { recount, type Rules, type Sample } from './c2c/recount';
import { canSynthesize, compileWorker, SYNTH_CPUS, synthesize, type Recording } from './c2c/synth';
import { differences, plainQuestion, withoutNoAddress, type Cells, type Question, type Tables } from './c2c/tables';

const question = (part: Partial<Question>): Question => ({ ...plainQuestion, ...part });

/** Every display, every key alone and some together, every flavour of the node column. */
const QUESTIONS = [
  question({}),
  question({ display: 'lcl', coalesce: ['tid'], nodeInfo: 1 }),
  question({ display: 'rmt', coalesce: ['pid', 'iaddr'], nodeInfo: 2 }),
  question({ display: 'peer', coalesce: ['dso'], showAll: true }),
  question({ display: 'tot', coalesce: ['pid'], nodeInfo: 1 }),
  question({ display: 'lcl', coalesce: ['iaddr'], nodeInfo: 2, showAll: true }),
  question({ display: 'peer', coalesce: ['pid', 'tid', 'iaddr', 'dso'], nodeInfo: 1 }),
];

/** Each scenario is recorded twice; the second recording is asked the other questions. */
const SAME = ['intel', 'intel --callchains', 'intel-aux', 'amd', 'powerpc', 'peer', 'moved-code', 'memory-holes', 'no-physical'];
const SEEDS = [11, 12] as const;
const ASKED = [QUESTIONS.slice(0, 4), [QUESTIONS[0]!, ...QUESTIONS.slice(4)]];

/** Scenarios whose tables perf and the report count differently, and why the report does. */
const knownDifferences: { scenario: string; reason: string }[] = [
  { scenario: 'private-file', reason: 'perf folds the copies that two processes have of private pages of one file' },
  { scenario: 'kernel-on-user', reason: "perf keeps the kernel's accesses to a program's memory apart from the program's own" },
  { scenario: 'unmapped', reason: 'perf folds the memory of several processes where it knows of no mapping' },
  { scenario: 'sysv', reason: 'perf knows System V memory by its address, not by what is mapped there' },
  { scenario: 'empty-with-address', reason: 'perf counts CPUs and physical addresses of samples whose data source says nothing' },
];

/** Names are not counted by the recount. */
const NAMES = new Set(['symbol', 'object', 'source', 'command']);

/** Why the tests cannot run here; undefined where they can. */
function obstacle(): string | undefined {
  if (!hasAddon) return 'the addon is not built: run "npm run build"';
  if (!canSynthesize) return 'cacheline_synth is not built: run "node scripts/build.mjs --tests"';
  return undefined;
}

const expectSame = (ours: Tables, theirs: Tables, what: string, ignored?: ReadonlySet<string>): void => {
  const found = differences(ours, theirs, ignored);
  assert.deepEqual(found.slice(0, 10), [], `${what}: ${found.length} differences`);
};

/** Where perf's order leaves it open. Several processes may have a line at one address. */
function expectTiesAscend({ lines }: Tables, what: string): void {
  const check = (items: readonly { rank: string; cells: Cells }[], name: string): void => {
    for (const [i, item] of items.entries()) {
      const next = items[i + 1];
      if (next?.rank !== item.rank) continue;
      const [address = '', following = ''] = [item.cells[name], next.cells[name]];
      if (address !== '') assert.ok(BigInt(address) <= BigInt(following), `${address} before ${following}, ${what}`);
    }
  };
  check(lines, 'address');
  for (const { rows } of lines) check(rows, 'codeAddress');
}

describe('c2c numbers', function () {
  this.timeout(60_000);
  let folder = '';
  const programs = { fixed: '', pie: '' };
  before(function () {
    const why = obstacle();
    if (why !== undefined) {
      console.error(`      skipped: ${why}`);
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'cacheline-c2c-'));
    for (const kind of ['fixed', 'pie'] as const) {
      mkdirSync(join(folder, kind));
      programs[kind] = compileWorker(join(folder, kind), { pie: kind === 'pie' });
    }
  });
  after(() => {
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });

  const record = (scenario: string, seed: number): Recording => {
    const [name = '', ...more] = scenario.split(' ');
    const binary = name === 'moved-code' ? programs.pie : programs.fixed;
    return synthesize(name, folder, { seed, samples: 4_000, lines: 90, binary, more });
  };
  const ask = (file: string, { display, coalesce, showAll }: Question, more: Partial<AnalyzeParams> = {}): Promise<Report> =>
    analyze({ path: file, display, coalesce: [...coalesce], showAll, ...more });

  describe('by perf c2c report', () => {
    before(function () {
      if (hasPerf) return;
      console.error('      skipped: perf is not installed');
      this.skip();
    });

    for (const scenario of SAME)
      for (const [which, seed] of SEEDS.entries())
        it(`are the report's: ${scenario}, seed ${seed}`, async () => {
          const { file, samples } = record(scenario, seed);
          for (const asked of ASKED[which]!) {
            const where = JSON.stringify(asked);
            const theirs = perfC2c(file, asked);
            const ours = tablesOfReport(await ask(file, asked), asked);
            expectSame(recount(samples, asked, perfRules(SYNTH_CPUS)), theirs, `recount and perf, ${where}`, NAMES);
            expectSame(ours, withoutNoAddress(theirs), `report and perf, ${where}`);
            expectTiesAscend(ours, where);
            expectSame(ours, recount(samples, asked, reportRules(SYNTH_CPUS)), `report and recount, ${where}`, NAMES);
          }
        });

    for (const { scenario, reason } of knownDifferences)
      it(`differ where ${reason}`, async () => {
        const { file, samples } = record(scenario, SEEDS[0]);
        let found = 0;
        for (const asked of ASKED[0]!) {
          const where = JSON.stringify(asked);
          const theirs = perfC2c(file, asked);
          const ours = tablesOfReport(await ask(file, asked), asked);
          expectSame(recount(samples, asked, perfRules(SYNTH_CPUS)), theirs, `recount by perf's rules and perf, ${where}`, NAMES);
          expectSame(ours, recount(samples, asked, reportRules(SYNTH_CPUS)), `report and recount, ${where}`, NAMES);
          assert.deepEqual(ours.stats, theirs.stats, `the statistics are the same, ${where}`);
          found += differences(ours, withoutNoAddress(theirs)).length;
        }
        assert.ok(found > 0, 'the difference is not there any more: take it off the list');
      });

    it('come by the same call chains', () => {
      const { file, samples } = record('intel --callchains', SEEDS[0]);
      const asked = question({ callers: true, showAll: true });
      const theirs = perfC2c(file, asked);
      expectSame(recount(samples, asked, perfRules(SYNTH_CPUS)), theirs, 'recount and perf', NAMES);
      assert.ok(theirs.lines.some(({ rows }) => rows.some(({ cells }) => cells['callers']?.includes(' '))));
    });

    it('have the names of a program that has moved, with --symfs', async () => {
      mkdirSync(join(folder, 'recorded'));
      const binary = compileWorker(join(folder, 'recorded'), { pie: false });
      const { file } = synthesize('intel', folder, { seed: 13, samples: 4_000, lines: 90, binary });
      const theirs = withoutNoAddress(perfC2c(file, plainQuestion));
      const symfs = join(folder, 'symfs');
      mkdirSync(join(symfs, dirname(binary)), { recursive: true });
      renameSync(binary, join(symfs, binary));
      expectSame(tablesOfReport(await ask(file, plainQuestion, { symfs }), plainQuestion), theirs, 'report with --symfs and perf');
      const nameless = tablesOfReport(await ask(file, plainQuestion), plainQuestion);
      assert.ok(differences(nameless, theirs).length > 0, 'without it the names are missing');
      expectSame(nameless, theirs, 'report without --symfs and perf', NAMES);
    });

    it('list samples without an address as a line at 0, which the report has not', async () => {
      const { file } = record('intel', SEEDS[0]);
      const asked = question({ showAll: true });
      assert.ok(perfC2c(file, asked).lines.some(({ cells }) => cells['address'] === '0x0'));
      assert.ok((await ask(file, asked)).lines.every(({ address }) => address !== '0x0'));
    });

    it('have no mapping for samples of hypervisors and guests, in which the report still finds one', async () => {
      const { file } = record('modes', SEEDS[0]);
      const theirs = perfC2c(file, plainQuestion).stats;
      const ours = tablesOfReport(await ask(file, plainQuestion), plainQuestion).stats;
      assert.ok(Number(ours['noMap']) < Number(theirs['noMap']), 'the difference is not there any more');
      assert.deepEqual({ ...ours, noMap: '' }, { ...theirs, noMap: '' });
    });
  });

  describe('by the recount', () => {
    const expectRecounted = async (more: Partial<AnalyzeParams>, rules: Rules, scenario = 'intel'): Promise<Report> => {
      const { file, samples } = record(scenario, 21);
      for (const asked of QUESTIONS.slice(0, 3)) {
        const report = await ask(file, asked, more);
        const expected = recount(samples, asked, rules);
        assert.ok(expected.lines.length > 5, 'enough lines to tell something');
        expectSame(tablesOfReport(report, asked), expected, JSON.stringify([more, asked]), NAMES);
      }
      return ask(file, plainQuestion, more);
    };
    const rules = reportRules(SYNTH_CPUS);
    const filters: { more: Partial<AnalyzeParams>; leaveOut: (sample: Sample, start: number) => boolean }[] = [
      { more: { mode: 'user' }, leaveOut: ({ mode }) => mode !== 2 },
      { more: { mode: 'kernel' }, leaveOut: ({ mode }) => mode !== 1 },
      { more: { pids: [5000, 5200] }, leaveOut: ({ pid }) => pid === 5100 },
      { more: { tids: [5001, 5102, 5203] }, leaveOut: ({ tid }) => ![5001, 5102, 5203].includes(tid) },
      { more: { cpus: [0, 5, 6] }, leaveOut: ({ cpu }) => ![0, 5, 6].includes(cpu) },
      { more: { window: { from: 0.0001, to: 0.0003 } }, leaveOut: ({ time }, start) => time < start + 100_000 || time > start + 300_000 },
      {
        more: { window: { from: 0.0001 }, mode: 'user', cpus: [1, 2] },
        leaveOut: ({ time, mode, cpu }, start) => time < start + 100_000 || mode !== 2 || (cpu !== 1 && cpu !== 2),
      },
    ];
    for (const { more, leaveOut } of filters)
      it(`are the report's with ${JSON.stringify(more)}`, async () => {
        const { samples } = record('intel', 21);
        const start = samples[0]!.time;
        const report = await expectRecounted(more, { ...rules, leaveOut: (sample) => leaveOut(sample, start) });
        assert.equal(report.c2c?.filtered, samples.filter((sample) => leaveOut(sample, start)).length);
      });

    it("are the report's of lines of twice the size", async () => {
      for (const scenario of ['intel', 'private-file']) await expectRecounted({ doubleLine: true }, doubleLineRules(SYNTH_CPUS), scenario);
    });

    it("are the report's of a recording that perf refuses because it does not know the nodes", async () => {
      const { file, samples } = record('no-nodes', 23);
      if (hasPerf) assert.throws(() => perfC2c(file, plainQuestion), /Failed setup nodes/);
      const ours = tablesOfReport(await ask(file, plainQuestion), plainQuestion);
      expectSame(ours, recount(samples, plainQuestion, rules), 'report and recount', new Set([...NAMES, 'nodes']));
    });

    it("are the report's callers of each code address", async () => {
      const { file, samples } = record('intel --callchains', 24);
      const { lines } = await ask(file, plainQuestion, { callers: true });
      const expected = new Map<string, Map<string, number>>();
      for (const { ip, callers, ...sample } of samples) {
        if (rules.isNoAccess?.({ ip, callers, ...sample }) === true) continue;
        const known = expected.get(`0x${ip}`) ?? new Map<string, number>();
        known.set(callers, (known.get(callers) ?? 0) + 1);
        expected.set(`0x${ip}`, known);
      }
      for (const { codeAddress, callers = [] } of lines.flatMap(({ accesses }) => accesses)) {
        const ours = callers.map(({ records, frames }) => [frames.map((frame) => frame.codeAddress.slice(2)).join(','), records] as const);
        assert.deepEqual(new Map(ours), expected.get(codeAddress), codeAddress);
        const counts = ours.map(([, records]) => records);
        assert.deepEqual(
          counts,
          counts.toSorted((a, b) => b - a),
          'most samples first',
        );
      }
    });

    it("are the report's with one thread and with two", async () => {
      const { file } = synthesize('intel', folder, { seed: 25, samples: 200_000, lines: 2000, binary: programs.fixed });
      const [one, two] = await Promise.all([1, 2].map((threads) => ask(file, plainQuestion, { threads } as Partial<AnalyzeParams>)));
      assert.ok(JSON.stringify(one) === JSON.stringify(two), 'the same text');
    });

    it("are the report's latencies: middle, 95th of a hundred, most", async () => {
      const { file, samples } = record('intel', 22);
      const report = await ask(file, plainQuestion);
      const expected = recount(samples, plainQuestion, rules);
      let rows = 0;
      for (const line of report.lines) {
        for (const { offset, codeAddress, cycles } of line.accesses) {
          // Several lines may have one address; their rows are told apart by all their latencies.
          const same = expected.lines.filter(({ cells }) => cells['address'] === line.address && cells['records'] === `${line.records}`);
          const row = same
            .flatMap((of) => of.rows)
            .find(({ cells }) => Number(cells['offset']) === offset && cells['codeAddress'] === codeAddress);
          assert.ok(row?.cycles && cycles, `${line.address} has such a row`);
          const sorted = row.cycles.sort((a, b) => a - b);
          const at = (share: number): number => (sorted.length === 0 ? 0 : sorted[Math.ceil(sorted.length * share) - 1]!);
          const close = (ours: number, theirs: number): boolean => Math.abs(ours - theirs) <= (sorted.length > 64 ? theirs / 32 + 1 : 0);
          assert.ok(close(cycles.p50, at(0.5)) && close(cycles.p95, at(0.95)), `${JSON.stringify(cycles)} of ${sorted.join(' ')}`);
          assert.equal(cycles.max, at(1));
          rows++;
        }
      }
      assert.ok(rows > 100);
    });
  });
});
