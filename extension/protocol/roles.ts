// Who reads and who writes, of threads at lines, source lines and members: one that does both is in either number. And what an access does.
import type { Access } from './report';

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

/** "read", "write", "rmw" (reads and writes in one instruction) or "atomic" (an atomic update). */
export function accessKind({ locked, records, loads, stores, watch }: Access): string {
  if (locked) return 'atomic';
  // Only seen by watchpoints.
  if (records === 0 && watch) {
    const kinds = [watch.reads > 0 ? 'read' : '', watch.writes > 0 ? 'write' : ''].filter((kind) => kind !== '');
    return kinds.join(', ') || 'unknown';
  }
  if (stores.total === 0) return 'read';
  if (stores.rmw !== null && stores.rmw === stores.total) return loads > 0 ? 'read, rmw' : 'rmw';
  return loads > 0 ? 'read, write' : 'write';
}
