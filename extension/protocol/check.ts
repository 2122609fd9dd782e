// The JSON of `cacheline check` (cacheline-check/1), as docs/outputs.md fixes it, and of the file of what is accepted.
import type { Evidence, SourcePlace } from './report';
import type { Count, Share } from './values';

/** A verdict as the name of a rule. */
export const RULES = ['false-sharing', 'true-sharing', 'mixed', 'read-shared', 'private'] as const;
export type Rule = (typeof RULES)[number];

/** `new`: not in the baseline, or there is none; `grown`: more of the samples than there, beyond chance; `known`: as there. */
export type FindingState = 'new' | 'grown' | 'known' | 'accepted';

/** What findings are told apart by: no line numbers, which every edit changes. */
export interface FindingKey {
  rule: Rule;
  /** Empty: not known, and then `member` is the object's name. */
  type: string;
  /** Path in the type; of a variable without members its name; empty: a hole, or the whole object. */
  member: string;
}

/** Data that threads wait for. */
export interface Waiting extends FindingKey {
  /** Contended samples. */
  contended: Count;
  /** Contended samples over all samples of the recording. */
  programShare: Share;
  /** Of all samples, those that wait falsely: contended samples times their false share. */
  falselyWaiting: Share;
}

export interface CheckFinding extends Waiting {
  state: FindingState;
  /** Of the objects that have it, the one with most. */
  object: string;
  /** Where the data is declared; null: not known. */
  declared: SourcePlace | null;
  /** The source line of the access that waits most; null: not known. */
  accessed: SourcePlace | null;
  /** `programShare` in the baseline; null: not there. */
  before: Share | null;
  /** Why it is accepted; null: it is not. */
  reason: string | null;
}

/**
 * The document of `cacheline check --format json`, which is a baseline for later checks, too. More fields may be added; these stay.
 * @id cacheline-check-1.schema.json
 * @title cacheline-check/1
 */
export interface Check {
  schema: 'cacheline-check/1';
  /** A finding is new or has grown. */
  failed: boolean;
  /** Why it is no pass where nothing failed: a clause; null: it is one. */
  noPass: string | null;
  recording: string;
  /** Program and arguments; empty: not known. */
  command: string[];
  collector: string;
  evidence: Evidence[];
  samples: { total: Count; contended: Count };
  /** Of the samples, those of which nothing can be said; 0: less than 10%. */
  blindShare: Share;
  limit: {
    /** Of all samples, at one object. */
    share: Share;
    /** What is held against it: what waits falsely, or all that is contended. */
    of: 'falsely waiting' | 'contended';
    /** Whose samples count; null: of all. */
    rules: Rule[] | null;
  };
  /** The largest share first. */
  findings: CheckFinding[];
  /** What waits, too, and is no finding: for later checks to compare with. The largest share first, 1,000 at most. */
  below: Waiting[];
  /** What to know of the result: sentences. */
  notes: string[];
}

/** One entry of the file of --accept, a JSON list. */
export interface Acceptance extends FindingKey {
  /**
   * Why it is accepted.
   * @minLength 1
   */
  reason: string;
  /**
   * The last day of it, UTC; absent: for ever.
   * @pattern ^\d{4}-\d\d-\d\d$
   */
  until?: string;
}

/**
 * The file of `cacheline check --accept`: what is found and accepted.
 * @id cacheline-accept.schema.json
 * @title cacheline accept file
 */
export type AcceptanceList = Acceptance[];
