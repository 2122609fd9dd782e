// Builds layouts and types with samples for tests: only what a test is about has to be said.
import type { FieldHeat, Layout, LayoutMember, TypeHeat } from '../../extension/protocol/layout';
import { member as typedMember } from './layout-builder';

/** A `long`, where nothing else is said. */
export function member(name: string, offset: number, size: number, fields: Partial<LayoutMember> = {}): LayoutMember {
  return typedMember(name, 'long', offset, size, fields);
}

export function layout(name: string, size: number, members: LayoutMember[], fields: Partial<Layout> = {}): Layout {
  const lines = Math.max(1, Math.ceil(size / 64));
  const place = { file: '/src/program.c', line: 10 };
  return { name, kind: 'struct', size, align: 64, lineSize: 64, lines, members, holes: [], padding: 0, ...place, ...fields };
}

/** A field with clock evidence: `contended` is all its samples. */
export function field(name: string, offset: number, fields: Partial<FieldHeat> = {}): FieldHeat {
  const { loads = 0, stores = 0 } = fields;
  const records = loads + stores;
  const none = { falseShare: null, hitm: null, peer: null, meanCycles: null };
  return { offset, size: 8, field: name, records, loads, stores, contended: records, ...none, readers: [], writers: [], ...fields };
}

export function typeHeat(of: Layout, fields: FieldHeat[], more: Partial<TypeHeat> = {}): TypeHeat {
  const sum = (what: 'records' | 'loads' | 'stores' | 'contended'): number => fields.reduce((total, one) => total + one[what], 0);
  const hitm = fields.every((one) => one.hitm === null)
    ? null
    : {
        local: fields.reduce((total, one) => total + (one.hitm?.local ?? 0), 0),
        remote: fields.reduce((total, one) => total + (one.hitm?.remote ?? 0), 0),
      };
  return {
    name: of.name,
    object: 'program',
    binary: '/src/program',
    instances: 1,
    nested: false,
    lines: of.lines,
    verdict: 'false sharing',
    verdictSure: true,
    falseShare: { value: 1, low: 1, high: 1 },
    flags: [],
    records: sum('records'),
    loads: sum('loads'),
    stores: sum('stores'),
    contended: sum('contended'),
    contendedShare: 1,
    programShare: 0.5,
    hitm,
    layout: of,
    fields,
    ...more,
  };
}

/** A producer's and a consumer's counter on one line, a nested structure, a hole, and a member over a line's end. */
export function queueHeat(): TypeHeat {
  const members = [
    member('produced', 0, 8, { type: 'atomic_long', line: 11 }),
    member('limit', 8, 8, { type: 'atomic_long', line: 12 }),
    member('state', 16, 4, { type: 'int', line: 13 }),
    member('today', 24, 16, { type: 'struct money', line: 14 }),
    member('today.euros', 24, 8, { depth: 1, line: 3 }),
    member('today.cents', 32, 8, { depth: 1, line: 4 }),
    member('name', 40, 48, { type: 'char[48]', straddles: true, line: 15 }),
    member('ready', 88, 4, { bitOffset: 0, bitSize: 1, type: 'unsigned', line: 16 }),
    member('closed', 88, 4, { bitOffset: 1, bitSize: 7, type: 'unsigned', line: 17 }),
  ];
  const of = layout('queue', 128, members, { holes: [{ offset: 20, size: 4, bits: 0 }], padding: 36 });
  return typeHeat(of, [
    field('produced', 0, { stores: 620, writers: [11] }),
    field('limit', 8, { loads: 310, readers: [12] }),
    field('today.cents', 32, { loads: 20, stores: 50, writers: [11, 13], readers: [12] }),
    field('', 20, { loads: 3, readers: [12] }),
  ]);
}
