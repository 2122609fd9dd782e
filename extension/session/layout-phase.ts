// Where on their cache lines the instances of a type begin: a picture drawn from a line's start is wrong by as much.
import type { Report } from '../protocol/report';
import type { TypeCard } from './type-heat';
import { typeName } from './type-places';

/**
 * First bytes of instances within their cache lines, ascending, of the lines that the report lists.
 * @returns none where nothing is known: types of one name cannot be told apart by their accesses
 */
export function phasesOf({ layout: { name, size, lineSize } }: TypeCard, { lines, types }: Report): number[] {
  const wanted = typeName(name);
  const sizes = new Set((types ?? []).filter((type) => typeName(type.name) === wanted).map(({ layout }) => layout.size));
  if (size <= 0 || sizes.size > 1) return [];
  const phases = new Set<number>();
  for (const { address, accesses } of lines) {
    for (const { offset, data } of accesses) {
      if (data.type === undefined || typeof data.base !== 'string' || typeName(data.type) !== wanted) continue;
      const inObject = Number(BigInt(address) - BigInt(data.base)) + offset;
      // Elements of an array begin where the one before ends.
      if (inObject >= 0) phases.add(modulo(offset - (inObject % size), lineSize));
    }
  }
  return [...phases].sort((a, b) => a - b);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
