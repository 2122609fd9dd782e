// Who reads and who writes, of threads at lines, source lines and members: one that does both is in either number.

/** Samples by what they did; a read-modify-write is a write. */
export interface Done {
  loads: number;
  stores: number;
}

export function writes({ stores }: Done): boolean {
  return stores > 0;
}

/** Who has no samples reads, as far as is known. */
export function reads({ loads, stores }: Done): boolean {
  return loads > 0 || stores === 0;
}
