// The grammar of filters (docs/design/profile.md), as far as the filter box completes it: the engine reads and refuses filters.
import { t } from '../../extension/protocol/l10n';

export interface Term {
  /** Up to its value: "verdict:", "contended>". */
  start: string;
  title: string;
  /** All values that there are; absent: any. */
  values?: readonly string[];
}

export const TERMS: readonly Term[] = [
  { start: 'verdict:', title: t('lines of a verdict'), values: ['false', 'true', 'mixed', 'read-shared', 'private'] },
  { start: 'object:', title: t('lines with an access to a variable') },
  { start: 'type:', title: t('lines with an access to a type') },
  { start: 'member:', title: t('lines with an access to a member') },
  { start: 'function:', title: t('lines that a function accesses') },
  { start: 'file:', title: t('lines that code of a file accesses') },
  { start: 'line:', title: t('a line by its address; * stands for any characters') },
  { start: 'contended>', title: t('lines with more contended samples') },
  { start: 'samples>', title: t('lines with more samples') },
  { start: 'loads>', title: t('lines with more loads') },
  { start: 'stores>', title: t('lines with more stores') },
  { start: 'threads>', title: t('lines with more threads') },
  { start: 'hitm>', title: t('lines with more HITMs') },
  { start: 'peer>', title: t('lines with more peer hits') },
  { start: 'thread:', title: t('samples of threads, by id or name') },
  { start: 'process:', title: t('samples of processes, by id or name') },
  { start: 'time:', title: t('samples of a window: 1.2-3s, 10-20%') },
  { start: 'cpu:', title: t('samples of CPUs: 0-3,8') },
  { start: 'mode:', title: t('samples of a mode'), values: ['user', 'kernel'] },
];

export interface Proposal {
  /** The whole filter with it. */
  filter: string;
  /** The term, up to its value where that is any. */
  term: string;
  /** Empty for a value. */
  title: string;
}

/** What the last term of a filter can go on with. `-` before a term, which leaves out what fits it, stays. */
export function proposalsOf(filter: string): Proposal[] {
  const [last = ''] = /\S*$/.exec(filter) ?? [];
  const before = filter.slice(0, filter.length - last.length);
  const sign = last.startsWith('-') ? '-' : '';
  const begun = last.slice(sign.length);
  return TERMS.flatMap(({ start, title, values }): Proposal[] => {
    const isValue = values !== undefined && begun.startsWith(start);
    const terms = isValue ? values.map((value) => start + value) : [start];
    return terms
      .filter((term) => term.startsWith(begun) && term !== begun)
      .map((term) => ({ filter: `${before}${sign}${term}`, term: sign + term, title: isValue ? '' : title }));
  });
}
