// What watchpoints say to a line's verdict, in the same words everywhere. Absence is never a refutation.
import { t } from './l10n';
import type { Confirmation } from './report';

interface Watched {
  confirmation?: Pick<Confirmation, 'confirmed' | 'sentence'>;
}

/** Beside a verdict that watchpoints have confirmed. */
export const CONFIRMED_MARK = '✓';

export function isConfirmed({ confirmation }: Watched): boolean {
  return confirmation?.confirmed === true;
}

/** "confirmed by watchpoints: 2 threads write 'a' and 'b' in turn: ..."; empty where nothing of the line was watched. Holds untrusted names. */
export function confirmationText({ confirmation }: Watched): string {
  if (confirmation === undefined) return '';
  return t('{0} by watchpoints: {1}', confirmation.confirmed ? t('confirmed') : t('not confirmed'), confirmation.sentence);
}
