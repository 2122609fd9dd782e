// One row of the panel's table, to be pasted elsewhere: a cache line with its accesses, or one access. Names are untrusted.
import { t } from '../../protocol/l10n';
import type { Access, CacheLine, Report } from '../../protocol/report';
import { accessKind, KIND_WORDS } from '../../protocol/roles';
import { percent } from '../../protocol/words';
import { ownPlace } from '../lines/source-path';
import { addressOf, dataText } from '../report/data-text';
import { csvRows } from '../report/report-csv';
import { weight } from '../report/sharing-facts';
import { verdictText } from '../report/verdict-text';
import { csvCell, csvLine, type CsvValue } from '../text/csv';
import { codeSpan, markdownTable, prose } from '../text/markdown';
import { count, plural } from '../text/terminal-text';

/** Titles of Markdown's columns, the right-aligned ones with a colon. */
const TITLES = [
  `${t('offset (bytes)')}:`,
  t('kind'),
  `${t('share of the line')}:`,
  `${t('samples')}:`,
  `${t('threads')}:`,
  t('data'),
  t('function'),
  t('source'),
];

/** As one table; of a line with a sentence before it. */
export function rowMarkdown(line: CacheLine, access?: Access): string {
  const sum = line.accesses.reduce((total, one) => total + weight(one, line), 0);
  const cells = (one: Access): string[] => {
    const place = ownPlace(one);
    return [
      count(one.offset),
      KIND_WORDS[accessKind(one)],
      sum === 0 ? '' : percent(weight(one, line) / sum),
      count(one.records),
      count(one.threads.length),
      codeSpan(dataText(one.data, () => addressOf(line, one))),
      codeSpan(one.symbol || one.codeAddress),
      place ? codeSpan(place.line > 0 ? `${place.file}:${place.line}` : place.file) : '',
    ];
  };
  const accesses = access ? [access] : [...line.accesses].sort((a, b) => weight(b, line) - weight(a, line) || a.offset - b.offset);
  const table = markdownTable(TITLES, accesses.map(cells));
  if (access) return `${table.join('\n')}\n`;
  const sentence = t(
    'Cache line {0} of {1}: {2}, {3} of all contended samples, {4}.',
    codeSpan(line.address),
    prose(line.space),
    `**${verdictText(line)}**`,
    percent(line.contendedShare),
    plural(line.records, 'sample'),
  );
  return `${[sentence, '', ...table].join('\n')}\n`;
}

const ACCESS_COLUMNS: { name: string; value: (access: Access, line: CacheLine) => CsvValue }[] = [
  { name: 'line', value: (_, { address }) => ({ text: address }) },
  { name: 'offset', value: ({ offset }) => offset },
  { name: 'width', value: ({ width }) => width },
  { name: 'kind', value: (access) => ({ text: accessKind(access) }) },
  { name: 'contended', value: ({ contended }) => contended },
  { name: 'records', value: ({ records }) => records },
  { name: 'loads', value: ({ loads }) => loads },
  { name: 'stores', value: ({ stores }) => stores.total },
  { name: 'threads', value: ({ threads }) => threads.length },
  { name: 'data', value: (access, line) => ({ text: dataText(access.data, () => addressOf(line, access)) }) },
  { name: 'function', value: ({ symbol }) => ({ text: symbol }) },
  { name: 'code_address', value: ({ codeAddress }) => ({ text: codeAddress }) },
  { name: 'file', value: (access) => ({ text: ownPlace(access)?.file ?? '' }) },
  { name: 'source_line', value: (access) => ownPlace(access)?.line || null },
];

/** A header and one row: of a line that of `cacheline report --format csv`. */
export function rowCsv(report: Pick<Report, 'c2c'>, line: CacheLine, access?: Access): string {
  if (!access) return [...csvRows(report, [line])].join('');
  const cells = ACCESS_COLUMNS.map(({ value }) => csvCell(value(access, line)));
  return csvLine(ACCESS_COLUMNS.map(({ name }) => name)) + csvLine(cells);
}

/** As it stands in the report's JSON. */
export function rowJson(line: CacheLine, access?: Access): string {
  return `${JSON.stringify(access ?? line, null, 2)}\n`;
}
