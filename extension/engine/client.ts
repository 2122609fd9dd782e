// The extension host's side of the engine: starts helper processes on the first call that needs one, and outlives their deaths.
import { fork, type ChildProcess } from 'node:child_process';
import { EngineError } from '../protocol/engine';
import type { CallOptions, Engine, EngineCalls, EngineMethod, FromHelper, SuspectsAnswer, ToHelper } from '../protocol/engine';
import { t } from '../protocol/l10n';
import { OpenProfiles } from './open-profiles';
import { looksBy, type Looks } from './suspects';

export interface EngineClientOptions {
  /** dist/helper.js. */
  helperPath: string;
  /** The extension's version, which the engine's must be; by default any will do. */
  version?: string;
  /** Node options of the helper; none by default, so that the host's own (a debugger port, say) are not inherited. */
  execArgv?: readonly string[];
  environment?: NodeJS.ProcessEnv;
  startTimeoutMs?: number;
  cancelTimeoutMs?: number;
  /** For questions to open profiles. */
  answerTimeoutMs?: number;
}

/** A recording has a process of its own: a file that crashes the analysis does not end it. */
type Role = 'recording' | 'analysis';

const START_TIMEOUT_MS = 15_000;
/** An analysis that was cancelled, or is to be ended, gets this long to end by itself. A recording gets the time it needs. */
const CANCEL_TIMEOUT_MS = 5_000;
/** A helper with open recordings gets this long to close them; it gives itself 10 s. */
const CLOSE_TIMEOUT_MS = 12_000;
/** How long a dead helper's last words may take to arrive: a program it started can hold the pipe open. */
const LAST_WORDS_MS = 200;
const KEPT_ERROR_TEXT = 8192;

export class EngineClient implements Engine {
  private readonly helpers = new Map<Role, Helper>();
  private disposed = false;
  private readonly crashListeners = new Set<(error: EngineError) => void>();

  private readonly profiles: OpenProfiles;
  private readonly looks: Looks = {
    ...looksBy(this),
    // Where no process analyzes, none has kept anything.
    forget: (path) =>
      void this.helpers
        .get('analysis')
        ?.call('forget', { path }, {})
        .catch(() => undefined),
  };

  constructor(private readonly options: EngineClientOptions) {
    this.profiles = new OpenProfiles(() => this.start('analysis'), options.answerTimeoutMs);
  }

  /**
   * Rejects with EngineError only; 'crashed' where the helper died meanwhile: the next call starts a new one. Where a helper was ended
   * because it did not answer another call's cancel, the call is made again in a new one. Open profiles outlive helpers.
   */
  async call<M extends EngineMethod>(
    method: M,
    params: EngineCalls[M]['params'],
    options: CallOptions<M> = {},
  ): Promise<EngineCalls[M]['result']> {
    for (;;) {
      try {
        return await this.callOnce(method, params, options);
      } catch (error) {
        if (!(error instanceof Superseded)) throw error;
      }
    }
  }

  /** Starts the process that analyzes, where none runs: for a call that is to come. What keeps it from starting, that call says. */
  prepare(): void {
    this.start('analysis').catch(() => undefined);
  }

  /** Called when a helper that had started dies without being asked to, with calls pending or not. */
  onCrash(listener: (error: EngineError) => void): { dispose(): void } {
    this.crashListeners.add(listener);
    return { dispose: () => this.crashListeners.delete(listener) };
  }

  /**
   * Ends the process that analyzes and starts another one, in which open profiles come back. Its calls reject as 'cancelled', but for
   * questions to open profiles, which are asked again. A recording goes on. Rejects where no process can be started.
   */
  async restart(): Promise<void> {
    await this.helpers.get('analysis')?.end(t('The Cacheline engine was restarted.'));
    await this.start('analysis');
  }

  /** Ends the helpers for good; pending calls reject as 'cancelled', running recordings are closed. Resolves when they have gone. */
  async dispose(): Promise<void> {
    this.disposed = true;
    this.crashListeners.clear();
    await Promise.all([...this.helpers.values()].map((helper) => helper.end(t('The Cacheline engine was shut down.'))));
  }

  /** How many profiles are open. */
  get openProfiles(): number {
    return this.profiles.count;
  }

  /** The process that analyzes, where one runs. */
  get pid(): number | undefined {
    return this.helpers.get('analysis')?.pid;
  }

  /** The process that records, where one runs. */
  get recorderPid(): number | undefined {
    return this.helpers.get('recording')?.pid;
  }

  private async callOnce<M extends EngineMethod>(
    method: M,
    params: EngineCalls[M]['params'],
    options: CallOptions<M>,
  ): Promise<EngineCalls[M]['result']> {
    if (isOfProfiles(method)) {
      const call = this.profiles[method].bind(this.profiles) as (params: unknown, options: unknown) => Promise<unknown>;
      return call(params, options) as Promise<EngineCalls[M]['result']>;
    }
    const helper = await this.start(method === 'record' ? 'recording' : 'analysis');
    return helper.call(method, params, options);
  }

  private async start(role: Role): Promise<Helper> {
    if (this.disposed) throw new EngineError('unavailable', t('The Cacheline engine was shut down.'));
    let helper = this.helpers.get(role);
    if (helper === undefined) {
      const started = (helper = new Helper(this.options, role, this.looks));
      this.helpers.set(role, started);
      started.onEnd = (crash) => {
        if (this.helpers.get(role) === started) this.helpers.delete(role);
        if (crash !== undefined) for (const listener of this.crashListeners) listener(crash);
      };
    }
    await helper.ready;
    return helper;
  }
}

