// What a person can do beside an edit, or where there is none.
import type { Advice } from '../../protocol/advice';
import { t } from '../../protocol/l10n';
import { joinArguments } from '../record/launch';
import { isUnnamedType } from '../report/data-text';
import { printable } from '../text/terminal-text';
import { readable, UNNAMED_SCOPE } from './advice-names';
import { isReordered } from './advice-words';
import { languageOf } from './spelling';

/** How clang-reorder-fields changes a type together with its initialisers; undefined where members keep their order or have no names. */
export function reorderCommand({ change }: Advice): string | undefined {
  if (change?.kind !== 'members' || !isReordered(change)) return undefined;
  const { name, members, definition } = change.type;
  const fields = change.order.map(({ member }) => members[member]?.name ?? '');
  if (fields.includes('') || definition.file === '' || isUnnamedType(name)) return undefined;
  const args = ['-i', '-record-name', name.replaceAll(UNNAMED_SCOPE, ''), '-fields-order', fields.join(','), definition.file];
  return printable(joinArguments(['clang-reorder-fields', ...args]));
}

/** "static_assert(offsetof(T, m) % 64 == 0)" of a change; undefined where no named member starts a line. */
export function guardText(advice: Advice): string | undefined {
  const { change } = advice;
  if (change?.kind !== 'members') return undefined;
  const language = languageOf(advice);
  if (language === 'rust' || language === 'go' || isUnnamedType(change.type.name)) return undefined;
  const [first] = change.order.slice(1).flatMap(({ member, startsLine }) => (startsLine ? [change.type.members[member]?.name ?? ''] : []));
  if (first === undefined || first === '') return undefined;
  const isC = language === 'c' || language === 'kernel';
  const name = readable(change.type.name);
  const type = isC && !name.startsWith('struct ') ? `struct ${name}` : name;
  return printable(
    `${isC ? '_Static_assert' : 'static_assert'}(offsetof(${type}, ${first}) % ${change.alignment} == 0, "${first} starts a cache line");`,
  );
}

export const INTERFERENCE_SIZE = t(
  'C++17 calls this distance `std::hardware_destructive_interference_size` (<new>). It depends on compiler options (-mtune), so a type that uses it has a different layout in code that was built with others: gcc warns about that in headers (-Winterference-size).',
);
