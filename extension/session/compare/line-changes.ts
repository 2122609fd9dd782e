// What changed on source lines between two recordings: where each of them waits, and what that says of a line that both have.
import type { DiffStatus, DiffUnit } from '../../protocol/diff';
import { t } from '../../protocol/l10n';
import type { CodePlace } from '../../protocol/profile';
import { contendedChange, DIFF_TABLES } from './diff';
import { sureText } from './diff-text';
import { waitingText } from './headline';
import { isUnknown, placeOfSource, type Side, type Sums } from './sums';

/** By the recording's name of a file, and line (1-based). */
type ByPlace<T> = Map<string, Map<number, T>>;

/** The source lines of one recording. */
export interface SideLines {
  /** Contended samples, where there are some. */
  contended: ByPlace<number>;
  /** All lines with samples, with the names that stand on them. */
  code: ByPlace<CodePlace>;
}

/** Of a line that chance does not explain. */
export interface LineChange {
  direction: 'better' | 'worse';
  /** To stand behind the line. */
  text: string;
  /** For its hover: sentences in Markdown. */
  words: string;
}

export interface LineChanges {
  sides: Record<Side, SideLines>;
  /** Of a line with so many contended samples; undefined: it is the same, or nobody can tell. */
  of(before: number, after: number): LineChange | undefined;
}

export function lineChangesOf(before: Sums, after: Sums): LineChanges {
  const { unit, of: change } = contendedChange(before, after);
  return {
    sides: { before: sideLinesOf(before), after: sideLinesOf(after) },
    of(was, is) {
      const found = change(was, is);
      const words = WORDS[found.status];
      if (words === undefined) return undefined;
      const amounts = AMOUNTS[unit](waitingText(unit, found.before), waitingText(unit, found.after));
      return {
        direction: words.direction,
        text: `${words.text}: ${amounts}`,
        words: t(
          '**{0}**, by the two compared recordings. Waiting of all threads here: {1} ({2} sure).',
          words.title,
          amounts,
          sureText(found),
        ),
      };
    },
  };
}

const AMOUNTS: Record<DiffUnit, (before: string, after: string) => string> = {
  run: (before, after) => t('{0} a run before, {1} after', before, after),
  second: (before, after) => t('{0} each second before, {1} after', before, after),
  samples: (before, after) => t('{0} of all samples before, {1} after', before, after),
};

const WORDS: Partial<Record<DiffStatus, Pick<LineChange, 'direction' | 'text'> & { title: string }>> = {
  gone: { direction: 'better', text: t('no longer waits'), title: t('No longer waits') },
  better: { direction: 'better', text: t('waits less'), title: t('Waits less') },
  new: { direction: 'worse', text: t('waits now'), title: t('Waits now') },
  worse: { direction: 'worse', text: t('waits more'), title: t('Waits more') },
};

function sideLinesOf({ tables }: Sums): SideLines {
  const [byMember = [], byObject = []] = tables.slice(DIFF_TABLES.length);
  const lines: SideLines = { contended: new Map(), code: new Map() };
  for (const row of [...byMember, ...byObject]) {
    const place = placeOfSource(row.key.source ?? '');
    if (place === undefined) continue;
    const code = at(lines.code, place.file, place.line, (): CodePlace => ({ ...place, binaries: [], uses: [] }));
    const known = (name = ''): string => (isUnknown(name) || name === '[no member]' ? '' : name);
    code.uses.push({ object: known(row.key.object), field: known(row.key.member), called: '' });
  }
  // Each sample is in one row of each table.
  for (const { key, contended } of byObject) {
    const place = placeOfSource(key.source ?? '');
    if (place === undefined || contended === 0) continue;
    const there = at(lines.contended, place.file, place.line, () => 0);
    lines.contended.get(place.file)?.set(place.line, there + contended);
  }
  return lines;
}

function at<T>(map: ByPlace<T>, file: string, line: number, make: () => T): T {
  const lines = map.get(file) ?? new Map<number, T>();
  map.set(file, lines);
  const there = lines.get(line) ?? make();
  lines.set(line, there);
  return there;
}
