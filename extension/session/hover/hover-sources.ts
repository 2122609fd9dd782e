// The hover's text for recordings with data sources: how many loads were answered by another core's cache, how long they
// took, and whose stores made them miss. Peer evidence never says "HITM"; what was not measured is "unknown".
import { t } from '../../protocol/l10n';
import { amountOf, loadCycles, MEASURE_WORDS, shareOf, wholeOf, type Measure, type Measured } from '../../protocol/measure';
import type { Access, CacheLine } from '../../protocol/report';
import { VERDICT_MEANING } from '../../protocol/words';
import { causedBy, competingThreads, heatText, takesPart, wholePercent, type LineAccess } from '../profile/heat';
import {
  addPeople,
  byteRange,
  cacheLinesOf,
  code,
  findingText,
  footer,
  functionNames,
  markdownTable,
  MAX_OWN_ROWS,
  MAX_RIVAL_ROWS,
  nameOf,
  namesTell,
  rivals,
  threadNames,
  type RowPeople,
  type VerdictLink,
} from './hover-parts';
import { findingAt } from '../report/lead';
import { verdictText } from '../report/verdict-text';
import { count, plural } from '../text/terminal-text';

const UNKNOWN = 'unknown';
/** Threads that a row names; of more it says how many. */
const MAX_NAMED = 2;
/** Nothing to measure: no loads, so no cycles. */
const NONE = '–';

/** Accesses that go to the same bytes of the same object. */
interface Row extends RowPeople {
  start: number;
  width: number;
  name: string;
  accesses: Access[];
}

/** What the evidence counts as an answer of another core's cache. */
interface Snoop {
  one: string;
  many: string;
  of(counted: Access | CacheLine): { local: number; remote: number } | null;
}

const HITM: Snoop = {
  one: t('HITM'),
  many: t('HITMs'),
  of: ({ hitm }) => hitm,
};
const PEER: Snoop = {
  one: t('peer hit'),
  many: t('peer hits'),
  of: ({ peer }) => peer,
};

/** What a hover is about. */
interface Hovered {
  /** Put before the verdict. */
  subject: string;
  /** The accesses are those of the hovered line itself, not of a variable defined there. */
  here: boolean;
  link: VerdictLink;
}

/**
 * Markdown for the accesses of one place: its own rows, then the others on the same cache lines.
 * @returns empty where the accesses take no part in contention
 */
export function sourcesHoverText(
  report: Measured,
  accesses: readonly LineAccess[],
  measure: Measure,
  { subject, here, link }: Hovered,
): string {
  const snoop = report.evidence.includes('hitm') && measure !== 'peer' ? HITM : report.evidence.includes('peer') ? PEER : undefined;
  const taking = (one: LineAccess): boolean =>
    takesPart(one, measure) || (snoop !== undefined && total(snoop, [one.access]) > 0) || one.access.stores.total > 0;
  const own = accesses.filter(taking);
  if (own.length === 0) return '';
  const amount = own.reduce((sum, { access }) => sum + amountOf(access, measure), 0);
  const caused = amount === 0 ? causedBy(own, measure) : 0;
  const most = own.reduce((a, b) => (amountOf(b.cacheLine, measure) > amountOf(a.cacheLine, measure) ? b : a)).cacheLine;
  const finding = findingAt(
    report,
    own.map(({ access }) => access),
  );
  const verdict = finding?.verdict ?? most.verdict;
  const judged = finding === undefined ? verdictText(most) : verdictText({ ...finding, verdictSure: finding.sure });
  const heat =
    amount === 0 && caused === 0
      ? t('no {0}', MEASURE_WORDS[measure].many)
      : heatText({ measure, amount, share: shareOf(amount, wholeOf(report, measure)), ...competingThreads(own, measure), caused });
  const order = (a: Row, b: Row): number => rowAmount(b, measure) - rowAmount(a, measure) || a.start - b.start;
  const ownRows = rowsOf(own).sort(order);
  const rivalRows = rowsOf(rivals(own, taking)).sort(order);
  const named = namesTell(own);
  const left = Math.max(0, ownRows.length - MAX_OWN_ROWS) + Math.max(0, rivalRows.length - MAX_RIVAL_ROWS);
  const columns = tableColumns(snoop, named);
  const ownWhere = (row: Row): string => (here ? t('this line') : functionNames(row));
  return [
    `**${subject}${judged}** · ${heat.replace('<', '&lt;')}`,
    findingText(most, plainWords(own, snoop) || VERDICT_MEANING[verdict]),
    markdownTable(
      [[t('bytes'), '--:'], [t('data'), ':--'], ...columns.map(({ title }) => [title, '--:'] as const), [t('in'), ':--']],
      [
        ...ownRows.slice(0, MAX_OWN_ROWS).map((row) => tableRow(row, `**${code(row.name)}**`, columns, ownWhere(row))),
        ...rivalRows.slice(0, MAX_RIVAL_ROWS).map((row) => tableRow(row, code(row.name), columns, functionNames(row))),
      ],
    ),
    footer(report, own, left, link(verdict)),
  ].join('\n\n');
}

