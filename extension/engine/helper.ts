// The helper process: loads the native addon and answers the calls of the extension host over the IPC channel.
// A crash here costs one profile. An uncaught exception is left to Node: it prints the stack and ends the process, which the
// client reports as a crash.
import type { EngineCalls, EngineMethod, FromHelper, SuspectsAnswer, ToHelper } from '../protocol/engine';
import { loadAddon, NativeEngine, toEngineError } from './native';

/** Recordings get this long to be closed after the host has gone: the recorder waits up to 5 s for its program. */
const SHUTDOWN_MS = 10_000;

/** Recordings that wait for their suspects. */
const asking = new Map<number, (answer: SuspectsAnswer) => void>();
let lastAsked = 0;
const running = new Map<number, { abort: AbortController; done: Promise<void> }>();
let ending = false;

/** `sent` also takes the error of a host that has just gone: 'disconnect' then ends this process. */
function send(message: FromHelper, sent: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
}

function sendError(id: number, error: unknown): void {
  const { kind, message, nextStep } = toEngineError(error);
  send({ type: 'error', id, kind, message, nextStep });
}

async function answer(engine: NativeEngine, id: number, method: EngineMethod, params: unknown, signal: AbortSignal): Promise<void> {
  try {
    const result = await engine.call(method, params as EngineCalls[EngineMethod]['params'], {
      signal,
      onProgress: (progress) => send({ type: 'progress', id, progress }),
    });
    send({ type: 'result', id, result });
  } catch (error) {
    sendError(id, error);
  } finally {
    running.delete(id);
  }
}

/** Asks the host, who has another process for it. An answer that is not wanted any more goes nowhere. */
function findSuspects(path: string, signal: AbortSignal): Promise<SuspectsAnswer> {
  return new Promise((resolve) => {
    const id = ++lastAsked;
    const answered = (answer: SuspectsAnswer): void => {
      asking.delete(id);
      resolve(answer);
    };
    asking.set(id, answered);
    signal.addEventListener('abort', () => answered({ why: '' }), { once: true });
    send({ type: 'suspects', id, path });
  });
}

function receive(engine: NativeEngine, message: ToHelper): void {
  if (message.type === 'suspects') {
    asking.get(message.id)?.(message.answer);
    return;
  }
  if (ending) return;
  if (message.type === 'abort') {
    running.get(message.id)?.abort.abort();
    return;
  }
  const abort = new AbortController();
  running.set(message.id, { abort, done: answer(engine, message.id, message.method, message.params, abort.signal) });
}

/** Ends the recordings, which keeps them and asks their programs to end, then this process. */
async function shutDown(): Promise<void> {
  if (ending) return;
  ending = true;
  // SIGKILL, because a normal exit waits for the addon's threads and one of them may be what hangs.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), SHUTDOWN_MS).unref();
  for (const { abort } of running.values()) abort.abort();
  await Promise.all([...running.values()].map(({ done }) => done));
  process.exit(0);
}

function start(): void {
  if (process.send === undefined) throw new Error('helper.js is started by the extension, with an IPC channel');
  // Set by the client so that Electron behaves as Node; programs that are recorded must not inherit it.
  delete process.env['ELECTRON_RUN_AS_NODE'];
  for (const event of ['disconnect', 'SIGTERM', 'SIGINT', 'SIGHUP']) process.on(event, () => void shutDown());
  let engine: NativeEngine;
  let version: string;
  try {
    const addon = loadAddon();
    version = addon.version();
    engine = new NativeEngine(addon, { find: findSuspects, forget: (path) => send({ type: 'forget', path }) });
  } catch (error) {
    const { message, nextStep } = toEngineError(error);
    send({ type: 'unavailable', message, nextStep }, () => process.disconnect());
    return;
  }
  process.on('message', (message) => receive(engine, message as ToHelper));
  send({ type: 'ready', version });
}

start();
