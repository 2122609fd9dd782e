// What to say where nothing was contended because threads took turns on one CPU.
import { t } from '../../protocol/l10n';
import type { Report } from '../../protocol/report';
import { count, plural } from '../text/terminal-text';

/** Below this share of the samples, turns are not worth the first words. */
const WORTH_SAYING = 0.01;

/** The report's first paragraphs; empty: threads hardly took turns, so that this is not the reason. */
export function turnsWords({ turns, samples }: Pick<Report, 'turns' | 'samples'>): string[] {
  if (turns === undefined || turns === null || turns.lines === 0 || samples.contended > 0) return [];
  if (turns.samples < WORTH_SAYING * samples.total) return [];
  const { basis, lines, oneCore, threads } = turns;
  const ofOneCore = oneCore === lines;
  const where = ofOneCore ? t('Threads ran on the CPUs of one core') : t('Threads took turns on one CPU');
  const cores = ofOneCore ? t('on several cores') : t('at once');
  const alone = ofOneCore ? t('one core') : t('one CPU');
  return [
    t('{0}; nothing was contended in this run. Record again where {1} threads can run {2}.', where, count(threads), cores),
    t(
      '{0} {1} at {2} that these threads share, and that one of them writes; {3}. Whether they wait for each other elsewhere, this run cannot tell.',
      plural(turns.samples, 'sample'),
      turns.samples === 1 ? t('is') : t('are'),
      plural(lines, 'cache line'),
      basis === 'switches'
        ? t('context switches show that they ran on {0} alone', alone)
        : t('the CPUs of samples say that they ran on {0} alone (context switches were not recorded)', alone),
    ),
  ];
}
