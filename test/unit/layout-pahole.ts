// What pahole prints of a binary's types, as values.

export interface PaholeMember {
  /** Empty: anonymous. */
  name: string;
  offset: number;
  size: number;
  bitOffset: number | null;
  bitSize: number | null;
}

export interface PaholeType {
  name: string;
  isUnion: boolean;
  members: PaholeMember[];
  /** Sizes in bytes, and in bits, in the order of the offsets; behind them the bits that pahole calls bit_padding. */
  holes: number[];
  bitHoles: number[];
  /** Of structures; pahole says nothing of unions. */
  size?: number;
  cacheLines?: number;
  padding: number;
}

const NUMBERS = /\/\*\s+(\d+)(?::\s*(\d+))?\s+(\d+)\s+\*\/\s*$/;

/** All named types of pahole's whole output. */
export function parsePahole(output: string): Map<string, PaholeType> {
  const types = new Map<string, PaholeType>();
  let current: PaholeType | undefined;
  let depth = 0;
  for (const line of output.split('\n')) {
    const start = /^(struct|union) (\w+) \{/.exec(line);
    if (depth === 0) {
      if (start !== null) {
        const [, keyword, name = ''] = start;
        current = { name, isUnion: keyword === 'union', members: [], holes: [], bitHoles: [], padding: 0 };
        types.set(name, current);
        depth = 1;
      }
      continue;
    }
    if (current === undefined) continue;
    const code = line.replace(/\/\*.*$/, '');
    if (code.includes('}')) depth--;
    if (depth === 1) readLine(current, line, code);
    if (code.includes('{')) depth++;
  }
  return types;
}

function readLine(type: PaholeType, line: string, code: string): void {
  const numbers = NUMBERS.exec(line);
  // A remark like "last cacheline: 8 bytes" has no declaration before it.
  if (numbers !== null && code.trim() !== '') {
    const [, offset, bitOffset, size] = numbers;
    const bits = /:(\d+);\s*$/.exec(code);
    const isBits = bits !== null && bitOffset !== undefined;
    type.members.push({
      name: memberName(code),
      offset: Number(offset),
      size: Number(size),
      bitOffset: isBits ? Number(bitOffset) : null,
      bitSize: isBits ? Number(bits[1]) : null,
    });
    return;
  }
  const hole = /X{3} (\d+) (byte|bit)s? hole/.exec(line);
  if (hole !== null) (hole[2] === 'byte' ? type.holes : type.bitHoles).push(Number(hole[1]));
  const sizes = /\/\* size: (\d+), cachelines: (\d+)/.exec(line);
  if (sizes !== null) [type.size, type.cacheLines] = [Number(sizes[1]), Number(sizes[2])];
  const bitPadding = /\/\* bit_padding: (\d+)/.exec(line);
  if (bitPadding !== null) type.bitHoles.push(Number(bitPadding[1]));
  const padding = /\/\* padding: (\d+)/.exec(line);
  if (padding !== null) type.padding = Number(padding[1]);
}

/** Of "int (*fn)(int);", "char a[3];", "int b:3;", "} inner;", "};". */
function memberName(code: string): string {
  const declaration = code.replace(/__attribute__\(\(.*?\)\)\)?/g, '').trim();
  const pointer = /\(\*\s*(\w+)(?:\[\d*\])*\)/.exec(declaration);
  if (pointer !== null) return pointer[1] ?? '';
  if (/^\}\s*;/.test(declaration)) return '';
  return /(\w+)\s*(?:\[\d*\]\s*)*(?::\d+)?;$/.exec(declaration)?.[1] ?? '';
}
