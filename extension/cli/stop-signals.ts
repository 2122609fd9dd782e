// What Ctrl-C and its like do while a program runs or a process is looked at: they end that, and what was seen is kept.
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const OWN_WAY_MS = 1000;

export interface StopSignals {
  /** Aborted by the signals. */
  signal: AbortSignal;
  /** Whether one came. */
  asked(): boolean;
}

/**
 * Every signal is taken until the very end, and what is done is closed whatever comes: within 5 s of asking the program to end.
 * @param withProgram the terminal's Ctrl-C went to the program too: it may end in its own way first
 * @param onFirst called with the name of the first signal
 */
export function stopSignals(withProgram: boolean, onFirst: (name: string) => void): StopSignals {
  const stop = new AbortController();
  let signals = 0;
  for (const name of STOP_SIGNALS) {
    process.on(name, () => {
      if (++signals === 1) onFirst(name);
      if (name === 'SIGINT' && signals === 1 && withProgram) setTimeout(() => stop.abort(), OWN_WAY_MS).unref();
      else stop.abort();
    });
  }
  // Nothing is left to do or to write. Else Node would take itself apart, in which a signal ends it with a status of its own.
  process.once('beforeExit', () => process.exit());
  return { signal: stop.signal, asked: () => signals > 0 };
}
