// The report's tables: the contended lines, each one's accesses, and the sums per data object.
import { CONFIRMED_MARK, confirmationText, isConfirmed } from '../../protocol/confirmation';
import type { Access, CacheLine, ObjectSum, Report, ThreadUse, Verdict } from '../../protocol/report';
import { mappingText } from '../../protocol/stack-owner';
import { callersText } from './callers-text';
import { trappedText } from './confirmation';
import { addressOf, allocationText, dataText, howKnown, withoutMembers } from './data-text';
import { accessKind, KIND_WORDS } from '../../protocol/roles';
import { contendedLinesOf, lineData, MOST_OBJECTS, objectsOf, threadRoles, weight } from './sharing-facts';
import { ownPlace, readablePlace } from '../lines/source-path';
import { FLAG_WORDS, percent } from '../../protocol/words';
import {
  count,
  displayWidth,
  plural,
  printable,
  shortenMembers,
  shortenMiddle,
  shortenStart,
  wrap,
  type Style,
} from '../text/terminal-text';
import { formatTwoRowTable, SECOND_ROW_INDENT, type Cell, type Column } from '../text/text-table';
import { verdictText } from './verdict-text';

export interface Layout {
  width: number;
  style: Style;
  /** Source paths below it are shown relative to it. */
  folder: string;
  /** Of tables: names of functions in full, however long. */
  fullSymbols?: boolean;
  /** Of tables: with source files and lines, unless false. */
  source?: boolean;
}

export const VERDICT_STYLE: Record<Verdict, keyof Style> = {
  'false sharing': 'red',
  mixed: 'yellow',
  'true sharing': 'cyan',
  'read-shared': 'dim',
  private: 'dim',
};

const INDENT = 2;
const MAX_KNOWN = 4;
/** Columns that are left of an object's name, however long those of its members are. */
const SHORTEST_NAME = 16;

export const LINE_LEGEND = 'share: of contended samples; of all: of every sample; w/r: writers/readers';

/** One entry a line. */
export function lineTable(lines: readonly CacheLine[], { width, style }: Layout): string[] {
  const columns: Column[] = [
    { title: '#', align: 'right' },
    { title: 'share', align: 'right' },
    { title: 'of all', align: 'right' },
    { title: 'address', align: 'left' },
    { title: 'verdict', align: 'left' },
    { title: 'w/r', align: 'right' },
    { title: 'samples', align: 'right' },
  ];
  const rows = lines.map((line, index): Cell[] => [
    { text: String(index + 1) },
    { text: percent(line.contendedShare) },
    { text: percent(line.programShare) },
    { text: line.address },
    { text: isConfirmed(line) ? `${line.verdict} ${CONFIRMED_MARK}` : line.verdict, style: VERDICT_STYLE[line.verdict] },
    { text: roles(line) },
    { text: count(line.records) },
    { text: dataOf(line, width), style: 'bold' },
  ]);
  return formatTwoRowTable(columns, [{ title: 'data', align: 'left', shorten: shortenMiddle }], rows, { width, indent: 0, style });
}

/**
 * One line in full: what it costs, who uses it, and its accesses.
 * @param number of the line in the table
 */
export function lineDetails(line: CacheLine, number: number, maxAccesses: number, layout: Layout): string[] {
  const { width, style } = layout;
  const indent = ' '.repeat(INDENT);
  const flags = line.flags.length > 0 ? ` (${line.flags.map((flag) => FLAG_WORDS[flag]).join(', ')})` : '';
  const { rmw } = line.stores;
  const [title = '', ...titleRest] = wrap(`Line ${number}: ${line.address}, ${printable(line.space)}, ${verdictText(line)}${flags}`, width);
  const facts =
    `${plural(line.records, 'sample')}, of them ${count(line.contended)} contended: ${plural(line.loads, 'read')}, ` +
    `${plural(line.stores.total, 'write')}${rmw === null || rmw === 0 ? '' : ` (${count(rmw)} of them read-modify-write)`}; in ${printable(mappingText(line)) || 'an unknown mapping'}`;
  const sorted = distinct(line, layout).sort((a, b) => weight(b, line) - weight(a, line) || a.offset - b.offset);
  const shown = sorted.slice(0, maxAccesses);
  const left = sorted.length - shown.length;
  return [
    style.bold(title),
    ...titleRest.map((text) => style.bold(text)),
    ...wrap(facts, width, indent),
    ...(line.confirmation === undefined ? [] : wrap(printable(confirmationText(line)), width, indent)),
    ...wrap(line.threads.map(threadText).join('; ') || 'unknown', width, `${indent}threads: `),
    ...(line.goroutines === undefined ? [] : [`${indent}goroutines: ${count(line.goroutines)}`]),
    ...accessTable(line, shown, layout),
    ...(left > 0 ? [`${indent}${plural(left, 'more access', 'more accesses')}`] : []),
    ...callersText(shown, width),
    ...knownBy(line, layout),
  ];
}

