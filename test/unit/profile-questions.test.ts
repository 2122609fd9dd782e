// Questions to an open profile through the real addon, and what the same report says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { NativeEngine, type NativeAddon } from '../../extension/engine/native';
import { loadCyclesOf } from '../../extension/protocol/measure';
import type { Answers, CodeListing, CodePlace, DataSum, LineSummary, Question, SourceLineHeat } from '../../extension/protocol/profile';
import { heatOfFile, isAt } from '../../extension/session/profile/heat';
import type { Access } from '../../extension/protocol/report';
import { lineSummary } from '../../extension/session/profile/line-summary';
import { codePlaces, dataSums } from '../../extension/session/profile/report-profile';
import { canSynthesize, compileWorker, synthesize } from './c2c/synth';
import { hasAddon } from './c2c/engine';
import { addonPath } from './command';
import { needsCommands } from './commands-here';
import { temporaryFolder } from './fixtures';
import { typeErrors } from './typed';

describe('questions to an open profile', function () {
  this.timeout(60_000);
  const folder = temporaryFolder();
  before(function () {
    if (!hasAddon || !canSynthesize) this.skip();
  });

  it('are answered with parts of the report', async () => {
    const binary = compileWorker(folder.path, { pie: false });
    const { file: path } = synthesize('intel', folder.path, { seed: 3, samples: 20_000, lines: 120, binary });
    const engine = new NativeEngine(createRequire(__filename)(addonPath) as NativeAddon);
    const whole = await engine.call('analyze', { path, showAll: true });
    const { handle, summary } = await engine.call('open', { path, showAll: true });
    const ask = async <Q extends Question['question']>(question: Extract<Question, { question: Q }>): Promise<Answers[Q]> =>
      (await engine.call('ask', { handle, question })) as Answers[Q];

    const { lines, ...head } = whole;
    assert.deepEqual(summary.report, { ...head, objects: [] });
    assert.deepEqual((await ask<'objects'>({ question: 'objects' })).rows, head.objects);
    assert.equal(summary.counts.lines, lines.length);
    const all = await ask<'lines'>({ question: 'lines' });
    assert.equal(all.total, lines.length);
    const placeOf = ({ space, address }: { space: string; address: string }): string => `${space} ${address}`;
    assert.deepEqual(
      all.rows.map((row) => placeOf(row.line)),
      lines.map(placeOf),
      'the report’s own order',
    );
    const byPlace = new Map(lines.map((line) => [placeOf(line), line]));
    for (const { line } of all.rows) assert.deepEqual(line, byPlace.get(placeOf(line)));

    const page = await ask<'lines'>({ question: 'lines', sort: 'address', descending: false, offset: 5, count: 7 });
    const addresses = lines.map(({ address }) => BigInt(address)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    assert.deepEqual(
      page.rows.map(({ line }) => BigInt(line.address)),
      addresses.slice(5, 12),
    );
    const { id, line } = page.rows[0]!;
    assert.deepEqual(await ask<'line'>({ question: 'line', id }), { id, line });
    assert.equal((await ask<'objects'>({ question: 'objects', count: 2 })).rows.length, 2);
    const exactRow = (row: LineSummary): LineSummary => ({
      ...row,
      loadCycles: row.loadCycles && Number(row.loadCycles.toPrecision(9)), // sums of means
    });
    const summaries = await ask<'rows'>({ question: 'rows' });
    assert.equal(summaries.total, lines.length);
    assert.deepEqual(
      summaries.rows.map(exactRow),
      all.rows.map((row) => exactRow(lineSummary(row.line, row.id))),
    );
    const few = await ask<'rows'>({ question: 'rows', sort: 'address', descending: false, offset: 5, count: 7 });
    assert.deepEqual(
      few.rows.map((row) => row.id),
      page.rows.map((row) => row.id),
    );
    assert.deepEqual((await ask<'types'>({ question: 'types' })).rows, whole.types);
    const files = new Set((await ask<'places'>({ question: 'places' })).rows.map(({ file }) => file));
    assert.ok(files.size > 0);
    for (const measure of ['hitm', 'localHitm', 'remoteHitm', 'latency', 'contended'] as const) {
      for (const file of files) {
        const { rows } = await ask<'heat'>({ question: 'heat', file, measure });
        const exact = (heat: SourceLineHeat): SourceLineHeat => ({
          ...heat,
          amount: Number(heat.amount.toPrecision(9)), // of latencies sums of means
          caused: Number(heat.caused.toPrecision(9)),
        });
        assert.deepEqual(rows.map(exact), heatOfFile(lines, file, measure).map(exact), `${measure} of ${file}`);
      }
      const sums = new Map<string, number>();
      const add = ({ data: { object, type, field = '' }, amount }: DataSum): void => {
        const key = [object, type, field.replace(/\[(?:\d+|\?)\]/g, '[]')].join(' ');
        sums.set(key, (sums.get(key) ?? 0) + amount);
      };
      for (const sum of dataSums(whole, measure)) add(sum);
      const { rows } = await ask<'data'>({ question: 'data', measure });
      assert.ok(rows.length > 0);
      for (const sum of rows) add({ ...sum, amount: -sum.amount });
      for (const [key, left] of sums) assert.ok(Math.abs(left) < 1, `${key}: ${left}`);
    }
    assert.ok(Math.abs((summary.loadCycles ?? 0) - (loadCyclesOf(whole) ?? 0)) < 1);
    const binariesOf = (rows: readonly CodePlace[]): string[] =>
      rows.map(({ file, line, binaries }) => `${file}:${line} ${[...binaries].sort().join()}`).sort();
    const places = await ask<'places'>({ question: 'places' });
    assert.deepEqual(binariesOf(places.rows), binariesOf(codePlaces(whole)));
    for (const { file, line: number } of places.rows) {
      const only = await ask<'lines'>({ question: 'lines', only: { place: { file, line: number } } });
      const standing = lines.filter(({ accesses }) => accesses.some((access) => isAt(access, { file, line: number })));
      assert.deepEqual(new Set(only.rows.map((row) => placeOf(row.line))), new Set(standing.map(placeOf)));
    }

    const filtered = await engine.call('filter', { handle, filter: 'cpu:0-1 hitm>0' });
    const same = await engine.call('analyze', { path, showAll: true, cpus: [0, 1] });
    assert.deepEqual(filtered.report.samples, same.samples);
    assert.equal(filtered.counts.selected, same.lines.filter(({ hitm }) => hitm!.total > 0).length);
    await assert.rejects(engine.call('filter', { handle, filter: 'cpu:x' }), { kind: 'usage', message: /is not a list of CPUs/ });
    await assert.rejects(ask<'line'>({ question: 'line', id: 'pid 1:0x1' }), {
      kind: 'usage',
      message: /There is no line|there is no line/,
    });
    await assert.rejects(ask<'lines'>({ question: 'lines', sort: 'colour' }), { kind: 'usage' });
    await assert.rejects(ask<'lines'>({ question: 'lines', count: -1 }), { kind: 'internal', message: /whole number/ });

    assert.equal(await engine.call('close', { handle }), null);
    await assert.rejects(ask<'threads'>({ question: 'threads' }), { kind: 'usage', message: /no profile is open/ });
  });

  it('say of one line by which call chains its accesses came, and not of all', async () => {
    const binary = compileWorker(folder.path, { pie: false });
    const { file: path } = synthesize('intel', folder.path, { seed: 5, samples: 5000, lines: 20, binary, more: ['--callchains'] });
    const engine = new NativeEngine(createRequire(__filename)(addonPath) as NativeAddon);
    const { handle } = await engine.call('open', { path, showAll: true, callers: true });
    const page = (await engine.call('ask', { handle, question: { question: 'lines', count: 1 } })) as Answers['lines'];
    const { id, line: listed } = page.rows[0]!;
    const { line } = (await engine.call('ask', { handle, question: { question: 'line', id } })) as Answers['line'];
    const whole = await engine.call('analyze', { path, showAll: true, callers: true });
    assert.deepEqual(
      line,
      whole.lines.find(({ space, address }) => space === line.space && address === line.address),
    );
    assert.ok(line.accesses.some(({ callers = [] }) => callers.some(({ frames }) => frames.length > 0)));
    const accesses = line.accesses.map((access) => ({ ...access }));
    for (const access of accesses) delete access.callers;
    assert.deepEqual(listed, { ...line, accesses });
    await engine.call('close', { handle });
  });

  it('have the instructions that objdump has, with all samples of the function', async function () {
    needsCommands(this, ['objdump']);
    const binary = compileWorker(folder.path, { pie: false });
    const { file: path } = synthesize('intel', folder.path, { seed: 6, samples: 5000, lines: 20, binary });
    const engine = new NativeEngine(createRequire(__filename)(addonPath) as NativeAddon);
    const { handle } = await engine.call('open', { path, showAll: true });
    const { rows } = (await engine.call('ask', { handle, question: { question: 'lines' } })) as Answers['lines'];
    const [, ...listed] = execFileSync('objdump', ['-d', '--no-show-raw-insn', binary], { encoding: 'utf8' }).split('\n');
    const known = listed.flatMap((text) => /^ +([0-9a-f]+):\t/.exec(text)?.[1] ?? []).map((address) => Number(`0x${address}`));
    const symbolOf = ({ symbol, inlined }: Access): string => inlined.at(-1)?.function ?? symbol;
    for (const [access, asked] of rows[0]!.line.accesses.entries()) {
      const code = (await engine.call('ask', { handle, question: { question: 'code', id: rows[0]!.id, access } })) as CodeListing;
      assert.equal(code.problem, '');
      const addresses = code.instructions.map(({ address }) => Number(address));
      const [first = 0, last = 0] = [addresses[0], addresses.at(-1)];
      assert.deepEqual(
        addresses,
        known.filter((address) => address >= first && address <= last),
      );
      const own = rows
        .flatMap(({ line }) => line.accesses)
        .filter((one) => symbolOf(one) === symbolOf(asked) && one.object === asked.object);
      const sum = (amounts: number[]): number => amounts.reduce((total, amount) => total + amount, 0);
      if (code.bytesBefore === 0 && code.bytesBehind === 0)
        assert.equal(sum(code.instructions.map(({ samples }) => samples)), sum(own.map(({ records }) => records)), asked.symbol);
    }
    await engine.call('close', { handle });
  });

  for (const [machine, samples] of [
    ['intel', 2000],
    ['peer', 2000],
  ] as const) {
    it(`have answers of the types that describe them, of ${machine}`, async () => {
      const binary = compileWorker(folder.path, { pie: false });
      const { file: path } = synthesize(machine, folder.path, { seed: 4, samples, lines: 12, binary });
      const addon = createRequire(__filename)(addonPath) as NativeAddon;
      const { handle, summary } = await addon.open({ path, showAll: true }, () => undefined).done;
      const { rows: places } = JSON.parse(await addon.ask({ handle, question: 'places' }).done) as Answers['places'];
      const [{ file } = { file: '' }] = places;
      const { rows } = JSON.parse(await addon.ask({ handle, question: 'lines' }).done) as Answers['lines'];
      const questions: Question[] = [
        { question: 'lines', count: 3 },
        { question: 'rows', count: 3 },
        { question: 'line', id: rows[0]!.id },
        { question: 'code', id: rows[0]!.id, access: 0 },
        { question: 'heat', file, measure: 'contended' },
        { question: 'places' },
        { question: 'data', measure: 'latency' },
        ...(['objects', 'types', 'functions', 'threads'] as const).map((question) => ({ question, count: 3 })),
      ];
      const documents = [{ type: 'ProfileSummary', text: summary }];
      for (const question of questions) {
        const text = await addon.ask({ handle, ...question }).done;
        const answer = JSON.parse(text) as { rows?: unknown[] };
        assert.notEqual(answer.rows?.length, 0, question.question);
        documents.push({ type: `Answers['${question.question}']`, text });
      }
      addon.close({ handle });
      const imports = [`import type { Answers, ProfileSummary } from '../../extension/protocol/profile';`];
      assert.deepEqual(typeErrors(imports, documents), []);
      assert.match(typeErrors(imports, [{ type: `Answers['places']`, text: '{"rows": [], "more": 1}' }]).join(), /more.*does not exist/);
    });
  }
});
