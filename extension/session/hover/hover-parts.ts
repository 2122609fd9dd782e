// What all hovers are put together from. All names come out of binaries and recordings and are untrusted: they are shown
// as code or escaped, never as Markdown.
import { CONFIRMED_MARK, confirmationText, isConfirmed } from '../../protocol/confirmation';
import { t } from '../../protocol/l10n';
import type { Measured } from '../../protocol/measure';
import type { CacheLine, SourcePlace, ThreadUse, Verdict } from '../../protocol/report';
import type { LineAccess } from '../profile/heat';
import { addressOf, dataText } from '../report/data-text';
import { waitsText } from '../report/remedies';
import { ownPlace, shortPlace } from '../lines/source-path';
import { count, plural, printable, shortenMiddle } from '../text/terminal-text';

/** Rows of the hovered source, and of what else takes part in the same cache lines. */
export const MAX_OWN_ROWS = 4;
export const MAX_RIVAL_ROWS = 3;
const MAX_THREADS = 4;
const MAX_NAME = 60;
/** No-break space: what belongs together in a narrow table. */
export const NBSP = '\u00a0';

/** Between the columns of a table, where editors leave no room. As entities: Markdown trims the spaces of a cell. */
const GAP = '&nbsp;&nbsp;';

/** @param columns titles, and how each is aligned, as Markdown has it */
export function markdownTable(columns: readonly (readonly [title: string, align: ':--' | '--:'])[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(` | ${GAP}`)} |`;
  return [line(columns.map(([title]) => title)), `| ${columns.map(([, align]) => align).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Who made the accesses of a row. */
export interface RowPeople {
  threads: Map<number, ThreadUse | undefined>;
  functions: Map<string, SourcePlace | undefined>;
}

export function addPeople({ threads, functions }: RowPeople, { cacheLine, access }: LineAccess): void {
  for (const tid of access.threads)
    threads.set(
      tid,
      cacheLine.threads.find((thread) => thread.tid === tid),
    );
  if (access.symbol !== '') functions.set(access.symbol, ownPlace(access));
}

/** A link to what the verdict means, as Markdown; empty: none. */
export type VerdictLink = (verdict: Verdict) => string;

/** The sentence below the verdict: who waits for what lies beside, where that is known. */
export function findingText(line: CacheLine, otherwise: string): string {
  const text = waitsText(line);
  return `${text === '' ? otherwise : escapeMarkdown(text)}${watchpoints(line)}`;
}

/** A sentence more where the line was watched. */
function watchpoints(line: CacheLine): string {
  const text = confirmationText(line);
  return text === '' ? '' : ` ${isConfirmed(line) ? `${CONFIRMED_MARK} ` : ''}*${escapeMarkdown(text)}*.`;
}

/** Accesses of the same cache lines that are not among `own`. */
export function rivals(own: readonly LineAccess[], takesPart: (one: LineAccess) => boolean): LineAccess[] {
  const known = new Set(own.map(({ access }) => access));
  return cacheLinesOf(own).flatMap((cacheLine) =>
    cacheLine.accesses.map((access) => ({ cacheLine, access })).filter((one) => !known.has(one.access) && takesPart(one)),
  );
}

export function cacheLinesOf(accesses: readonly LineAccess[]): LineAccess['cacheLine'][] {
  return [...new Set(accesses.map(({ cacheLine }) => cacheLine))];
}

/** Whether the threads of these lines have different names, so that the names tell something. */
export function namesTell(accesses: readonly LineAccess[]): boolean {
  return new Set(cacheLinesOf(accesses).flatMap((line) => line.threads.map(({ comm }) => comm))).size > 1;
}

/** "0–7", or only the first byte where the width is not known. */
export function byteRange(start: number, width: number): string {
  return width > 1 ? `${start}–${start + width - 1}` : String(start);
}

/** What an access is to, in the report's words. */
export function nameOf({ cacheLine, access }: LineAccess): string {
  return dataText(access.data, () => addressOf(cacheLine, access));
}

/** Ids, with names where they tell something. */
export function threadNames(uses: RowPeople['threads'], named: boolean): string {
  const shown = [...uses].slice(0, MAX_THREADS);
  const byName = new Map<string, number[]>();
  for (const [tid, use] of shown) {
    const name = named ? (use?.comm ?? '') : '';
    byName.set(name, [...(byName.get(name) ?? []), tid]);
  }
  const names = [...byName].map(([comm, tids]) => `${comm === '' ? '' : code(comm) + NBSP}${tids.join(', ')}`);
  return names.join('; ') + (uses.size > shown.length ? t(' and {0} more', count(uses.size - shown.length)) : '');
}

export function functionNames({ functions }: RowPeople): string {
  const [first, ...others] = functions;
  if (!first) return t('unknown');
  const [name, place] = first;
  return code(name) + (place ? ` ${escapeMarkdown(shortPlace(place))}` : '') + (others.length > 0 ? t(', {0} more', others.length) : '');
}

/** The end of a hover: what is not listed, which cache lines these are, how it is known, and where more is said. */
export function footer(report: Measured, accesses: readonly LineAccess[], rowsLeft: number, link: string): string {
  const lines = cacheLinesOf(accesses);
  const [first] = lines;
  return [
    rowsLeft > 0 ? plural(rowsLeft, 'more place') : '',
    first && lines.length === 1 ? t('cache line {0}', code(first.address)) : t('{0} cache lines', count(lines.length)),
    t('evidence: **{0}**', report.evidence.join(', ')),
    link,
  ]
    .filter((text) => text !== '')
    .join(' · ');
}

/**
 * Untrusted text as inline code. What could end the code or a table's cell makes it escaped text instead: within code
 * nothing can be escaped.
 */
export function code(text: string): string {
  const plain = shortenMiddle(printable(text), MAX_NAME) || 'unknown';
  return /[`|\\]/.test(plain) ? escapeMarkdown(plain) : `\`${plain}\``;
}

/** Printable text as Markdown that shows it literally: no links, images, emphasis, tables, HTML or icons. */
export function escapeMarkdown(text: string): string {
  const entities: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '|': '&#124;' };
  return printable(text).replace(/[!-/:-@[-`{-~]/g, (character) => entities[character] ?? `\\${character}`);
}
