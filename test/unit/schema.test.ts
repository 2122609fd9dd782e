// The documented schemas hold for the stored reports, miss nothing that the types require, and the reports satisfy the types too.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { schemas } from '../../scripts/schemas.mjs';
import type { Report } from '../../extension/protocol/report';
import { reportFixture, reportFixtureText, reportNames } from './fixtures';
import { armReport, hostileReport, intelReport } from './pmu-reports';
import { schemaErrors } from './schemas';
import { typeErrors } from './typed';

/** Fields that a document may lack. */
const OPTIONAL = new Set(['fileOffset', 'elfAddress', 'watch', 'c2c', 'callers']);
const pmuReports = { intelReport, armReport, hostileReport };

/** Calls `visit` for each field of each object in the value. */
function eachField(value: unknown, visit: (holder: Record<string, unknown>, key: string, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) visit(value as Record<string, unknown>, key, `${path}/${key}`);
    eachField(inner, visit, `${path}/${key}`);
  }
}

describe('schemas', () => {
  it('are what the types of extension/protocol give', async () => {
    const folder = join(__dirname, '../../docs');
    const made = new Map([...(await schemas())].map(([file, text]) => [basename(file), text]));
    const files = readdirSync(folder).filter((name) => name.endsWith('.schema.json'));
    assert.deepEqual([...made.keys()].sort(), files.sort(), 'the types with the tag @id are the documents of docs/*.schema.json');
    const stale = files.filter((name) => readFileSync(join(folder, name), 'utf8') !== made.get(name));
    assert.deepEqual(stale, [], 'these are not what the types give: run "npm run schemas" and read the diff');
  });

  for (const name of reportNames) {
    it(`cacheline-report/1 holds for ${name}`, () => assert.deepEqual(schemaErrors('cacheline-report-1', reportFixture(name)), []));
  }

  for (const [name, make] of Object.entries(pmuReports)) {
    it(`cacheline-report/1 holds for ${name}`, () => assert.deepEqual(schemaErrors('cacheline-report-1', make()), []));
  }

  for (const [name, report] of Object.entries({ 'clock evidence': reportFixture('untrusted-names'), 'data sources': intelReport() })) {
    it(`cacheline-report/1 requires every field of the types, with ${name}`, () => {
      const unnoticed: string[] = [];
      eachField(report, (holder, key, path) => {
        if (OPTIONAL.has(key)) return;
        const value = holder[key];
        Reflect.deleteProperty(holder, key);
        if (schemaErrors('cacheline-report-1', report).length === 0) unnoticed.push(path);
        holder[key] = value;
      });
      assert.deepEqual(unnoticed, []);
    });
  }

  it('cacheline-report/1 refuses wrong values of recordings with data sources', () => {
    for (const spoil of [
      (report: Report) => delete report.c2c,
      (report: Report) => (report.c2c!.display = 'all' as 'tot'),
      (report: Report) => (report.c2c!.coalesce = ['tid', 'tid']),
      (report: Report) => (report.lines[0]!.accesses[0]!.nodeStats![0]!.stores = -1),
      (report: Report) => (report.lines[0]!.accesses[0]!.cycles = { p50: 1, p95: 2 } as never),
      (report: Report) => (report.lines[0]!.accesses[0]!.callers![0]!.frames[0]!.codeAddress = '4198400'),
    ]) {
      const report = intelReport();
      spoil(report);
      assert.notDeepEqual(schemaErrors('cacheline-report-1', report), [], String(spoil));
    }
  });

  it('cacheline-recording/1 requires every field of the types', () => {
    const { recording } = reportFixture('false-sharing');
    assert.ok(recording);
    assert.deepEqual(schemaErrors('cacheline-recording-1', recording), []);
    eachField(recording, (holder, key, path) => {
      const value = holder[key];
      Reflect.deleteProperty(holder, key);
      assert.notDeepEqual(schemaErrors('cacheline-recording-1', recording), [], `${path} is not required`);
      holder[key] = value;
    });
  });

  it('cacheline-report/1 refuses wrong values', () => {
    for (const spoil of [
      (report: Record<string, unknown>) => (report['schema'] = 'cacheline-report/2'),
      (report: Record<string, unknown>) => (report['evidence'] = ['guess']),
      (report: Record<string, unknown>) => (report['lineSize'] = -64),
      (report: Record<string, unknown>) => (report['recording'] = {}),
    ]) {
      const report = reportFixture('clean') as unknown as Record<string, unknown>;
      spoil(report);
      assert.notDeepEqual(schemaErrors('cacheline-report-1', report), []);
    }
    const report = reportFixture('clean');
    report.lines[0]!.address = '4210944';
    assert.notDeepEqual(schemaErrors('cacheline-report-1', report), []);
  });

  it('the stored reports satisfy the TypeScript types', function () {
    this.timeout(60_000);
    const documents = reportNames.map((name) => ({ type: 'Report', text: reportFixtureText(name) }));
    assert.deepEqual(typeErrors([`import type { Report } from '../../extension/protocol/report';`], documents), []);
  });

  it('the sums of the stored reports add up', () => {
    for (const name of reportNames) {
      const { samples, lines } = reportFixture(name);
      const unattributed = Object.values(samples.unattributed).reduce((sum, value) => sum + value, 0);
      assert.equal(samples.attributed + unattributed, samples.total, name);
      for (const line of lines) {
        assert.equal(line.loads + line.stores.total, line.records, `${name} ${line.address}`);
        const accesses = line.accesses.reduce((sum, { records }) => sum + records, 0);
        assert.equal(accesses, line.records, `${name} ${line.address}`);
        const uses = line.threads.reduce((sum, { loads, stores }) => sum + loads + stores, 0);
        assert.equal(uses, line.records, `${name} ${line.address}`);
      }
    }
  });
});
