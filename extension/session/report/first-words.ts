// The first paragraphs about any recording, in the words of its evidence.
import { t } from '../../protocol/l10n';
import type { PanelWords } from '../../protocol/panel';
import type { Report } from '../../protocol/report';
import type { ShownProfile } from '../profile/shown-profile';
import { whyNoSamples } from '../../protocol/words';
import { allContendedLoads } from './c2c-facts';
import { c2cParts, c2cWords } from './c2c-words';
import { leadOf } from './lead';
import { plainParts, plainWords } from './plain-words';
import { count, plural, printable } from '../text/terminal-text';
import { turnsWords } from './turns-words';

/**
 * Paragraphs of printable text, not wrapped; the first one alone sums up.
 * @param contendedLines how many there are, where not all are at hand
 */
export function firstWords(report: Report, contendedLines?: number): string[] {
  if (report.samples.total === 0) return whyNoSamples(report).map(printable);
  const { selected } = report;
  if (selected?.lines === 0) return [t('The filter selects none of {0}.', plural(selected.of, 'line'))];
  const [first = '', ...others] = report.c2c === undefined ? plainWords(report, contendedLines) : c2cWords(report);
  return [selected === undefined ? first : `${selectedText(selected)} ${first}`, ...others];
}

function selectedText({ lines, of }: { lines: number; of: number }): string {
  return t(
    'The filter selects {0} of {1}; shares are of all samples, and sums of objects and types are over all lines.',
    count(lines),
    plural(of, 'line'),
  );
}

/** The advice about what the first paragraph leads with: its index in the list; undefined where none is. */
export function leadAdvice(report: Pick<Report, 'findings' | 'samples' | 'stats' | 'c2c'>): number | undefined {
  const { c2c, samples } = report;
  const lead = leadOf(report, c2c === undefined ? samples.contended : allContendedLoads(report, c2c.display));
  return lead?.findings.find(({ advice }) => advice !== null)?.advice ?? undefined;
}

type Summed = Pick<ShownProfile, 'report' | 'first' | 'contendedLines'>;

/** The first paragraph about a profile that is shown. */
export function summaryOf({ report, first, contendedLines }: Summed): string {
  const [words = ''] = firstWords({ ...report, lines: first.lines }, contendedLines);
  return words;
}

/** The same in parts, for the page, which says itself what could not be seen. */
export function panelWords({ report, first, contendedLines }: Summed): PanelWords {
  const whole = { ...report, lines: first.lines };
  if (report.samples.total === 0 || report.selected?.lines === 0) {
    const [summary = '', meaning = ''] = firstWords(whole);
    return { summary, meaning, lookFirst: [] };
  }
  const { paragraphs, lookFirst } = report.c2c === undefined ? plainParts(whole, contendedLines) : c2cParts(whole);
  const [summary = '', ...meaning] = paragraphs;
  return {
    summary: report.selected === undefined ? summary : `${selectedText(report.selected)} ${summary}`,
    meaning: meaning.filter((text) => text !== '').join(' '),
    lookFirst,
    ...(turnsWords(whole).length > 0 ? { again: true as const } : {}),
  };
}
