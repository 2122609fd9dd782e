// What changed between two recordings, as text and as Markdown.
import type { Diff, DiffChange, DiffEntry, DiffKind, DiffMeasure, DiffSide, DiffStatus, DiffUnit } from '../../protocol/diff';
import { t } from '../../protocol/l10n';
import type { Evidence } from '../../protocol/report';
import { joinArguments } from '../record/launch';
import { headField, joinBlocks } from '../report/report-blocks';
import { codeSpan, markdownTable, prose } from '../text/markdown';
import { percent } from '../../protocol/words';
import { count, plural, printable, shortenMiddle, wrap, type Style } from '../text/terminal-text';
import { details, elapsedText, headline, waitingText } from './headline';
import { formatOneRowTable, type Cell, type Column } from '../text/text-table';

export interface DiffTextOptions {
  width: number;
  style: Style;
  /** Every entry instead of the first ones of a kind. */
  showAll: boolean;
}

/** Entries of a kind without --show-all. */
const MAX_ENTRIES = 20;
export const KINDS: Record<DiffKind, string> = {
  type: t('Types'),
  member: t('Members'),
  object: t('Objects'),
  function: t('Functions'),
};
/** Of one entry. */
export const STATUSES: Record<DiffStatus, string> = {
  gone: t('gone'),
  new: t('new'),
  better: t('better'),
  worse: t('worse'),
  same: t('same'),
  unsure: t('unsure'),
};
const STATUS_STYLE: Partial<Record<DiffStatus, keyof Style>> = {
  gone: 'green',
  better: 'green',
  worse: 'red',
  new: 'red',
  unsure: 'yellow',
};

interface Numbers {
  title: string;
  /** Columns of the terminal from which on it is shown. */
  from: number;
  cell: (entry: DiffChange) => string;
}

/** Lines joined by newlines, with one at the end; none is wider than `width` columns. */
export function diffText(diff: Diff, { width, style, showAll }: DiffTextOptions): string {
  const layout = { width, style };
  return joinBlocks([
    [...headField('Before', sideText(diff.before), layout), ...headField('After', sideText(diff.after), layout)],
    wrap(headline(diff), width).map((line) => style.bold(line)),
    wrap([details(diff), elapsedText(diff)].filter((text) => text !== '').join(' '), width),
    ...(Object.keys(KINDS) as DiffKind[]).flatMap((kind) => kindText(diff, kind, layout, showAll)),
    diff.notes.flatMap((note) => wrap(printable(note), width)),
    ...(diff.entries.length === 0 ? [] : [wrap(LEGEND, width).map((line) => style.dim(line))]),
  ]);
}

export const LEGEND = t(
  'Time is the contended time of all threads, estimated from samples. Shares are of all samples. unsure: chance, or what was not seen, can explain the difference. sure: how sure it is that they do not.',
);

/** Printable. */
export function sideText({ recording, command, samples, seconds, collector }: DiffSide): string {
  const program = command.length === 0 ? '' : t(', of {0}', printable(joinArguments(command)));
  return t('{0}{1}: {2} in {3} s ({4})', recording, program, plural(samples, 'sample'), seconds.toFixed(1), collector);
}

/** A number that both sides have. */
interface Measure {
  /** In a narrow table; and with room. */
  title: string;
  name: string;
  meaning: string;
  /** Columns of the terminal from which on it is shown. */
  from: number;
  text: (measure: DiffMeasure) => string;
}

/** What the status words go by. */
export function unitMeasure({ unit }: Diff): Measure {
  return { ...UNITS[unit], from: 0, text: (of) => waitingText(unit, of) };
}

const UNITS: Record<DiffUnit, Pick<Measure, 'title' | 'name' | 'meaning'>> = {
  run: { title: t('time/run'), name: t('Time per run'), meaning: t('The contended time of all threads, of the whole run') },
  second: {
    title: t('time/s'),
    name: t('Time per second'),
    meaning: t('The contended time of all threads, for each second of the recording'),
  },
  samples: { title: t('share'), name: t('Share'), meaning: t('Its contended samples, as a part of all samples of the recording') },
};

/** What the evidence of the recordings counts besides. */
export function measuresOf({ before, after, unit }: Diff): Measure[] {
  const has = (evidence: Evidence): boolean => before.evidence.includes(evidence) || after.evidence.includes(evidence);
  const number = (value: number | null): string => (value === null ? '?' : count(Math.round(value)));
  const other = (of: DiffUnit, from: number): Measure[] =>
    of === unit ? [] : [{ ...UNITS[of], from, text: (measure: DiffMeasure) => waitingText(of, measure) }];
  return [
    ...other('samples', 80),
    ...(has('clock') ? other('second', 120) : []),
    ...(has('hitm')
      ? [
          {
            title: t('HITMs/s'),
            name: t('HITMs per second'),
            meaning: t('Loads that hit a line modified in another core’s cache, for each second of the recording'),
            from: 80,
            text: (of: DiffMeasure) => number(of.hitmPerSecond),
          },
        ]
      : []),
    {
      title: t('samples'),
      name: t('Contended samples'),
      meaning: t('Samples at lines that threads compete for'),
      from: 140,
      text: (of) => count(of.contended),
    },
  ];
}

