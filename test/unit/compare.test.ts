// Comparing two recordings: what is matched with what, what chance explains, and what does not compare.
import assert from 'node:assert/strict';
import type { Diff, DiffEntry } from '../../extension/protocol/diff';
import type { Finding } from '../../extension/protocol/finding';
import { differenceOf, proportion } from '../../extension/session/compare/chance';
import { DIFF_TABLES, diffOf } from '../../extension/session/compare/diff';
import { diffMarkdown, diffText } from '../../extension/session/compare/diff-text';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { schemaErrors } from './schemas';
import { finding } from './report-builder';
import { sums, wholeRun, type SumsOptions, type Waits } from './sums-builder';
import { matchGolden } from './golden';
import { intelReport } from './pmu-reports';
import { layout, member, typeHeat } from './type-builder';

const diff = (before: Waits[], after: Waits[], options: SumsOptions = {}, others: SumsOptions = options): Diff =>
  diffOf(sums(DIFF_TABLES, before, options), sums(DIFF_TABLES, after, others));

function entry({ entries }: Diff, kind: DiffEntry['kind'], name: string): DiffEntry {
  const found = entries.filter((one) => one.kind === kind && one.name === name);
  assert.equal(found.length, 1, `${kind} ${name} in ${entries.map((one) => `${one.kind} ${one.name}`).join(', ')}`);
  return found[0]!;
}

const worker = (contended: number, more: Partial<Waits> = {}): Waits => ({ type: 'Worker', member: 'ticks', contended, ...more });

