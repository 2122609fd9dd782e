// The extension host's side of the engine: starts the helper process on the first call, and outlives its death.
import { fork, type ChildProcess } from 'node:child_process';
import { EngineError } from '../protocol/engine';
import type { CallOptions, Engine, EngineCalls, EngineMethod, FromHelper, ToHelper } from '../protocol/engine';

export interface EngineClientOptions {
  /** dist/helper.js. */
  helperPath: string;
  /** Node options of the helper; none by default, so that the host's own (a debugger port, say) are not inherited. */
  execArgv?: readonly string[];
  environment?: NodeJS.ProcessEnv;
  startTimeoutMs?: number;
}

const START_TIMEOUT_MS = 15_000;
/** A helper with open recordings gets this long to close them; it gives itself 10 s. */
const CLOSE_TIMEOUT_MS = 12_000;
/** How long a dead helper's last words may take to arrive: a program it started can hold the pipe open. */
const LAST_WORDS_MS = 200;
const KEPT_ERROR_TEXT = 8192;

export class EngineClient implements Engine {
  private helper: Helper | undefined;
  private disposed = false;
  private readonly crashListeners = new Set<(error: EngineError) => void>();

  constructor(private readonly options: EngineClientOptions) {}

  /** Rejects with EngineError only; 'crashed' where the helper died meanwhile: the next call starts a new one. */
  async call<M extends EngineMethod>(
    method: M,
    params: EngineCalls[M]['params'],
    options: CallOptions<M> = {},
  ): Promise<EngineCalls[M]['result']> {
    const helper = await this.start();
    return helper.call(method, params, options);
  }

  /** Called when a helper that had started dies without being asked to, with calls pending or not. */
  onCrash(listener: (error: EngineError) => void): { dispose(): void } {
    this.crashListeners.add(listener);
    return { dispose: () => this.crashListeners.delete(listener) };
  }

  /** Ends the helper there is, rejecting its calls as 'cancelled', and starts another. Rejects where that cannot be started. */
  async restart(): Promise<void> {
    await this.helper?.end('The Cacheline engine was restarted.');
    await this.start();
  }

  /** Ends the helper for good; pending calls reject as 'cancelled', running recordings are closed. Resolves when it has gone. */
  async dispose(): Promise<void> {
    this.disposed = true;
    this.crashListeners.clear();
    await this.helper?.end('The Cacheline engine was shut down.');
  }

  /** The process of the helper, where one runs. */
  get pid(): number | undefined {
    return this.helper?.pid;
  }

  private async start(): Promise<Helper> {
    if (this.disposed) throw new EngineError('unavailable', 'The Cacheline engine was shut down.');
    if (this.helper === undefined) {
      const helper = new Helper(this.options);
      this.helper = helper;
      helper.onEnd = (crash) => {
        if (this.helper === helper) this.helper = undefined;
        if (crash !== undefined) for (const listener of this.crashListeners) listener(crash);
      };
    }
    const { helper } = this;
    await helper.ready;
    return helper;
  }
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: EngineError): void;
  progress(value: unknown): void;
}

/** One helper process from its start to its end. */
class Helper {
  /** Resolves when it takes calls; rejects as 'unavailable'. */
  readonly ready: Promise<void>;
  /** Called once, when it takes no more calls; with the error where it died unasked after it had started. */
  onEnd: ((crash: EngineError | undefined) => void) | undefined;

  private readonly child: ChildProcess;
  private readonly exited: Promise<void>;
  private readonly pending = new Map<number, PendingCall>();
  private nextId = 1;
  private errorText = '';
  private started = false;
  /** Why it takes no more calls. */
  private ended: EngineError | undefined;
  private settleReady: { resolve(): void; reject(error: EngineError): void } = { resolve: () => undefined, reject: () => undefined };

