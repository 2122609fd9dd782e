// A member as its source would declare it: C's declarators go around the name.
import type { LayoutMember } from '../protocol/layout';

/** Without the `;`: "void (*handler)(int)", "alignas(64) char name[72]", "(base) ns::Base", "Some: u32 __0". An empty name: anonymous. */
export function declaration({
  name,
  type,
  role,
  variant,
  bitSize,
  align,
}: Pick<LayoutMember, 'name' | 'type' | 'role' | 'variant' | 'bitSize' | 'align'>): string {
  const where = variant === '' ? '' : `${variant}: `;
  switch (role) {
    case 'base':
    case 'virtual base':
      return `${where}(${role}) ${type}`;
    case 'vtable pointer':
    case 'discriminant':
      return `${where}(${role}) ${declarator(type, name === role ? '' : name)}`;
    case 'field':
      return `${where}${align === undefined ? '' : `alignas(${align}) `}${declarator(type, name)}${bitSize === null ? '' : ` : ${bitSize}`}`;
  }
}

function declarator(type: string, name: string): string {
  if (name === '') return type;
  const at = declaratorPlace(type);
  if (at === type.length) return /[*&]$/.test(type) ? `${type}${name}` : `${type} ${name}`;
  const before = type.slice(0, at);
  return `${before}${/[*&(]$/.test(before) ? '' : ' '}${name}${type.slice(at)}`;
}

/** Where C writes the name inside of a type: behind the `*` of "(*)", before "[4]"; else at the end. Not inside of template arguments. */
function declaratorPlace(type: string): number {
  let depth = 0;
  for (let i = 0; i < type.length; i++) {
    const character = type[i];
    if (character === '<') depth++;
    else if (character === '>') depth--;
    else if (depth === 0) {
      const pointer = /^\((?:[\w:]*\*|&&?)+/.exec(type.slice(i));
      if (pointer !== null) return i + pointer[0].length;
      // Other brackets are another language's: [u8; 4], &[u64], []int, map[string]int, Gen[uint64].
      if (character === '[' && i > 0 && /^(?:\[\d*\])+$/.test(type.slice(i))) return type[i - 1] === ' ' ? i - 1 : i;
    }
  }
  return type.length;
}
