// The hover's text: who reads and writes the data of a source line, where on the cache line, how often, and what it means.
import { t } from '../../protocol/l10n';
import { hasDataSources, type Measure, type Measured } from '../../protocol/measure';
import { VERDICT_MEANING, VERDICT_WORDS } from '../../protocol/words';
import { competingThreads, heatText, type LineAccess } from '../profile/heat';
import {
  addPeople,
  byteRange,
  code,
  findingText,
  footer,
  functionNames,
  markdownTable,
  MAX_OWN_ROWS,
  MAX_RIVAL_ROWS,
  nameOf,
  namesTell,
  NBSP,
  rivals,
  threadNames,
  type RowPeople,
  type VerdictLink,
} from './hover-parts';
import { sourcesHoverText } from './hover-sources';
import { count } from '../text/terminal-text';

/** Accesses that go to the same bytes of the same object. */
interface Row extends RowPeople {
  /** Bytes from the cache line's start. */
  start: number;
  width: number;
  name: string;
  loads: number;
  stores: number;
  rmw: number;
  locked: boolean;
  contended: number;
}

const COLUMNS = [
  [t('bytes'), '--:'],
  [t('data'), ':--'],
  [t('reads'), '--:'],
  [t('writes'), '--:'],
  [t('threads'), ':--'],
  [t('in'), ':--'],
] as const;

/**
 * Markdown for a source line with contended accesses: its own, then the others that compete for the same cache lines.
 * @param accesses of that source line
 * @param measure what the gutter shows
 * @returns empty where no access of the source line competes
 */
export function lineHoverText(report: Measured, accesses: readonly LineAccess[], measure: Measure, link: VerdictLink = noLink): string {
  if (hasDataSources(report)) return sourcesHoverText(report, accesses, measure, { subject: '', here: true, link });
  return hoverText(report, accesses, '', () => t('this line'), link);
}

/** The same for the place where a variable is defined. */
export function definitionHoverText(
  report: Measured,
  object: string,
  accesses: readonly LineAccess[],
  measure: Measure,
  link: VerdictLink = noLink,
): string {
  const subject = `${code(object)}: `;
  if (hasDataSources(report)) return sourcesHoverText(report, accesses, measure, { subject, here: false, link });
  return hoverText(report, accesses, subject, functionNames, link);
}

function noLink(): string {
  return '';
}

function hoverText(
  report: Measured,
  accesses: readonly LineAccess[],
  subject: string,
  ownWhere: (row: Row) => string,
  link: VerdictLink,
): string {
  const competes = ({ access }: LineAccess): boolean => access.contended > 0;
  const own = accesses.filter(competes);
  if (own.length === 0) return '';
  const amount = own.reduce((sum, { access }) => sum + access.contended, 0);
  const most = own.reduce((a, b) => (b.access.contended > a.access.contended ? b : a)).cacheLine;
  const { verdict } = most;
  const share = amount / report.samples.contended;
  const ownRows = rowsOf(own);
  const rivalRows = rowsOf(rivals(own, competes));
  const named = namesTell(own);
  const left = Math.max(0, ownRows.length - MAX_OWN_ROWS) + Math.max(0, rivalRows.length - MAX_RIVAL_ROWS);
  const heat = heatText({ measure: 'contended', amount, share, ...competingThreads(own, 'contended'), caused: 0 });
  return [
    `**${subject}${VERDICT_WORDS[verdict]}** · ${heat.replace('<', '&lt;')}`,
    findingText(most, VERDICT_MEANING[verdict]),
    markdownTable(COLUMNS, [
      ...ownRows.slice(0, MAX_OWN_ROWS).map((row) => tableRow(row, `**${code(row.name)}**`, named, ownWhere(row))),
      ...rivalRows.slice(0, MAX_RIVAL_ROWS).map((row) => tableRow(row, code(row.name), named, functionNames(row))),
    ]),
    footer(report, own, left, link(verdict)),
  ].join('\n\n');
}

function rowsOf(accesses: readonly LineAccess[]): Row[] {
  const rows = new Map<string, Row>();
  for (const one of accesses) {
    const { cacheLine, access } = one;
    const name = nameOf(one);
    const key = JSON.stringify([cacheLine.space, name, access.offset, access.width]);
    let row = rows.get(key);
    if (!row) {
      const sums = { loads: 0, stores: 0, rmw: 0, locked: false, contended: 0 };
      row = { start: access.offset, width: access.width, name, ...sums, threads: new Map(), functions: new Map() };
      rows.set(key, row);
    }
    row.loads += access.loads;
    row.stores += access.stores.total;
    row.rmw += access.stores.rmw ?? 0;
    row.locked ||= access.locked;
    row.contended += access.contended;
    addPeople(row, one);
  }
  return [...rows.values()].sort((a, b) => b.contended - a.contended || a.start - b.start);
}

function tableRow(row: Row, data: string, named: boolean, where: string): string[] {
  return [byteRange(row.start, row.width), data, count(row.loads), writes(row), threadNames(row.threads, named), where];
}

function writes({ stores, rmw, locked }: Row): string {
  const how = locked ? `${NBSP}${t('atomic')}` : rmw > 0 ? `${NBSP}${t('read+write')}` : '';
  return `${count(stores)}${stores > 0 ? how : ''}`;
}
