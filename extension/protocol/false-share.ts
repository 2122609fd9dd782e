/** How much of the waiting is for data that the waiting access does not share, 0 to 1. `value` null: not known. */
export interface FalseShare {
  value: number | null;
  low: number;
  high: number;
}
