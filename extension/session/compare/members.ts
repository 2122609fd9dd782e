// Members of types by their places, for those that have another name in another build.
import type { Layout, LayoutMember, TypeHeat } from '../../protocol/layout';

/** A type that a name stands for, and how many different ones there are. */
export interface NamedType {
  layout: Layout;
  /** Of that name, with different layouts. */
  count: number;
}

const named = new WeakMap<readonly TypeHeat[], ReadonlyMap<string, NamedType>>();

/** Types of whole objects by name; of several the one with most contended samples, which come first. */
export function typesByName(types: readonly TypeHeat[]): ReadonlyMap<string, NamedType> {
  const known = named.get(types);
  if (known !== undefined) return known;
  const found = new Map<string, NamedType>();
  named.set(types, found);
  const seen = new Set<string>();
  for (const { name, layout, nested } of types) {
    const shape = JSON.stringify([name, layout.size, layout.members.map((one) => [one.name, one.type, one.offset])]);
    if (nested || seen.has(shape)) continue;
    seen.add(shape);
    const known = found.get(name);
    if (known === undefined) found.set(name, { layout, count: 1 });
    else ++known.count;
  }
  return found;
}

/**
 * Under which name a member of one build is in the other: where the name is not there any more, and another one that was not there has its
 * place and type. The place is the offset; where all offsets have moved, the position among the members.
 * @param member as a table has it: a path with elements of arrays together, "slots[].count"
 * @returns undefined where nothing is there, or the name itself still is
 */
export function renamed(member: string, from: Layout, to: Layout): string | undefined {
  const own = from.members.findIndex((one) => pathOf(one) === member);
  const old = from.members[own];
  if (old === undefined || to.members.some((one) => pathOf(one) === member)) return undefined;
  const sameCount = from.members.length === to.members.length;
  const candidates = [
    to.members.find((one) => one.offset === old.offset && fits(one, old)),
    ...(sameCount ? [to.members[own]].filter((one) => one !== undefined && fits(one, old)) : []),
  ];
  const found = candidates.find((one) => one !== undefined);
  if (found === undefined || from.members.some((one) => pathOf(one) === pathOf(found))) return undefined;
  return pathOf(found);
}

function fits(one: LayoutMember, other: LayoutMember): boolean {
  return (
    one.name !== '' && one.type === other.type && one.size === other.size && one.bitSize === other.bitSize && one.depth === other.depth
  );
}

/** As a table calls it. */
export function pathOf({ name }: LayoutMember): string {
  return name.replace(/\[[^\]]*\]/g, '[]');
}