describe('comparing recordings', () => {
  it('tells what went, came, got better and worse, and stayed', () => {
    const result = diff(
      [
        worker(400),
        worker(200, { type: 'Queue', member: 'head' }),
        worker(100, { type: 'Log', member: 'end' }),
        worker(100, { type: 'Pool', member: 'free' }),
      ],
      [
        worker(200, { type: 'Queue', member: 'head' }),
        worker(300, { type: 'Log', member: 'end' }),
        worker(20, { type: 'Pool', member: 'free' }),
        worker(100, { type: 'Late', member: 'one' }),
      ],
    );
    const status = (name: string): string => entry(result, 'type', name).status;
    assert.deepEqual(['Worker', 'Queue', 'Log', 'Pool', 'Late'].map(status), ['gone', 'same', 'worse', 'better', 'new']);
    const { before, after, confidence } = entry(result, 'member', 'Worker.ticks');
    assert.deepEqual(before, { contended: 400, programShare: 0.4, contendedNs: 800e6, contendedNsPerSecond: 400e6, hitmPerSecond: null });
    assert.deepEqual(after, { contended: 0, programShare: 0, contendedNs: 0, contendedNsPerSecond: 0, hitmPerSecond: null });
    assert.ok(confidence > 0.999);
    assert.equal(result.entries.find(({ kind }) => kind === 'type')?.name, 'Worker', 'the largest difference comes first');
    assert.equal(result.comparable, true);
    assert.deepEqual(result.notes, []);
    assert.deepEqual(schemaErrors('cacheline-diff-1', result), []);
  });

  it('of one recording twice, everything is the same, however few its samples', () => {
    for (const samples of [10, 100, 1_000_000]) {
      const rows = [worker(samples / 10), worker(samples / 5, { type: 'Queue', member: 'head' })];
      const result = diff(rows, rows, { samples });
      assert.ok(result.entries.length >= 5);
      for (const { status } of [result.program, ...result.entries]) assert.equal(status, 'same', `${samples} samples`);
    }
  });

  it('says that it is not sure where chance explains a difference', () => {
    const few = entry(diff([worker(4)], [worker(1)], { samples: 20 }), 'type', 'Worker');
    assert.equal(few.status, 'unsure');
    assert.ok(few.confidence < 0.99);
    const many = entry(diff([worker(4000)], [worker(1000)], { samples: 20_000 }), 'type', 'Worker');
    assert.equal(many.status, 'better');
  });

  it('holds differences of proportions against known values', () => {
    // Without the allowance for correlated samples: 56 of 70 and 48 of 80, of which Agresti and Caffo give [0.06, 0.34].
    const { value, low, high, p, within } = differenceOf(proportion(48 * 4, 80 * 4), proportion(56 * 4, 70 * 4));
    assert.ok(Math.abs(value - 0.2) < 1e-12);
    assert.ok(Math.abs(low - 0.052) < 0.01 && Math.abs(high - 0.339) < 0.01, `${low} ${high}`);
    assert.ok(p > 0.005 && p < 0.012, `${p}`);
    assert.ok(within(0.4) > 0.99 && within(0.001) < 0.02);
    const none = differenceOf(proportion(0, 0), proportion(0, 0));
    assert.deepEqual([none.value, Math.abs(none.p - 1) < 1e-6], [0, true]);
  });

  describe('matches', () => {
    const before = layout('Worker', 64, [member('ticks', 0, 8), member('total', 8, 8), member('name', 16, 8, { type: 'char *' })]);
    const types = (of: typeof before) => [typeHeat(of, [])];

    it('a renamed member by place and type: perhaps', () => {
      const after = layout('Worker', 64, [member('count', 0, 8), member('total', 8, 8), member('name', 16, 8, { type: 'char *' })]);
      const result = diff([worker(400)], [worker(400, { member: 'count' })], { types: types(before) }, { types: types(after) });
      const found = entry(result, 'member', 'Worker.count');
      assert.equal(found.perhaps, 'Worker.ticks');
      assert.equal(found.status, 'same');
      assert.ok(found.confidence <= 0.5);
      assert.equal(result.entries.filter(({ kind }) => kind === 'member').length, 1);
      assert.match(diffText(result, { width: 200, style: PLAIN, showAll: false }), /Worker\.count \(perhaps Worker\.ticks before\)/);
    });

    it('a renamed member whose type has grown at its position', () => {
      const after = layout('Worker', 192, [member('count', 64, 8), member('total', 128, 8), member('name', 136, 8, { type: 'char *' })]);
      const result = diff([worker(400)], [worker(20, { member: 'count' })], { types: types(before) }, { types: types(after) });
      assert.deepEqual(
        [entry(result, 'member', 'Worker.count').perhaps, entry(result, 'member', 'Worker.count').status],
        ['Worker.ticks', 'better'],
      );
    });

    it('no member with another one of another type, nor with one that was there before', () => {
      const other = layout('Worker', 64, [
        member('count', 0, 8, { type: 'double' }),
        member('total', 8, 8),
        member('name', 16, 8, { type: 'char *' }),
      ]);
      const retyped = diff([worker(400)], [worker(400, { member: 'count' })], { types: types(before) }, { types: types(other) });
      assert.deepEqual([entry(retyped, 'member', 'Worker.ticks').status, entry(retyped, 'member', 'Worker.count').status], ['gone', 'new']);
      const swapped = layout('Worker', 64, [member('total', 0, 8), member('name', 16, 8, { type: 'char *' })]);
      const gone = diff([worker(400)], [worker(400, { member: 'total' })], { types: types(before) }, { types: types(swapped) });
      assert.deepEqual([entry(gone, 'member', 'Worker.ticks').status, entry(gone, 'member', 'Worker.total').status], ['gone', 'new']);
    });

    it('several types of one name by their sum, and says so', () => {
      const small = typeHeat(before, []);
      const large = typeHeat(layout('Worker', 128, [member('other', 0, 8)]), []);
      const result = diff([worker(400)], [worker(100)], { types: [small, large] }, { types: [small] });
      assert.deepEqual([entry(result, 'type', 'Worker').types, entry(result, 'type', 'Worker').status], [2, 'better']);
      // Which of them a member of another name would be of is not known.
      const renamed = diff([worker(400)], [worker(400, { member: 'count' })], { types: [small, large] }, { types: [small] });
      assert.equal(entry(renamed, 'member', 'Worker.count').perhaps, undefined);
      // In two binaries.
      const twice = diff([worker(1)], [worker(1)], { types: [small, { ...small, binary: '/lib/other.so' }] });
      assert.equal(entry(twice, 'type', 'Worker').types, undefined);
    });

    it('unnamed memory, wherever it lies', () => {
      const memory = (address: string): Waits[] => [
        worker(400, { type: '[no type known]', member: '[no type known]', object: `anonymous ${address}` }),
      ];
      const { entries } = diff(memory('0x7f0012340000'), memory('0x7e0000000000'));
      assert.deepEqual(
        entries.map(({ kind, name, status }) => [kind, name, status]),
        [
          ['object', 'anonymous', 'same'],
          ['function', 'work', 'same'],
        ],
      );
    });

    it('a function with its inlined code', () => {
      const result = diff([worker(400, { function: 'bump' })], [worker(400, { function: 'bump', symbol: 'run' })]);
      const found = entry(result, 'function', 'bump');
      assert.deepEqual([found.status, found.inlined], ['same', 'after']);
      assert.equal(result.entries.filter(({ kind }) => kind === 'function').length, 1);
    });
  });

  describe('says what does not compare:', () => {
    const meta = (more: object): SumsOptions => ({ more: { recording: { ...intelReport().recording!, ...more } } });
    const machine = { hostname: 'a', kernel: '6.1', cpu: 'A', cpus: 4, lineSize: 64 };

    it('time and HITMs', () => {
      const { evidence, collector, c2c } = intelReport();
      const result = diff(
        [worker(400), worker(100, { type: 'Queue' })],
        [worker(400), worker(300, { type: 'Late' })],
        {},
        { more: { evidence, collector, c2c: c2c! } },
      );
      assert.equal(result.comparable, false);
      assert.match(result.notes[0]!, /^Time .* before, HITMs after: .* cannot be compared/);
      const status = (name: string): string => entry(result, 'type', name).status;
      assert.deepEqual(['Worker', 'Queue', 'Late'].map(status), ['unsure', 'gone', 'new']);
      assert.match(diffText(result, { width: 80, style: PLAIN, showAll: false }), /cannot be compared/);
    });

    it('programs, machines and rates', () => {
      const one = meta({ command: ['/a/server'], machine, frequency: 500, period: 0, collector: 'clock' });
      const two = meta({ command: ['/b/client'], machine: { ...machine, cpus: 8 }, frequency: 99, period: 0, collector: 'clock' });
      const { notes, comparable } = diff([worker(400)], [worker(400)], one, two);
      assert.equal(comparable, true);
      assert.match(notes.join('\n'), /programs are called server and client/);
      assert.match(notes.join('\n'), /number of CPUs \(4, then 8\)/);
      assert.match(notes.join('\n'), /500 samples per second .* before, 99 samples per second .* after/);
      assert.deepEqual(diff([worker(400)], [worker(400)], one).notes, []);
      const kernel = meta({
        command: ['/a/server'],
        machine: { ...machine, kernel: '6.2' },
        frequency: 500,
        period: 0,
        collector: 'clock',
      });
      assert.deepEqual(diff([worker(400)], [worker(400)], one, kernel).notes, [
        'The kernels differ (6.1, then 6.2): small differences may come from that.',
      ]);
    });

    it('what a recording could not see', () => {
      const blind = { share: 0.7, reasons: [{ reason: 'noInstruction' as const, what: 'code', share: 0.7 }] };
      const result = diff([worker(400)], [], {}, { more: { blind } });
      assert.equal(entry(result, 'type', 'Worker').status, 'unsure');
      assert.match(result.notes.join(), /Nothing can be said about 70\.0% of the samples after/);
      assert.equal(entry(diff([], [worker(400)], {}, { more: { blind } }), 'type', 'Worker').status, 'new', 'what is there was seen');
    });
  });

  it('calls what remains as the findings of the report do', () => {
    const types = [typeHeat(layout('Worker', 8, [member('ticks', 0, 8)]), [])];
    const remaining = (findings: Finding[]): Diff['remaining'] =>
      diff([worker(400)], [worker(100)], { types, more: { findings } }).remaining;
    assert.deepEqual(remaining([finding({ type: 'Worker', object: 'pool' }, 100)]), { name: 'pool', share: 1 });
    assert.deepEqual(remaining([finding({ type: 'Worker' }, 60), finding({ object: 'lock' }, 40)]), { name: 'Worker', share: 0.6 });
    assert.equal(remaining([]), null);
  });

  it('is text that fits its width, and Markdown that names cannot break', () => {
    const name = 'Evil<script>|`@all`\u001b[31m_x_';
    const run = (durationSeconds: number): SumsOptions => ({ more: { recording: wholeRun({ durationSeconds }) } });
    const result = diff(
      [worker(400), worker(300, { type: name, object: name.repeat(5), function: name })],
      [worker(100)],
      run(3),
      run(1.5),
    );
    matchGolden('diff-80.txt', diffText(result, { width: 80, style: PLAIN, showAll: false }));
    for (const width of [40, 80, 200])
      for (const line of diffText(result, { width, style: PLAIN, showAll: true }).split('\n')) assert.ok(displayWidth(line) <= width, line);
    assert.match(
      diffText(result, { width: 200, style: PLAIN, showAll: true }),
      / time\/run +after +sure +share +after +time\/s +after +samples +after +name\n +better +800 ms +200 ms .* 400 +100 +Worker\n/,
      'a wide terminal has more columns',
    );
    assert.ok(diffText(result, { width: 80, style: COLOURED, showAll: true }).includes('\u001b[32mgone'));
    const markdown = diffMarkdown(result);
    assert.doesNotMatch(markdown, /<script|\u001b|@all/);
    const rows = markdown.split('\n').filter((line) => line.startsWith('| gone'));
    assert.ok(rows.length >= 3);
    for (const row of rows) assert.equal(row.split('|').length, rows[0]!.split('|').length, row);
  });

  it('lists the first entries of a kind and says how many more there are', () => {
    const many = Array.from({ length: 30 }, (_, i) => worker(20 + i, { type: `T${i}` }));
    const result = diff(many, []);
    assert.match(diffText(result, { width: 80, style: PLAIN, showAll: false }), /10 more \(all with --show-all\)/);
    assert.doesNotMatch(diffText(result, { width: 80, style: PLAIN, showAll: true }), /more \(all/);
  });
});
