// What threads wait for, by subject: the one judgement that every view tells (docs/outputs.md, "Findings").
import type { FalseShare } from './false-share';
import type { Allocation, LineFlags, SourcePlace, Verdict } from './report';
import type { Address, Count, Share } from './values';

/** What a subject is: `memory` is memory of which neither the type nor the allocation is known. */
export type SubjectKind = 'type' | 'array' | 'variable' | 'block' | 'memory';

/** A member that somebody waits at. */
export interface FindingMember extends SourcePlace {
  /** Path from the subject's type, without indices: "today.cents"; empty: the whole object, or not known. */
  name: string;
  contended: Count;
  /** Null: no cause was seen. */
  falseShare: FalseShare | null;
}

/** Who waits, where, and for what. */
export interface FindingWait extends SourcePlace {
  /** That waits; empty: not known. */
  function: string;
  member: string;
  for: {
    /** That has most of the accesses that are waited for. */
    function: string;
    /** Of the same subject its path; of another one with that one's name in front. */
    member: string;
  };
  /** Most of it is for data that the waiting access does not share. */
  falsely: boolean;
  /** Of the subject's contended samples. */
  share: Share;
}

/** One subject's judgement: of the objects of a type, of an array, of a variable, or of the blocks of one allocation. */
export interface Finding {
  /** "f1", "f2", … in their order. */
  id: string;
  kind: SubjectKind;
  subject: {
    /** Of one object or element; empty: not known. */
    type: string;
    /** The variable, where all are in one; of memory what `objects` call it; empty: several, or without a name. */
    object: string;
    /** Names of `members`. */
    members: string[];
  };
  /** Of the type, or of the variable; null: not known. */
  definition: SourcePlace | null;
  /** Of its first object that is in a recorded heap block; null: none is. */
  allocation: Allocation | null;
  verdict: Verdict;
  /** False: more samples could change the verdict. */
  sure: boolean;
  /** Contended samples over all samples of the recording. */
  programShare: Share;
  contended: Count;
  falseShare: FalseShare | null;
  /** Most contended first. */
  members: FindingMember[];
  /** The largest share first; at most 16, each at least 2%. */
  waits: FindingWait[];
  flags: LineFlags;
  /** That somebody waits at; 0: not known. */
  objects: Count;
  /** Contended lines; where some of them are not listed, all lines of it. */
  lineCount: Count;
  /** The most contended of them, at most 64. */
  lines: Address[];
  /** Index in the advice of `cacheline advise`; null: none speaks of it. */
  advice: Count | null;
}
