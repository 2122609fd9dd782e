// Verdicts in words that say how sure they are.
import type { FalseShare } from '../../protocol/false-share';
import { t } from '../../protocol/l10n';
import type { StoreCounts, Verdict } from '../../protocol/report';
import { VERDICT_WORDS } from '../../protocol/words';

/** "false sharing", "mostly false sharing"; of what is mixed whether the samples could say anything else. */
export function verdictText({
  verdict,
  verdictSure,
  falseShare,
  stores,
}: {
  verdict: Verdict;
  verdictSure: boolean;
  falseShare: FalseShare | null;
  /** In the samples. */
  stores: StoreCounts | number;
}): string {
  const word = VERDICT_WORDS[verdict];
  if (verdictSure || falseShare === null) return word;
  if (verdict === 'false sharing' || verdict === 'true sharing') return t('mostly {0}', word);
  const writes = typeof stores === 'number' ? stores : stores.total;
  if (falseShare.value === null && writes === 0) return t('true or false sharing (unknown which: no write was sampled)');
  const isOpen = falseShare.value === null || (falseShare.low <= 0.2 && falseShare.high >= 0.8);
  return isOpen ? t('true or false sharing (these samples cannot tell which)') : word;
}
