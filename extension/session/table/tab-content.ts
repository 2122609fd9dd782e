// What the tabs of the panel show, from tables of the recording: the numbers and words of `cacheline report --by`.
import { EngineError, type RowsLeft } from '../../protocol/engine';
import { t } from '../../protocol/l10n';
import type { GroupKey, TabColumn, TabContent, TabRequest, TabRow, TabTable, TabTimeline } from '../../protocol/panel-tabs';
import type { Report, SourcePlace } from '../../protocol/report';
import { KEY_WORDS, type Table, type TableHead } from '../../protocol/table';
import { percent, sentence } from '../../protocol/words';
import { codeTab } from '../code/code-tab';
import { readablePath } from '../lines/source-path';
import type { ShownProfile } from '../profile/shown-profile';
import { threadsTab } from '../threads/threads-tab';
import { plural, printable } from '../text/terminal-text';
import { pairsOf, partOfLines, type Pair } from './pairs';
import { placeIn, rowPlaces } from './row-places';
import { keyText, limitsOf, moreRowsText, numbersOf, totalsText, type Numbers } from './table-columns';

/** Rows that a tab has at hand to sort and show: what others add up to is said below them. */
const MOST_ROWS = 5000;
/** Functions of which the pairs are looked at. */
const MOST_FUNCTIONS = 10_000;
const PARTS_OF_TIME = 100;

/**
 * Rejects with EngineError.
 * @param folder source paths below it are written relative to it; empty: none
 */
export async function tabContent(
  profile: ShownProfile,
  { view, filter, subject }: TabRequest,
  folder: string,
  signal: AbortSignal,
): Promise<TabContent> {
  if (view === 'timeline') {
    const { table } = await profile.table({ by: ['time'], bins: PARTS_OF_TIME, most: PARTS_OF_TIME + 1, filter }, signal);
    return timeline(table);
  }
  if (view === 'pairs') {
    const { table } = await profile.table({ by: ['function'], most: MOST_FUNCTIONS, filter }, signal);
    return pairsTable(table, folder, knownPlaces(profile));
  }
  if (view === 'threads') return threadsTab(await profile.threads({ bins: PARTS_OF_TIME, filter }, signal), profile.report);
  if (view === 'code') return codeTab(profile, subject, signal);
  if (view === 'allocation') refuseWithoutBlocks(profile.report);
  const [{ table, left }, data] = await Promise.all([
    profile.table({ by: [view], most: MOST_ROWS, filter }, signal),
    profile.dataBy('contended'),
  ]);
  const known = knownPlaces(profile);
  const find = rowPlaces(view, profile.report, data);
  return groupTable(table, left, view, folder, (row) => known(find(row)));
}

/** @throws EngineError */
function refuseWithoutBlocks({ recording }: Pick<Report, 'recording'>): void {
  if (recording?.heap) return;
  throw new EngineError(
    'impossible',
    t('The recording does not say who allocated what.'),
    t('Record with `cacheline record --heap` to know which code allocated contended heap blocks.'),
  );
}

const KEY_MEANING: Record<GroupKey, string> = {
  type: t('The type of the data; of an array its elements’'),
  object: t('A variable, a heap block or a stack; without a name, the mapping'),
  member: t('A member of a type, elements of arrays together; of a variable without members its name'),
  allocation: t('The code that allocated the heap block'),
  function: t('The program’s own function that makes the access'),
  source: t('The source line that makes the access'),
  file: t('The source file that makes the access'),
  thread: t('The thread that makes the access: its number and name'),
  process: t('The process that makes the access: its number and name'),
  cpu: t('The CPU that makes the access'),
  node: t('The NUMA node of that CPU: a group of CPUs and the memory nearest to them'),
};

/** What the panel may open. */
function knownPlaces(profile: ShownProfile): (place: SourcePlace | undefined) => SourcePlace | null {
  const places = profile.places();
  return (place) => (place && places.get(place.file)?.has(place.line) ? place : null);
}

