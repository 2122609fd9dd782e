// A member as its source would declare it: C's declarators go around the name.
import type { LayoutMember } from '../../protocol/layout';

/** Without the `;`: "void (*handler)(int)", "alignas(64) char name[72]", "(base) ns::Base", "Some: u32 __0". An empty name: anonymous. */
export function declaration({
  name,
  type,
  role,
  variant,
  bitSize,
  align,
  niche,
}: Pick<LayoutMember, 'name' | 'type' | 'role' | 'variant' | 'bitSize' | 'align' | 'niche'>): string {
  const where = variant === '' ? '' : `${variant}: `;
  switch (role) {
    case 'base':
    case 'virtual base':
      return `${where}(${role}) ${type}`;
    case 'vtable pointer':
    case 'discriminant':
      return `${where}(${niche === undefined ? role : `${role}: niche in ${niche}`}) ${declarator(type, name === role ? '' : name)}`;
    case 'field':
      return `${where}${align === undefined ? '' : `alignas(${align}) `}${declarator(type, name)}${bitSize === null ? '' : ` : ${bitSize}`}`;
  }
}

/** A C array's type in two: "struct {...}" and "[2][3]". */
export function elementOf(type: string): { element: string; lengths: string } {
  const lengths = /(?:\[\d*\])+$/.exec(type)?.[0] ?? '';
  return { element: type.slice(0, type.length - lengths.length).trimEnd(), lengths };
}

function declarator(type: string, name: string): string {
  if (name === '') return type;
  const at = declaratorPlace(type);
  if (at === type.length) return /[*&]$/.test(type) ? `${type}${name}` : `${type} ${name}`;
  const before = type.slice(0, at);
  return `${before}${/[*&(]$/.test(before) ? '' : ' '}${name}${type.slice(at)}`;
}

/** Where C writes the name inside of a type: behind the `*` of the innermost "(*)", before "[4]"; else at the end. Not inside of template arguments. */
function declaratorPlace(type: string): number {
  let depth = 0;
  for (let i = 0; i < type.length; i++) {
    const character = type[i];
    if (character === '<') depth++;
    else if (character === '>') depth--;
    else if (depth === 0) {
      const inner = isGroup(type, i) ? pointersEnd(type, i) : undefined;
      if (inner !== undefined) return inner;
      // Other brackets are another language's: [u8; 4], &[u64], []int, map[string]int, Gen[uint64].
      if (character === '[' && i > 0 && /^(?:\[\d*\])+$/.test(type.slice(i))) return type[i - 1] === ' ' ? i - 1 : i;
    }
  }
  return type.length;
}

/** Whether brackets around a declarator may open here: "int (...)(char)". Not Go's "func() (*T, error)" nor Rust's "fn(&u8)", "(&str, u8)". */
function isGroup(type: string, i: number): boolean {
  if (type[i] !== '(' || type[i - 1] !== ' ') return false;
  let depth = 0;
  for (let at = i; at < type.length; at++) {
    if (type[at] === '(') depth++;
    else if (type[at] === ')' && --depth === 0) return /[([]/.test(type[at + 1] ?? '');
  }
  return false;
}

const DEEPEST_GROUP = 64;

/** Behind the pointers of the group that opens at `i`, and of those that open right there: "(*const (*" of "(*const (*)(int))[3]". */
function pointersEnd(type: string, i: number, depth = 0): number | undefined {
  if (type[i] !== '(' || depth > DEEPEST_GROUP) return undefined;
  const pointer = /\*(?:\s*(?:const|volatile|restrict|_Atomic)\b)*|&&?/y;
  let end = i + 1;
  for (;;) {
    pointer.lastIndex = classEnd(type, type[end] === ' ' ? end + 1 : end);
    if (!pointer.test(type)) break;
    end = pointer.lastIndex;
  }
  if (end === i + 1) return undefined;
  const next = type[end] === ' ' ? end + 1 : end;
  return pointersEnd(type, next, depth + 1) ?? end;
}

/** Behind "Pool<int (*)[3], 4>::" of "Pool<int (*)[3], 4>::*"; `i` where no class stands there. */
function classEnd(type: string, i: number): number {
  let depth = 0;
  for (let at = i; at < type.length; at++) {
    const character = type[at] ?? '';
    if (character === '<') depth++;
    else if (character === '>') depth--;
    else if (depth === 0 && character === '*') return type.startsWith('::', at - 2) ? at : i;
    else if (depth === 0 && !/[\w:]/.test(character)) return i;
  }
  return i;
}
