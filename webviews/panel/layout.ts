// How the table is laid out for a report and a width: its columns, the groups above them, and the grid of a row.
import { t } from '../../extension/protocol/l10n';
import { hasDataSources } from '../../extension/protocol/measure';
import type { Evidence } from '../../extension/protocol/report';
import { groupsOf, textLength, type Column, type Group, type MeasuredBy } from './columns';
import { fitGroups, groupsWidth, type FittedGroup, type GroupState } from './fit';

export interface HeadColumn {
  key: string;
  name: string;
  title: string;
  number?: true;
  /** A column of data sources; the others are fixed ones. */
  column?: Column;
  /** Begins a group: a line is drawn before it. */
  first?: true;
}

interface ShownGroup {
  group: Group;
  state: Exclude<GroupState, 'hidden'>;
  /** Columns it spans. */
  span: number;
}

export interface TableLayout {
  columns: HeadColumn[];
  /** Empty where the table has one row of titles. */
  groups: ShownGroup[];
  /** Every group that there is, for the choice of columns. */
  choices: { group: Group; state: GroupState }[];
  /** Columns before the first group. */
  fixed: number;
  /** Of a row's grid, with the least width in pixels; undefined: the style sheet's. */
  grid: { template: string; width: number } | undefined;
}

export const LINE: HeadColumn = { key: 'address', name: t('Line'), title: t('Address of the cache line') };
const DATA: HeadColumn = { key: 'object', name: t('Data'), title: t('Variables or mappings on the line') };
const VERDICT: HeadColumn = { key: 'verdict', name: t('Verdict'), title: t('How threads use the line') };

const CLOCK_COLUMNS: HeadColumn[] = [
  DATA,
  VERDICT,
  { key: 'share', name: t('Share'), title: t('Share of all contended samples') },
  { key: 'threads', name: t('Threads'), number: true, title: t('Threads seen on the line') },
  {
    key: 'writers',
    name: t('W / R'),
    number: true,
    title: t('Writers / readers: competing threads that write, and those that read; a thread that does both counts in both'),
  },
  { key: 'samples', name: t('Samples'), number: true, title: t('Samples attributed to the line') },
  LINE,
];

/** Least pixels of the fixed columns of data sources: Data, Verdict, Share, Line. */
const ROOMY = [140, 150, 120, 116];
const NARROW = [104, 124, 96, 116];
/** More for a verdict that has flags. */
const FLAG = 56;
/** Below this the fixed columns are narrow. */
export const NARROW_BELOW = 900;
/** Below this there are no addresses, which the details have. */
const ADDRESS_FROM = 591;
/** Pixels of a character of a number or title and of a fixed-width one, and around them. */
const CHARACTER = 7.6;
const MONO_CHARACTER = 8;
const BOLD_CHARACTER = 9.3;
const PADDING = 20;
/** Around an address. */
const ADDRESS_PADDING = 20;
/** Of a group's title: the arrow that folds it. */
const FOLD = 18;
/** Of a row, left and right. */
const ROW_PADDING = 12;

/** The least that a group's own title takes. */
function widthsOf(group: Group, by: MeasuredBy): number[] {
  const widths = group.columns.map((column) => Math.ceil(textLength(column, by) * CHARACTER) + PADDING);
  const first = Math.max(widths[0] ?? 0, Math.ceil(group.name.length * BOLD_CHARACTER) + PADDING + FOLD);
  return [first, ...widths.slice(1)];
}

/** What does not depend on the width of the window: the groups of a report and the pixels of their columns. */
export interface Measured {
  groups: Group[];
  fitted: FittedGroup[];
  /** Of the longest address. */
  address: number;
  flags: boolean;
}

export function measureGroups(evidence: Evidence[], by: MeasuredBy): Measured | undefined {
  if (!hasDataSources({ evidence })) return undefined;
  const groups = groupsOf(by, evidence);
  const { lines } = by;
  const longest = lines.reduce((most, { address }) => Math.max(most, address.length), 0);
  return {
    groups,
    fitted: groups.map((group) => ({ key: group.key, priority: group.priority, widths: widthsOf(group, by) })),
    address: Math.ceil(longest * MONO_CHARACTER) + ADDRESS_PADDING,
    flags: lines.some(({ flags }) => flags.length > 0),
  };
}

/**
 * @param measured undefined for clock evidence
 * @param width pixels there are
 * @param whole what shares are shares of, for the title
 */
export function tableLayout(
  measured: Measured | undefined,
  width: number,
  chosen: Readonly<Record<string, GroupState>>,
  whole: string,
): TableLayout {
  if (!measured) return { columns: CLOCK_COLUMNS, groups: [], choices: [], fixed: CLOCK_COLUMNS.length, grid: undefined };
  const { groups, fitted } = measured;
  const narrow = width < NARROW_BELOW;
  const [dataWidth = 0, leastVerdict = 0, shareWidth = 0, leastLine = 0] = narrow ? NARROW : ROOMY;
  const lineWidth = width < ADDRESS_FROM ? undefined : Math.max(leastLine, measured.address);
  const verdictWidth = leastVerdict + (measured.flags && !narrow ? FLAG : 0);
  const fixedWidth = (lineWidth ?? 0) + dataWidth + verdictWidth + shareWidth + ROW_PADDING;
  const states = fitGroups(fitted, width - fixedWidth, chosen);
  const columns: HeadColumn[] = [DATA, VERDICT, { key: 'share', name: t('Share'), title: t('Share of {0}', whole) }];
  const shown: ShownGroup[] = [];
  const pixels: number[] = [];
  const fixed = columns.length;
  for (const [index, group] of groups.entries()) {
    const state = states[group.key] ?? 'open';
    if (state === 'hidden') continue;
    const here = state === 'open' ? group.columns : group.columns.slice(0, 1);
    shown.push({ group, state, span: here.length });
    pixels.push(...(fitted[index]?.widths ?? []).slice(0, here.length));
    for (const [place, column] of here.entries()) {
      const { key, name, title } = column;
      columns.push({ key, name, title: `${group.name}: ${title}`, number: true, column, ...(place === 0 ? { first: true } : {}) });
    }
  }
  if (lineWidth !== undefined) {
    columns.push(LINE);
    pixels.push(lineWidth);
  }
  const flexible = [`minmax(${dataWidth}px, 1.2fr)`, `minmax(${verdictWidth}px, 1.4fr)`, `minmax(${shareWidth}px, 0.6fr)`];
  return {
    columns,
    groups: shown,
    choices: groups.map((group) => ({ group, state: states[group.key] ?? 'open' })),
    fixed,
    grid: {
      template: [...flexible, ...pixels.map((one) => `${one}px`)].join(' '),
      width: fixedWidth + groupsWidth(fitted, states),
    },
  };
}
