// Types and how they lie on cache lines: `cacheline layout --format json`, the calls of the engine about types, and the
// types of a report.

import type { FalseShare } from './false-share';

export interface LayoutMember {
  /** Empty: an anonymous structure or union. With `expand` the full path: `today.cents`. */
  name: string;
  type: string;
  /** Bytes. */
  offset: number;
  size: number;
  /** Of a bit-field, from its storage unit's least significant bit; null: no bit-field. */
  bitOffset: number | null;
  bitSize: number | null;
  role: 'field' | 'base' | 'virtual base' | 'vtable pointer' | 'discriminant';
  /** The variant of a Rust enum it belongs to; empty: always there. */
  variant: string;
  /** Lies on more cache lines than its size needs. */
  straddles: boolean;
  /** How many members it is inside of: with `expand`, and of structures without a name. */
  depth: number;
  /** Of its declaration; 0: unknown. */
  line: number;
  /** Of its declaration, where that is not in the layout's file: of a base class, a structure inside, an included list. */
  file?: string;
  /** Bytes, where the source asks for another than the type's (`alignas`). */
  align?: number;
  /** Its type is only declared or not known: `size` is the room up to the next member. */
  incomplete?: boolean;
  /** It is a member of the first of so many elements of an array, as its name says: `stats[0..7].hits`. 0: of an open array. */
  elements?: number;
  /** Of a discriminant that has no bytes of its own: the variant whose values it shares them with. */
  niche?: string;
}

/** What was not read of a binary's debug information, and why. */
export interface MissingPart {
  message: string;
  nextStep: string;
}

export interface Layout {
  name: string;
  kind: 'struct' | 'class' | 'union' | 'enum';
  /** Bytes. */
  size: number;
  /** Null where the debug information does not tell: something is packed, or a type inside is not known. */
  align: number | null;
  lineSize: number;
  lines: number;
  members: LayoutMember[];
  /** `bits` is not 0 for a bit hole, whose size is 0; `elements` as of a member. */
  holes: { offset: number; size: number; bits: number; elements?: number }[];
  /** Bytes that may be of these virtual bases: debug information does not say where they are. Neither holes nor padding. */
  unplaced?: { offset: number; size: number; bases: string[] }[];
  /** Structures inside, whose layouts tell this type from another with the same name and members. */
  differsIn?: string[];
  /** What was not read of the debug information, where a member's type is not known. */
  missing?: MissingPart;
  /** What is left out of `members`: those behind so many, and what is nested deeper than `depth`. */
  cutOff?: { members?: number; depth?: number };
  /** Bytes behind the last member. */
  padding: number;
  /** Where it is defined; empty: unknown. */
  file: string;
  line: number;
}

export interface TypeSummary {
  name: string;
  kind: Layout['kind'];
  size: number;
  lines: number;
  file: string;
  line: number;
}

/** All types of a binary; and the parts of its debug information that were not found, where types may be missing. */
export interface TypeList {
  types: TypeSummary[];
  missing: MissingPart[];
}

/** The layouts that carry a name, several where they differ; and where others may be. */
export interface LayoutList {
  layouts: Layout[];
  missing: MissingPart[];
}

/** Something declared in a source file: a type (`variable` empty), or a variable or member of a type. */
export interface Declaration {
  variable: string;
  file: string;
  line: number;
  layout: Layout;
}

/** What one source file declares; and where more of it may be. */
export interface DeclarationList {
  declarations: Declaration[];
  missing: MissingPart[];
}

/** One field of a type with what its instances' accesses add up to; see docs/outputs.md. */
export interface FieldHeat {
  offset: number;
  size: number;
  /** Full path from the type; empty: a hole, or the whole object. */
  field: string;
  records: number;
  loads: number;
  stores: number;
  contended: number;
  /** Of what its accesses wait for; null where they wait for nothing. */
  falseShare: FalseShare | null;
  hitm: { local: number; remote: number } | null;
  peer: { local: number; remote: number } | null;
  /** Mean load cycles. */
  meanCycles: number | null;
  /** tids that read, and that wrote; one may do both. */
  readers: number[];
  writers: number[];
}

/** A type that samples touched: the sums over all its instances, folded to its own offsets. */
export interface TypeHeat {
  name: string;
  /** Base name of the binary whose debug information defines it, and its path as recorded. */
  object: string;
  binary: string;
  /** Distinct objects (bases) that were touched, and distinct cache lines. */
  instances: number;
  /** All instances, also those inside of other types, whose sums have their samples too; else only those that are whole objects. */
  nested: boolean;
  lines: number;
  verdict: string;
  verdictSure: boolean;
  falseShare: FalseShare | null;
  flags: string[];
  records: number;
  loads: number;
  stores: number;
  contended: number;
  contendedShare: number;
  programShare: number;
  hitm: { local: number; remote: number } | null;
  /** With `expand`, so that every field has its member. */
  layout: Layout;
  fields: FieldHeat[];
}
