// Where on their cache lines the instances of a type begin: which members share a line depends on it.
import type { LayoutMember } from '../../protocol/layout';
import type { Measured } from '../../protocol/measure';
import { accessesOf } from '../profile/heat';
import { cardOf, wholeTypes, type TypeCard } from './type-heat';
import { cardsByType } from './types-of-accesses';

const known = new WeakMap<Measured, WeakMap<TypeCard, { phase: number | undefined }>>();

/**
 * The byte of a cache line that all instances begin at, as far as the report lists their lines; undefined: there are several, or
 * nothing is known (types of one name cannot be told apart by their accesses; instances may lie inside of other types).
 */
export function phaseOf(card: TypeCard, report: Measured | undefined): number | undefined {
  if (!report || !card.heat || card.heat.nested) return undefined; // accesses do not name the types inside of others
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

function phasesOf(card: TypeCard, report: Measured): Set<number> {
  const { size, lineSize } = card.layout;
  const phases = new Set<number>();
  if (size <= 0) return phases;
  const { lines = [] } = report;
  const byType = cardsByType(wholeTypes(report).map(cardOf), accessesOf(lines));
  for (const { address, accesses } of lines) {
    for (const { offset, data } of accesses) {
      if (data.type === undefined || typeof data.base !== 'string') continue;
      const cards = byType(data.type);
      if (!cards.includes(card)) continue;
      if (cards.some(({ layout }) => layout.size !== size)) return new Set();
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
