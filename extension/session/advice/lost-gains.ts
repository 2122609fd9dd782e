// Where advice says that no layout gains anything: whether samples that lost their address may be why.
import type { Advice, AdviceList } from '../../protocol/advice';
import { t } from '../../protocol/l10n';
import type { CacheLine, Report } from '../../protocol/report';
import { lostNear } from '../report/blindness';
import { subjectName } from './advice-names';

/** Whether no change is made of what waits falsely: it is predicted to gain too little. */
function gainsTooLittle({ way, verdict, predicted }: Advice): boolean {
  return verdict !== 'true sharing' && (way === 'none' || predicted.threadsOnly);
}

/** Whether lostGains() can have something to say, and so needs the report. */
export function needsReport({ advice }: AdviceList): boolean {
  return advice.some(gainsTooLittle);
}

/**
 * @param report of the same samples
 * @returns a sentence for each advice to change nothing that rests on a part of its samples
 */
export function lostGains({ advice }: AdviceList, report: Report): string[] {
  return advice.filter(gainsTooLittle).flatMap((one) => {
    const lost = lostNear(
      report,
      report.lines.filter((line) => isOf(line, one)),
    );
    return lost === ''
      ? []
      : [t('The predicted gain of a change of {0} is a lower bound: close to its accesses, {1}.', subjectName(one.subject), lost)];
  });
}

function isOf({ accesses }: CacheLine, { subject: { type, object } }: Advice): boolean {
  return accesses.some(({ data }) => (object !== '' && data.object === object) || (type !== '' && data.type === type));
}
