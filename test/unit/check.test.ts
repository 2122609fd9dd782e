// Checks: what is a finding, what is new, what is accepted, and its formats for CI.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Acceptance, Check, CheckFinding } from '../../extension/protocol/check';
import { baselineOf, checkOf, type CheckOptions } from '../../extension/session/check/check';
import { readAcceptances, readBaseline } from '../../extension/session/check/check-files';
import { checkMarkdown, checkText, githubCommands } from '../../extension/session/check/check-text';
import { placeInRepository, repositoryRoot } from '../../extension/session/check/repository';
import { fingerprint, sarifLog } from '../../extension/session/check/sarif';
import { displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { EngineError } from '../../extension/protocol/engine';
import { temporaryFolder } from './fixtures';
import { access, cacheLine, finding, objectSum } from './report-builder';
import { sarifErrors } from './sarif-schema';
import { schemaErrors } from './schemas';
import { sums, type SumsOptions, type Waits } from './sums-builder';
import { layout, member, typeHeat } from './type-builder';

const worker = (contended: number, more: Partial<Waits> = {}): Waits => ({ type: 'Worker', member: 'ticks', contended, ...more });
const check = (rows: Waits[], options: Partial<CheckOptions> = {}, more: SumsOptions = {}): Check =>
  checkOf(sums([], rows, more), { today: '2030-06-15', ...options });
const names = ({ findings }: Check): string[] => findings.map(({ rule, type, member, state }) => `${rule} ${type}.${member} ${state}`);

describe('checks', () => {
  const folder = temporaryFolder();
  const at = (...parts: string[]): string => join(folder.path, ...parts);

  it('find 2% of all samples that wait falsely at one object, whatever its verdict', () => {
    assert.deepEqual(names(check([worker(19)])), []);
    assert.deepEqual(names(check([worker(20)])), ['false-sharing Worker.ticks new']);
    assert.deepEqual(names(check([worker(30, { verdict: 'mixed', falseShare: 0.7 })])), ['mixed Worker.ticks new']);
    assert.deepEqual(names(check([worker(300, { verdict: 'true sharing', falseShare: 0 })])), [], 'it waits for what it shares');
    // Members of one object are summed, those of others are not.
    const two = [worker(12), worker(12, { member: 'total' })];
    assert.deepEqual(names(check(two)), ['false-sharing Worker.ticks new', 'false-sharing Worker.total new']);
    assert.deepEqual(names(check([worker(12), worker(12, { member: 'total', object: 'others' })])), []);
    assert.deepEqual(names(check([worker(300), worker(1, { member: 'total' })])), ['false-sharing Worker.ticks new'], 'without its crumbs');
    const result = check([worker(200, { falseShare: 0.5 }), worker(5, { type: 'Queue' })]);
    assert.ok(result.failed);
    assert.deepEqual([result.findings[0]?.programShare, result.findings[0]?.falselyWaiting], [0.2, 0.1]);
    assert.deepEqual(
      result.below.map(({ type }) => type),
      ['Queue'],
    );
    assert.deepEqual(schemaErrors('cacheline-check-1', result), []);
  });

  it('take a limit of contended samples, and verdicts', () => {
    const rows = [worker(40, { verdict: 'true sharing', falseShare: 0 }), worker(60, { type: 'Queue', member: 'head' })];
    assert.deepEqual(names(check(rows, { maxContended: 0.04 })), ['false-sharing Queue.head new']);
    assert.equal(check(rows, { maxContended: 0.03 }).findings.length, 2);
    assert.deepEqual(names(check(rows, { failOn: ['true-sharing'] })), ['true-sharing Worker.ticks new']);
    assert.deepEqual(names(check(rows, { failOn: ['true-sharing'], maxContended: 0.05 })), []);
    assert.deepEqual(names(check([], { maxContended: 0 })), []);
  });

  it('name data without a known type by its object', () => {
    assert.deepEqual(names(check([worker(50, { type: '[no type known]', member: '[no type known]', object: 'counters' })])), [
      'false-sharing .counters new',
    ]);
    assert.deepEqual(names(check([worker(50, { member: '[no member]' })])), ['false-sharing Worker. new']);
  });

  it('compare with a baseline, of a check or of a recording: new, known, and grown only beyond chance', async () => {
    const rows = [worker(100), worker(15, { type: 'Queue', member: 'head' })];
    const before = sums([], rows);
    writeFileSync(at('base.json'), JSON.stringify(checkOf(before, { today: '2030-06-15' })));
    for (const baseline of [baselineOf(before), await readBaseline(at('base.json'))]) {
      const same = check(rows, { baseline });
      assert.deepEqual([same.failed, names(same)], [false, ['false-sharing Worker.ticks known']]);
      assert.deepEqual(names(check([worker(120)], { baseline })), ['false-sharing Worker.ticks known'], 'chance');
      assert.deepEqual(names(check([worker(300)], { baseline })), ['false-sharing Worker.ticks grown']);
      assert.deepEqual(
        names(check([worker(1000)], { baseline }, { samples: 10_000 })),
        ['false-sharing Worker.ticks known'],
        'shares compare',
      );
      // What was there below the limit has not come anew by chance.
      assert.deepEqual(names(check([worker(21, { type: 'Queue', member: 'head' })], { baseline })), ['false-sharing Queue.head known']);
      const other = check([worker(100, { verdict: 'mixed', falseShare: 0.5 }), worker(50, { type: 'Late' })], { baseline });
      assert.deepEqual(names(other), ['false-sharing Late.ticks new', 'mixed Worker.ticks new']);
    }
    const memory = { ...baselineOf(before), evidence: ['hitm' as const] };
    assert.deepEqual(names(check([worker(900)], { baseline: memory })), ['false-sharing Worker.ticks known']);
    assert.match(check([worker(900)], { baseline: memory }).notes.join(), /another kind of evidence/);
  });

  it('accept what is listed, until the day that is named', () => {
    const entry: Acceptance = {
      rule: 'false-sharing',
      type: 'Worker',
      member: 'ticks',
      reason: 'rewritten next month',
      until: '2030-06-15',
    };
    const accepted = check([worker(100)], { accept: [entry] });
    assert.deepEqual([accepted.failed, names(accepted)], [false, ['false-sharing Worker.ticks accepted']]);
    assert.equal(accepted.findings[0]?.reason, entry.reason);
    const expired = check([worker(100)], { accept: [{ ...entry, until: '2030-06-14' }] });
    assert.deepEqual([expired.failed, names(expired)], [true, ['false-sharing Worker.ticks new']]);
    assert.match(expired.notes.join(), /accepted until 2030-06-14 counts again: false-sharing of Worker\.ticks/);
    assert.equal(check([worker(100)], { accept: [{ ...entry, member: 'total' }] }).failed, true);
    assert.match(check([], { accept: [entry] }).notes.join(), /Accepted but not found/);
  });

  it('are no pass where they could not look', () => {
    const blind = (share: number): SumsOptions => ({
      more: { blind: { share, reasons: [{ reason: 'noInstruction', what: 'code', share }] } },
    });
    assert.equal(check([], {}, blind(0.49)).noPass, null);
    assert.equal(check([], {}, blind(0.5)).noPass, 'nothing can be said about 50.0% of the samples');
    assert.equal(check([], { allowBlind: true }, blind(0.5)).noPass, null);
    assert.equal(check([], {}, { samples: 0 }).noPass, 'there are no samples');
    const open = (contended: number): SumsOptions => ({
      more: {
        findings: [finding({ type: 'Worker' }, contended, { programShare: contended / 1000, falseShare: { value: 0.4, low: 0, high: 1 } })],
      },
    });
    assert.match(check([], {}, open(49)).noPass ?? '', /too few samples .* an object of type 'Worker'; record for about \d+ seconds/);
    assert.equal(check([], {}, open(19)).noPass, null, 'whatever it is, it does not fail');
    assert.equal(check([], { maxContended: 0.5 }, open(49)).noPass, null, 'what it is does not matter');
  });

  it('are no pass where what has many samples may be written, and would wait beyond the limit', () => {
    // Of 1,000 samples.
    const at = (records: number, high: number, contended = records): SumsOptions => {
      const line = cacheLine([access({ reads: records, threads: [1, 2] })], { verdict: 'read-shared' });
      return { more: { lines: [{ ...line, records, ifWritten: { contended, falseShare: { value: high, low: 0, high } } }] } };
    };
    assert.match(check([], {}, at(50, 1)).noPass ?? '', /^5\.0% of the samples read '.+', and the code that reads it may write it/);
    assert.equal(check([], {}, at(49, 1)).noPass, null, 'too few');
    assert.equal(check([], {}, at(400, 0)).noPass, null, 'one word: true sharing at most');
    assert.equal(check([], {}, at(400, 1, 10)).noPass, null, 'below the limit');
    assert.notEqual(check([], { maxContended: 0.1 }, at(400, 0)).noPass, null, 'all that is contended counts');
    assert.equal(check([], { allowBlind: true }, at(400, 1)).noPass, null);
  });

  it('read their files in full or refuse them with one sentence', async () => {
    const good = { rule: 'mixed', type: 'T', member: 'm', reason: 'known' };
    writeFileSync(
      at('accept.json'),
      JSON.stringify([
        { ...good, until: null },
        { ...good, until: '2030-01-31' },
      ]),
    );
    assert.deepEqual(await readAcceptances(at('accept.json')), [good, { ...good, until: '2030-01-31' }]);
    assert.deepEqual(schemaErrors('cacheline-accept', [good]), []);
    const refused = async (task: Promise<unknown>, message: RegExp): Promise<void> =>
      assert.rejects(task, (error: unknown) => {
        assert.ok(error instanceof EngineError && error.kind === 'unreadable', String(error));
        assert.match(error.message, message);
        assert.notEqual(error.nextStep, '');
        return true;
      });
    const of = (document: unknown): string => {
      writeFileSync(at('file.json'), typeof document === 'string' ? document : JSON.stringify(document));
      return at('file.json');
    };
    await refused(readAcceptances(at('none.json')), /cannot be read/);
    await refused(readAcceptances(of('[{')), /is not JSON/);
    await refused(readAcceptances(of({})), /does not hold a list/);
    await refused(readAcceptances(of([good, { ...good, rule: 'slow' }])), /entry 2: "rule" is "slow"/);
    await refused(readAcceptances(of([{ ...good, reason: ' ' }])), /"reason"/);
    await refused(readAcceptances(of([{ ...good, until: 'soon' }])), /"until" is "soon"/);
    await refused(readAcceptances(of([3])), /it is not an object/);
    await refused(readBaseline(of({ schema: 'cacheline-check/2' })), /its schema is "cacheline-check\/2", not "cacheline-check\/1"/);
    await refused(readBaseline(of([])), /its schema is missing/);
    const document = check([worker(100)]);
    await refused(readBaseline(of({ ...document, findings: [{ rule: 'mixed' }] })), /damaged baseline/);
    await refused(readBaseline(of({ ...document, samples: null })), /damaged baseline/);
    await refused(readBaseline(folder.path), /cannot be read/);
  });

  describe('in a repository', () => {
    const rows = [
      worker(100, { source: '/build/host/src/worker.c:40' }),
      worker(50, { type: 'long', member: 'count, %', object: 'count, %' }),
    ];
    const types = [typeHeat(layout('Worker', 64, [member('ticks', 0, 8, { line: 7 })], { file: '/elsewhere/worker.h' }), [])];
    const objects = [objectSum('count, %', 50, { definition: { file: '/elsewhere/x.c', line: 3 } })];
    const found = (): Check => check(rows, {}, { types, more: { objects } });
    const options = () => ({ root: folder.path });
    beforeEach(() => {
      mkdirSync(at('.git'));
      mkdirSync(at('src'));
      writeFileSync(at('src/worker.c'), '');
    });

    it('places are relative to its root, also of files that were compiled elsewhere', () => {
      assert.equal(repositoryRoot(at('src')), folder.path);
      assert.deepEqual(placeInRepository({ file: at('src/worker.c'), line: 4 }, folder.path), { file: 'src/worker.c', line: 4 });
      assert.deepEqual(placeInRepository({ file: '/build/host/src/worker.c', line: 4 }, folder.path), { file: 'src/worker.c', line: 4 });
      assert.deepEqual(placeInRepository({ file: 'src/../src/worker.c', line: 4 }, folder.path), { file: 'src/worker.c', line: 4 });
      for (const file of ['/usr/include/stdio.h', '../../etc/passwd', '/x/worker.c', ''])
        assert.equal(placeInRepository({ file, line: 4 }, folder.path), undefined, file);
      assert.equal(placeInRepository({ file: at('src/worker.c'), line: 0 }, folder.path), undefined);
    });

    it('annotations are commands that names cannot end', () => {
      const [first, second, last] = githubCommands(found(), options()).split('\n');
      assert.match(
        first!,
        /^::error file=src\/worker\.c,line=40,title=False sharing of Worker\.ticks::10\.0%25 of all samples wait for it/,
      );
      assert.match(second!, /^::error title=False sharing of long\.count%2C %25::/);
      assert.match(last!, /^::error title=cacheline check::Failed: 2 findings/);
      const hostile = check([worker(100, { member: 'a\n::error::b' })]);
      assert.equal(githubCommands(hostile, options()).match(/^::/gm)?.length, 2);
    });

    it('texts fit, and Markdown is a table', () => {
      for (const width of [60, 80, 200])
        for (const line of checkText(found(), { ...options(), width, style: PLAIN }).split('\n'))
          assert.ok(displayWidth(line) <= width, line);
      assert.match(checkText(found(), { ...options(), width: 80, style: PLAIN }), /Worker\.ticks +worker\.h:7/);
      assert.match(checkMarkdown(found(), options()), /\| new \| 10\.0% \| 10\.0% \| false sharing \| `Worker\.ticks` \|/);
      const failing = check([], { programStatus: 5 });
      assert.equal(failing.noPass, 'the program failed (exit status 5)');
      assert.match(checkText(failing, { ...options(), width: 80, style: PLAIN }), /No pass: the program failed/);
      assert.match(githubCommands(failing, options()), /^::error title=cacheline check::No pass/);
      assert.match(githubCommands(check([]), options()), /^::notice title=cacheline check::Passed/);
    });

    it('SARIF holds to the schema of OASIS, with places and fingerprints that stay', () => {
      const log = sarifLog(found(), { version: '1.2.3', root: folder.path });
      assert.deepEqual(sarifErrors(log), []);
      const spoilt = JSON.parse(JSON.stringify(log).replace('"startLine":40', '"startLine":0')) as unknown;
      assert.deepEqual(sarifErrors(spoilt), ['/runs/0/results/0/locations/0/physicalLocation/region/startLine must be >= 1']);
      const { runs } = log as { runs: { results: SarifResult[]; tool: { driver: { rules: { id: string }[] } }; invocations: object[] }[] };
      const { results, tool, invocations } = runs[0]!;
      assert.deepEqual(
        tool.driver.rules.map(({ id }) => id),
        ['false-sharing'],
      );
      assert.equal(results.length, 1);
      assert.deepEqual(results[0]?.locations[0]?.physicalLocation, {
        artifactLocation: { uri: 'src/worker.c', uriBaseId: '%SRCROOT%' },
        region: { startLine: 40 },
      });
      assert.match(JSON.stringify(invocations), /1 more in no file of the repository/);
      assert.doesNotMatch(JSON.stringify(log), /security-severity/);
      const { primaryLocationLineHash = '' } = results[0].partialFingerprints;
      assert.equal(primaryLocationLineHash, fingerprint({ rule: 'false-sharing', type: 'Worker', member: 'ticks' }));
      assert.match(primaryLocationLineHash, /^[0-9a-f]{16}:1$/);
      assert.notEqual(primaryLocationLineHash, fingerprint({ rule: 'mixed', type: 'Worker', member: 'ticks' }));
    });

    it('SARIF has at most 5,000 results, those with the largest rank, the largest first', () => {
      const [one] = found().findings;
      // As a check orders them: by what waits falsely. Their other waiting runs against it.
      const findings = Array.from({ length: 5003 }, (_, i): CheckFinding => ({
        ...one!,
        member: `m${i}`,
        falselyWaiting: (5003 - i) / 10_000,
        programShare: (5000 + i) / 10_003,
      }));
      const log = sarifLog({ findings, notes: [], noPass: null }, { version: '1.0.0', root: folder.path });
      assert.deepEqual(sarifErrors(log), []);
      const { runs } = log as { runs: { results: SarifResult[] }[] };
      const results = runs[0]!.results.map(({ rank, locations: [place] }) => [place?.logicalLocations[0]?.fullyQualifiedName, rank]);
      const expected = findings.slice(3).map(({ member, programShare }) => [`Worker.${member}`, 100 * programShare]);
      assert.deepEqual(results, expected.reverse());
      assert.match(JSON.stringify(runs), /3 more with smaller shares/);
    });

    it('SARIF is valid without findings, without a file, and whatever names hold', () => {
      const valid = (result: Check): string => {
        const log = sarifLog(result, { version: '1.2.3', root: folder.path });
        assert.deepEqual(sarifErrors(log), []);
        return JSON.stringify(log);
      };
      assert.match(valid(check([])), /"rules":\[\].*"executionSuccessful":true.*"results":\[\]/);
      const nowhere = valid(check([worker(100)]));
      assert.match(nowhere, /1 more in no file of the repository.*"results":\[\]/);
      const accepted: Acceptance = { rule: 'false-sharing', type: 'Worker', member: 'ticks', reason: 'a\u0000\n\u202e"<b>' };
      for (const name of ['src/a b#?%:.c', 'src/\u00e9\u4e2d.c', "src/'\u001b[31m.c"]) {
        writeFileSync(at(name), '');
        const rows = [worker(100, { source: `${at(name)}:3` }), worker(90, { type: name, member: '\u0000{0}%s', source: `${at(name)}:4` })];
        valid(check(rows, { accept: [{ ...accepted, until: '2030-06-14' }] }));
        const log = valid(check(rows, { accept: [accepted] }));
        const [, uri = ''] = /"uri":"([^"]*)"/.exec(log) ?? [];
        assert.equal(decodeURIComponent(new URL(uri, 'file:///').pathname), `/${name}`);
        assert.doesNotMatch(log, /\\u0000|\\u001b/, 'control characters are visible escapes');
        assert.match(log, /"suppressions":\[\{"kind":"external",/);
      }
    });

    it('SARIF of a check that is no pass is no success', () => {
      const log = JSON.stringify(sarifLog(check([], {}, { samples: 0 }), { version: '1.2.3', root: folder.path }));
      assert.deepEqual(sarifErrors(JSON.parse(log)), []);
      assert.match(
        log,
        /"executionSuccessful":false,"toolExecutionNotifications":\[\{"level":"error","message":\{"text":"No pass: there are no samples\."/,
      );
    });
  });
});

interface SarifResult {
  rank: number;
  locations: { physicalLocation: unknown; logicalLocations: { fullyQualifiedName: string }[] }[];
  partialFingerprints: { primaryLocationLineHash?: string };
}