  constructor({ helperPath, execArgv = [], environment = process.env, startTimeoutMs = START_TIMEOUT_MS }: EngineClientOptions) {
    this.ready = new Promise((resolve, reject) => (this.settleReady = { resolve, reject }));
    this.child = fork(helperPath, [], {
      execArgv: [...execArgv],
      env: process.versions['electron'] === undefined ? environment : { ...environment, ELECTRON_RUN_AS_NODE: '1' },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const timer = setTimeout(() => {
      this.finish(unavailable(`it did not answer within ${startTimeoutMs / 1000} s`));
      this.child.kill('SIGKILL');
    }, startTimeoutMs);
    this.ready.then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errorText = (this.errorText + text).slice(-KEPT_ERROR_TEXT);
    });
    this.child.on('message', (message) => this.receive(message as FromHelper));
    // A helper that closed its channel can answer nothing any more.
    this.child.on('disconnect', () => {
      if (this.ended === undefined) this.child.kill('SIGKILL');
    });
    this.exited = new Promise((resolve) => {
      this.child.on('error', (error) => {
        // Also emitted where a message could not be sent; 'exit' then says more.
        if (this.child.pid !== undefined) return;
        this.finish(unavailable(error.message));
        resolve();
      });
      this.child.on('exit', (code, signal) => {
        resolve();
        void this.lastWords().then((words) => this.finish(this.deathError(signal ?? `exit status ${code}`, words)));
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  call<M extends EngineMethod>(
    method: M,
    params: EngineCalls[M]['params'],
    { signal, onProgress }: CallOptions<M>,
  ): Promise<EngineCalls[M]['result']> {
    return new Promise((resolve, reject) => {
      if (this.ended !== undefined) {
        reject(this.ended);
        return;
      }
      const id = this.nextId++;
      const abort = (): void => this.send({ type: 'abort', id });
      const settled = (): void => signal?.removeEventListener('abort', abort);
      this.pending.set(id, {
        resolve: (result) => {
          settled();
          resolve(result as EngineCalls[M]['result']);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
        progress: (value) => onProgress?.(value as EngineCalls[M]['progress']),
      });
      this.send({ type: 'call', id, method, params });
      if (signal?.aborted) abort();
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Resolves when the process has gone. */
  async end(reason: string): Promise<void> {
    const idle = this.pending.size === 0;
    this.finish(new EngineError('cancelled', reason));
    // Without its host the helper closes its recordings by itself.
    if (idle || !this.child.connected) this.child.kill('SIGKILL');
    else this.child.disconnect();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
    await this.exited;
    clearTimeout(timer);
  }

  private send(message: ToHelper): void {
    // Where the helper has just died, its 'exit' rejects the call with the reason.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  private receive(message: FromHelper): void {
    if (this.ended !== undefined) return;
    switch (message.type) {
      case 'ready':
        this.started = true;
        this.settleReady.resolve();
        return;
      case 'unavailable':
        this.finish(new EngineError('unavailable', message.message, message.nextStep));
        return;
      case 'progress':
        this.pending.get(message.id)?.progress(message.progress);
        return;
      case 'result':
        this.take(message.id)?.resolve(message.result);
        return;
      case 'error':
        this.take(message.id)?.reject(new EngineError(message.kind, message.message, message.nextStep));
    }
  }

  private take(id: number): PendingCall | undefined {
    const call = this.pending.get(id);
    this.pending.delete(id);
    return call;
  }

  /** Takes no more calls and rejects the pending ones; the first reason stays. */
  private finish(error: EngineError): void {
    if (this.ended !== undefined) return;
    this.ended = error;
    if (!this.started) this.settleReady.reject(error);
    for (const call of this.pending.values()) call.reject(error);
    this.pending.clear();
    this.onEnd?.(error.kind === 'crashed' ? error : undefined);
  }

  private deathError(how: string, words: string): EngineError {
    const because = words === '' ? '' : `: ${words}`;
    if (!this.started) return unavailable(`it ended at once, ${how}${because}`);
    return new EngineError(
      'crashed',
      `The Cacheline engine ended unexpectedly (${how}${because}).`,
      'Run the command again: the engine starts anew. What had been recorded is kept on disk.',
    );
  }

  /** What the process wrote to its standard error last: the error's own line of a stack, else the last line. */
  private async lastWords(): Promise<string> {
    const { stderr } = this.child;
    if (stderr !== null && !stderr.readableEnded) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LAST_WORDS_MS);
        stderr.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    const lines = this.errorText.split('\n').filter((line) => line.trim() !== '');
    return (lines.findLast((line) => /^\w*Error\b.*:/.test(line)) ?? lines.at(-1) ?? '').trim();
  }
}

function unavailable(why: string): EngineError {
  return new EngineError(
    'unavailable',
    `The Cacheline engine could not be started: ${why}.`,
    'Install Cacheline Lens again, or run "npm run build" in a checkout.',
  );
}