/** "312 of the 401 HITMs of this cache line are here, 60% of them remote. …" */
function plainWords(own: readonly LineAccess[], snoop: Snoop | undefined): string {
  const accesses = own.map(({ access }) => access);
  const lines = cacheLinesOf(own);
  const ofLines = lines.length === 1 ? t('this cache line') : t('these {0} cache lines', count(lines.length));
  const loads = accesses.reduce((sum, access) => sum + access.loads, 0);
  const stores = accesses.reduce((sum, access) => sum + access.stores.total, 0);
  const there = snoop ? total(snoop, lines) : 0;
  const hits = snoop ? total(snoop, accesses) : 0;
  const sentences: string[] = [];
  if (snoop && hits > 0) {
    const remote = accesses.reduce((sum, access) => sum + (snoop.of(access)?.remote ?? 0), 0);
    const which = t('{0} of the {1} {2} of {3}', count(hits), count(there), there === 1 ? snoop.one : snoop.many, ofLines);
    const remotely = wholePercent(remote / hits).replace('<', '&lt;');
    sentences.push(
      hits === 1 ? t('{0} is here, {1} of them remote.', which, remotely) : t('{0} are here, {1} of them remote.', which, remotely),
    );
  }
  if (loads > 0) sentences.push(latencyWords(accesses, loads));
  if (snoop && hits === 0 && stores > 0) {
    const them = there === 1 ? snoop.one : snoop.many;
    sentences.push(t('{0} here, on {1} with {2} {3}.', plural(stores, 'store'), ofLines, count(there), them));
  }
  return sentences.join(' ');
}

function latencyWords(accesses: readonly Access[], loads: number): string {
  const mean = meanCycles(accesses);
  if (mean === undefined) return t('How long loads take here is unknown.');
  const cycles = count(Math.round(mean));
  return loads === 1
    ? t('1 load here takes {0} cycles on average.', cycles)
    : t('{0} loads here take {1} cycles on average.', count(loads), cycles);
}

/** Of all loads; undefined where no latency is known. */
function meanCycles(accesses: readonly Access[]): number | undefined {
  const timed = accesses.filter(({ meanCycles, loads }) => meanCycles !== null && loads > 0);
  const loads = timed.reduce((sum, access) => sum + access.loads, 0);
  return loads > 0 ? timed.reduce((sum, access) => sum + loadCycles(access), 0) / loads : undefined;
}

/** Of several accesses together at most 5% of the loads are slower than the largest p95 among them. */
function slowest(accesses: readonly Access[]): number | undefined {
  const known = accesses.flatMap(({ cycles, loads }) => (cycles && loads > 0 ? [cycles.p95] : []));
  return known.length > 0 ? Math.max(...known) : undefined;
}

interface TableColumn {
  title: string;
  cell: (row: Row) => string;
}

function tableColumns(snoop: Snoop | undefined, named: boolean): TableColumn[] {
  const sum = (row: Row, of: (access: Access) => number): number => row.accesses.reduce((total, access) => total + of(access), 0);
  const timed = (row: Row, value: number | undefined): string =>
    value !== undefined ? count(Math.round(value)) : sum(row, ({ loads }) => loads) === 0 ? NONE : UNKNOWN;
  const counts: TableColumn[] = snoop
    ? [
        { title: snoop.many, cell: ({ accesses }) => count(total(snoop, accesses)) },
        { title: t('remote'), cell: (row) => count(sum(row, (access) => snoop.of(access)?.remote ?? 0)) },
      ]
    : [];
  return [
    ...counts,
    { title: t('loads'), cell: (row) => count(sum(row, ({ loads }) => loads)) },
    { title: t('cycles'), cell: (row) => timed(row, meanCycles(row.accesses)) },
    { title: 'p95', cell: (row) => timed(row, slowest(row.accesses)) },
    { title: t('stores'), cell: (row) => count(sum(row, ({ stores }) => stores.total)) },
    // Many names would make the rows high, and the card shows few lines.
    { title: t('threads'), cell: ({ threads }) => (threads.size > MAX_NAMED ? count(threads.size) : threadNames(threads, named)) },
    { title: t('nodes'), cell: nodes },
  ];
}

function nodes({ accesses }: Row): string {
  const found = [...new Set(accesses.flatMap((access) => access.nodes ?? []))].sort((a, b) => a - b);
  return found.length > 0 ? found.join(', ') : UNKNOWN;
}

function tableRow(row: Row, data: string, columns: readonly TableColumn[], where: string): string[] {
  return [byteRange(row.start, row.width), data, ...columns.map(({ cell }) => cell(row)), where];
}

function rowsOf(accesses: readonly LineAccess[]): Row[] {
  const rows = new Map<string, Row>();
  for (const one of accesses) {
    const { cacheLine, access } = one;
    const name = nameOf(one);
    const key = JSON.stringify([cacheLine.space, cacheLine.address, name, access.offset]);
    let row = rows.get(key);
    if (!row) {
      row = { start: access.offset, width: access.width, name, accesses: [], threads: new Map(), functions: new Map() };
      rows.set(key, row);
    }
    row.accesses.push(access);
    addPeople(row, one);
  }
  return [...rows.values()];
}

function rowAmount({ accesses }: Row, measure: Measure): number {
  return accesses.reduce((sum, access) => sum + amountOf(access, measure), 0);
}

function total(snoop: Snoop, counted: readonly (Access | CacheLine)[]): number {
  return counted.reduce((sum, one) => sum + (snoop.of(one)?.local ?? 0) + (snoop.of(one)?.remote ?? 0), 0);
}
