// The hover's text: who reads and writes the data of a source line, where on the cache line, how often, and what it means.
// All names come out of binaries and recordings and are untrusted: they are shown as code or escaped, never as Markdown.
import type { Report, SourcePlace, ThreadUse } from '../protocol/report';
import { EVIDENCE_MEANING, VERDICT_MEANING } from '../protocol/words';
import { competingThreads, heatText, type LineAccess } from './heat';
import { ownPlace, shortPlace } from './source-path';
import { count, plural, printable, shortenMiddle } from './terminal-text';

const MAX_ROWS = 5;
const MAX_THREADS = 4;
const MAX_NAME = 60;

/** Accesses that go to the same bytes of the same object in the same way. */
interface Row {
  object: string;
  offset: number;
  width: number;
  loads: number;
  stores: number;
  rmw: number;
  locked: boolean;
  contended: number;
  threads: Map<number, ThreadUse | undefined>;
  functions: Map<string, SourcePlace | undefined>;
}

/**
 * Markdown for a source line with contended accesses.
 * @param accesses of that line
 * @returns empty where no access of the line competes
 */
export function lineHoverText(report: Report, accesses: readonly LineAccess[]): string {
  return hoverText(report, accesses, '', ['data', 'bytes', 'reads', 'writes', 'threads'], (row) => [
    `${code(row.object)} +${row.offset}`,
    bytes(row),
    count(row.loads),
    writes(row),
    threadNames(row.threads),
  ]);
}

/** The same for the place where a variable is defined, with the functions that access it. */
export function definitionHoverText(report: Report, object: string, accesses: readonly LineAccess[]): string {
  return hoverText(report, accesses, `${code(object)}: `, ['offset', 'bytes', 'reads', 'writes', 'threads', 'in'], (row) => [
    `+${row.offset}`,
    bytes(row),
    count(row.loads),
    writes(row),
    threadNames(row.threads),
    functionNames(row.functions),
  ]);
}

function hoverText(
  report: Report,
  accesses: readonly LineAccess[],
  subject: string,
  columns: readonly string[],
  cells: (row: Row) => string[],
): string {
  const contended = accesses.reduce((sum, { access }) => sum + access.contended, 0);
  if (contended === 0) return '';
  const rows = rowsOf(accesses);
  const hottest = accesses.reduce((a, b) => (b.access.contended > a.access.contended ? b : a)).cacheLine;
  const lines = new Set(accesses.filter(({ access }) => access.contended > 0).map(({ cacheLine }) => cacheLine));
  const share = contended / report.samples.contended;
  const table = [columns, columns.map((name) => (RIGHT.has(name) ? '--:' : ':--')), ...rows.slice(0, MAX_ROWS).map(cells)].map(
    (row) => `| ${row.join(' | ')} |`,
  );
  return [
    `**${subject}${hottest.verdict}** · ${heatText({ share, ...competingThreads(accesses) }).replace('<', '&lt;')}`,
    VERDICT_MEANING[hottest.verdict],
    table.join('\n'),
    [
      rows.length > MAX_ROWS ? `${rows.length - MAX_ROWS} more places` : '',
      lines.size === 1 ? `cache line ${code(hottest.address)}` : `${lines.size} cache lines`,
      `evidence: **${report.evidence.join(', ')}** (${report.evidence.map((evidence) => EVIDENCE_MEANING[evidence]).join('; ')})`,
    ]
      .filter((text) => text !== '')
      .join(' · '),
  ].join('\n\n');
}

const RIGHT = new Set(['offset', 'bytes', 'reads', 'writes']);

function rowsOf(accesses: readonly LineAccess[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { cacheLine, access } of accesses) {
    const { object, offset } = access.data;
    const key = JSON.stringify([cacheLine.space, object, offset, access.width]);
    let row = rows.get(key);
    if (!row) {
      row = {
        object,
        offset,
        width: access.width,
        loads: 0,
        stores: 0,
        rmw: 0,
        locked: false,
        contended: 0,
        threads: new Map(),
        functions: new Map(),
      };
      rows.set(key, row);
    }
    row.loads += access.loads;
    row.stores += access.stores.total;
    row.rmw += access.stores.rmw ?? 0;
    row.locked ||= access.locked;
    row.contended += access.contended;
    for (const tid of access.threads)
      row.threads.set(
        tid,
        cacheLine.threads.find((thread) => thread.tid === tid),
      );
    if (access.symbol !== '') row.functions.set(access.symbol, ownPlace(access));
  }
  return [...rows.values()].sort((a, b) => b.contended - a.contended || a.offset - b.offset);
}

function bytes({ width }: Row): string {
  return width === 0 ? 'unknown' : String(width);
}

function writes({ stores, rmw, locked }: Row): string {
  const how = locked ? ' atomic' : rmw > 0 ? ' read+write' : '';
  return `${count(stores)}${stores > 0 ? how : ''}`;
}

function threadNames(uses: ReadonlyMap<number, ThreadUse | undefined>): string {
  const shown = [...uses].slice(0, MAX_THREADS);
  const byName = new Map<string, number[]>();
  for (const [tid, use] of shown) byName.set(use?.comm ?? '', [...(byName.get(use?.comm ?? '') ?? []), tid]);
  const names = [...byName].map(([comm, tids]) => `${comm === '' ? '' : `${code(comm)} `}${tids.join(', ')}`);
  return names.join('; ') + (uses.size > shown.length ? ` and ${plural(uses.size - shown.length, 'more thread')}` : '');
}

function functionNames(functions: ReadonlyMap<string, SourcePlace | undefined>): string {
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
