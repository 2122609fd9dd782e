// A report's JSON text in pieces, as the addon writes it: a report of all lines may be longer than a string can be.
import { EngineError } from '../protocol/engine';
import type { CacheLine, Report } from '../protocol/report';

/**
 * Joined they are the document. The first one ends with the `[` of `lines`, the last one begins with its `]`; those between are
 * whole lines, all but the first of them behind a comma.
 */
export type ReportPieces = readonly string[];

/** Characters of JSON beyond which its objects would not fit into the memory Node gives itself. */
const MOST_CHARACTERS = 400e6;

/** @throws EngineError 'usage' where it is too long to be held as one object */
export function reportOf(pieces: ReportPieces): Report {
  const characters = pieces.reduce((sum, { length }) => sum + length, 0);
  if (characters > MOST_CHARACTERS) {
    throw new EngineError(
      'usage',
      `The report of all lines takes ${(characters / 1e9).toFixed(1)} GB as JSON, more than can be shown at once.`,
      'Leave out --show-all, filter by time, thread or CPU, or take it as CSV or JSON on the command line.',
    );
  }
  const report = headOf(pieces);
  return { ...report, lines: [...linesOf(pieces)] };
}

/** The report without its lines. */
export function headOf(pieces: ReportPieces): Report {
  return JSON.parse(`${pieces[0] ?? ''}${pieces.at(-1) ?? ''}`) as Report;
}

/** One after the other, so that few have to be held. */
export function* linesOf(pieces: ReportPieces): Generator<CacheLine> {
  for (const piece of pieces.slice(1, -1)) yield* JSON.parse(`[${piece.startsWith(',') ? piece.slice(1) : piece}]`) as CacheLine[];
}
