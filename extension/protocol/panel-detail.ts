// A cache line in full, as the panel's page shows it below the table. Names are untrusted text.
import { t } from './l10n';
import type { CacheLine } from './report';

/** Something that lies on the line's bytes. */
export interface LinePiece {
  kind: 'member' | 'hole' | 'padding';
  /** Bytes from the line's start; of bit-fields fractions. */
  start: number;
  end: number;
  /** "tail", of an array's element "[2].count"; empty: a hole. */
  name: string;
  /** The variable, or the type of the object, that it is of. */
  of: string;
  /** It goes on before or behind this line. */
  cutLeft: boolean;
  cutRight: boolean;
  /** Which of how many on the same bytes. */
  track: number;
  tracks: number;
}

export const PIECE_WORDS: Record<LinePiece['kind'], string> = { member: t('member'), hole: t('hole'), padding: t('padding') };

/** What is said of an access beside what the report has. */
export interface AccessDetail {
  /** "queue.tail" */
  name: string;
  /** Functions that were inlined, with their places, innermost first. */
  inlined: string[];
  /** Commonest first; empty: none were recorded. */
  chains: {
    records: number;
    /** Innermost caller first. */
    functions: string[];
  }[];
}

export interface LineDetail {
  /** `ProfileLine.id` */
  id: string;
  /** Without the call chains of its accesses. */
  line: CacheLine;
  /** Bytes of the line, or of the pair. */
  size: number;
  /** The verdict, and how sure it is. */
  verdict: string;
  /** Sentences: what the verdict means, who waits for whom, how the objects are known. */
  reasons: string[];
  /** Of each access of the line. */
  accesses: AccessDetail[];
  pieces: LinePiece[];
  /** Members that share bytes with others and have no room. */
  hidden: number;
  hasSource: boolean;
  hasCard: boolean;
}
