// Durations as people read them.

/** "1.25 s", "400 ms", "45.1 ms", "0.3 ms". */
export function duration(ns: number): string {
  const ms = ns / 1e6;
  if (ms >= 999.5) return `${(ms / 1e3).toFixed(2)} s`;
  return `${ms.toFixed(ms >= 99.95 ? 0 : 1)} ms`;
}