/** The accesses; those that would read the same (an unrolled loop, a function inlined twice) as one. */
function distinct(line: CacheLine, { folder, source = true }: Layout): Access[] {
  const rows = new Map<string, Access>();
  for (const access of line.accesses) {
    const text = [
      access.offset,
      KIND_WORDS[accessKind(access)],
      dataText(access.data, () => addressOf(line, access)),
      functionOf(access),
      source ? sourceOf(access, folder) : '',
      allocationText(access.data),
      // What was trapped is counted by instruction.
      access.watch ? `${access.object} ${access.codeAddress}` : '',
    ];
    const key = JSON.stringify(text);
    const same = rows.get(key);
    rows.set(key, same === undefined ? access : together(same, access));
  }
  return [...rows.values()];
}

function together(a: Access, b: Access): Access {
  return {
    ...a,
    records: a.records + b.records,
    contended: a.contended + b.contended,
    threads: [...new Set([...a.threads, ...b.threads])],
    ...(a.callers === undefined ? {} : { callers: [...a.callers, ...(b.callers ?? [])] }),
  };
}

function knownBy(line: CacheLine, { width }: Layout): string[] {
  const known = howKnown(line);
  const rest = known.length - MAX_KNOWN;
  const sentences = (texts: readonly string[]): string[] => texts.flatMap((text) => wrap(printable(text), width, ' '.repeat(INDENT)));
  return [
    ...sentences(known.slice(0, MAX_KNOWN)),
    ...(rest > 0 ? [`${' '.repeat(INDENT)}${plural(rest, 'more object')}`] : []),
    ...sentences(withoutMembers(line).slice(0, MAX_KNOWN)),
  ];
}

function accessTable(line: CacheLine, accesses: readonly Access[], layout: Layout): string[] {
  const { width, style, folder, fullSymbols = false, source = true } = layout;
  const sum = line.accesses.reduce((total, access) => total + weight(access, line), 0);
  const watched = line.confirmation !== undefined;
  // The place of a single one is said below the accesses.
  const severalSites = new Set(accesses.map(({ data }) => allocationText(data)).filter((text) => text !== '')).size > 1;
  const first: Column[] = [
    { title: 'offset', align: 'right' },
    { title: 'kind', align: 'left' },
    { title: 'share', align: 'right' },
    { title: 'samples', align: 'right' },
    ...(watched ? [{ title: 'trapped', align: 'right' } as const] : []),
    { title: 'threads', align: 'right' },
    { title: 'data', align: 'left', shorten: shortenMembers },
  ];
  const second: Column[] = [
    { title: 'function', align: 'left', ...(fullSymbols ? { broken: true } : { shorten: shortenMiddle }) },
    ...(source ? [{ title: 'source', align: 'left', shorten: shortenStart } as const] : []),
    ...(severalSites ? [{ title: 'heap block', align: 'left', shorten: shortenMiddle } as const] : []),
  ];
  const rows = accesses.map((access): Cell[] => [
    { text: String(access.offset) },
    { text: KIND_WORDS[accessKind(access)] },
    { text: sum === 0 ? '' : percent(weight(access, line) / sum) },
    { text: count(access.records) },
    ...(watched ? [{ text: trappedText(access) }] : []),
    { text: count(new Set([...access.threads, ...(access.watch?.threads ?? [])]).size) },
    { text: dataText(access.data, () => addressOf(line, access)), style: 'bold' },
    { text: functionOf(access) },
    ...(source ? [{ text: sourceOf(access, folder) }] : []),
    ...(severalSites ? [{ text: printable(allocationText(access.data)) }] : []),
  ]);
  return formatTwoRowTable(first, second, rows, { width, indent: INDENT, style });
}

