// Who reads and who writes, of threads at lines, source lines and members: one that does both is in either number. And what an access does.
import { t } from './l10n';
import type { Access } from './report';

export type AccessKind = 'atomic' | 'read' | 'write' | 'read, write' | 'rmw' | 'read, rmw' | 'unknown';

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
export function accessKind({ locked, records, loads, stores, watch }: Access): AccessKind {
  if (locked) return 'atomic';
  // Only seen by watchpoints.
  if (records === 0 && watch) {
    if (watch.reads > 0) return watch.writes > 0 ? 'read, write' : 'read';
    return watch.writes > 0 ? 'write' : 'unknown';
  }
  if (stores.total === 0) return 'read';
  if (stores.rmw !== null && stores.rmw === stores.total) return loads > 0 ? 'read, rmw' : 'rmw';
  return loads > 0 ? 'read, write' : 'write';
}

/** For a person. */
export const KIND_WORDS: Record<AccessKind, string> = {
  atomic: t('atomic'),
  read: t('read'),
  write: t('write'),
  'read, write': t('read, write'),
  rmw: t('rmw'),
  'read, rmw': t('read, rmw'),
  unknown: t('unknown'),
};
