// Tables of a recording, as the command prints them, held against the schema and each other.
import assert from 'node:assert/strict';
import { TABLE_KEYS, type Table, type TableKey, type TableRow } from '../../extension/protocol/table';
import type { Report } from '../../extension/protocol/report';
import type { Command } from './command';
import { schemaErrors } from './schemas';

export class Tables {
  constructor(
    private readonly command: Command,
    private readonly cwd: () => string,
    private readonly recording: string,
  ) {}

  private async output(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.command.run(['report', this.recording, ...args], { cwd: this.cwd() });
    assert.equal(status, 0, stderr);
    return stdout;
  }

  text(by: string, ...args: string[]): Promise<string> {
    return this.output('--by', by, ...args);
  }

  async by(by: string, ...args: string[]): Promise<Table> {
    const table = JSON.parse(await this.output('--by', by, '--format', 'json', ...args)) as Table;
    assert.deepEqual(schemaErrors('cacheline-table-1', table), [], by);
    return table;
  }

  async report(...args: string[]): Promise<Report> {
    return JSON.parse(await this.output('--format', 'json', ...args)) as Report;
  }

  /** Every key, and pairs of keys: all add up to the report of all lines. */
  async assertSums(...args: string[]): Promise<void> {
    const pairs = ['type,thread', 'member,function', 'time,object', 'line,time', 'allocation,cpu', 'source,node', 'process,file'];
    await this.assertSumsBy([...TABLE_KEYS, ...pairs], ...args);
  }

  async assertSumsBy(keys: readonly string[], ...args: string[]): Promise<void> {
    const report = await this.report('--show-all', ...args);
    const contended = report.lines.reduce((sum, line) => sum + line.contended, 0);
    assert.equal(contended, report.samples.contended);
    for (const by of keys) {
      const { total, rows, programSamples } = await this.by(by, ...args);
      assert.deepEqual(total, { samples: report.samples.total, contended, misses: null }, by);
      assert.equal(programSamples, report.samples.total, by);
      assert.equal(sum(rows, 'samples'), report.samples.total, by);
      assert.equal(sum(rows, 'contended'), contended, by);
      const share = rows.reduce((all, { programShare }) => all + programShare, 0);
      assert.ok(Math.abs(share - contended / Math.max(report.samples.total, 1)) < 1e-6, by);
      assert.equal(sum(rows, 'reads') + sum(rows, 'writes'), report.samples.attributed, by);
    }
  }
}

export function sum(
  rows: readonly TableRow[],
  column: 'samples' | 'contended' | 'reads' | 'writes' | 'hitm' | 'peer' | 'misses' | 'contendedNs',
): number {
  return rows.reduce((all, row) => all + (row[column] ?? 0), 0);
}

/** The only row whose key fits. */
export function rowOf({ by, rows }: Table, key: string | RegExp, which: TableKey | undefined = by[0]): TableRow {
  const texts = (row: TableRow): string => row.key[which!] ?? '';
  const found = rows.filter((row) => (typeof key === 'string' ? texts(row) === key : key.test(texts(row))));
  assert.equal(found.length, 1, `${String(key)} in ${rows.map(texts).join(' | ')}`);
  return found[0]!;
}
