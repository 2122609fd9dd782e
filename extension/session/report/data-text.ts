// What accesses reach, in words: "shared.today.cents", "Worker[3].count", and how that is known.
import { t } from '../../protocol/l10n';
import type { Access, CacheLine, DataName, InlineFrame } from '../../protocol/report';
import { memoryName, SHARED_MEMORY, stackName } from '../../protocol/stack-owner';
import { DEFINING_OPTIONS } from '../layout/layout-unknown';
import { lockOf } from './lock-names';
import { shortPlace } from '../lines/source-path';
import { plural, printable, shortenMiddle } from '../text/terminal-text';

/** Of a class. */
const WITHOUT_DEFINITION = t(
  'the debug information does not say which members of it lie here; those of a virtual base class have no stated place, and a class that is not defined needs its source compiled with -g, or all with {0}',
  DEFINING_OPTIONS,
);
/** Fields of one object that are listed by name; more are an extent. */
const MAX_FIELDS = 3;
const LONGEST_QUOTED = 60;

/** Private unnamed memory, which is called by its address. */
function isInHeap({ object }: DataName): boolean {
  return object === '[heap]' || object.startsWith('anonymous 0x');
}

/** The array that a pointer with static storage leads to: `pointer[]`. */
function isPointedArray({ object }: DataName): boolean {
  return object.endsWith('[]');
}

/** Memory without a name of its own, or somewhere in a mapped file. */
function isUnnamed(data: DataName): boolean {
  const { object, how } = data;
  if (isPointedArray(data)) return false;
  return isInHeap(data) || [SHARED_MEMORY, '[stack]', '[kernel]'].includes(object) || how === 'code' || how === 'allocation';
}

/** Unnamed memory where the type of what is there is known. */
function isNamedByType(data: DataName): boolean {
  return isUnnamed(data) && data.type !== undefined && data.type !== '';
}

type Allocation = NonNullable<DataName['allocation']>;

/** Unnamed memory of which only the heap block is known. */
function isBlock(data: DataName): data is DataName & { allocation: Allocation } {
  return isUnnamed(data) && (data.type ?? '') === '' && data.allocation !== undefined && data.allocation !== null;
}

/** Where in an object without a symbol an access is: from the block's or the object's start, where that is known. */
function offsetIn(data: DataName, address: () => bigint): number {
  if (!isNamedByType(data) && !isBlock(data)) return data.offset;
  return data.base === undefined || data.base === null ? (data.fieldOffset ?? 0) : Number(address() - BigInt(data.base));
}

/** The object as the report's sums call it: "counters", "Worker (heap)", "Page (data.mdb)". */
export function objectName(data: DataName): string {
  if (isBlock(data)) return `${data.allocation.size} bytes allocated in ${data.allocation.function || 'an unknown function'}`;
  if (!isNamedByType(data)) return memoryName(data);
  if (data.object === '[kernel]') return `${data.type} (kernel)`;
  const inStack = data.how === 'stack' || data.object === '[stack]';
  const isShared = data.object === 'anonymous shared memory';
  return `${data.type} (${inStack ? stackName(data) : isShared ? 'shared memory' : isInHeap(data) ? 'heap' : data.object})`;
}

/** What to write before the field: "counters", "Worker". */
function head(data: DataName): string {
  if (isPointedArray(data)) return data.object.slice(0, -2);
  if (isNamedByType(data)) return (data.type ?? '').replace(/\[\d*\]$/, '');
  return objectName(data);
}

/** ".today.cents", "[3].count", ".rows[?].hits", nothing for the whole object; undefined where the field is not known. */
function fieldSuffix(data: DataName): string | undefined {
  const { type = '', field: path = '', fieldOffset, index } = data;
  const { field, lock } = lockOf(path) ?? { field: path, lock: '' };
  const pointed = isPointedArray(data);
  if (!pointed && (type === '' || (path === '' && (fieldOffset ?? null) === null))) return undefined;
  const ofElement = pointed || type.endsWith(']') || !field.includes('[');
  const unknown = pointed ? '[]' : '';
  const element = index === undefined || index === null || !ofElement ? unknown : `[${index}]`;
  return element + (field === '' || field.startsWith('[') ? field : `.${field}`) + (lock === '' ? '' : ` (${lock})`);
}

/** "+8", "+8..56", or nothing where the offset is none: an address of the kernel, beyond what a JSON number holds exactly. */
export function offsetText({ first, last }: { first: number; last: number }): string {
  if (!Number.isSafeInteger(last)) return '';
  return `+${first === last ? first : `${first}..${last}`}`;
}

