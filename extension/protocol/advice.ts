// What to change, what it costs and what it gains: `cacheline advise --format json` (docs/outputs.md, "Advice").
import type { Blind } from './blindness';
import type { FalseShare } from './false-share';
import type { RecordingMeta } from './recording';
import type { Evidence, SourcePlace, Verdict } from './report';
import type { Count, Positive, Share } from './values';

/** What kind of sharing it is, in the experts' taxonomy; `not-known`: it cannot be told. */
export type Why = 'lock-with-own-data' | 'mixed-use' | 'unrelated-owners' | 'alignment' | 'adjacent' | 'true-sharing' | 'not-known';

/** What ends the waiting; `none`: no layout makes the program faster, and `why` says why not. */
export type Way = 'align' | 'pad' | 'reorder' | 'split' | 'stride' | 'allocate' | 'per-thread' | 'none';

/** A source language that advice has words for. */
export type SourceLanguage = 'c' | 'c++' | 'rust' | 'go';

/** @exclusiveMinimum 0 */
export type Factor = number;

/** Bytes of a cache line, or of a pair. */
export type Alignment = Positive;

/** A structure as the debug information of the measured binary has it. */
export interface TypeReference {
  /** As C++ spells it, qualified, with template arguments. */
  name: string;
  /** Path as recorded. */
  binary: string;
  /** Bytes. */
  size: Count;
  /** Bytes; null: not known. */
  align: Positive | null;
  /** An empty file: not known. */
  definition: SourcePlace;
  /** In order of offsets: the type's own members, not those of structures inside; base classes are not among them. */
  members: {
    /** Empty: an anonymous structure or union. */
    name: string;
    type: string;
    /** Bytes. */
    offset: Count;
    /** Bytes. */
    size: Count;
    /** Of a bit-field; null: no bit-field. */
    bitSize: Count | null;
    /** Of its declaration; 0: unknown. */
    line: Count;
  }[];
}

/** The members of a type in another order, some of which start a cache line. */
export interface MembersChange {
  kind: 'members';
  type: TypeReference;
  alignment: Alignment;
  /** Each member of the type once, by its index in `type.members`; those that stay as they are, too. */
  order: { member: Count; startsLine: boolean }[];
}

/** Written members of a type moved into structures of their own, of which an array has one for each object. */
export interface SplitChange {
  kind: 'split-members';
  type: TypeReference;
  /** `members`: indices in `type.members`; `size`: bytes of an object's part. */
  parts: { size: Count; members: Count[] }[];
}

/** Each object of a type on cache lines of its own. */
export interface AlignTypeChange {
  kind: 'align-type';
  type: TypeReference;
  alignment: Alignment;
}

/** Each of these variables on cache lines of its own. */
export interface AlignVariablesChange {
  kind: 'align-variables';
  /** Path as recorded. */
  binary: string;
  variables: {
    name: string;
    type: string;
    /** Bytes. */
    size: Count;
    /** An empty file: not known. */
    definition: SourcePlace;
  }[];
  alignment: Alignment;
}

/** Blocks of a call of malloc() or new on cache lines of their own. */
export interface AllocateChange {
  kind: 'allocate';
  /** Path as recorded. */
  binary: string;
  /** Null: not known, and to be looked for in `files`. */
  call: SourcePlace | null;
  /** That has the call; empty: not known. */
  function: string;
  /** Of the objects in the blocks, as debug information spells it; empty: not known, and then the call is. */
  objectType: string;
  /** Where the call is not known: sources of code that accesses the objects. */
  files: string[];
  alignment: Alignment;
}

/** What an edit is to do; words alone say how members are split off. */
export type Change = MembersChange | SplitChange | AlignTypeChange | AlignVariablesChange | AllocateChange;

/**
 * Either a patch or a reason.
 * @oneOf [
 *   { properties: { patch: { type: 'string' }, reason: { type: 'null' } } },
 *   { properties: { patch: { type: 'null' }, reason: { type: 'string' } } },
 * ]
 */
export interface Edit {
  /**
   * A unified diff with paths below `folder`; null: no edit is safe.
   * @minLength 1
   */
  patch: string | null;
  /**
   * Why there is none: a sentence; null: there is one.
   * @minLength 1
   */
  reason: string | null;
}

