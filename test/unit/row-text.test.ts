// A row of the panel's table as text to be pasted.
import assert from 'node:assert/strict';
import { rowCsv, rowJson, rowMarkdown } from '../../extension/session/export/row-text';
import { csvRows } from '../../extension/session/report/report-csv';
import { access, cacheLine, readerBesideWriter, report } from './report-builder';

describe('a row as text', () => {
  const { line } = readerBesideWriter();
  const [writer] = line.accesses;

  it('is Markdown: the line in a sentence, and a table of its accesses, costliest first', () => {
    assert.deepEqual(rowMarkdown(line).split('\n'), [
      'Cache line `0x404040` of pid 1: **false sharing**, 0.0% of all contended samples, 430 samples.',
      '',
      '| offset (bytes) | kind | share of the line | samples | threads | data | function | source |',
      '| ---: | --- | ---: | ---: | ---: | --- | --- | --- |',
      '| 0 | write | 93.0% | 400 | 1 | `queue.produced` | `produce` | `/src/program.c:4` |',
      '| 8 | read | 7.0% | 30 | 1 | `queue.limit` | `consume` | `/src/program.c:9` |',
      '',
    ]);
    assert.equal(rowMarkdown(line, writer).split('\n').length, 4, 'of an access its row alone');
  });

  it('is CSV: of a line the row of the report, of an access one of its own', () => {
    assert.equal(rowCsv(report([line]), line), [...csvRows(report([line]), [line])].join(''));
    assert.deepEqual(rowCsv(report([line]), line, writer).split('\r\n'), [
      'line,offset,width,kind,contended,records,loads,stores,threads,data,function,code_address,file,source_line',
      '0x404040,0,8,write,400,400,0,400,1,queue.produced,produce,0x401000,/src/program.c,4',
      '',
    ]);
  });

  it('is JSON: what the report has', () => {
    assert.deepEqual(JSON.parse(rowJson(line)), line);
    assert.deepEqual(JSON.parse(rowJson(line, writer)), writer);
  });

  it('holds names that are text and nothing else', () => {
    const evil = '=HYPERLINK("x")|<img src=x>\u202e[a](b)';
    const other = cacheLine([access({ writes: 1, symbol: evil, file: `/${evil}.c`, data: { object: evil, offset: 0, definition: null } })]);
    const markdown = rowMarkdown(other);
    assert.doesNotMatch(markdown, /<img|\u202e|\[a\]\(b\)/u);
    for (const row of markdown.split('\n').slice(2, -1)) assert.equal(row.split('|').length, 10, row);
    const cells = rowCsv(report([other]), other, other.accesses[0]).split('\r\n')[1] ?? '';
    assert.doesNotMatch(cells, /(^|,)"?=|\u202e/u);
  });
});
