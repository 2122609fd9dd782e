// The first paragraphs about any recording, in the words of its evidence.
import type { Report } from '../../protocol/report';
import type { ShownProfile } from '../profile/shown-profile';
import { whyNoSamples } from '../../protocol/words';
import { c2cWords } from './c2c-words';
import { costText, plainWords } from './plain-words';
import { count, plural, printable } from '../text/terminal-text';

/** Paragraphs of printable text, not wrapped; the first one alone sums up. */
export function firstWords(report: Report): string[] {
  if (report.samples.total === 0) return whyNoSamples(report).map(printable);
  const { selected } = report;
  if (selected?.lines === 0) return [`The filter selects none of ${plural(selected.of, 'line')}.`];
  const [first = '', ...others] = report.c2c === undefined ? plainWords(report) : c2cWords(report);
  return [selected === undefined ? first : `${selectedText(selected)} ${first}`, ...others];
}

function selectedText({ lines, of }: { lines: number; of: number }): string {
  return `The filter selects ${count(lines)} of ${plural(of, 'line')}; shares are of all samples, and sums of objects and types are over all lines.`;
}

/** The first paragraph about a profile that is shown; of so many contended lines or objects that not all are here, what they cost together. */
export async function summaryOf(profile: Pick<ShownProfile, 'report' | 'first' | 'hasAllObjects' | 'ask'>): Promise<string> {
  const { report, first } = profile;
  const hasAll = profile.hasAllObjects && (first.total === first.lines.length || first.lines.at(-1)?.contended === 0);
  if (report.c2c === undefined && !hasAll) {
    const { total } = await profile.ask({ question: 'lines', filter: 'contended>0', count: 0 });
    if (total > 0) return costText(report, total);
  }
  const [words = ''] = firstWords({ ...report, lines: first.lines });
  return words;
}
