// A recording that watches suspect words has the samples so far analyzed by somebody else.
import { EngineError } from '../protocol/engine';
import type { Engine, SuspectsAnswer } from '../protocol/engine';

/** Looks at recordings while they are made. */
export interface Looks {
  /** The suspects of a recording so far, looked for until the signal comes. Never rejects. */
  find(path: string, signal: AbortSignal): Promise<SuspectsAnswer>;
  /** The recording has ended: what its looks have read is not needed any more. */
  forget(path: string): void;
}

/** Why a person should know of it: other failures are of too few samples, or asked for, and a later look may tell. */
const SAID: ReadonlySet<string> = new Set(['crashed', 'unavailable', 'internal']);

export function looksBy(engine: Engine): Looks {
  return {
    find: async (path, signal) => {
      try {
        return { found: await engine.call('suspects', { path }, { signal }) };
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return { why: SAID.has(error.kind) ? error.message.replace(/\.$/, '') : '' };
      }
    },
    // Where it fails, the process has gone, and all that it had read.
    forget: (path) => void engine.call('forget', { path }).catch(() => undefined),
  };
}
