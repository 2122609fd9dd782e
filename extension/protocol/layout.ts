// Types and how they lie on cache lines: `cacheline layout --format json`, the calls of the engine about types, and the
// types of a report.

import type { FalseShare } from './false-share';
import type { LineFlags, Verdict } from './report';
import type { Count, LocalRemote, Positive, Share } from './values';

export interface LayoutMember {
  /** Empty: an anonymous structure or union, or a base class. With --expand the full path: "today.cents". */
  name: string;
  /** As the source would write it. */
  type: string;
  /** Bytes from the type's start; of a bit-field: of its storage unit. */
  offset: Count;
  /** Bytes; of a bit-field: of its storage unit. 0: a flexible array, or empty. */
  size: Count;
  /** Of a bit-field, from its storage unit's least significant bit; null: no bit-field. */
  bitOffset: Count | null;
  /** Bits of a bit-field; null: no bit-field. */
  bitSize: Count | null;
  role: 'field' | 'base' | 'virtual base' | 'vtable pointer' | 'discriminant';
  /** The variant of a Rust enum it belongs to; empty: always there. */
  variant: string;
  /** Lies on more cache lines than its size needs. */
  straddles: boolean;
  /** How many members it is inside of, which come before it: with --expand, and of structures without a name. */
  depth: Count;
  /** Of its declaration; 0: unknown. */
  line: Count;
  /** Of its declaration, where that is not in the layout's file: of a base class, a structure inside, an included list. */
  file?: string;
  /** Bytes, where the source asks for another than the type's (alignas). */
  align?: Count;
  /** The debug information does not define its type: `size` is the room up to the next member. */
  incomplete?: true;
  /** It is in the first of so many elements of an array, as its name says ("stats[0..7].hits"); 0: of an open array. Else absent. */
  elements?: Count;
  /** Of a discriminant without bytes of its own: the variant whose values it shares them with; else absent. */
  niche?: string;
}

/** What was not read of a binary's debug information, and why. */
export interface MissingPart {
  message: string;
  nextStep: string;
}

export type TypeKind = 'struct' | 'class' | 'union' | 'enum';

export interface Layout {
  /** With its scopes and template arguments. */
  name: string;
  kind: TypeKind;
  /** Bytes. */
  size: Count;
  /** Bytes; null where the debug information does not tell: something is packed, or a type inside is not known. */
  align: Positive | null;
  /** Bytes of a cache line, as asked for. */
  lineSize: Positive;
  /** Cache lines of an object that starts at the beginning of one. */
  lines: Count;
  members: LayoutMember[];
  /** Between members, by offset. */
  holes: {
    /** Bytes. */
    offset: Count;
    /** Bytes; 0 for a bit hole. */
    size: Count;
    /** Of a bit hole, else 0. */
    bits: Count;
    /** It is in the first of so many elements of an array, and in each; else absent. */
    elements?: Count;
  }[];
  /** Bytes that may be of virtual bases whose places are not known: neither holes nor padding. Absent where all are known. */
  unplaced?: {
    /** Bytes. */
    offset: Count;
    /** Bytes. */
    size: Count;
    /** @minItems 1 */
    bases: string[];
  }[];
  /**
   * Structures inside, whose layouts tell this type from another with the same name and members; else absent.
   * @minItems 1
   */
  differsIn?: string[];
  /** What was not found or read of the debug information, where a member's type is not known; else absent. */
  missing?: MissingPart;
  /**
   * Limits that left members and their holes out; absent where all are there.
   * @minProperties 1
   */
  cutOff?: {
    /** Those behind so many are left out. */
    members?: Count;
    /** What is inside of more members than that is left out. */
    depth?: Count;
  };
  /** Bytes behind the last member. */
  padding: Count;
  /** Where it is defined; empty: unknown. */
  file: string;
  /** 0: unknown. */
  line: Count;
}

/** @minItems 2 */
export type SeveralLayouts = Layout[];

/**
 * The document of `cacheline layout TYPE --in BINARY --format json`: one layout, or a list where several types carry the name. More fields
 * may be added; these stay.
 * @id cacheline-layout.schema.json
 * @title cacheline layout
 */
export type LayoutDocument = Layout | SeveralLayouts;

export interface TypeSummary {
  /** With its scopes and template arguments. */
  name: string;
  kind: TypeKind;
  /** Bytes. */
  size: Count;
  /** Cache lines of 64 bytes. */
  lines: Count;
  /** Where it is defined; empty: unknown. */
  file: string;
  /** 0: unknown. */
  line: Count;
}

/**
 * The document of `cacheline layout --list --in BINARY --format json`: all types with names, by name, each layout once. More fields may be
 * added; these stay.
 * @id cacheline-layout-list.schema.json
 * @title cacheline layout --list
 */
export type TypeListDocument = TypeSummary[];

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
  /** Bytes from the type's start. */
  offset: Count;
  /** Bytes. */
  size: Count;
  /** Full path from the type; empty: a hole, or the whole object. */
  field: string;
  records: Count;
  loads: Count;
  stores: Count;
  contended: Count;
  /** Of what its accesses wait for; null where they wait for nothing. */
  falseShare: FalseShare | null;
  /** Null: not measured. */
  hitm: LocalRemote | null;
  /** Null: not measured. */
  peer: LocalRemote | null;
  /**
   * Of loads, in core cycles; null: not measured.
   * @minimum 0
   */
  meanCycles: number | null;
  /**
   * Threads that read; those that write, too, are in either list.
   * @uniqueItems
   */
  readers: Count[];
  /**
   * Threads that wrote.
   * @uniqueItems
   */
  writers: Count[];
}

/** A type that samples accessed: the sums over all its instances, folded to its own offsets. */
export interface TypeHeat {
  /** With its scopes and template arguments. */
  name: string;
  /** Base name of the binary whose debug information defines it. */
  object: string;
  /** Its path, as recorded. */
  binary: string;
  /** Distinct objects that were accessed. */
  instances: Count;
  /** True: all instances, also those inside of other types, whose sums have their samples too. False: only those that are whole objects. */
  nested: boolean;
  /** Distinct cache lines that were accessed. */
  lines: Count;
  verdict: Verdict;
  /** False where 0.2 or 0.8 lies between the bounds of `falseShare`. */
  verdictSure: boolean;
  /** Null where nobody waits. */
  falseShare: FalseShare | null;
  flags: LineFlags;
  records: Count;
  loads: Count;
  stores: Count;
  contended: Count;
  /** Of all contended samples. */
  contendedShare: Share;
  /** Of all samples. */
  programShare: Share;
  /** Null: not measured. */
  hitm: LocalRemote | null;
  /**
   * With the members of members, so that every field has its member.
   * @ref cacheline-layout.schema.json#/$defs/Layout
   */
  layout: Layout;
  fields: FieldHeat[];
}
