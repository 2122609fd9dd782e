// Tables as text, CSV and JSON: rows and columns, widths, names that are made harmless, and the schema.
import assert from 'node:assert/strict';
import type { Table } from '../../extension/protocol/table';
import { bar } from '../../extension/session/table/bar';
import { tableCsv } from '../../extension/session/table/table-csv';
import { tableText } from '../../extension/session/table/table-text';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { matchGolden } from './golden';
import { schemaErrors } from './schemas';
import { functionTable, tableRow, timeTable, typeTable } from './table-builder';

const tables: Record<string, Table> = { type: typeTable, function: functionTable, time: timeTable };
const text = (table: Table, width: number, more: { showAll?: boolean } = {}): string =>
  tableText(table, table.rows, { width, style: PLAIN, folder: '/code', path: 'server.cacheline', showAll: more.showAll ?? false });

/** Parses RFC 4180, independently of what writes it. */
function parseCsv(csv: string): string[][] {
  const rows: string[][] = [];
  let cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let found = cell.exec(csv); found !== null; found = cell.exec(csv)) {
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === ',') continue;
    rows.push(cells);
    cells = [];
  }
  assert.deepEqual(cells, [], 'the CSV ends within a row');
  return rows;
}

describe('tables', () => {
  for (const [name, table] of Object.entries(tables)) {
    it(`are no wider than they may be: by ${name}`, () => {
      for (const width of [40, 80, 200]) for (const line of text(table, width).split('\n')) assert.ok(displayWidth(line) <= width, line);
    });

    it(`are of cacheline-table/1, which requires every field: by ${name}`, () => {
      assert.deepEqual(schemaErrors('cacheline-table-1', table), []);
      const spoilt = structuredClone(table);
      const holders = [spoilt, spoilt.rows[0]!, ...(spoilt.rows[0]!.waitsFor ?? [])] as unknown as Record<string, unknown>[];
      for (const holder of holders)
        for (const field of Object.keys(holder)) {
          if (field === 'waitsFor') continue;
          const value = holder[field];
          Reflect.deleteProperty(holder, field);
          assert.notDeepEqual(schemaErrors('cacheline-table-1', spoilt), [], `${field} is not required`);
          holder[field] = value;
        }
    });

    it(`are CSV with one row a row: by ${name}`, () => {
      const [header = [], ...rows] = parseCsv([...tableCsv(table, table.rows)].join(''));
      assert.deepEqual(header.slice(0, table.by.length), table.by);
      assert.equal(rows.length, table.rows.length);
      for (const [i, cells] of rows.entries()) {
        assert.equal(cells.length, header.length);
        const row = table.rows[i]!;
        assert.equal(cells[header.indexOf('contended')], String(row.contended));
        assert.equal(cells[header.indexOf('hitm')], row.hitm === null ? '' : String(row.hitm));
        assert.equal(cells[header.indexOf('verdict')], row.verdict ?? '');
      }
    });
  }

  it('are texts with all columns where there is room', () => matchGolden('table-type-200.txt', text(typeTable, 200)));

  it('have fewer columns where there is less room', () => {
    const columnsOf = (table: Table, width: number): string => / *share .*/.exec(text(table, width))![0].trim().replace(/ +/g, ' ');
    assert.equal(columnsOf(typeTable, 80), 'share objects bytes verdict type member');
    assert.equal(columnsOf(timeTable, 80), 'share of all misses bounce samples verdict time');
    assert.equal(columnsOf(timeTable, 200), 'share of all misses bounce HITMs false samples reads writes threads lines verdict time');
  });

  it('have a bar of each share, and the times in their order', () => {
    const rows = [...text(timeTable, 80).matchAll(/^(\S*) +(\S+%) .* (\S+)-\S+s$/gm)].map((row) => row.slice(1).join(' '));
    assert.deepEqual(rows, [' 0.0% 0.00', '▍ 1.8% 0.50', '█▎ 7.3% 1.00', '██▉ 16.4% 1.50', '█████▏ 29.1% 2.00', '████████ 45.5% 2.50']);
  });

  it('say who waits for whom, and at which lines', () => {
    const shown = text(functionTable, 80).replace(/ +/g, ' ');
    assert.match(shown, /^By function: server\.cacheline\n1,000 samples \(clock\); 500 contended: 50\.0% of all 1,000\n/);
    assert.match(shown, / 100\.0% 50\.0% 500\.0 ms 60\.0% 600 mixed push\n 0\.0% 0\.0% 400 read-shared pop\n/);
    assert.match(
      shown,
      /\nWho waits for whom\n.*\n75\.0% 80\.0% push pop\n70\.0% queue\.c:12 queue\.c:30\n 5\.0% queue\.c:14 queue\.c:30\n25\.0% 0\.0% push push\n/,
    );
  });

  it('show names that drive terminals or spreadsheets as harmless text', () => {
    const shown = text(typeTable, 200);
    assert.match(shown, /\\x1b\[31m\\u\{202e\}/);
    const rows = parseCsv([...tableCsv(typeTable, typeTable.rows)].join(''));
    assert.deepEqual(rows[2]!.slice(0, 2), ['Queue', 'head, "tail"']);
    assert.equal(rows[3]![0], "'=cmd|\\x1b[31m\\u{202e}");
  });

  it('have bars that grow with their numbers and never vanish', () => {
    assert.equal(bar(0, 8), '');
    assert.equal(bar(1e-9, 8), '▏');
    assert.equal(bar(1, 8), '████████');
    assert.equal(bar(0.5, 3), '█▌');
    assert.equal(bar(NaN, 8), '');
    let last = 0;
    for (let share = 0; share <= 1; share += 0.01) {
      const width = bar(share, 10).length;
      assert.ok(width >= last - 1 && width <= 10);
      last = width;
    }
  });

  it('leave rows out and say how many', () => {
    const rows = Array.from({ length: 50 }, (_, i) =>
      tableRow({ key: { line: `pid 1:0x${i}` }, samples: 2, contended: 1, verdict: 'mixed' }),
    );
    const many: Table = { ...typeTable, by: ['line'], rows, total: { samples: 100, contended: 50, misses: null }, programSamples: 100 };
    assert.match(text(many, 80), /10 more rows: 20\.0% of the contended samples \(all with --show-all\)/);
    assert.doesNotMatch(text(many, 80, { showAll: true }), /more row/);
    assert.match(text({ ...many, rows: [] }, 80), /There are no samples\./);
  });

  it('colour verdicts and bars, and nothing else changes by that', () => {
    const options = { width: 120, folder: '/code', path: 'a', showAll: false };
    const coloured = tableText(functionTable, functionTable.rows, { ...options, style: COLOURED });
    assert.ok(coloured.includes('\u001b[33mmixed'));
    assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), tableText(functionTable, functionTable.rows, { ...options, style: PLAIN }));
  });

  it('cacheline-table/1 refuses wrong values', () => {
    for (const spoil of [
      (table: Table) => (table.schema = 'cacheline-table/2' as 'cacheline-table/1'),
      (table: Table) => (table.by = []),
      (table: Table) => (table.by = ['type', 'type']),
      (table: Table) => (table.by = ['colour' as 'type']),
      (table: Table) => (table.rows[0]!.key = {}),
      (table: Table) => (table.rows[0]!.key = { colour: 'red' } as never),
      (table: Table) => (table.rows[0]!.contended = -1),
      (table: Table) => (table.rows[0]!.falseShare = 1.5),
      (table: Table) => (table.rows[0]!.verdict = 'guess' as 'mixed'),
      (table: Table) => (table.rows[0]!.ld = { l1: 1 } as never),
    ]) {
      const table = structuredClone(typeTable);
      spoil(table);
      assert.notDeepEqual(schemaErrors('cacheline-table-1', table), [], String(spoil));
    }
  });
});
