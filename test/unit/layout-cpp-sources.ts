// Sources of C++ classes in all shapes, from a seed, and the assertions that a compiler judges our layouts of them by.
import type { Layout } from '../../extension/protocol/layout';
import { seeded } from './layout-c-sources';

export interface CppClass {
  /** As C++ writes it: "shop::T3", "shop::Box1<shop::T3, 4>". */
  name: string;
  /** Data members of its own, bit-fields too. */
  fields: string[];
  /** Direct bases. */
  bases: string[];
  virtualBases: string[];
}

export interface CppSource {
  text: string;
  classes: CppClass[];
}

const MEMBER_TYPES = [
  'char',
  'bool',
  'short',
  'int',
  'unsigned',
  'long',
  'double',
  'long double',
  'char16_t',
  'const char *',
  'Colour',
  'Byte',
  'std::atomic<int>',
  'std::atomic<long>',
  'std::string',
  'std::vector<int>',
  'std::unique_ptr<int>',
  'std::pair<char, double>',
  'int Empty1::*',
  'void (Empty1::*)()',
];

/** What bit-fields are of, with the most bits they get. */
const BIT_TYPES = [
  ['unsigned', 31],
  ['int', 20],
  ['bool', 1],
  ['Colour', 4],
] as const;

interface Known extends CppClass {
  /** Every base, by whether each way to it is virtual. */
  ancestors: Map<string, boolean>;
  isFinal: boolean;
}

class CppGenerator {
  private readonly lines: string[] = [];
  private readonly known: Known[] = [];

  constructor(
    private readonly random: () => number,
    private readonly count: number,
  ) {}

  source(): CppSource {
    for (let i = 0; i < this.count; i++) {
      if (this.chance(0.12)) this.template(i);
      else this.plain(i);
    }
    const head = [
      '// Generated for the comparison of layouts.',
      ...['atomic', 'cstddef', 'memory', 'string', 'utility', 'vector'].map((header) => `#include <${header}>`),
      'namespace shop {',
      'enum class Colour : unsigned char { red, green };',
      'using Byte = unsigned char;',
      'struct Empty1 {};',
      'struct Empty2 {};',
    ];
    const uses = this.known.map(({ name }, i) => `${name} object${i};`);
    return { text: [...head, ...this.lines, '}', ...uses, ''].join('\n'), classes: this.known };
  }

  private plain(number: number): void {
    const name = `shop::T${number}`;
    const { clause, bases, virtualBases, ancestors } = this.bases();
    const { lines, fields } = this.members();
    const isPrivate = this.chance(0.3);
    const alignment = this.chance(0.06) ? `alignas(64) ` : '';
    this.lines.push(
      `${isPrivate ? 'class' : 'struct'} ${alignment}T${number}${clause} {`,
      ...(isPrivate ? [] : this.functions(number)),
      ...lines,
      ...(isPrivate ? [' public:', ...this.functions(number)] : []),
      '};',
    );
    this.known.push({ name, fields, bases, virtualBases, ancestors, isFinal: false });
  }

  private template(number: number): void {
    const { lines, fields } = this.members();
    const base = this.chance(0.5);
    this.lines.push(
      `template <typename A, int N> struct Box${number}${base ? ' : A' : ''} {`,
      ...lines,
      '  A box[N];',
      '  struct Inner { A *of; char filler[N]; } inner;',
      '};',
    );
    const items = this.known.filter(({ isFinal, ancestors }) => !isFinal && ancestors.size === 0);
    if (items.length === 0) return;
    for (let i = 0; i < 2; i++) {
      const item = this.pick(items);
      const name = `shop::Box${number}<${item.name}, ${1 + Math.floor(this.random() * 5)}>`;
      if (this.known.some((other) => other.name === name)) continue;
      const ancestors = new Map(base ? [...item.ancestors, [item.name, false] as const] : []);
      this.known.push({
        name,
        fields: [...fields, 'box', 'inner'],
        bases: base ? [item.name] : [],
        virtualBases: [],
        ancestors,
        isFinal: true,
      });
    }
  }

