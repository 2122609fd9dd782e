// Which tabs the panel has, what each of them asks the host for, and how their rows are sorted.
import { t } from '../../extension/protocol/l10n';
import type { GroupKey, TabColumn, TabRequest, TabRow, TabSubject, TabValue } from '../../extension/protocol/panel-tabs';
import { termsOf } from '../../extension/protocol/filter';
import { plural } from './format';
import type { Sort } from './model';

export const TABS = [
  { name: 'lines', title: t('Lines'), meaning: t('Contended cache lines') },
  { name: 'data', title: t('Data'), meaning: t('Samples added up by data, code or thread') },
  { name: 'functions', title: t('Functions'), meaning: t('Which function waits for which') },
  { name: 'threads', title: t('Threads'), meaning: t('What threads did over time, and on which CPUs') },
  { name: 'source', title: t('Source'), meaning: t('Instructions and source lines of the access that waits') },
  { name: 'timeline', title: t('Timeline'), meaning: t('Contention over time') },
] as const;
export type TabName = (typeof TABS)[number]['name'];

/**
 * Undefined: of lines, which come with the report.
 * @param subject what was selected last; undefined: nothing
 */
export function requestOf(tab: TabName, groupBy: GroupKey, filter: string, subject?: TabSubject): TabRequest | undefined {
  switch (tab) {
    case 'lines':
      return undefined;
    case 'data':
      return { view: groupBy, filter };
    case 'functions':
      return { view: 'pairs', filter };
    case 'threads':
      return { view: 'threads', filter };
    case 'source':
      return { view: 'code', filter, ...(subject ? { subject } : {}) };
    case 'timeline':
      return { view: 'timeline', filter: withoutTimes(filter) };
  }
}

function withoutTimes(filter: string): string {
  return termsOf(filter)
    .filter((term) => !term.startsWith('time:'))
    .join(' ');
}

/** @param window "1.2-3s"; empty: all times */
export function withTime(filter: string, window: string): string {
  return [withoutTimes(filter), window === '' ? '' : `time:${window}`].filter((part) => part !== '').join(' ');
}

/** The window in seconds that a filter's first term of time in seconds chooses; undefined: there is none. */
export function timeOf(filter: string): { from: number; to: number } | undefined {
  for (const term of termsOf(filter)) {
    const [, from, to] = /^time:([\d.]*)-([\d.]*)s$/.exec(term) ?? [];
    if (from !== undefined && to !== undefined) return { from: Number(from), to: to === '' ? Infinity : Number(to) };
  }
  return undefined;
}

export const SHARE_FIRST: Sort = { key: t('share'), descending: true };

/** Rows and what is inside of them, by the column of that title; rows of equal values keep their order. */
export function sortedRows(rows: readonly TabRow[], columns: readonly TabColumn[], sort: Sort): TabRow[] {
  const index = columns.findIndex(({ title }) => title === sort.key);
  const sign = sort.descending ? -1 : 1;
  const value = (row: TabRow): TabValue => row.values[index] ?? null;
  const inOrder = (some: readonly TabRow[]): TabRow[] =>
    [...some]
      .sort((a, b) => sign * compareValues(value(a), value(b)))
      .map((row) => (row.rows.length === 0 ? row : { ...row, rows: inOrder(row.rows) }));
  return inOrder(rows);
}

/** What is not known sorts as the least. */
function compareValues(a: TabValue, b: TabValue): number {
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b, 'en', { numeric: true });
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return (a === null ? 0 : 1) - (b === null ? 0 : 1);
}

/** Rows that are drawn at first, and with each press of the button below them: thousands take the page a while. */
export const ROWS_AT_ONCE = 500;

/** Of that button. @param hidden rows below it */
export function moreRowsLabel(hidden: number): string {
  return hidden > ROWS_AT_ONCE ? t('Show {0} More of {1}', ROWS_AT_ONCE, plural(hidden, 'Row')) : t('Show {0}', plural(hidden, 'More Row'));
}

/** A row on show: of the table, or inside of an unfolded one. */
export interface ShownRow {
  id: string;
  row: TabRow;
  /** 1, or 2 inside of another row. */
  level: number;
  unfolded: boolean;
}

/** @param unfolded names of rows: their first cells */
export function shownRows(rows: readonly TabRow[], unfolded: ReadonlySet<string>): ShownRow[] {
  return rows.flatMap((row): ShownRow[] => {
    const id = row.cells.slice(0, 2).join('\n');
    if (row.rows.length === 0 || !unfolded.has(id)) return [{ id, row, level: 1, unfolded: false }];
    return [
      { id, row, level: 1, unfolded: true },
      ...row.rows.map((inside, index): ShownRow => ({ id: `${id}\n${index}`, row: inside, level: 2, unfolded: false })),
    ];
  });
}
