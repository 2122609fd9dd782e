// What reports say about a contended line, worked out of its numbers: who competes, which bytes of which objects.
import type { Access, CacheLine, ObjectSum, Report } from '../protocol/report';
import { addUse, objectName, type UsedData } from './data-text';

/** Lines that threads compete for, as the report sorts them. */
export function contendedLines(report: Report): CacheLine[] {
  return report.lines.filter(({ contended }) => contended > 0);
}

/** On how many lines that threads compete for an object is among what they use. */
export function contendedLinesOf(report: Report): (object: ObjectSum) => number {
  const key = (space: string, object: string): string => `${space}\0${object}`;
  const counts = new Map<string, number>();
  for (const { space, accesses } of contendedLines(report)) {
    const used = new Set(accesses.filter(({ contended }) => contended > 0).map(({ data }) => key(space, objectName(data))));
    for (const object of used) counts.set(object, (counts.get(object) ?? 0) + 1);
  }
  // Objects of one name are several: then some of these are another's.
  return ({ object, lines, space }) => Math.min(lines, counts.get(key(space, object)) ?? lines);
}

/** ACCESS is to a pthread mutex, condition variable, ... : "locks[2]"; undefined where it is to other data. */
export function pthreadLock({ data }: Access): string | undefined {
  const end = /(^|\.)__data\.__/.exec(data.field ?? '')?.index;
  return end === undefined ? undefined : `${data.base ?? ''} ${data.index ?? ''} ${(data.field ?? '').slice(0, end)}`;
}

/** Whether all that threads compete for on a line is one lock of pthreads. */
export function isOnePthreadLock(line: CacheLine): boolean {
  const locks = new Set(line.accesses.filter(({ contended }) => contended > 0).map(pthreadLock));
  return locks.size === 1 && !locks.has(undefined);
}

/**
 * Threads of a line that write (a thread that does both is a writer) and that only read; on a contended line those that
 * compete, otherwise all.
 */
export function threadRoles(line: CacheLine): { writers: number; readers: number } {
  const taking = line.contended > 0 ? line.threads.filter(({ competes }) => competes) : line.threads;
  const writers = taking.filter(({ stores }) => stores > 0).length;
  return { writers, readers: taking.length - writers };
}

/** What counts for the order of accesses and objects: contended samples where there are any, all otherwise. */
export function weight(access: Access, line: CacheLine): number {
  return line.contended > 0 ? access.contended : access.records;
}

export interface ObjectUse extends UsedData {
  weight: number;
}

/** The data objects on a line, the most used first. */
export function objectsOf(line: CacheLine): ObjectUse[] {
  const uses = new Map<string, ObjectUse>();
  for (const access of line.accesses) {
    addUse(uses, line, access, (use) => ({ ...use, weight: 0 })).weight += weight(access, line);
  }
  return [...uses.values()].sort((a, b) => b.weight - a.weight || a.first - b.first);
}

/** "read", "write", "rmw" (reads and writes in one instruction) or "locked" (the same, atomically). */
export function accessKind({ locked, records, loads, stores, watch }: Access): string {
  if (locked) return 'locked';
  // Only seen by watchpoints.
  if (records === 0 && watch) {
    const kinds = [watch.reads > 0 ? 'read' : '', watch.writes > 0 ? 'write' : ''].filter((kind) => kind !== '');
    return kinds.join(', ') || 'unknown';
  }
  if (stores.total === 0) return 'read';
  if (stores.rmw !== null && stores.rmw === stores.total) return loads > 0 ? 'read, rmw' : 'rmw';
  return loads > 0 ? 'read, write' : 'write';
}
