// What the text and the drawing of `cacheline trace` both say of a path.
import type { Trace, TraceAccess, TracePath } from '../../protocol/trace';

/** What happens to an object at one place of its path. */
export interface PathEvent {
  ns: number;
  function: string;
  /** "allocates it", "writes", "frees it". */
  verb: string;
  members: readonly string[];
  place: number;
  cpuChanged: boolean;
  /** Of all samples; null: not known. */
  cost: number | null;
}

const VERBS: Readonly<Record<TraceAccess, string>> = {
  read: 'reads',
  write: 'writes',
  'read-write': 'reads and writes',
  unknown: 'accesses',
};

/** Allocation and free included. */
export function eventsOf({ allocatedIn, steps, freed }: TracePath): PathEvent[] {
  return [
    ...(allocatedIn === null
      ? []
      : [{ ns: 0, function: allocatedIn, verb: 'allocates it', members: [], place: 0, cpuChanged: false, cost: null }]),
    ...steps.map(({ sinceAllocNs, access, ...step }) => ({
      ...step,
      ns: sinceAllocNs,
      verb: `${VERBS[access]}${step.repeated ? ', again and again,' : ''}`,
    })),
    ...(freed === null ? [] : [{ ...freed, ns: freed.sinceAllocNs, verb: 'frees it', members: [], cost: null }]),
  ];
}

/** "a, b and 3 more"; empty where there are none. */
export function membersText(members: readonly string[], most = 8): string {
  const more = members.length - most;
  return more > 0 ? `${members.slice(0, most).join(', ')} and ${more} more` : members.join(', ');
}

/** "850 ns", "12.3 us", "4.56 ms", "1.20 s". */
export function timeText(ns: number): string {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} us`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(2)} ms`;
  return `${(ns / 1e9).toFixed(2)} s`;
}

/** How the path ends, where it is not with a free; empty: it is. */
export function endText({ truncated, freed, allocatedIn, moreSteps }: TracePath): string {
  const ends = [
    ...(moreSteps > 0 ? [`${moreSteps} more steps`] : []),
    ...(truncated ? ['no longer followed: too many accesses, or too long'] : []),
    ...(!truncated && freed === null && allocatedIn !== null ? ['not freed before the program ended'] : []),
  ];
  return ends.join('; ');
}

/** Untrusted. */
export function subjectOf({ type, member }: Trace): string {
  return member === null ? type : `${type}.${member}`;
}