type ProfileMethod = 'open' | 'filter' | 'ask' | 'close';

function isOfProfiles(method: EngineMethod): method is ProfileMethod {
  return method === 'open' || method === 'filter' || method === 'ask' || method === 'close';
}

/** Of a call whose helper was ended because of another call. */
class Superseded extends EngineError {
  constructor() {
    super('cancelled', t('The Cacheline engine did not answer and was stopped.'));
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
  /** Recordings that asked for suspects and run. */
  private readonly looked = new Set<string>();
  /** Ends looking for suspects when no recording runs any more. */
  private looking = new AbortController();
  private nextId = 1;
  private errorText = '';
  private started = false;
  /** Why it takes no more calls. */
  private ended: EngineError | undefined;
  private settleReady: { resolve(): void; reject(error: EngineError): void } = { resolve: () => undefined, reject: () => undefined };

  constructor(
    private readonly options: EngineClientOptions,
    private readonly role: Role,
    private readonly looks: Looks,
  ) {
    const { helperPath, execArgv = [], environment = process.env, startTimeoutMs = START_TIMEOUT_MS } = options;
    this.ready = new Promise((resolve, reject) => (this.settleReady = { resolve, reject }));
    this.child = fork(helperPath, [], {
      execArgv: [...execArgv],
      env: process.versions['electron'] === undefined ? environment : { ...environment, ELECTRON_RUN_AS_NODE: '1' },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const timer = setTimeout(() => {
      this.finish(unavailable(t('it did not answer within {0} s', startTimeoutMs / 1000)));
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
        void this.lastWords().then((words) => this.finish(this.deathError(signal ?? t('exit status {0}', String(code)), words)));
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** It takes no more calls. */
  isEnded(): boolean {
    return this.ended !== undefined;
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
      let deadline: NodeJS.Timeout | undefined;
      const abort = (): void => {
        this.send({ type: 'abort', id });
        if (this.role === 'analysis') deadline = setTimeout(() => this.giveUp(id), this.options.cancelTimeoutMs ?? CANCEL_TIMEOUT_MS);
      };
      const settled = (): void => {
        clearTimeout(deadline);
        signal?.removeEventListener('abort', abort);
      };
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
    const patience = this.role === 'recording' ? CLOSE_TIMEOUT_MS : (this.options.cancelTimeoutMs ?? CANCEL_TIMEOUT_MS);
    const timer = setTimeout(() => this.child.kill('SIGKILL'), patience);
    await this.exited;
    clearTimeout(timer);
  }

  /** A call that was cancelled does not end: the process does, and its other calls are made again. */
  private giveUp(id: number): void {
    this.take(id)?.reject(new EngineError('cancelled', t('The analysis was cancelled.')));
    this.finish(new Superseded());
    this.child.kill('SIGKILL');
  }

  private send(message: ToHelper): void {
    // Where the helper has just died, its 'exit' rejects the call with the reason.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  private receive(message: FromHelper): void {
    if (this.ended !== undefined) return;
    switch (message.type) {
      case 'ready':
        this.becomeReady(message.version);
        return;
      case 'unavailable':
        this.finish(new EngineError('unavailable', message.message, message.nextStep));
        return;
      case 'progress':
        this.pending.get(message.id)?.progress(message.progress);
        return;
      case 'suspects':
        void this.answerSuspects(message);
        return;
      case 'forget':
        this.forget(message.path);
        return;
      case 'result':
        this.take(message.id)?.resolve(message.result);
        return;
      case 'error':
        this.take(message.id)?.reject(new EngineError(message.kind, message.message, message.nextStep));
    }
  }

  private becomeReady(version: string): void {
    const { version: own = version } = this.options;
    if (version === own) {
      this.started = true;
      this.settleReady.resolve();
      return;
    }
    const what = t("its version is {0}, the extension's is {1}", version, own);
    this.finish(new EngineError('unavailable', t('The Cacheline engine could not be used: {0}.', what), t('Reinstall Cacheline Lens.')));
    this.child.kill('SIGKILL');
  }

  private async answerSuspects({ id, path }: Extract<FromHelper, { type: 'suspects' }>): Promise<void> {
    this.looked.add(path);
    const answer: SuspectsAnswer = await this.looks.find(path, this.looking.signal);
    this.send({ type: 'suspects', id, answer });
  }

  private forget(path: string): void {
    if (this.looked.delete(path)) this.looks.forget(path);
  }

  private take(id: number): PendingCall | undefined {
    const call = this.pending.get(id);
    this.pending.delete(id);
    if (this.pending.size === 0) {
      this.looking.abort();
      this.looking = new AbortController();
    }
    return call;
  }

  /** Takes no more calls and rejects the pending ones; the first reason stays. */
  private finish(error: EngineError): void {
    if (this.ended !== undefined) return;
    this.ended = error;
    this.looking.abort();
    for (const path of this.looked) this.forget(path);
    if (!this.started) this.settleReady.reject(error);
    for (const call of this.pending.values()) call.reject(error);
    this.pending.clear();
    this.onEnd?.(error.kind === 'crashed' ? error : undefined);
  }

  private deathError(how: string, words: string): EngineError {
    const because = words === '' ? '' : `: ${words}`;
    if (!this.started) return unavailable(t('it ended at once, {0}{1}', how, because));
    return new EngineError(
      'crashed',
      t('The Cacheline engine ended unexpectedly ({0}{1}).', how, because),
      t('Run the command again: that restarts the engine. What was recorded is kept on disk.'),
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
    t('The Cacheline engine could not be started: {0}.', why),
    t('Reinstall Cacheline Lens, or run "npm run build" in a checkout.'),
  );
}
