// Which type with samples an access is of. Reports call an object's type as it was declared: often by a typedef.
import type { Access } from '../../protocol/report';
import { fieldInType, fitsCard, type TypeCard } from './type-heat';
import { typeName } from './type-names';

/**
 * @returns for an access's type the cards of that name (several: definitions that differ); for another name of a type the one card
 *   that all accesses of that name fit, or none where not exactly one does
 */
export function cardsByType(cards: readonly TypeCard[], accesses: Iterable<Pick<Access, 'data'>>): (type: string) => readonly TypeCard[] {
  const byName = new Map<string, readonly TypeCard[]>();
  for (const card of cards) {
    const name = typeName(card.layout.name);
    byName.set(name, [...(byName.get(name) ?? []), card]);
  }
  const aliases = new Map<string, readonly TypeCard[]>();
  const plain = new Map<string, string>();
  for (const access of accesses) {
    const { type = '', field = '' } = access.data;
    const name = plain.get(type) ?? typeName(type);
    plain.set(type, name);
    if (name === '' || byName.has(name) || fieldInType(field) === '') continue; // what has no members fits every card
    const left = aliases.get(name) ?? cards;
    if (left.length > 0)
      aliases.set(
        name,
        left.filter((card) => fitsCard(card, access)),
      );
  }
  const found = new Map<string, readonly TypeCard[]>(); // most accesses are of few types
  return (type) => {
    let those = found.get(type);
    if (!those) {
      const fitting = aliases.get(typeName(type)) ?? [];
      found.set(type, (those = byName.get(typeName(type)) ?? (fitting.length === 1 ? fitting : [])));
    }
    return those;
  };
}
