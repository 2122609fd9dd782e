// Where the types of a report are in the sources: their definitions, their members, and variables of them.
import type { Access, Report, SourcePlace } from '../../protocol/report';
import { cardOf, cardOfAccess, wholeTypes, type MemberHeat, type TypeCard } from './type-heat';
import { lastPart, sourceName } from './type-names';
import { cardsByType } from './types-of-accesses';

/** Something on a source line that has a card. */
export interface TypePlace {
  card: TypeCard;
  /** What the line declares. `inner`: a member of a structure inside of the type. */
  what: 'type' | 'member' | 'inner' | 'variable';
  /** The member declared here; undefined: the type itself or a variable. */
  member: MemberHeat | undefined;
  /** Of the type, member or variable as it stands in the source; empty: not known. */
  name: string;
}

/** By file and line. */
export type TypeIndex = Map<string, Map<number, TypePlace[]>>;

/** Rank of what a line is taken for where it declares several things. */
const RANK: Record<TypePlace['what'], number> = { type: 0, member: 1, variable: 2, inner: 3 };

/**
 * Places of all types that samples accessed, the best first.
 * @param accesses to all data that the report names
 */
export function indexTypes(report: Pick<Report, 'types'>, accesses: readonly Pick<Access, 'data'>[]): TypeIndex {
  const index: TypeIndex = new Map();
  const add = ({ file, line }: SourcePlace, place: TypePlace): void => {
    if (file === '' || line <= 0) return;
    let lines = index.get(file);
    if (!lines) index.set(file, (lines = new Map<number, TypePlace[]>()));
    const there = lines.get(line) ?? [];
    if (there.some(({ card, member }) => card === place.card && member === place.member)) return;
    lines.set(line, [...there, place]);
  };
  const cards = wholeTypes(report).map(cardOf);
  const byType = cardsByType(cards, accesses);
  for (const card of cards) {
    const { name, file, line } = card.layout;
    add({ file, line }, { card, what: 'type', member: undefined, name: sourceName(name) });
    const anonymous: boolean[] = []; // the members that the current one is inside of, from the outermost
    for (const member of card.members) {
      const { name: path, depth, line: declared, file: elsewhere = file } = member.member;
      // Of an anonymous structure or union the members are the type's own.
      const own = anonymous.slice(0, depth).every((unnamed) => unnamed);
      add({ file: elsewhere, line: declared }, { card, what: own ? 'member' : 'inner', member, name: lastPart(path) });
      anonymous[depth] = path === '';
    }
  }
  const variables = new Set<string>(); // most accesses are of few variables
  for (const access of accesses) {
    const { definition, how, object, type } = access.data;
    if (!definition || type === undefined) continue;
    const key = `${type}\n${definition.line}\n${definition.file}`;
    if (variables.has(key)) continue;
    variables.add(key);
    const card = cardOfAccess(byType(type), access);
    const named = how === 'global' || how === 'stack';
    if (card) add(definition, { card, what: 'variable', member: undefined, name: named ? sourceName(object) : '' });
  }
  const contended = ({ card }: TypePlace): number => card.heat?.contended ?? 0;
  for (const lines of index.values()) {
    for (const places of lines.values()) places.sort((a, b) => RANK[a.what] - RANK[b.what] || contended(b) - contended(a));
  }
  return index;
}
