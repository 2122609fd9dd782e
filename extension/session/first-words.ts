// The first paragraphs about any recording, in the words of its evidence.
import type { Report } from '../protocol/report';
import { whyNoSamples } from '../protocol/words';
import { c2cWords } from './c2c-words';
import { plainWords } from './plain-words';
import { printable } from './terminal-text';

/** Paragraphs of printable text, not wrapped; the first one alone sums up. */
export function firstWords(report: Report): string[] {
  if (report.samples.total === 0) return whyNoSamples(report).map(printable);
  return report.c2c === undefined ? plainWords(report) : c2cWords(report);
}
