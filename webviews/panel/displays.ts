// What lines of a recording with data sources can be chosen and sorted by, as `perf c2c report -d` has it.
import { t } from '../../extension/protocol/l10n';
import type { Display, Evidence } from '../../extension/protocol/report';

export const DISPLAY_NAME: Record<Display, string> = {
  tot: t('Total HITMs'),
  lcl: t('Local HITMs'),
  rmt: t('Remote HITMs'),
  peer: t('Peer hits'),
};

/** What the evidence counts. */
export function displaysOf(evidence: readonly Evidence[]): Display[] {
  const hitm: Display[] = evidence.includes('hitm') ? ['tot', 'lcl', 'rmt'] : [];
  return evidence.includes('peer') ? [...hitm, 'peer'] : hitm;
}
