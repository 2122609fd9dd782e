// Numbers and paths as the panel shows them.
import { t } from '../../extension/protocol/l10n';

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

export function plural(value: number, noun: string): string {
  return t(`{0} ${value === 1 ? noun : `${noun}s`}`, count(value));
}

/** "2.7 s", and of less than a tenth of a second "35 ms". */
export function duration(seconds: number): string {
  return seconds < 0.1 ? `${(seconds * 1000).toFixed(0)} ms` : `${seconds.toFixed(1)} s`;
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A command line for reading: arguments with white space are quoted. */
export function commandLine(command: readonly string[]): string {
  return command.map((word) => (/\s/.test(word) || word === '' ? `'${word}'` : word)).join(' ');
}
