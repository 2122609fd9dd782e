// The hover's text: who reads and writes the data of a source line, where on the cache line, how often, and what it means.
// All names come out of binaries and recordings and are untrusted: they are shown as code or escaped, never as Markdown.
import type { CacheLine, Report, SourcePlace, ThreadUse } from '../protocol/report';
import { EVIDENCE_MEANING, VERDICT_MEANING } from '../protocol/words';
import { competingThreads, heatText, type LineAccess } from './heat';
import { ownPlace, shortPlace } from './source-path';
import { count, plural, printable, shortenMiddle } from './terminal-text';

/** Rows of the hovered source, and of what else competes for the same cache lines. */
const MAX_OWN_ROWS = 4;
const MAX_RIVAL_ROWS = 3;
const MAX_THREADS = 4;
const MAX_NAME = 60;
/** No-break space: what belongs together in a narrow table. */
const NBSP = '\u00a0';

/** Accesses that go to the same bytes of the same object. */
interface Row {
  /** Bytes from the cache line's start. */
  start: number;
  width: number;
  object: string;
  offset: number;
  loads: number;
  stores: number;
  rmw: number;
  locked: boolean;
  contended: number;
  threads: Map<number, ThreadUse | undefined>;
  functions: Map<string, SourcePlace | undefined>;
}

/**
 * Markdown for a source line with contended accesses: its own, then the others that compete for the same cache lines.
 * @param accesses of that source line
 * @returns empty where no access of the source line competes
 */
export function lineHoverText(report: Report, accesses: readonly LineAccess[]): string {
  return hoverText(report, accesses, '', () => 'this line');
}

/** The same for the place where a variable is defined. */
export function definitionHoverText(report: Report, object: string, accesses: readonly LineAccess[]): string {
  return hoverText(report, accesses, `${code(object)}: `, functionNames);
}

function hoverText(report: Report, accesses: readonly LineAccess[], subject: string, ownWhere: (row: Row) => string): string {
  const own = accesses.filter(({ access }) => access.contended > 0);
  if (own.length === 0) return '';
  const contended = own.reduce((sum, { access }) => sum + access.contended, 0);
  const hottest = own.reduce((a, b) => (b.access.contended > a.access.contended ? b : a)).cacheLine;
  const lines = [...new Set(own.map(({ cacheLine }) => cacheLine))];
  const share = contended / report.samples.contended;
  const ownRows = rowsOf(own);
  const rivalRows = rowsOf(rivals(lines, own));
  const named = new Set(lines.flatMap((line) => line.threads.map(({ comm }) => comm))).size > 1;
  const left = Math.max(0, ownRows.length - MAX_OWN_ROWS) + Math.max(0, rivalRows.length - MAX_RIVAL_ROWS);
  return [
    `**${subject}${hottest.verdict}** · ${heatText({ share, ...competingThreads(own) }).replace('<', '&lt;')}`,
    VERDICT_MEANING[hottest.verdict],
    [
      '| bytes | data | reads | writes | threads | in |',
      '| --: | :-- | :-: | :-: | :-- | :-- |',
      ...ownRows.slice(0, MAX_OWN_ROWS).map((row) => tableRow(row, `**${dataName(row)}**`, named, ownWhere(row))),
      ...rivalRows.slice(0, MAX_RIVAL_ROWS).map((row) => tableRow(row, dataName(row), named, functionNames(row))),
    ].join('\n'),
    [
      left > 0 ? plural(left, 'more place') : '',
      lines.length === 1 ? `cache line ${code(hottest.address)}` : `${count(lines.length)} cache lines`,
      `evidence: **${report.evidence.join(', ')}** (${report.evidence.map((evidence) => EVIDENCE_MEANING[evidence]).join('; ')})`,
    ]
      .filter((text) => text !== '')
      .join(' · '),
  ].join('\n\n');
}

function rivals(lines: readonly CacheLine[], own: readonly LineAccess[]): LineAccess[] {
  const known = new Set(own.map(({ access }) => access));
  return lines.flatMap((cacheLine) =>
    cacheLine.accesses.filter((access) => access.contended > 0 && !known.has(access)).map((access) => ({ cacheLine, access })),
  );
}

function rowsOf(accesses: readonly LineAccess[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { cacheLine, access } of accesses) {
    const { object, offset } = access.data;
    const key = JSON.stringify([cacheLine.space, object, offset, access.width]);
    let row = rows.get(key);
    if (!row) {
      const sums = { loads: 0, stores: 0, rmw: 0, locked: false, contended: 0 };
      row = { start: access.offset, width: access.width, object, offset, ...sums, threads: new Map(), functions: new Map() };
      rows.set(key, row);
    }
    row.loads += access.loads;
    row.stores += access.stores.total;
    row.rmw += access.stores.rmw ?? 0;
    row.locked ||= access.locked;
    row.contended += access.contended;
    for (const tid of access.threads) {
      const use = cacheLine.threads.find((thread) => thread.tid === tid);
      row.threads.set(tid, use);
    }
    if (access.symbol !== '') row.functions.set(access.symbol, ownPlace(access));
  }
  return [...rows.values()].sort((a, b) => b.contended - a.contended || a.offset - b.offset);
}

function tableRow(row: Row, data: string, named: boolean, where: string): string {
  const { start, width, loads } = row;
  const bytes = width > 1 ? `${start}–${start + width - 1}` : String(start);
  return `| ${[bytes, data, count(loads), writes(row), threadNames(row.threads, named), where].join(' | ')} |`;
}

function dataName({ object, offset }: Row): string {
  return `${code(object)}${NBSP}+${offset}`;
}

function writes({ stores, rmw, locked }: Row): string {
  const how = locked ? `${NBSP}atomic` : rmw > 0 ? `${NBSP}read+write` : '';
  return `${count(stores)}${stores > 0 ? how : ''}`;
}

/** Ids, with names where the line's threads have different ones. */
function threadNames(uses: ReadonlyMap<number, ThreadUse | undefined>, named: boolean): string {
  const shown = [...uses].slice(0, MAX_THREADS);
  const byName = new Map<string, number[]>();
  for (const [tid, use] of shown) {
    const name = named ? (use?.comm ?? '') : '';
    byName.set(name, [...(byName.get(name) ?? []), tid]);
  }
  const names = [...byName].map(([comm, tids]) => `${comm === '' ? '' : code(comm) + NBSP}${tids.join(', ')}`);
  return names.join('; ') + (uses.size > shown.length ? ` and ${count(uses.size - shown.length)} more` : '');
}

function functionNames({ functions }: Row): string {
  const [first, ...others] = functions;
  if (!first) return 'unknown';
  const [name, place] = first;
  return code(name) + (place ? ` ${escapeMarkdown(shortPlace(place))}` : '') + (others.length > 0 ? `, ${others.length} more` : '');
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