  /** None of them can be reached in two ways, but for virtual ones, which are then one. */
  private bases(): { clause: string; bases: string[]; virtualBases: string[]; ancestors: Map<string, boolean> } {
    const clauses: string[] = [];
    const bases: string[] = [];
    const virtualBases: string[] = [];
    const ancestors = new Map<string, boolean>();
    const wanted = this.chance(0.55) ? 1 + Math.floor(this.random() * 3) : 0;
    const candidates = [...this.known.filter(({ isFinal }) => !isFinal), ...['Empty1', 'Empty2'].map(emptyClass)];
    for (let i = 0; i < wanted; i++) {
      const base = this.pick(candidates);
      const isVirtual = this.chance(0.3);
      const all = new Map([...base.ancestors, [base.name, isVirtual] as const]);
      if ([...all].some(([name, virtually]) => ancestors.has(name) && !(virtually && ancestors.get(name)))) continue;
      if (bases.includes(base.name)) continue;
      for (const [name, virtually] of all) ancestors.set(name, virtually);
      clauses.push(`${isVirtual ? 'virtual ' : ''}public ${base.name}`);
      bases.push(base.name);
      if (isVirtual) virtualBases.push(base.name);
    }
    return { clause: clauses.length === 0 ? '' : ` : ${clauses.join(', ')}`, bases, virtualBases, ancestors };
  }

  private functions(number: number): string[] {
    return [
      ...(this.chance(0.25) ? [`  virtual void act${number}() {}`] : []),
      ...(this.chance(0.1) ? [`  virtual ~T${number}() {}`] : []),
      ...(this.chance(0.1) ? [`  static inline int shared${number} = 0;`] : []),
    ];
  }

  private members(): { lines: string[]; fields: string[] } {
    const lines: string[] = [];
    const fields: string[] = [];
    const wanted = Math.floor(this.random() * 7);
    for (let i = 0; i < wanted; i++) {
      const name = `m${i}`;
      fields.push(name);
      const kind = this.random();
      if (kind < 0.15) {
        const [type, most] = this.pick(BIT_TYPES);
        lines.push(`  ${type} ${name} : ${1 + Math.floor(this.random() * most)};`);
      } else if (kind < 0.22) lines.push(`  [[no_unique_address]] ${this.pick(['Empty1', 'Empty2'])} ${name};`);
      else if (kind < 0.32 && this.known.length > 0) lines.push(`  ${this.pick(this.known).name} ${name};`);
      else lines.push(`  ${declare(this.pick(MEMBER_TYPES), name, this.chance(0.2) ? `[${1 + Math.floor(this.random() * 6)}]` : '')};`);
    }
    return { lines, fields };
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}

function emptyClass(name: string): Known {
  return { name: `shop::${name}`, fields: [], bases: [], virtualBases: [], ancestors: new Map(), isFinal: false };
}

function declare(type: string, name: string, array: string): string {
  return type.includes('::*)') ? type.replace('::*)', `::*${name}${array})`) : `${type} ${name}${array}`;
}

export function cppSource(seed: number, count: number): CppSource {
  return new CppGenerator(seeded(seed), count).source();
}

/** A program that does not compile, or says what is wrong and fails, where a layout is not the compiler's. */
export function cppChecks(source: string, layouts: ReadonlyMap<string, Layout>): string {
  const asserts: string[] = [];
  const checks: string[] = [];
  let number = 0;
  for (const [name, { size, align, members }] of layouts) {
    asserts.push(
      `using T${number} = ${name};`,
      `static_assert(sizeof(T${number}) == ${size}, "size of ${name}");`,
      ...(align === null ? [] : [`static_assert(alignof(T${number}) == ${align}, "alignment of ${name}");`]),
    );
    for (const { name: field, type, offset, size: bytes, role, bitSize } of members) {
      if (role === 'field' && bitSize === null && field !== '') {
        asserts.push(
          `static_assert(__builtin_offsetof(T${number}, ${field}) == ${offset}, "offset of ${name}::${field}");`,
          `static_assert(sizeof(T${number}::${field}) == ${bytes}, "size of ${name}::${field}");`,
        );
      }
      if (role === 'base') checks.push(`  check<T${number}, ${type}>(${offset}, "${name}", "${type}");`);
    }
    number++;
  }
  return `// Judges layouts: generated.
${source}
#include <cstdio>
namespace judge {
int wrong = 0;
template <typename T, typename Base> void check(long offset, const char *type, const char *base) {
  T object;
  const long real = (long)((char *)static_cast<Base *>(&object) - (char *)&object);
  if (real == offset) return;
  std::printf("base %s of %s is at %ld, not %ld\\n", base, type, real, offset);
  wrong++;
}
${asserts.join('\n')}
void all() {
${checks.join('\n')}
}
}
int main() {
  judge::all();
  return judge::wrong != 0;
}
`;
}
