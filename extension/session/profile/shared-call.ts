// A call whose answer several callers wait for: it is made once, and cancelled where none of them waits any more.
import { EngineError } from '../../protocol/engine';

interface Running<R> {
  answer: Promise<R>;
  cancel: AbortController;
  /** Callers. */
  waiting: number;
}

export class SharedCall<R> {
  private running: Running<R> | undefined;
  private done: { value: R } | undefined;

  constructor(private readonly call: (signal: AbortSignal) => Promise<R>) {}

  /** The answer of an earlier time; one that failed is asked for again. Rejects as 'cancelled' where the caller's signal comes first. */
  async get(signal?: AbortSignal): Promise<R> {
    if (signal?.aborted === true) throw cancelled();
    if (this.done) return this.done.value;
    const running = (this.running ??= this.start());
    running.waiting++;
    try {
      return await (signal === undefined ? running.answer : Promise.race([running.answer, aborted(signal)]));
    } finally {
      if (--running.waiting === 0) {
        if (this.running === running) this.running = undefined;
        running.cancel.abort();
      }
    }
  }

  private start(): Running<R> {
    const cancel = new AbortController();
    const answer = this.call(cancel.signal).then((value) => {
      this.done = { value };
      return value;
    });
    answer.catch(() => undefined); // told to those who wait; there may be none
    return { answer, cancel, waiting: 0 };
  }
}

/** Rejects when the signal comes. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(cancelled()), { once: true }));
}

function cancelled(): EngineError {
  return new EngineError('cancelled', 'The request was cancelled.');
}
