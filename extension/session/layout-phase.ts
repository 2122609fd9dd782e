// Where on their cache lines the instances of a type begin: which members share a line depends on it.
import type { LayoutMember } from '../protocol/layout';
import type { Report } from '../protocol/report';
import type { TypeCard } from './type-heat';
import { typeName } from './type-places';

const known = new WeakMap<Report, WeakMap<TypeCard, { phase: number | undefined }>>();

/**
 * The byte of a cache line that all instances begin at, as far as the report lists their lines; undefined: there are several, or
 * nothing is known (types of one name cannot be told apart by their accesses).
 */
export function phaseOf(card: TypeCard, report: Report | undefined): number | undefined {
  if (!report || !card.heat) return undefined;
  let cards = known.get(report);
  if (!cards) known.set(report, (cards = new WeakMap()));
  let found = cards.get(card);
  if (!found) {
    const phases = phasesOf(card, report);
    cards.set(card, (found = { phase: phases.size === 1 ? [...phases][0] : undefined }));
  }
  return found.phase;
}

/** Whether a member lies on more lines than its size needs. */
export function straddlesAt({ offset, size, straddles }: LayoutMember, phase: number, lineSize: number): boolean {
  if (phase === 0) return straddles;
  const last = Math.max(0, size - 1);
  return Math.floor((((offset + phase) % lineSize) + last) / lineSize) > Math.floor(last / lineSize);
}

function phasesOf({ layout: { name, size, lineSize } }: TypeCard, { lines, types }: Report): Set<number> {
  const phases = new Set<number>();
  const wanted = typeName(name);
  const sizes = new Set((types ?? []).filter((type) => typeName(type.name) === wanted).map(({ layout }) => layout.size));
  if (size <= 0 || sizes.size > 1) return phases;
  for (const { address, accesses } of lines) {
    for (const { offset, data } of accesses) {
      if (data.type === undefined || typeof data.base !== 'string' || typeName(data.type) !== wanted) continue;
      const inObject = Number(BigInt(address) - BigInt(data.base)) + offset;
      // Elements of an array begin where the one before ends.
      if (inObject >= 0) phases.add(modulo(offset - (inObject % size), lineSize));
    }
  }
  return phases;
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
