// What to change, what it costs and what it gains: `cacheline advise --format json` (docs/outputs.md, "Advice").
import type { SourcePlace, Verdict } from './report';

/** What kind of sharing it is, in the experts' taxonomy. */
export type Why =
  | 'lock-with-own-data'
  | 'mixed-use'
  | 'unrelated-owners'
  | 'alignment'
  | 'adjacent'
  | 'true-sharing'
  /** It cannot be told. */
  | 'not-known';

export type Way = 'align' | 'pad' | 'reorder' | 'split' | 'stride' | 'allocate' | 'per-thread' | 'none';

/** A structure as the debug information of the measured binary has it. */
export interface TypeReference {
  /** As C++ spells it, qualified, with template arguments. */
  name: string;
  /** Path as recorded. */
  binary: string;
  /** Bytes. */
  size: number;
  align: number | null;
  definition: SourcePlace;
  /** In order of offsets: the type's own members, not those of structures inside; base classes are not among them. */
  members: {
    /** Empty: an anonymous structure or union. */
    name: string;
    type: string;
    /** Bytes. */
    offset: number;
    size: number;
    bitSize: number | null;
    /** Of its declaration; 0: unknown. */
    line: number;
  }[];
}

/** What an edit is to do. */
export type Change =
  /** The members of a type in another order, some of which start a cache line. */
  | {
      kind: 'members';
      type: TypeReference;
      /** Bytes of a cache line, or of a pair. */
      alignment: number;
      /** Each member of the type once, by its index; those that stay as they are, too. */
      order: { member: number; startsLine: boolean }[];
    }
  /** Each object of a type on cache lines of its own. */
  | { kind: 'align-type'; type: TypeReference; alignment: number }
  /** Each of these variables on cache lines of its own. `size`: bytes; a definition without a file is not known. */
  | {
      kind: 'align-variables';
      /** Path as recorded. */
      binary: string;
      variables: { name: string; type: string; size: number; definition: SourcePlace }[];
      alignment: number;
    }
  /** Blocks of a call of malloc() or new on cache lines of their own. */
  | {
      kind: 'allocate';
      /** Path as recorded. */
      binary: string;
      /** Null: not known, and to be looked for. */
      call: SourcePlace | null;
      /** That has the call; empty: not known. */
      function: string;
      /** Of the objects in the blocks, as debug information spells it; empty: not known, and then the call is. */
      objectType: string;
      /** Where the call is not known: sources of code that accesses the objects. */
      files: string[];
      alignment: number;
    };

export interface Edit {
  /** A unified diff; null: no edit is safe. */
  patch: string | null;
  /** Why there is none: a sentence; null: there is one. */
  reason: string | null;
}

export interface Advice {
  /** `type`: of the objects, empty where it is not known; `object`: the variable, or what the report calls the memory. */
  subject: { type: string; object: string; members: string[] };
  verdict: Verdict;
  why: Why;
  /** Members that are locks, with what is only accessed while they are held, as far as the code shows. */
  locks: { name: string; data: string[] }[];
  /** `none`: padding does not help, and `why` says why not. */
  way: Way;
  /** 0 to 1. */
  confidence: number;
  /** What is to be changed: of the type, or the variable; null: not known. */
  definition: SourcePlace | null;
  /** Samples at the subject that waited. */
  contended: number;
  /** Of all samples of the recording. */
  programShare: number;
  cost: {
    bytesPerInstance: number;
    /** Of all instances that were seen; null: their number is not known. */
    bytesTotal: number | null;
    /** Whether code outside of this binary may rely on the layout. */
    abi: boolean;
    /** Cache lines that a reader of all members touches. */
    readerLines: { before: number; after: number };
  };
  predicted: {
    /** Of the whole program's elapsed time; null: this evidence cannot say. */
    speedup: { low: number; mid: number; high: number } | null;
    /** Of the contended samples of the subject, the share that stays contended with the new layout. */
    contendedLeft: number;
    /** Of the cycles of all sampled loads, what would not be there; null: the samples carry no latencies. */
    excessCycles: number | null;
    /** The most that the speedup can be, whatever contention costs on that machine; 1: nothing is known. */
    mostSpeedup: number;
    /** What the prediction rests on: "clock, calibrated". */
    basis: string;
  };
  /** Null: nothing is to be edited, or words alone can say what. */
  change: Change | null;
  edit: Edit;
}

/** Objects whose contention, or whose quiet, depends on where an allocator or a linker puts them. */
export interface Latent {
  subject: Advice['subject'];
  /** Where members of different threads share a line: at which distance of the object from the start of a line. */
  placements: { baseOffset: number; lineSize: number; pairs: [string, string][] }[];
}

export interface AdviceList {
  schema: 'cacheline-advice/1';
  advice: Advice[];
  latent: Latent[];
  /** What to know of the numbers. */
  warnings: string[];
}
