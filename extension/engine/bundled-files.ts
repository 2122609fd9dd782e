// Recordings that come with the extension bring the files of the machine that made them along.
import { join } from 'node:path';
import type { CallOptions, Engine, EngineCalls, EngineMethod } from '../protocol/engine';

/**
 * An engine that takes the program of a recording below `folder` from `files` in that folder, where it lies under its recorded path.
 * Of all other recordings it does what `engine` does.
 */
export function withBundledFiles(engine: Engine, folder: string): Engine {
  return {
    call<M extends EngineMethod>(method: M, params: EngineCalls[M]['params'], options?: CallOptions<M>): Promise<EngineCalls[M]['result']> {
      const { path } = params as { path?: unknown };
      const isBundled = typeof path === 'string' && path.startsWith(`${folder}/`);
      return engine.call(method, isBundled ? { ...params, symfs: join(folder, 'files') } : params, options);
    },
  };
}
