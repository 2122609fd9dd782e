// How benchmarks say what they measured.
import process from 'node:process';
import { say } from './run.mjs';

export const verdict = (reached) => (reached ? 'PASS' : 'MISS');
export const row = (...cells) => cells;

/** Columns as wide as their cells. */
export function printTable(title, rows) {
  say(`\n${title}`);
  const widths = [];
  for (const cells of rows) cells.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  for (const cells of rows) say(`  ${cells.map((cell, index) => cell.padEnd(widths[index])).join('  ')}`.trimEnd());
}

/** Replaces the last line of a terminal; nothing elsewhere. */
export function progress(text) {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${text}`);
}
