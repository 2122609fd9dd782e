// The text of `cacheline workset`: classes of misses, then working sets of threads, types and allocation sites.
import type { DataWorkingSet, ExplainedMissClass, LinesUsed, ThreadWorkingSet, WorksetDocument } from '../../protocol/workset';
import { sentence, percent } from '../../protocol/words';
import { headField, joinBlocks, titledList } from '../report/report-blocks';
import { count, PLAIN, printable, shortenMiddle, wrap, type Style } from '../text/terminal-text';
import { formatTwoRowTable, type Cell, type Column } from '../text/text-table';
import { threadName } from '../threads/imbalance';
import { cacheName, cacheSize } from '../where/where-values';

export interface WorksetTextOptions {
  /** Columns. */
  width: number;
  style?: Style;
  /** The recording, as it was asked for. */
  path: string;
}

type Layout = Required<WorksetTextOptions>;

/** More rows would not be read; JSON has more. */
const MOST_ROWS = 20;
const INDENT = 2;
const NOT_KNOWN = 'not known';

/** Lines joined by newlines, with one at the end; none is wider than `width`. */
export function worksetText(document: WorksetDocument, options: WorksetTextOptions): string {
  const layout: Layout = { style: PLAIN, ...options };
  return joinBlocks([
    head(document, layout),
    missClasses(document.missClasses, layout),
    threadTable(document, layout),
    dataTable('Types', document.types, document, layout),
    dataTable('Allocation sites', document.allocations, document, layout),
    notes(document, layout),
    titledList('Warnings', document.warnings.map(sentence), layout.width),
  ]);
}

function head(document: WorksetDocument, layout: Layout): string[] {
  const { samples, attributed, seconds, filtered, collector } = document;
  const by = collector === '' ? '' : ` of the ${printable(collector)} collector`;
  const left = filtered === null ? '' : `, without ${count(filtered)} that filters left out`;
  return [
    ...headField('Recording', layout.path, layout),
    ...headField('Samples', `${count(attributed)} with an address, of ${count(samples)}${by} in ${seconds.toFixed(2)} s${left}`, layout),
    ...headField('Caches', cachesText(document), layout),
  ];
}

/** "L1 data 48 KiB, L2 2 MiB, L3 260 MiB": of each kind the first. */
function cachesText({ caches }: WorksetDocument): string {
  const kinds = new Map(caches.map((cache) => [`${cacheName(cache)} ${cacheSize(cache.bytes)}`, cache] as const));
  return kinds.size === 0 ? 'the recording does not say' : [...kinds.keys()].map(printable).join(', ');
}

function missClasses(classes: readonly ExplainedMissClass[], { width, style }: Layout): string[] {
  const text = (each: ExplainedMissClass): string[] => {
    const level = each.level === null ? '' : ` of L${each.level}`;
    return [
      ...wrap(`${each.class}${level}: ${each.knowledge}. ${each.evidence}`, width, '  ', '    '),
      ...(each.remedy === null ? [] : wrap(each.remedy, width, '    ')),
    ];
  };
  return [style.bold('Classes of misses'), ...classes.flatMap(text)];
}

function linesCell(lines: number | null, { lineSize }: WorksetDocument): Cell {
  return { text: lines === null ? NOT_KNOWN : cacheSize(lines * lineSize) };
}

function usedCells(used: LinesUsed, document: WorksetDocument): Cell[] {
  return [
    { text: count(used.samples) },
    { text: count(used.lines) },
    { text: used.coverage === null ? NOT_KNOWN : percent(used.coverage) },
    linesCell(used.atLeast, document),
  ];
}

const USED: readonly Column[] = ['samples', 'lines', 'coverage', 'at least'].map((title) => ({ title, align: 'right' }));

function table(title: string, columns: readonly Column[], all: readonly unknown[], rows: readonly Cell[][], layout: Layout): string[] {
  if (rows.length === 0) return [];
  const rest = all.length - rows.length;
  return [
    layout.style.bold(title),
    ...formatTwoRowTable(columns, [], rows, { width: layout.width, indent: INDENT, style: layout.style }),
    ...(rest > 0 ? wrap(`and ${count(rest)} more: --format json has them.`, layout.width, '  ') : []),
  ];
}

function threadTable(document: WorksetDocument, layout: Layout): string[] {
  const columns: Column[] = [{ title: 'thread', align: 'left', shorten: shortenMiddle }, ...USED, { title: 'at a time', align: 'right' }];
  const row = (name: string, each: ThreadWorkingSet | WorksetDocument['all']): Cell[] => [
    { text: name },
    ...usedCells(each, document),
    linesCell(each.atATime, document),
  ];
  const threads = document.threads.slice(0, MOST_ROWS).map((thread) => row(threadName(thread), thread));
  const all = threads.length > 1 ? [row('all threads', document.all)] : [];
  return table('Working sets of threads', columns, [...document.threads, ...all], [...all, ...threads], layout);
}

function dataTable(title: string, list: readonly DataWorkingSet[], document: WorksetDocument, layout: Layout): string[] {
  const columns: Column[] = [...USED, { title: 'at most', align: 'right' }, { title: 'name', align: 'left', shorten: shortenMiddle }];
  const rows = list
    .slice(0, MOST_ROWS)
    .map((each) => [...usedCells(each, document), linesCell(each.atMost, document), { text: printable(each.name) }]);
  return table(title, columns, list, rows, layout);
}

function notes(document: WorksetDocument, { width }: Layout): string[] {
  const { all, partSeconds, parts } = document;
  const unbounded = new Set(document.types.flatMap(({ atMostReason }) => atMostReason ?? []));
  const sentences = [
    `"lines": distinct lines of ${document.lineSize} bytes with samples. "coverage": the share of the accesses that goes to them. ` +
      `"at least": including lines without samples, the lower end of a 95% interval (Chao1).`,
    `"at a time": the lower bound for one of ${parts} parts of the time, ${partSeconds.toFixed(2)} s each (median). A cache that holds less ` +
      `may lack capacity.`,
    ...(all.reason === null ? [] : [`For all threads together, nothing is known beyond the sampled lines: ${all.reason}.`]),
    ...(unbounded.size === 0 ? [] : [`"at most" is not known where ${[...unbounded].join(', or where ')}: \`cacheline record --heap\`.`]),
    `Other classes of misses, such as first uses of memory, are not covered.`,
  ];
  return sentences.flatMap((text) => wrap(text, width, '- '));
}