/** How sure it is that something changed; empty where nothing did, or nothing can be told. */
export function sureText({ status, confidence }: DiffChange): string {
  return status === 'unsure' || status === 'same' ? '' : percent(confidence);
}

function columnsOf(diff: Diff): Numbers[] {
  return [...bothSides(unitMeasure(diff)), { title: t('sure'), from: 60, cell: sureText }, ...measuresOf(diff).flatMap(bothSides)];
}

function bothSides({ title, from, text }: Measure): Numbers[] {
  return [
    { title, from, cell: (entry) => text(entry.before) },
    { title: t('after'), from, cell: (entry) => text(entry.after) },
  ];
}

function kindText(diff: Diff, kind: DiffKind, { width, style }: { width: number; style: Style }, showAll: boolean): string[][] {
  const all = diff.entries.filter((entry) => entry.kind === kind);
  if (all.length === 0) return [];
  const shown = showAll ? all : all.slice(0, MAX_ENTRIES);
  const numbers = columnsOf(diff).filter(({ from }) => width >= from);
  const columns: Column[] = [
    { title: t('status'), align: 'left' },
    ...numbers.map(({ title }): Column => ({ title, align: 'right' })),
    { title: t('name'), align: 'left', shorten: shortenMiddle },
  ];
  const rows = shown.map((entry): Cell[] => {
    const styled = STATUS_STYLE[entry.status];
    return [
      { text: STATUSES[entry.status], ...(styled === undefined ? {} : { style: styled }) },
      ...numbers.map((column): Cell => ({ text: column.cell(entry) })),
      { text: printable(entry.name) + remark(entry), style: 'bold' },
    ];
  });
  const rest = all.length - shown.length;
  return [
    [
      style.bold(KINDS[kind]),
      ...formatOneRowTable(columns, rows, { width, indent: 2, style }),
      ...(rest > 0 ? [t('  {0} more (all with --show-all)', count(rest))] : []),
    ],
  ];
}

function remark(entry: DiffEntry): string {
  const words = remarks(entry);
  return words === '' ? '' : ` (${words})`;
}

/** What else is to be known of an entry's name; empty: nothing. Printable. */
export function remarks({ was, perhaps, types, inlined }: DiffEntry): string {
  return [
    ...(was === undefined ? [] : [t('{0} before', printable(was))]),
    ...(perhaps === undefined ? [] : [t('perhaps {0} before', printable(perhaps))]),
    ...(types === undefined ? [] : [t('{0} types, added up', types)]),
    ...(inlined === undefined ? [] : [inlined === 'before' ? t('inlined before') : t('inlined after')]),
  ].join('; ');
}

/** For a pull request: the same, with at most so many entries of a kind. */
export function diffMarkdown(diff: Diff): string {
  const numbers = columnsOf(diff).filter(({ from }) => from <= 100);
  const blocks = (Object.keys(KINDS) as DiffKind[]).flatMap((kind) => {
    const entries = diff.entries.filter((entry) => entry.kind === kind);
    if (entries.length === 0) return [];
    const rows = entries
      .slice(0, MAX_ENTRIES)
      .map((entry) => [STATUSES[entry.status], ...numbers.map(({ cell }) => cell(entry)), codeSpan(entry.name) + prose(remark(entry))]);
    const rest = entries.length - rows.length;
    return [
      [`### ${KINDS[kind]}`, '', ...markdownTable([t('status'), ...numbers.map(({ title }) => `${title}:`), t('name')], rows)],
      ...(rest > 0 ? [[t('{0} more.', count(rest))]] : []),
    ];
  });
  return joinBlocks([
    [`## ${t('Cache-line contention, before and after')}`],
    [`- ${t('before: {0}', prose(sideText(diff.before)))}`, `- ${t('after: {0}', prose(sideText(diff.after)))}`],
    [`**${prose(headline(diff))}**`],
    [prose([details(diff), elapsedText(diff)].filter((text) => text !== '').join(' '))],
    ...blocks,
    diff.notes.map((note) => `- ${prose(note)}`),
    ...(blocks.length === 0 ? [] : [[LEGEND]]),
  ]);
}