export function groupTable(
  table: Table,
  left: RowsLeft,
  key: GroupKey,
  folder: string,
  placeOf: (row: Table['rows'][number]) => SourcePlace | null,
): TabTable {
  // What says most comes first: the verdict, the share, and the others as they give way in a narrow terminal.
  const numbers = numbersOf(table).sort((a, b) => a.rank - b.rank);
  const [verdict, others] = [numbers.filter(isVerdict), numbers.filter((column) => !isVerdict(column))];
  const columns = [...verdict, ...others];
  const rows = table.rows.map((row): TabRow => ({
    cells: [keyText(row, key, folder), ...columns.map(({ cell }) => cell(row))],
    values: [printable(row.key[key] ?? ''), ...columns.map(({ value }) => value(row))],
    share: table.total.contended === 0 ? 0 : row.contended / table.total.contended,
    place: placeOf(row),
    rows: [],
  }));
  return {
    kind: 'table',
    columns: [
      { title: KEY_WORDS[key], meaning: KEY_MEANING[key], number: false },
      ...columns.map(({ title, meaning, is }): TabColumn =>
        is === 'verdict' ? { title, meaning, number: false, verdict: true } : { title, meaning, number: true },
      ),
    ],
    bars: 1 + columns.findIndex(({ is }) => is === 'share'),
    rows,
    empty: t('There are no samples.'),
    more: left.rows === 0 ? '' : t('{0} (all with cacheline report --by {1} --show-all).', moreRowsText(table, left), key),
    ...wordsOf(table),
  };
}

function isVerdict({ is }: Numbers): boolean {
  return is === 'verdict';
}

const PAIR_COLUMNS: TabColumn[] = [
  { title: t('waits'), meaning: t('The function whose accesses wait'), number: false },
  { title: t('for'), meaning: t('The function whose accesses it waits for'), number: false },
  { title: t('share'), meaning: t('Its part of the contended samples'), number: true },
  { title: t('false'), meaning: t('How much of the waiting is for data that the waiting access does not share'), number: true },
];

export function pairsTable(table: Table, folder: string, known: (place: SourcePlace | undefined) => SourcePlace | null): TabTable {
  const all = pairsOf(table, table.rows);
  const pairs = all.slice(0, MOST_ROWS);
  return {
    kind: 'table',
    columns: PAIR_COLUMNS,
    bars: 2,
    rows: pairs.map((pair): TabRow => {
      const rows = pair.lines.map((line) => pairOfLines(pair, line, folder, known));
      return {
        cells: [printable(pair.from), printable(pair.function), percent(pair.part), percent(pair.falseShare)],
        values: [pair.from, pair.function, pair.part, pair.falseShare],
        share: pair.part,
        place: rows.map(({ place }) => place).find((place) => place !== null) ?? null,
        rows,
      };
    }),
    empty: t('No function is known to wait for another one.'),
    more: all.length === pairs.length ? '' : `${plural(all.length - pairs.length, 'more pair')}.`,
    ...wordsOf(table),
  };
}

/** It opens the line that waits. */
function pairOfLines(
  pair: Pair,
  { source, cause, share }: Pair['lines'][number],
  folder: string,
  known: (place: SourcePlace | undefined) => SourcePlace | null,
): TabRow {
  const part = partOfLines(pair, share);
  return {
    cells: [readablePath(printable(source), folder), readablePath(printable(cause), folder), percent(part), ''],
    values: [source, cause, part, null],
    share: part,
    place: known(placeIn(source)),
    rows: [],
  };
}

export function timeline(table: Table): TabTimeline {
  const { contended: whole } = table.total;
  const parts = table.rows.flatMap(({ key: { time = '' }, samples, contended }) => {
    // Samples without a time are no part of it.
    const [, from, to] = /^([\d.]+)-([\d.]+)s$/.exec(time) ?? [];
    if (from === undefined || to === undefined) return [];
    return [{ from, to, samples, contended, share: percent(whole === 0 ? 0 : contended / whole) }];
  });
  return { kind: 'timeline', parts, ...wordsOf(table) };
}

function wordsOf(head: TableHead): Pick<TabTable, 'totals' | 'notes' | 'warnings'> {
  return { totals: totalsText(head), notes: limitsOf(head), warnings: head.warnings.map(sentence) };
}