/** Sums over the lines of each object: contention on every line of an array ranks by its sum. Lines are those of `report` that threads compete for. */
export function objectTable(report: Report, objects: readonly ObjectSum[], { width, style, folder, source = true }: Layout): string[] {
  const linesOf = contendedLinesOf(report);
  const rowsOfName = new Map<string, number>();
  for (const { object } of objects) rowsOfName.set(object, (rowsOfName.get(object) ?? 0) + 1);
  const isOneOfMany = ({ object, base }: ObjectSum): boolean => (base ?? null) !== null && (rowsOfName.get(object) ?? 0) > 1;
  const columns: Column[] = [
    { title: 'share', align: 'right' },
    { title: 'of all', align: 'right' },
    { title: 'lines', align: 'right' },
    { title: 'verdict', align: 'left' },
    { title: 'samples', align: 'right' },
  ];
  const names: Column[] = [
    { title: 'object', align: 'left', shorten: shortenMiddle },
    ...(source ? [{ title: 'defined at', align: 'left', shorten: shortenStart } as const] : []),
  ];
  const rows = objects.map((object): Cell[] => [
    { text: percent(object.contendedShare) },
    { text: percent(object.programShare) },
    { text: count(linesOf(object)) },
    { text: object.verdict, style: VERDICT_STYLE[object.verdict] },
    { text: count(object.records) },
    { text: printable(!source && isOneOfMany(object) ? `${object.object} at ${object.base ?? 'unknown'}` : object.object), style: 'bold' },
    ...(source ? [{ text: printable(originOf(object, isOneOfMany(object), folder)) }] : []),
  ]);
  return formatTwoRowTable(columns, names, rows, { width, indent: 0, style });
}

/** Where it is defined; of a heap block where it was allocated; of other unnamed memory its address. `many`: rows of its name. */
function originOf({ definition, allocation, base }: ObjectSum, many: boolean, folder: string): string {
  if (definition !== null) return readablePlace(definition, folder);
  if (allocation === undefined || allocation === null) return base ?? 'unknown';
  const at = allocation.file === '' ? `in ${allocation.function || 'an unknown function'}` : `at ${readablePlace(allocation, folder)}`;
  return `allocated ${at}${many ? `, ${base ?? 'unknown'}` : ''}`;
}

/** Objects whose contention is spread over several lines, so that no single line shows its size. */
export function spreadObjects(report: Report): ObjectSum[] {
  const linesOf = contendedLinesOf(report);
  return report.objects
    .filter((object) => object.contended > 0 && object.lines > 1 && linesOf(object) > 1)
    .sort((a, b) => b.contended - a.contended);
}

/** "2/1": threads that write and threads that read; who does both is in either. */
function roles(line: CacheLine): string {
  const { writers, readers } = threadRoles(line);
  return `${writers}/${readers}`;
}

/** What lies on a line; long names are shortened so that all members stay. */
function dataOf(line: CacheLine, width: number): string {
  const full = lineData(line);
  if (displayWidth(full) <= width - SECOND_ROW_INDENT) return full;
  const objects = Math.min(MOST_OBJECTS, objectsOf(line).length);
  const room = Math.max(SHORTEST_NAME, Math.floor((width - SECOND_ROW_INDENT - displayWidth(lineData(line, 0))) / objects));
  return lineData(line, room);
}

function functionOf(access: Access): string {
  return printable(access.symbol) || access.codeAddress;
}

function sourceOf(access: Access, folder: string): string {
  const place = ownPlace(access);
  return printable(place === undefined ? access.object || 'unknown' : readablePlace(place, folder));
}

function threadText({ tid, comm, loads, stores, competes }: ThreadUse): string {
  const does = [stores > 0 ? plural(stores, 'write') : '', loads > 0 ? plural(loads, 'read') : ''].filter((text) => text !== '').join(', ');
  return `${tid}${comm === '' ? '' : ` ${printable(comm)}`} ${does}${competes ? '' : ' (does not compete)'}`;
}
