// What to say where nothing was contended because threads took turns on one CPU.
import { t } from '../../protocol/l10n';
import type { Report } from '../../protocol/report';
import { count, plural } from '../text/terminal-text';

/** The report's first paragraphs; empty: threads did not take turns, so that this is not the reason. */
export function turnsWords({ turns, samples }: Pick<Report, 'turns' | 'samples'>): string[] {
  if (turns === undefined || turns === null || turns.lines === 0 || samples.contended > 0) return [];
  const { basis, lines, oneCore, threads } = turns;
  const where = oneCore === lines ? t('Threads ran on the CPUs of one core') : t('Threads took turns on one CPU');
  const cores = oneCore === lines ? t('on several cores') : t('at once');
  return [
    t('{0}; nothing was contended in this run. Record again where {1} threads can run {2}.', where, count(threads), cores),
    t(
      '{0} at {1} that these threads share would count as contended if another core had been at work there meanwhile; {2}.',
      plural(turns.samples, 'sample'),
      plural(lines, 'cache line'),
      basis === 'switches' ? t('context switches show that none was') : t('the CPUs of samples show none (context switches were not recorded)'),
    ),
  ];
}
