// Whether a type as a source text writes it can be the one that debug information states for the same member or variable.

/** C's and C++'s own types: words that say the size or the kind, in any order. */
const BUILTIN_WORDS = new Set(
  'void char short int long float double signed unsigned bool _Bool __int128 _Complex wchar_t char8_t char16_t char32_t'.split(' '),
);
const IGNORED_WORDS = new Set(
  'const volatile mutable register static extern inline constexpr constinit thread_local _Thread_local __thread __extension__ struct class union enum typename _Atomic restrict'.split(
    ' ',
  ),
);

interface Spelled {
  /** Of a built-in type in one order, else the last name of another; empty: not told. */
  base: string;
  isBuiltin: boolean;
  pointers: number;
  /** Elements of each dimension; NaN: not a number. */
  dimensions: number[];
  isFunction: boolean;
}

/**
 * False only where the two cannot be the same: other built-in types, other pointers or numbers of elements. Typedefs, macros and
 * parameters of templates may stand for anything.
 * @param written as in the text, without the name, attributes and comments: "unsigned long [4]"
 * @param stated as debug information has it: "long unsigned int [4]"
 */
export function canBeSameType(written: string, stated: string): boolean {
  if (written === '' || stated === '') return true;
  const [a, b] = [spelled(written), spelled(stated)];
  if (a.isFunction || b.isFunction) return a.isFunction === b.isFunction || !a.isBuiltin;
  if (a.isBuiltin && (!b.isBuiltin || a.base !== b.base)) return false;
  const isSameBase = a.base === b.base;
  if (isSameBase ? a.pointers !== b.pointers : a.pointers > b.pointers) return false;
  if (isSameBase && a.dimensions.length !== b.dimensions.length) return false;
  return a.dimensions.every((elements, index) => {
    const other = b.dimensions[index];
    return other !== undefined && (Number.isNaN(elements) || Number.isNaN(other) || elements === other);
  });
}

function spelled(type: string): Spelled {
  const isFunction = /\)\s*\(|\(\s*\*/.test(type);
  const outside = withoutArguments(type);
  const dimensions = [...outside.matchAll(/\[([^\]]*)\]/g)].map(([, count = '']) => elementsOf(count.trim()));
  const pointers = [...outside.matchAll(/[*&]/g)].length;
  const words = outside
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/::\s*/g, '::')
    .split(/[^\p{L}\p{N}_:$]+/u)
    .filter((word) => word !== '' && !IGNORED_WORDS.has(word));
  const isBuiltin = words.length > 0 && words.every((word) => BUILTIN_WORDS.has(word));
  const base = isBuiltin ? builtin(words) : (words.at(-1)?.split('::').at(-1) ?? '');
  return { base, isBuiltin, pointers, dimensions, isFunction };
}

/** "long int unsigned" and "unsigned long" are one type. */
function builtin(words: readonly string[]): string {
  const name = words.map((word) => (word === '_Bool' ? 'bool' : word));
  const isPlainInt = name.some((word) => ['short', 'long', 'signed', 'unsigned'].includes(word));
  const rest = name.filter((word) => word !== 'int' || !isPlainInt).filter((word) => word !== 'signed' || name.includes('char'));
  return (rest.length === 0 || (rest.length === 1 && rest[0] === 'unsigned') ? [...rest, 'int'] : rest).sort().join(' ');
}

function elementsOf(count: string): number {
  return /^(?:0[xX][\da-fA-F]+|\d+)[uUlL]*$/.test(count) ? Number(count.replace(/[uUlL]+$/, '')) : NaN;
}

function withoutArguments(type: string): string {
  let depth = 0;
  let outside = '';
  for (const character of type) {
    if (character === '<') ++depth;
    else if (character === '>') --depth;
    else if (depth <= 0) outside += character;
  }
  return outside;
}
