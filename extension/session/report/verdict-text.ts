// Verdicts in words that say how sure they are.
import type { FalseShare } from '../../protocol/false-share';
import { t } from '../../protocol/l10n';
import type { Report, Verdict } from '../../protocol/report';
import { VERDICT_WORDS } from '../../protocol/words';
import { count } from '../text/terminal-text';

interface Judged {
  verdict: Verdict;
  falseShare: FalseShare | null;
}

/** Bounds are narrow enough from here on: a verdict in between is sure then, or mixed. */
const NARROW = 0.3;
/** Times the recording's length. */
const MOST_TIMES = 50;
const SHORTEST = 10; // seconds

/** "false sharing", "mostly false sharing"; of what is mixed whether the samples could say anything else. */
export function verdictText({ verdict, verdictSure, falseShare }: Judged & { verdictSure: boolean }): string {
  const word = VERDICT_WORDS[verdict];
  if (verdictSure || falseShare === null) return word;
  if (cannotTell({ verdict, falseShare })) {
    return falseShare.value === null
      ? t('true or false sharing (unknown which: no access that they wait for was sampled)')
      : t('true or false sharing (too few samples to tell which)');
  }
  return verdict === 'false sharing' || verdict === 'true sharing' ? t('mostly {0}', word) : word;
}

/** Whether samples leave open all that a contended line, object or type can be. */
export function cannotTell({ verdict, falseShare }: Judged): boolean {
  if (verdict !== 'false sharing' && verdict !== 'true sharing' && verdict !== 'mixed') return false;
  return falseShare !== null && (falseShare.value === null || (falseShare.low <= 0.2 && falseShare.high >= 0.8));
}

/** Sampling error shrinks with the root of the number of samples. */
export function secondsToTell({ seconds }: Pick<Report, 'seconds'>, falseShare: FalseShare): string {
  const times = Math.min(MOST_TIMES, Math.max(2, ((falseShare.high - falseShare.low) / NARROW) ** 2));
  return count(Math.ceil(Math.max(SHORTEST, seconds * times)));
}

/** What to do where samples cannot tell. */
export function recordLonger(report: Pick<Report, 'seconds'>, falseShare: FalseShare): string {
  if (falseShare.value === null)
    return t(
      'No access that threads wait for here was sampled, so it is not known whether moving data apart helps: record for longer, and with stores.',
    );
  return t(
    'There are too few samples to tell whether moving data apart helps: record for about {0} seconds.',
    secondsToTell(report, falseShare),
  );
}
