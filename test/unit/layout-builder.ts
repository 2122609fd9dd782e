// Builds layouts for tests: only what a test is about has to be said.
import type { Layout, LayoutMember, TypeSummary } from '../../extension/protocol/layout';

export function member(name: string, type: string, offset: number, size: number, fields: Partial<LayoutMember> = {}): LayoutMember {
  return {
    name,
    type,
    offset,
    size,
    bitOffset: null,
    bitSize: null,
    role: 'field',
    variant: '',
    straddles: false,
    depth: 0,
    line: 0,
    ...fields,
  };
}

export function layoutOf(name: string, size: number, members: LayoutMember[], fields: Partial<Layout> = {}): Layout {
  const lineSize = fields.lineSize ?? 64;
  return {
    name,
    kind: 'struct',
    size,
    align: 8,
    lineSize,
    lines: Math.ceil(size / lineSize),
    members,
    holes: [],
    padding: 0,
    file: '/src/types.c',
    line: 7,
    ...fields,
  };
}

export function summary(name: string, fields: Partial<TypeSummary> = {}): TypeSummary {
  return { name, kind: 'struct', size: 24, lines: 1, file: '/src/types.c', line: 7, ...fields };
}

/** A C struct with one of everything. */
export const connection = layoutOf(
  'connection',
  232,
  [
    member('next', 'struct connection *', 0, 8),
    member('state', 'unsigned int', 8, 4, { bitOffset: 0, bitSize: 3 }),
    member('closing', 'unsigned int', 8, 4, { bitOffset: 3, bitSize: 1 }),
    member('handler', 'void (*)(int, void *)', 16, 8),
    member('counts', 'long[2][2]', 24, 32),
    member('port', 'unsigned short', 56, 2),
    member('key', 'struct key', 58, 16, { straddles: true }),
    member('flag', 'char', 74, 1),
    member('buffer', 'char[140]', 76, 140, { straddles: true }),
    member('last', 'int', 220, 4),
    member('tail', 'char[]', 224, 0),
  ],
  {
    holes: [
      { offset: 8, size: 0, bits: 28 },
      { offset: 12, size: 4, bits: 0 },
      { offset: 75, size: 1, bits: 0 },
      { offset: 216, size: 4, bits: 0 },
    ],
    padding: 8,
  },
);

/** C++: bases, a vtable pointer, an anonymous union, expanded. */
export const session = layoutOf(
  'net::Session<std::pair<int, char>, 64>',
  192,
  [
    member('', 'net::Base', 0, 16, { role: 'base' }),
    member('_vptr.Base', 'int (**)(void)', 0, 8, { role: 'vtable pointer', depth: 1 }),
    member('id', 'int', 8, 4, { depth: 1 }),
    member('', 'union {...}', 16, 8, { depth: 0 }),
    member('whole', 'long', 16, 8, { depth: 1 }),
    member('half', 'int[2]', 16, 8, { depth: 1 }),
    member('today', 'Money', 64, 16),
    member('today.units', 'long', 64, 8, { depth: 1 }),
    member('today.cents', 'std::atomic<int>', 72, 4, { depth: 1 }),
    member('names', 'std::map<std::basic_string<char>, std::vector<std::basic_string<char>>>', 80, 48),
    member('', 'net::Common', 128, 64, { role: 'virtual base' }),
  ],
  { kind: 'class', align: 64, holes: [{ offset: 24, size: 40, bits: 0 }], file: '', line: 0 },
);

/** A Rust enum. */
export const shape = layoutOf(
  'geo::Shape',
  24,
  [
    member('', 'u64', 0, 8, { role: 'discriminant' }),
    member('radius', 'f64', 8, 8, { variant: 'Circle' }),
    member('corners', '[u8; 16]', 8, 16, { variant: 'Polygon' }),
  ],
  { kind: 'enum', file: 'src/shape.rs', line: 3 },
);