/** "counters+8..56"; of a block "bytes 8 to 56 of 1024 bytes allocated in make", where "+8" would read like a place in the code. */
function withOffset(name: string, offsets: { first: number; last: number }, block: boolean): string {
  if (!block || !Number.isSafeInteger(offsets.last)) return `${name}${offsetText(offsets)}`;
  const { first, last } = offsets;
  return t('{0} of {1}', first === last ? t('byte {0}', first) : t('bytes {0} to {1}', first, last), name);
}

/**
 * "shared.today.cents", "Worker.count", "counters+24".
 * @param address of the access; few texts need it
 */
export function dataText(data: DataName, address: () => bigint): string {
  const field = fieldSuffix(data);
  const name = printable(head(data)) || 'unknown';
  if (field !== undefined) return `${name}${printable(field)}`;
  const offset = offsetIn(data, address);
  return withOffset(name, { first: offset, last: offset }, isBlock(data));
}

/** A recorded name in prose. */
export function quoted(text: string): string {
  return `'${shortenMiddle(printable(text), LONGEST_QUOTED)}'`;
}

/** "struct {...}": what debug information says of a type that the source gives no name. */
export function isUnnamedType(type: string): boolean {
  return /\{\.\.\.\}$|^\((anonymous|unnamed)\b/.test(type);
}

/** What to call a type: as the source does, or where it has no name there by its object. */
export function typeLabel(type: string, object: string): string {
  return object !== '' && isUnnamedType(type) ? object : type;
}

/** Where an access is. */
export function addressOf(line: Pick<CacheLine, 'address'>, access: Pick<Access, 'offset'>): bigint {
  return BigInt(line.address) + BigInt(access.offset);
}

/** What the accesses of a line use of one object. */
export interface UsedData {
  object: string;
  /** What to write before a field. */
  head: string;
  /** A heap block of which nothing else is known. */
  block: boolean;
  /** First and last offset that was accessed, in bytes from the object's start. */
  first: number;
  last: number;
  /** By name, in the order of the accesses, with their samples (contended ones, of a contended line); undefined where one is not known. */
  fields: Map<string, number> | undefined;
}

/** What a use of data is added up by: an access of a line, or what a summary says of several. */
export type DataUse = Pick<Access, 'data' | 'offset' | 'contended' | 'records'>;

/** Adds an access to the uses of its object. */
export function addUse<Use extends UsedData>(
  uses: Map<string, Use>,
  line: Pick<CacheLine, 'address' | 'contended'>,
  access: DataUse,
  fresh: (use: UsedData) => Use,
): Use {
  const { data } = access;
  const object = objectName(data);
  const offset = offsetIn(data, () => addressOf(line, access));
  let use = uses.get(object);
  if (use === undefined)
    uses.set(object, (use = fresh({ object, head: head(data), block: isBlock(data), first: offset, last: offset, fields: new Map() })));
  use.first = Math.min(use.first, offset);
  use.last = Math.max(use.last, offset);
  const field = fieldSuffix(data);
  if (field === undefined) use.fields = undefined;
  else use.fields?.set(field, (use.fields.get(field) ?? 0) + (line.contended > 0 ? access.contended : access.records));
  return use;
}

/**
 * "queue.produced, queue.limit", of many fields the hottest, or "buckets+8..56" where one is unknown.
 * @param room columns for the object's name, which stands once then: "queue.produced, .limit"
 */
export function usedText(use: UsedData, room = Infinity): string {
  const name = shortenMiddle(printable(use.head) || 'unknown', room);
  if (use.fields === undefined) return withOffset(name, use, use.block);
  const all = membersOf(use.fields);
  const shown = all.length > MAX_FIELDS ? [...all].sort((a, b) => b.samples - a.samples).slice(0, MAX_FIELDS) : all;
  const texts = shown.map(({ field }, i) => (room < Infinity && i > 0 ? '' : name) + printable(field));
  return texts.join(', ') + (all.length > shown.length ? `, ${plural(all.length - shown.length, 'other member')}` : '');
}

/** What of an object is used, by name; undefined where that is not known or too much. */
export function namedFields({ fields }: UsedData): string[] | undefined {
  const members = fields === undefined ? [] : membersOf(fields);
  return fields === undefined || members.length > MAX_FIELDS ? undefined : members.map(({ field }) => field);
}

interface Member {
  field: string;
  samples: number;
}

/** Many of them with "[0..3].count", ".slots[0..3].hits" for the same member of several elements. */
function membersOf(fields: ReadonlyMap<string, number>): Member[] {
  if (fields.size <= MAX_FIELDS) return [...fields].map(([field, samples]) => ({ field, samples }));
  const members = new Map<string, { before: string; behind: string; indexes: number[]; samples: number }>();
  for (const [field, samples] of fields) {
    const [, before = '', index, behind = ''] = /^([^[]*)\[(\d+)\](.*)$/.exec(field) ?? [];
    const key = index === undefined ? field : `${before}[]${behind}`;
    const member = members.get(key) ?? { before, behind, indexes: [], samples: 0 };
    members.set(key, member);
    member.samples += samples;
    if (index !== undefined) member.indexes.push(Number(index));
  }
  return [...members].map(([field, { before, behind, indexes, samples }]) => {
    if (indexes.length === 0) return { field, samples };
    const [first, last] = [Math.min(...indexes), Math.max(...indexes)];
    return { field: `${before}[${first === last ? first : `${first}..${last}`}]${behind}`, samples };
  });
}

/**
 * How the objects of a line are known that no symbol names, one sentence each, the most sampled first; of several reasons for
 * an object, that of most samples.
 */
export function howKnown(line: CacheLine): string[] {
  const objects = new Map<string, { records: number; head: string; reasons: Map<string, number> }>();
  for (const { data, records } of line.accesses) {
    const text = reason(data);
    if (text === '') continue;
    // What has no type is one object as far as one thing is said of it.
    const object = (data.type ?? '') === '' ? `${memoryName(data)}: ${text}` : objectAt(data);
    const known = objects.get(object) ?? { records: 0, head: objectAt(data), reasons: new Map<string, number>() };
    objects.set(object, known);
    known.records += records;
    known.reasons.set(text, (known.reasons.get(text) ?? 0) + records);
  }
  return [...objects.values()]
    .sort((a, b) => b.records - a.records)
    .map(({ head, reasons }) => {
      const [[most] = ['']] = [...reasons].sort(([, a], [, b]) => b - a);
      return `${head}: ${most}`;
    });
}

/** Of which classes members may lie on the line and cannot be named, one sentence each. */
export function withoutMembers({ accesses }: CacheLine): string[] {
  const classes = new Set(accesses.flatMap(({ data }) => data.incomplete ?? []));
  return [...classes].map((name) => `${name}: ${WITHOUT_DEFINITION}`);
}

/** "Worker at 0x5000". */
function objectAt(data: DataName): string {
  const { type = '', base } = data;
  if (type === '') return memoryName(data);
  return `${type}${base === undefined || base === null ? '' : t(' at {0}', base)}`;
}

function reason({ how, type = '', because = '', allocation }: DataName): string {
  if (how === undefined || because === '' || (how === 'global' && type !== '')) return '';
  const block = allocation === undefined || allocation === null ? '' : `; ${blockText(allocation)}`;
  return `${how === 'unknown' && type === '' ? t('type unknown: ') : ''}${because}${block}`;
}

/** "128 bytes allocated in xmalloc (util.c:16), called from make_workers (pool.c:41) from main (pool.c:60)" */
function blockText(block: Allocation): string {
  const callers = (block.callers ?? []).map((caller) => t(' from {0}', siteText(caller))).join('');
  const allocated = t('{0} allocated in {1}', plural(block.size, 'byte'), siteText(block));
  return callers === '' ? allocated : t('{0}, called{1}', allocated, callers);
}

/** "make_workers (pool.c:41)" */
function siteText(frame: InlineFrame): string {
  const name = frame.function || t('an unknown function');
  return frame.file === '' ? name : `${name} (${shortPlace(frame)})`;
}

/** "allocated in make_workers (pool.c:41)"; nothing where no heap block is known. */
export function allocationText({ allocation }: DataName): string {
  return allocation === undefined || allocation === null ? '' : t('allocated in {0}', siteText(allocation));
}

/** Names of the distinct types and fields on a line, the most sampled first. */
export function typesAndFields(line: CacheLine): { types: string[]; fields: string[] } {
  const sorted: Access[] = [...line.accesses].sort((a, b) => b.contended - a.contended || b.records - a.records);
  const distinct = (of: (data: DataName) => string | undefined): string[] => [
    ...new Set(sorted.map(({ data }) => of(data) ?? '').filter((text) => text !== '')),
  ];
  return { types: distinct(({ type }) => type), fields: distinct(({ field }) => field) };
}
