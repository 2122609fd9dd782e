// Calls of the engine whose answer somebody looks at: where its process ends meanwhile, they are made again in the next one.
import { EngineError } from '../protocol/engine';

/** Once: what ends the process each time is told of. Rejects with EngineError; 'cancelled' without the signal is a restart. */
export async function onceMore<R>(call: () => Promise<R>, signal: AbortSignal): Promise<R> {
  try {
    return await call();
  } catch (error) {
    const hasEnded = error instanceof EngineError && (error.kind === 'crashed' || error.kind === 'cancelled');
    if (!hasEnded || signal.aborted) throw error;
    return call();
  }
}
