// What reports say about a contended line, worked out of its numbers: who competes, which bytes of which objects.
import { t } from '../../protocol/l10n';
import type { Access, CacheLine, ObjectSum, Report, ThreadUse } from '../../protocol/report';
import { reads, writes } from '../../protocol/roles';
import { addUse, usedText, objectName, type DataUse, type UsedData } from './data-text';
import { count, enumerate, plural } from '../text/terminal-text';

/** Lines that threads compete for, as the report sorts them. */
export function contendedLines(report: Report): CacheLine[] {
  return report.lines.filter(({ contended }) => contended > 0);
}

/** Of an access the sum over its object: of several objects with its name that at whose place it is. */
export function objectFinder({ objects }: Report): (line: CacheLine, access: Access) => ObjectSum | undefined {
  const key = (space: string, object: string): string => `${space}\0${object}`;
  const named = new Map<string, ObjectSum[]>();
  for (const object of objects) {
    const those = named.get(key(object.space, object.object));
    if (those) those.push(object);
    else named.set(key(object.space, object.object), [object]);
  }
  const placed = new Map<ObjectSum[], Placed[]>();
  return ({ space }, { data }) => {
    const those = named.get(key(space, objectName(data))) ?? [];
    if (those.length < 2) return those[0];
    let places = placed.get(those);
    if (!places) placed.set(those, (places = placesOf(those)));
    const { definition, base } = data;
    const at = base === undefined || base === null ? undefined : lastUpTo(places, BigInt(base));
    const sameDefinition = (object: ObjectSum): boolean =>
      object.definition?.line === definition?.line && object.definition?.file === definition?.file;
    return at ?? those.find((object) => (object.base ?? null) === null && sameDefinition(object));
  };
}

interface Placed {
  base: bigint;
  object: ObjectSum;
}

/** By address. */
function placesOf(objects: readonly ObjectSum[]): Placed[] {
  const placed = objects.flatMap((object) => ((object.base ?? null) === null ? [] : [{ base: BigInt(object.base ?? 0), object }]));
  return placed.sort((a, b) => (a.base < b.base ? -1 : a.base > b.base ? 1 : 0));
}

/** Objects that lie end to end count as one, so that an access's own base may be behind that of the sum. */
function lastUpTo(places: readonly Placed[], base: bigint): ObjectSum | undefined {
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((places[middle]?.base ?? base) <= base) from = middle + 1;
    else to = middle;
  }
  return places[from - 1]?.object;
}

/** On how many lines that threads compete for an object is among what they use. */
export function contendedLinesOf(report: Report): (object: ObjectSum) => number {
  // Not all lines of a recording with data sources are in its report.
  if (report.c2c !== undefined) return ({ lines }) => lines;
  const find = objectFinder(report);
  const counts = new Map<ObjectSum, number>();
  for (const line of contendedLines(report)) {
    const used = new Set(line.accesses.filter(({ contended }) => contended > 0).map((access) => find(line, access)));
    for (const object of used) if (object) counts.set(object, (counts.get(object) ?? 0) + 1);
  }
  return (object) => Math.min(object.lines, counts.get(object) ?? object.lines);
}

/** ACCESS is to a pthread mutex, condition variable, ... : "locks[2]"; undefined where it is to other data. */
export function pthreadLock({ data }: Access): string | undefined {
  const end = /(^|\.)__data\.__/.exec(data.field ?? '')?.index;
  return end === undefined ? undefined : `${data.base ?? ''} ${data.index ?? ''} ${(data.field ?? '').slice(0, end)}`;
}

/** Whether all that threads compete for or write on a line is one lock of pthreads. (Of memory recordings, stores are not contended.) */
export function isOnePthreadLock(line: CacheLine): boolean {
  const locks = new Set(line.accesses.filter(({ contended, stores }) => contended > 0 || stores.total > 0).map(pthreadLock));
  return locks.size === 1 && !locks.has(undefined);
}

/** How many threads of a line write, and how many read; `both` do both and are in either number. */
export interface ThreadRoles {
  writers: number;
  readers: number;
  both: number;
}

/** On a contended line of the threads that compete, otherwise of all. */
export function threadRoles(line: CacheLine): ThreadRoles {
  const taking = line.contended > 0 ? line.threads.filter(({ competes }) => competes) : line.threads;
  const those = (does: (thread: ThreadUse) => boolean): Set<ThreadUse> => new Set(taking.filter(does));
  return rolesOf(those(writes), those(reads));
}

/** Of who writes and who reads. */
export function rolesOf<Who>(writers: ReadonlySet<Who>, readers: ReadonlySet<Who>): ThreadRoles {
  return { writers: writers.size, readers: readers.size, both: [...readers].filter((who) => writers.has(who)).length };
}

/** "2 threads write, 3 read and write and 1 reads"; `object`: behind each verb, " it". */
export function rolesText({ writers, readers, both }: ThreadRoles, object = ''): string {
  const parts = [
    object === ''
      ? { number: writers - both, one: t('writes'), many: t('write') }
      : { number: writers - both, one: t('writes to{0}', object), many: t('write to{0}', object) },
    { number: both, one: t('reads and writes{0}', object), many: t('read and write{0}', object) },
    { number: readers - both, one: t('reads{0}', object), many: t('read{0}', object) },
  ].filter(({ number }) => number > 0);
  return enumerate(
    parts.map(({ number, one, many }, i) => `${i === 0 ? plural(number, 'thread') : count(number)} ${number === 1 ? one : many}`),
  );
}

/** What counts for the order of accesses and objects: contended samples where there are any, all otherwise. */
export function weight(access: Pick<Access, 'contended' | 'records'>, line: Pick<CacheLine, 'contended'>): number {
  return line.contended > 0 ? access.contended : access.records;
}

/** A line by what its accesses are to. */
export type UsedLine = Pick<CacheLine, 'address' | 'contended'> & { accesses: readonly DataUse[] };

export interface ObjectUse extends UsedData {
  weight: number;
}

/** The data objects on a line, the most used first. */
export function objectsOf(line: UsedLine): ObjectUse[] {
  const uses = new Map<string, ObjectUse>();
  for (const access of line.accesses) {
    addUse(uses, line, access, (use) => ({ ...use, weight: 0 })).weight += weight(access, line);
  }
  return [...uses.values()].sort((a, b) => b.weight - a.weight || a.first - b.first);
}

/** That are named of a line. */
export const MOST_OBJECTS = 3;

/**
 * The first objects of a line with the members used: "queue.produced, queue.limit, workers[2].ticks".
 * @param room as of usedText()
 */
export function lineData(line: UsedLine, room = Infinity): string {
  const uses = objectsOf(line);
  const rest = uses.length > MOST_OBJECTS ? t(', {0} more', uses.length - MOST_OBJECTS) : '';
  return (
    uses
      .slice(0, MOST_OBJECTS)
      .map((use) => usedText(use, room))
      .join(', ') + rest
  );
}
