// A recording that watches suspect words has the samples so far analyzed by somebody else.
import { EngineError } from '../protocol/engine';
import type { SuspectsAnswer } from '../protocol/engine';

/** Looks for the suspects of a recording so far until the signal comes. Never rejects. */
export type FindSuspects = (path: string, signal: AbortSignal) => Promise<SuspectsAnswer>;

/** Why a person should know of it: other failures are of too few samples, or asked for, and a later look may tell. */
const SAID: ReadonlySet<string> = new Set(['crashed', 'unavailable', 'internal']);

export async function suspectsAnswer(call: Promise<string>): Promise<SuspectsAnswer> {
  try {
    return { found: await call };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { why: SAID.has(error.kind) ? error.message.replace(/\.$/, '') : '' };
  }
}
