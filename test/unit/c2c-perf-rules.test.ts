// perf against the independent recount, on the same synthetic recordings: the two judges of the c2c numbers agree, so that
// each may judge the engine where the other cannot.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasPerf, perfC2c } from './c2c/perf-c2c';
import { perfRules } from './c2c/perf-rules';
import { recount } from './c2c/recount';
import { canSynthesize, compileWorker, SYNTH_CPUS, synthesize } from './c2c/synth';
import { differences, plainQuestion, type Question } from './c2c/tables';

/** Names are not counted. */
const NAMES = new Set(['symbol', 'object', 'source', 'command']);

const QUESTIONS: Partial<Question>[] = [
  {},
  { display: 'lcl', coalesce: ['tid'], nodeInfo: 1 },
  { display: 'rmt', coalesce: ['pid', 'iaddr'], nodeInfo: 2 },
  { display: 'peer', coalesce: ['dso'], showAll: true },
];

const SCENARIOS = [
  'intel',
  'intel-aux',
  'amd',
  'powerpc',
  'peer',
  'private-file',
  'kernel-on-user',
  'unmapped',
  'moved-code',
  'sysv',
].concat(['empty-with-address', 'memory-holes', 'no-physical']);

describe('perf c2c report and the recount', function () {
  this.timeout(60_000);
  let folder = '';
  const programs = { fixed: '', pie: '' };
  before(function () {
    if (!hasPerf) this.skip(); // perf is not installed: there is no judge
    if (!canSynthesize) this.skip(); // cacheline_synth is not built: "npm run build" with tests
    folder = mkdtempSync(join(tmpdir(), 'cacheline-c2c-'));
    for (const kind of ['fixed', 'pie'] as const) {
      mkdirSync(join(folder, kind));
      programs[kind] = compileWorker(join(folder, kind), { pie: kind === 'pie' });
    }
  });
  after(() => {
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });

  SCENARIOS.forEach((scenario, index) => {
    it(`agree on ${scenario}`, () => {
      const binary = scenario === 'moved-code' ? programs.pie : programs.fixed;
      const { file, samples } = synthesize(scenario, folder, { seed: 100 + index, samples: 12_000, lines: 150, binary });
      for (const part of QUESTIONS) {
        const question = { ...plainQuestion, ...part };
        const counted = recount(samples, question, perfRules(SYNTH_CPUS));
        assert.ok(question.display === 'peer' || scenario === 'peer' || counted.lines.length > 20, 'enough lines to tell something');
        const found = differences(counted, perfC2c(file, question), NAMES);
        assert.deepEqual(found.slice(0, 10), [], `${scenario} ${JSON.stringify(part)}: ${found.length} differences`);
      }
    });
  });
});
