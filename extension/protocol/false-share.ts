// How much of the waiting is false: of lines, objects, types and members.
import type { Share } from './values';

/** How much of the waiting is for data that the waiting access does not share. */
export interface FalseShare {
  /** Null: no access was seen that anybody waits for. */
  value: Share | null;
  low: Share;
  high: Share;
}
