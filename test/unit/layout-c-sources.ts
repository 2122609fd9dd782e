// Sources of C types in all shapes, from a seed: what the layouts of two compilers and pahole are compared on.

export interface CSource {
  text: string;
  /** Names of structures and unions. */
  types: { name: string; isUnion: boolean; isPacked: boolean }[];
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SCALARS = [
  'char',
  'signed char',
  'unsigned char',
  'short',
  'unsigned short',
  'int',
  'unsigned int',
  'long',
  'unsigned long',
  'long long',
  'float',
  'double',
  'long double',
  '_Bool',
  'enum colour',
  'word',
  'void *',
  'const char *',
  'volatile int',
  'struct later *',
];
/** What bit-fields are of, with the most bits they can have. */
const BIT_TYPES = [
  ['unsigned int', 32],
  ['int', 32],
  ['unsigned char', 8],
  ['unsigned short', 16],
  ['unsigned long', 64],
  ['_Bool', 1],
] as const;

class CGenerator {
  private readonly types: CSource['types'] = [];
  private readonly lines: string[] = [];
  /** Names that other types can have as members. */
  private readonly usable: string[] = [];

  constructor(
    private readonly random: () => number,
    private readonly count: number,
  ) {}

  source(): CSource {
    for (let i = 0; i < this.count; i++) this.type(i);
    const uses = this.types.map(({ name, isUnion }) => `${isUnion ? 'union' : 'struct'} ${name} *use_${name};`);
    const head = ['// Generated for the comparison of layouts.', 'enum colour { red, green };', 'typedef unsigned short word;'];
    return { text: [...head, ...this.lines, ...uses, 'int main(void) { return 0; }', ''].join('\n'), types: this.types };
  }

  private type(number: number): void {
    const isUnion = this.chance(0.1);
    const [name, keyword] = [`${isUnion ? 'u' : 's'}${number}`, isUnion ? 'union' : 'struct'];
    const members = this.members(isUnion, 0);
    const isFlexible = !isUnion && this.chance(0.06);
    if (isFlexible) members.push(`${this.pick(SCALARS)} tail[];`);
    const attribute = this.chance(0.12)
      ? ' __attribute__((packed))'
      : this.chance(0.08)
        ? ` __attribute__((aligned(${this.pick([16, 32, 64, 128])})))`
        : '';
    this.lines.push(`${keyword} ${name} {`, ...members.map((member) => `  ${member}`), `}${attribute};`);
    this.types.push({ name, isUnion, isPacked: attribute.includes('packed') });
    if (!isFlexible) this.usable.push(`${keyword} ${name}`);
  }

  private members(isUnion: boolean, depth: number): string[] {
    const wanted = 1 + Math.floor(this.random() * (isUnion ? 4 : 12));
    return Array.from({ length: wanted }, (_, i) => this.member(`m${depth}_${i}`, isUnion, depth)).flat();
  }

  private member(name: string, inUnion: boolean, depth: number): string[] {
    const kind = this.random();
    // A bit-field of its own, or some after another, or an end of the unit between them.
    if (kind < 0.22) {
      return Array.from({ length: inUnion ? 1 : 1 + Math.floor(this.random() * 4) }, (_, i) => {
        const [type, most] = this.pick(BIT_TYPES);
        if (!inUnion && i > 0 && this.chance(0.08)) return `${type} : 0;`;
        return `${type} ${name}_${i} : ${1 + Math.floor(this.random() * most)};`;
      });
    }
    if (kind < 0.32 && this.usable.length > 0) return [`${this.pick(this.usable)} ${name}${this.chance(0.3) ? this.array() : ''};`];
    if (kind < 0.4 && depth < 2) {
      const isUnion = this.chance(0.5);
      const inner = this.members(isUnion, depth + 1).map((line) => line.replace(/\bm(?=\d+_)/g, `${name}m`));
      return [`${isUnion ? 'union' : 'struct'} { ${inner.join(' ')} }${this.chance(0.6) ? '' : ` ${name}`};`];
    }
    if (kind < 0.44) return [`int (*${name})(int, void *);`];
    const type = this.pick(SCALARS);
    const aligned = this.chance(0.04) ? ` __attribute__((aligned(${this.pick([16, 32, 64])})))` : '';
    return [`${type} ${name}${this.chance(0.2) ? this.array() : ''}${aligned};`];
  }

  private array(): string {
    const size = (): string => `[${1 + Math.floor(this.random() * 9)}]`;
    return this.chance(0.25) ? size() + size() : size();
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

export function cSource(seed: number, count: number): CSource {
  return new CGenerator(seeded(seed), count).source();
}
