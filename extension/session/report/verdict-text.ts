// Verdicts in words that say how sure they are.
import type { FalseShare } from '../../protocol/false-share';
import { t } from '../../protocol/l10n';
import type { Verdict } from '../../protocol/report';
import { VERDICT_WORDS } from '../../protocol/words';

/** "false sharing", "mostly false sharing"; of what is mixed whether the samples could say anything else. */
export function verdictText({
  verdict,
  verdictSure,
  falseShare,
}: {
  verdict: Verdict;
  verdictSure: boolean;
  falseShare: FalseShare | null;
}): string {
  const word = VERDICT_WORDS[verdict];
  if (verdictSure || falseShare === null) return word;
  if (verdict === 'false sharing' || verdict === 'true sharing') return t('mostly {0}', word);
  if (falseShare.value === null) return t('true or false sharing (unknown which: no write was seen)');
  const isOpen = falseShare.low <= 0.2 && falseShare.high >= 0.8;
  return isOpen ? t('true or false sharing (these samples cannot tell which)') : word;
}
