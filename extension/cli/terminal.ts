// The command's streams: results to standard output, everything said about them to standard error.
import { once } from 'node:events';
import { COLOURED, PLAIN, printable, shortenEnd, type Style } from '../session/text/terminal-text';
import { DONE, IO_ERROR } from '../session/record/exit-status';
import type { TerminalChoice } from './options';

const DEFAULT_WIDTH = 80;
/** A terminal that says less than this (or 0, as some do) is not believed. */
const LEAST_WIDTH = 40;
const INCAPABLE = new Set(['', 'dumb']);

let choice: TerminalChoice = {};

/** What --color and --quiet ask for; call once, before anything is written. */
export function chooseTerminal({ color, quiet }: TerminalChoice): void {
  choice = { ...(color === undefined ? {} : { color }), ...(quiet === undefined ? {} : { quiet }) };
}

/** Whoever reads our output may stop reading at any time; call once, before anything is written. */
export function watchStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(DONE); // `cacheline report | head` has seen enough
    say(`The output cannot be written: ${error.message}.`);
    process.exit(IO_ERROR);
  });
  // Nobody reads our words any more (a closed terminal, 2>&1 | head). The recording goes on.
  process.stderr.on('error', () => undefined);
}

/** Writes results. */
export function print(text: string): void {
  process.stdout.write(text);
}

/** A text, and what of it is in UTF-8 already. */
export type TextParts = Iterable<string | Uint8Array>;

/**
 * Writes results that may be longer than a string can be. It waits for the reader: what Node has to keep for a slow one it writes at
 * once later, and it fails beyond 2 GiB.
 */
export async function printAll(text: TextParts): Promise<void> {
  const batchCharacters = 1 << 20;
  let batch = '';
  for (const part of text) {
    if (typeof part === 'string') {
      batch += part;
      if (batch.length < batchCharacters) continue;
    }
    await write(batch);
    batch = '';
    if (typeof part !== 'string') await write(part);
  }
  await write(batch);
}

async function write(part: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(part)) await once(process.stdout, 'drain');
}

/** One line on standard error, under our name; control characters are made visible. For errors, warnings and what the result lacks. */
export function say(text: string): void {
  process.stderr.write(`cacheline: ${printable(text)}\n`);
}

/** As say(), of what --quiet leaves out: what is being done, and that it is done. */
export function tell(text: string): void {
  if (choice.quiet !== true) say(text);
}

/** Columns of standard output, or 80. */
export function outputWidth(): number {
  const columns = process.stdout.isTTY ? process.stdout.columns : 0;
  return columns >= LEAST_WIDTH ? columns : DEFAULT_WIDTH;
}

/**
 * Without --color, colours on a terminal only, and not against NO_COLOR (no-color.org).
 * @param file what the result is written to instead of to standard output
 */
export function outputStyle(file?: string): Style {
  if (choice.color !== undefined) return choice.color === 'always' ? COLOURED : PLAIN;
  const { NO_COLOR = '' } = process.env;
  return file === undefined && isCapableTerminal() && NO_COLOR === '' ? COLOURED : PLAIN;
}

/** Whether standard output is a terminal that can do more than print lines. */
export function isCapableTerminal(): boolean {
  return process.stdout.isTTY && !INCAPABLE.has(process.env['TERM'] ?? '');
}

/** A line on standard error that is rewritten in place; nothing at all where that is no terminal, or with --quiet. */
export class ProgressLine {
  private shown = false;

  show(text: string): void {
    if (!process.stderr.isTTY || choice.quiet === true) return;
    const width = (process.stderr.columns || DEFAULT_WIDTH) - 1;
    // CR, the text, erase to the end of the line (ECMA-48 EL).
    process.stderr.write(`\r${shortenEnd(text, width)}\u001b[K`);
    this.shown = true;
  }

  clear(): void {
    if (this.shown) process.stderr.write('\r\u001b[K');
    this.shown = false;
  }
}
