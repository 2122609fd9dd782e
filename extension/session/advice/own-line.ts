// The change that puts one member of a type on a cache line of its own, without a recording.
import type { Change } from '../../protocol/advice';
import type { Layout } from '../../protocol/layout';
import type { SourcePlace } from '../../protocol/report';

/**
 * @param layout with `expand` or without
 * @param name of a member of the type itself
 * @param definition a line of the type's definition
 * @returns undefined where an alignment cannot part it from the others: of unions, bit-fields, what has no name or is not known whole
 */
export function ownLineChange(layout: Layout, name: string, binary: string, definition: SourcePlace): Change | undefined {
  const { kind, size, align, lineSize, cutOff } = layout;
  const members = layout.members.filter(({ depth, role }) => depth === 0 && role === 'field');
  const at = members.findIndex((member) => member.name === name);
  const wanted = members[at];
  if (kind === 'union' || kind === 'enum' || cutOff?.members !== undefined || wanted?.bitSize !== null || name === '') return undefined;
  if (members.some(({ variant }) => variant !== '')) return undefined;
  return {
    kind: 'members',
    type: {
      name: layout.name,
      binary,
      size,
      align,
      definition,
      members: members.map(({ name, type, offset, size, bitSize, line }) => ({ name, type, offset, size, bitSize, line })),
    },
    alignment: lineSize,
    order: members.map((_, member) => ({ member, startsLine: member === at || member === at + 1 })),
  };
}
