// One run of a program without a recording, and how long it took.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { EngineError } from '../../protocol/engine';
import { printable } from '../text/terminal-text';

/** A run ended with another status than 0, or by a signal. */
export class RunFailed extends Error {
  /** @param status of the program, or 128 + its signal */
  constructor(
    readonly program: string,
    readonly status: number,
    readonly signal: string | null,
  ) {
    super(`${printable(program)} ${signal === null ? `ended with status ${status}` : `was ended by ${signal}`}`);
  }
}

/**
 * Standard input is empty, output and errors go where ours go.
 * @param command program and arguments; no shell sees them
 * @returns nanoseconds from its start to its end
 * @param stop ends the program
 * @throws RunFailed; EngineError 'usage' where it cannot be started, 'cancelled' where it was stopped
 */
export function timedRun([program = '', ...args]: readonly string[], stop: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = process.hrtime.bigint();
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], signal: stop });
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (stop.aborted) {
        reject(new EngineError('cancelled', `${printable(program)} was stopped before it ended.`));
        return;
      }
      const why = error.code === 'ENOENT' ? 'there is no such program' : error.code === 'EACCES' ? 'it may not be executed' : error.message;
      reject(new EngineError('usage', `${printable(program)} cannot be started: ${why}.`, 'Check the name, or give its path.'));
    });
    child.once('exit', (status, signal) => {
      const took = Number(process.hrtime.bigint() - began);
      if (status === 0) resolve(took);
      else reject(new RunFailed(program, status ?? 128 + (signal === null ? 0 : constants.signals[signal]), signal));
    });
  });
}
