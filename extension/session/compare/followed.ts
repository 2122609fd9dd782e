// Whether advice on the recording before was followed, as far as the layouts of both binaries show it.
import type { Advice, Change, MembersChange } from '../../protocol/advice';
import type { Layout } from '../../protocol/layout';
import { pathOf, typesByName } from './members';
import type { Inside, SameData } from './same-data';
import type { Sums } from './sums';

/** Undefined: the layouts cannot tell, as of variables and of blocks that are allocated in another way. */
export function followed({ change, subject, way }: Advice, before: Sums, after: Sums, data: SameData): boolean | undefined {
  const type = typeOf(change) ?? subject.type;
  const [was, found] = [layoutIn(before, type), afterOf(type, after, data)];
  if (found === undefined) return undefined;
  const { layout, path } = found;
  switch (change?.kind) {
    case 'members':
      return isParted(change, layout, path);
    case 'split-members':
      return change.parts.every(({ members }) =>
        members.every((index) => memberAt(layout, path, change.type.members[index]?.name) === undefined),
      );
    case 'align-type':
      return fillsLines(layout, change.alignment);
    case 'allocate':
      return fillsLines(layout, change.alignment) || undefined;
    case 'align-variables':
      return undefined;
    case undefined:
      if (way !== 'stride') return undefined;
      return fillsLines(layout, layout.lineSize) || (was !== undefined && was.size === layout.size ? false : undefined);
  }
}

function typeOf(change: Change | null): string | undefined {
  switch (change?.kind) {
    case 'members':
    case 'split-members':
    case 'align-type':
      return change.type.name;
    case 'allocate':
      return change.objectType === '' ? undefined : change.objectType;
    default:
      return undefined;
  }
}

/** Under the same name, or inside of the type that the data has now. */
function afterOf(type: string, after: Sums, data: SameData): { layout: Layout; path: string } | undefined {
  const inside: Inside = data.typeAfter(type) ?? { type, path: '' };
  const layout = layoutIn(after, inside.type);
  return layout && { layout, path: inside.path };
}

function layoutIn({ report }: Sums, type: string): Layout | undefined {
  const found = typesByName(report.types ?? []).get(type);
  return found?.count === 1 ? found.layout : undefined;
}

/** Objects of the type, in arrays and alone, have cache lines of their own. */
function fillsLines({ size, align }: Layout, alignment: number): boolean {
  return size > 0 && size % alignment === 0 && (align === null || align >= alignment);
}

/** No two members of different groups are on one line. */
function isParted({ order, alignment, type }: MembersChange, layout: Layout, path: string): boolean | undefined {
  const groups: Set<number>[] = [];
  for (const { member, startsLine } of order) {
    const one = memberAt(layout, path, type.members[member]?.name);
    if (one === undefined) return undefined;
    if (startsLine || groups.length === 0) groups.push(new Set());
    const last = Math.max(one.offset, one.offset + one.size - 1);
    for (let line = Math.floor(one.offset / alignment); line <= Math.floor(last / alignment); ++line) groups[groups.length - 1]?.add(line);
  }
  return groups.every((lines, index) => groups.slice(index + 1).every((others) => [...lines].every((line) => !others.has(line))));
}

function memberAt({ members }: Layout, path: string, name: string | undefined): { offset: number; size: number } | undefined {
  return members.find((one) => name !== undefined && name !== '' && pathOf(one) === (path === '' ? name : `${path}.${name}`));
}
