// The CSV of lines: RFC 4180, and nothing that a spreadsheet would run.
import assert from 'node:assert/strict';
import { csvRows } from '../../extension/session/report/report-csv';
import type { Report } from '../../extension/protocol/report';
import { reportFixture } from './fixtures';
import { armReport, hostileReport, intelReport } from './pmu-reports';
import { access, cacheLine, report as reportOf } from './report-builder';

const csvText = (report: Report): string => [...csvRows(report, report.lines)].join('');

/** Records of RFC 4180, section 2; throws on a quote where none may be. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const record: string[] = [];
    for (;;) {
      const match = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
      match.lastIndex = at;
      const [whole, quoted, plain] = match.exec(text)!;
      record.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
      at += whole.length;
      if (text[at] !== ',') break;
      ++at;
    }
    assert.equal(text.slice(at, at + 2), '\r\n', `a record ends at ${at}`);
    at += 2;
    records.push(record);
  }
  return records;
}

function rows(text: string): Record<string, string>[] {
  const [names = [], ...records] = parseCsv(text);
  return records.map((record) => {
    assert.equal(record.length, names.length);
    return Object.fromEntries(names.map((name, i) => [name, record[i] ?? '']));
  });
}

describe('report csv', () => {
  it('has one row a line with the JSON’s numbers', () => {
    const report = intelReport();
    const found = rows(csvText(report));
    assert.equal(found.length, report.lines.length);
    for (const [i, line] of report.lines.entries()) {
      const row = found[i]!;
      assert.equal(row['address'], line.address);
      assert.equal(row['hitm_remote'], String(line.hitm!.remote));
      assert.equal(row['stores_l1_miss'], String(line.stores.l1Miss));
      assert.equal(row['ld_fill_buffer'], String(line.ld!.fillBuffer));
      assert.equal(row['records'], String(line.records));
    }
    assert.equal(found[0]!['data'], 'counters+0..16');
    assert.equal(found[0]!['flags'], 'adjacent');
  });

  it('has `; ` between two objects, whose names may hold blanks', () => {
    const data = (object: string, offset: number) => ({ object, offset, definition: null });
    const name = 'std::map<int, long>';
    const line = cacheLine([access({ writes: 9, data: data(name, 0) }), access({ offset: 8, writes: 5, data: data('b', 0) })]);
    assert.deepEqual(rows(csvText(reportOf([line])))[0]!['data']!.split('; '), [`${name}+0`, 'b+0']);
  });

  it('leaves empty what the evidence cannot say, and writes 0 where there was none', () => {
    const [arm] = rows(csvText(armReport()));
    assert.equal(arm!['hitm_total'], '');
    assert.equal(arm!['pa_count'], '');
    assert.equal(arm!['ld_local_dram'], '0');
    const [clock] = rows(csvText(reportFixture('false-sharing')));
    assert.equal(clock!['peer_local'], '');
    assert.equal(clock!['ld_l1'], '');
    assert.notEqual(clock!['stores_rmw'], '');
  });

  it('keeps hostile names within their cell, visible and no formula', () => {
    const report = hostileReport();
    const [line] = report.lines;
    for (const name of ['=HYPERLINK("http://x")', '+1', '-1+2', '@SUM(A1)', '\t=1', ' =1', '＝1', 'a,"b"\r\n=2']) {
      line!.mapping = name;
      const text = csvText(report);
      const shown = rows(text)[0]!['mapping']!;
      assert.doesNotMatch(shown, /^\s*[=+\-@＝]/, name);
      assert.doesNotMatch(text.replaceAll('\r\n', ''), /[\p{Cc}\p{Cf}]/u);
      assert.match(shown, /[12)"]/);
    }
  });

  it('has a header where there is no line', () => {
    const report = intelReport();
    report.lines = [];
    assert.deepEqual(rows(csvText(report)), []);
    assert.match(csvText(report), /^index,address,[a-z0-9_,]+\r\n$/);
  });
});
