// What a profile finds contended, by source line: at the declaration of a member or variable where that is known, else at the code that
// waits or makes others wait.
import { amountOf, shareOf, wholeOf, type Measure, type Measured } from '../../protocol/measure';
import { ownPlace } from '../../protocol/own-place';
import type { Access, CacheLine, SourcePlace, Verdict } from '../../protocol/report';
import { VERDICT_MEANING, VERDICT_WORDS } from '../../protocol/words';
import { cardOfAccess, type TypeCard } from '../layout/type-heat';
import { addressOf, dataText, quoted } from '../report/data-text';
import { findingAt } from '../report/lead';
import { waitsText } from '../report/remedies';
import { memberOfAccess } from './contended-tree';
import { causedBy, competingThreads, heatText, isFrom, takesPart, type LineAccess } from './heat';

/** Contended data, or code. */
export interface Finding {
  /** As recorded. */
  place: SourcePlace;
  /** Of the report's finding that most of it counts for; of what does not wait, of its cache line. */
  verdict: Verdict;
  /** Plain text: which data, how much, and who waits for what. */
  text: string;
}

/**
 * @param lines of the profile that measured most
 * @param cardsOf the types of a name, as `ShownProfile.cardsOf`
 * @param percent of the whole that data has to have measured, or caused
 * @returns one a source line, what measured most first
 */
export function findingsOf(
  report: Measured,
  lines: readonly CacheLine[],
  cardsOf: (type: string) => readonly TypeCard[],
  measure: Measure,
  percent: number,
): Finding[] {
  const byPlace = new Map<string, { place: SourcePlace; own: LineAccess[] }>();
  for (const cacheLine of lines) {
    for (const access of cacheLine.accesses) {
      const one = { cacheLine, access };
      const place = takesPart(one, measure) ? declaredAt(access, cardsOf) : undefined;
      if (!place) continue;
      const key = `${place.line} ${place.file}`;
      const there = byPlace.get(key);
      if (there) there.own.push(one);
      else byPlace.set(key, { place, own: [one] });
    }
  }
  const whole = wholeOf(report, measure);
  const found = [...byPlace.values()].map(({ place, own }) => {
    const amount = own.reduce((sum, { access }) => sum + amountOf(access, measure), 0);
    return { place, own, amount, caused: amount === 0 ? causedBy(own, measure) : 0 };
  });
  return found
    .filter((one) => isFrom(one, whole, percent))
    .sort((a, b) => Math.max(b.amount, b.caused) - Math.max(a.amount, a.caused))
    .map(({ place, own, amount, caused }) => {
      const { cacheLine, access } = own.reduce((a, b) => (weightOf(b, measure) > weightOf(a, measure) ? b : a));
      const verdict =
        findingAt(
          report,
          own.map((one) => one.access),
        )?.verdict ?? cacheLine.verdict;
      const heat = heatText({ measure, amount, share: shareOf(amount, whole), caused, ...competingThreads(own, measure) });
      return {
        place,
        verdict,
        text: `${nameOf(cacheLine, access)}: ${VERDICT_WORDS[verdict]}, ${heat}. ${waitsText(cacheLine) || VERDICT_MEANING[verdict]}`,
      };
    });
}

/** Of an access that measured nothing itself, its cache line counts. */
function weightOf({ access, cacheLine }: LineAccess, measure: Measure): number {
  return amountOf(access, measure) || amountOf(cacheLine, measure);
}

function declaredAt(access: Access, cardsOf: (type: string) => readonly TypeCard[]): SourcePlace | undefined {
  const { type = '', definition } = access.data;
  const card = type === '' ? undefined : cardOfAccess(cardsOf(type), access);
  const member = card?.members[memberOfAccess(card, access)]?.member;
  const place = card && member ? { file: member.file ?? card.layout.file, line: member.line } : undefined;
  return [place, definition ?? undefined, ownPlace(access)].find((one) => one !== undefined && one.file !== '' && one.line > 0);
}

/** "'queue.limit'". */
function nameOf(line: CacheLine, access: Access): string {
  return quoted(dataText(access.data, () => addressOf(line, access)));
}
