// Verdicts in words that say how sure they are.
import type { FalseShare } from '../../protocol/false-share';
import type { Verdict } from '../../protocol/report';

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
  if (verdictSure || falseShare === null) return verdict;
  if (verdict === 'false sharing' || verdict === 'true sharing') return `mostly ${verdict}`;
  if (falseShare.value === null) return 'true or false sharing (unknown which: no write was seen)';
  const isOpen = falseShare.low <= 0.2 && falseShare.high >= 0.8;
  return isOpen ? 'true or false sharing (these samples cannot tell which)' : verdict;
}
