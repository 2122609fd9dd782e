// The columns of a table and the words around it, for the terminal and for the panel.
import type { RowsLeft } from '../../protocol/engine';
import { t } from '../../protocol/l10n';
import type { TableHead, TableKey, TableRow } from '../../protocol/table';
import { percent, VERDICT_WORDS } from '../../protocol/words';
import { readablePath } from '../lines/source-path';
import { byteSize, count, plural, printable } from '../text/terminal-text';
import { unknownInWords } from './unknown-names';

const DATA_KEYS = new Set<TableKey>(['object', 'type', 'member', 'allocation']);

/** Such tables have columns for the objects. */
function isOfData({ by }: Pick<TableHead, 'by'>): boolean {
  return by.some((key) => DATA_KEYS.has(key));
}

/** A column: the lower its rank, the narrower the terminals that still show it. */
export interface Numbers {
  title: string;
  /** Of columns that look different. */
  is?: 'share' | 'verdict';
  /** What it says. */
  meaning: string;
  rank: number;
  /** By which rows sort; null: not known, or there is none. */
  value: (row: TableRow) => number | string | null;
  cell: (row: TableRow) => string;
}

/** "8,012 samples (clock); 7,420 contended: 92.6% of all 8,012". */
export function totalsText({ total, programSamples, evidence, collector, filtered, selected }: TableHead): string {
  const parts = [
    `${plural(total.samples, 'sample')} (${[collector, ...evidence].filter((word, i, all) => all.indexOf(word) === i).join(', ')})`,
    t(
      '{0} contended: {1} of all {2}',
      count(total.contended),
      percent(programSamples === 0 ? 0 : total.contended / programSamples),
      count(programSamples),
    ),
    ...(filtered === null ? [] : [t('{0} left out by filters', count(filtered))]),
    ...(selected === null ? [] : [t('{0} of {1} chosen', count(selected.lines), plural(selected.of, 'line'))]),
  ];
  return parts.join('; ');
}

/** "12 more rows: 0.3% of the contended samples". */
export function moreRowsText({ total }: Pick<TableHead, 'total'>, { rows, contended }: RowsLeft): string {
  const share = percent(total.contended === 0 ? 0 : contended / total.contended);
  return t('{0}: {1} of the contended samples', plural(rows, 'more row'), share);
}

/** What its columns can and cannot say. */
export function limitsOf(head: Pick<TableHead, 'by' | 'limits'>): string[] {
  return [...head.limits, ...(isOfData(head) ? [t('Objects and bytes count only sampled objects: lower bounds.')] : [])];
}

/** @param folder the reader is in: source paths below it are relative to it */
export function keyText(row: TableRow, key: TableKey, folder: string): string {
  const known = unknownInWords(printable(row.key[key] ?? ''));
  return key === 'source' || key === 'file' ? readablePath(known, folder) : known;
}

/** The columns that this evidence and these keys have. */
export function numbersOf({ by, total, evidence }: Pick<TableHead, 'by' | 'total' | 'evidence'>): Numbers[] {
  const memory = !evidence.includes('clock');
  const ofData = isOfData({ by });
  const missShare = ({ misses }: TableRow): number | null =>
    misses === null || total.misses === null ? null : total.misses === 0 ? 0 : misses / total.misses;
  return [
    {
      rank: 0,
      is: 'share',
      ...shares(t('share'), t('Its part of the contended samples'), ({ contended }) =>
        total.contended === 0 ? 0 : contended / total.contended,
      ),
    },
    {
      rank: ofData ? 4 : 2,
      ...shares(t('of all'), t('Its contended samples, as a part of all samples'), ({ programShare }) => programShare),
    },
    ...(memory
      ? [
          { rank: 2, ...shares(t('misses'), t('Its share of all misses of the first-level cache'), missShare) },
          { rank: 2, ...shares(t('bounce'), t('The part of its accesses whose data came from another core'), ({ bounce }) => bounce) },
          { rank: 8, ...counts(t('HITMs'), t('Loads that another core’s modified line answered'), ({ hitm }) => hitm) },
        ]
      : [
          {
            title: t('waited'),
            meaning: t('The time that its contended samples stand for'),
            rank: 6,
            value: ({ contendedNs }: TableRow) => contendedNs,
            cell: ({ contendedNs }: TableRow) => (contendedNs === null ? '?' : contendedNs === 0 ? '' : duration(contendedNs)),
          },
        ]),
    {
      title: t('false'),
      meaning: t('How much of the waiting is for data that the waiting access does not share'),
      rank: 7,
      value: ({ falseShare }) => falseShare,
      cell: ({ falseShare }) => (falseShare === null ? '' : percent(falseShare)),
    },
    { rank: total.contended > 0 ? 5 : 0, ...counts(t('samples'), t('Samples'), ({ samples }) => samples) },
    { rank: 11, ...counts(t('reads'), t('Samples of loads'), ({ reads }) => reads) },
    { rank: 11, ...counts(t('writes'), t('Samples of stores and of read-modify-writes'), ({ writes }) => writes) },
    { rank: 9, ...counts(t('threads'), t('Distinct threads'), ({ threads }) => threads) },
    { rank: 10, ...counts(t('lines'), t('Distinct cache lines'), ({ lines }) => lines) },
    ...(ofData
      ? [
          { rank: 3, ...counts(t('objects'), t('Distinct sampled objects: a lower bound'), ({ instances }) => instances) },
          {
            title: t('bytes'),
            meaning: t('The sizes of the sampled objects together: a lower bound'),
            rank: 3,
            value: ({ bytes }: TableRow) => bytes,
            cell: ({ bytes }: TableRow) => (bytes === null ? '?' : bytes < 1000 ? String(bytes) : byteSize(bytes)),
          },
        ]
      : []),
    {
      title: t('verdict'),
      is: 'verdict',
      meaning: t('How threads use its lines'),
      rank: 1,
      value: ({ verdict }) => verdict,
      cell: ({ verdict }) => (verdict === null ? '' : VERDICT_WORDS[verdict]),
    },
  ];
}

function shares(title: string, meaning: string, value: (row: TableRow) => number | null): Omit<Numbers, 'rank'> {
  return { title, meaning, value, cell: (row) => known(value(row), percent) };
}

function counts(title: string, meaning: string, value: (row: TableRow) => number | null): Omit<Numbers, 'rank'> {
  return { title, meaning, value, cell: (row) => known(value(row), count) };
}

function known(value: number | null, text: (value: number) => string): string {
  return value === null ? '?' : text(value);
}

/** "0.3 ms", "12.5 s". */
function duration(nanoseconds: number): string {
  return nanoseconds < 1e9 ? `${(nanoseconds / 1e6).toFixed(1)} ms` : `${(nanoseconds / 1e9).toFixed(1)} s`;
}