/** What is to be changed. */
export interface Subject {
  /** Of the objects; empty: not known. */
  type: string;
  /** The variable, or what the report calls the memory; empty: the objects have no name of their own. */
  object: string;
  /** Of the type, that threads wait for. */
  members: string[];
}

export interface Advice {
  subject: Subject;
  verdict: Verdict;
  /** As those of the report's finding that it speaks of. */
  sure: boolean;
  falseShare: FalseShare | null;
  why: Why;
  /** Code uses two words in one step, each written by other threads, and waits for that: as the indices of a ring buffer. */
  twoSides: boolean;
  /** Members that are locks, with what is only accessed while they are held, as far as the code shows. */
  locks: { name: string; data: string[] }[];
  /** Where members share a line; with other placements they do not, so that this waiting is luck. Empty: it is not. */
  placements: Placement[];
  way: Way;
  confidence: Share;
  /** Of what is to be changed: of the type, or the variable; null: not known. */
  definition: SourcePlace | null;
  /** The call that allocates it; null: it was not recorded, or there is none. */
  allocation: (SourcePlace & { function: string }) | null;
  /** Of an array that needs a stride: elements one after the other that one thread uses and no other one; null: threads use the same
   * ones, or each some here and there. */
  elementsInRow: Count | null;
  /** Of the type, as debug information says; else by the file of the definition, else by those of the code that waits; null: not known. */
  language: SourceLanguage | null;
  /** Samples at the subject that waited. */
  contended: Count;
  /** Of all samples of the recording. */
  programShare: Share;
  cost: {
    /** More than now. */
    bytesPerInstance: Count;
    /** Of all instances that were seen; null: their number is not known. */
    bytesTotal: Count | null;
    /** Code outside of this binary may rely on the layout. */
    abi: boolean;
    /** Cache lines that a reader of all members accesses. */
    readerLines: { before: Count; after: Count };
  };
  predicted: {
    /** Of the whole program's elapsed time, before over after; null: this evidence cannot say. */
    speedup: { low: Factor; mid: Factor; high: Factor } | null;
    /** Of the contended samples of the subject, what stays contended with the new layout. */
    contendedLeft: Share;
    /** Of the same samples, what waits for data that both sides use: no layout ends that. At most `contendedLeft`. */
    trulyLeft: Share;
    /** Of the cycles of all sampled loads, what would not be there; null: the samples carry no latencies. */
    excessCycles: Share | null;
    /** The most that the speedup can be, whatever contention costs on that machine; 1: nothing is known. */
    mostSpeedup: Factor;
    /** Single threads gain, and the program little. */
    threadsOnly: boolean;
    /** On how many CPUs the recorded processes could run; null: the recording does not say. */
    cpus: Count | null;
    /** What the prediction rests on: "clock, calibrated". */
    basis: string;
  };
  /** Null: nothing is to be changed, or words alone can say what. */
  change: Change | null;
  edit: Edit;
}

/** Where members of different threads share a line. */
export interface Placement {
  /** Bytes from the start of a line to the object. */
  baseOffset: Count;
  /** Bytes of a cache line, or of a pair. */
  lineSize: Count;
  pairs: [string, string][];
}

/** Objects whose quiet depends on where an allocator or a linker puts them. */
export interface Latent {
  subject: Subject;
  placements: Placement[];
}

export interface AdviceList {
  schema: 'cacheline-advice/1';
  /** As that of the report. */
  evidence: Evidence[];
  /** What the recording could not see, as in the report; null: it saw enough. */
  blind: Blind | null;
  /** Most contended samples first. */
  advice: Advice[];
  /** Those that no advice tells of. */
  latent: Latent[];
  /** What to know of the numbers: what the report warns of, then what holds for advice alone. */
  warnings: string[];
  /** The meta.json of the recording; null for a bare perf.data. */
  recording: RecordingMeta | null;
}

/**
 * The document of `cacheline advise --format json`: what to change so that threads no longer wait for each other's data. More fields may be
 * added; these stay.
 * @id cacheline-advice-1.schema.json
 * @title cacheline-advice/1
 */
export interface AdviceDocument extends AdviceList {
  /** In which `git apply` takes the patches, absolute; null: there is no patch. */
  folder: string | null;
}
