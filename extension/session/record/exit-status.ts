// Exit statuses of the command line. docs/outputs.md documents them; 1: a check failed.
import type { EngineErrorKind, RecordResult } from '../../protocol/engine';

/** Up to 5: what the documented contract fixes. Above: the names of BSD's sysexits.h, whose meanings fit. */
const STATUS: Record<EngineErrorKind, number> = {
  usage: 2,
  unreadable: 3,
  impossible: 4,
  unavailable: 69, // EX_UNAVAILABLE: the engine is not there
  internal: 70, // EX_SOFTWARE
  crashed: 70,
  io: 4, // the recording cannot be written here: disk full, no permission
  cancelled: 130, // as a shell says of SIGINT
};

export const DONE = 0;
export const CHECK_FAILED = 1;
/** Of a check that found nothing and cannot pass. */
export const COULD_NOT_LOOK = 5;
/** Of a recording with nothing in it, unless the program's own status says of a failure. */
export const NOTHING_RECORDED = STATUS.impossible;
export const USAGE = STATUS.usage;
export const UNREADABLE = STATUS.unreadable;
export const IO_ERROR = 74; // EX_IOERR: standard output cannot be written
export const INTERNAL_ERROR = STATUS.internal;

export function exitStatusOf(kind: EngineErrorKind): number {
  return STATUS[kind];
}

/** The recorded program's own status, or 128 + the signal it died of, as shells do. */
export function programStatus({ exitStatus, signal }: Pick<RecordResult, 'exitStatus' | 'signal'>): number {
  return signal !== null ? 128 + signal : (exitStatus ?? DONE);
}
