// Heat of source lines: each access credits what it measured to every line it stands on, inline chain included.
import { heatStep, type HeatStep } from '../../protocol/heat-scale';
import { t } from '../../protocol/l10n';
import { amountOf, MEASURE_WORDS, shareOf, type Measure } from '../../protocol/measure';
import type { SourceLineHeat } from '../../protocol/profile';
import type { Access, CacheLine, SourcePlace } from '../../protocol/report';
import { reads, writes } from '../../protocol/roles';
import { rolesOf, rolesText, type ThreadRoles } from '../report/sharing-facts';
import { count } from '../text/terminal-text';

/** A source line that measured something, or caused it. */
export interface LineHeat extends SourceLineHeat, SourcePlace {
  measure: Measure;
  /** Of everything measured in the recording, 0 to 1. */
  share: number;
  step: HeatStep;
}

/** @param whole of the measure in the recording */
export function lineHeat(heat: SourceLineHeat, file: string, measure: Measure, whole: number): LineHeat {
  const share = shareOf(heat.amount, whole);
  return { ...heat, file, measure, share, step: heatStep(share) };
}

/** Whether a source line counts for so many percent of the whole; one that only stores counts with what it causes. */
export function isFrom({ amount, caused }: Pick<SourceLineHeat, 'amount' | 'caused'>, whole: number, percent: number): boolean {
  return shareOf(Math.max(amount, caused), whole) * 100 >= percent;
}

/** An access together with the cache line it is part of. */
export interface LineAccess {
  cacheLine: CacheLine;
  access: Access;
}

/** Each source line an access stands on, once: its innermost place and the places it was inlined into. */
export function placesOf(access: Pick<Access, 'file' | 'line' | 'inlined'>): SourcePlace[] {
  const places: SourcePlace[] = [];
  for (const { file, line } of [access, ...access.inlined]) {
    if (file !== '' && line > 0 && !places.some((place) => place.file === file && place.line === line)) {
      places.push({ file, line });
    }
  }
  return places;
}

/** Whether its code stands at a place, inlined or not, or its data is defined there. */
export function isAt(access: Access, { file, line }: SourcePlace): boolean {
  const { definition } = access.data;
  return (definition?.file === file && definition.line === line) || standsAt(access, { file, line });
}

export function standsAt(access: Access, { file, line }: SourcePlace): boolean {
  return placesOf(access).some((place) => place.file === file && place.line === line);
}

export function* accessesOf(lines: readonly CacheLine[]): Generator<Access> {
  for (const { accesses } of lines) yield* accesses;
}

/** As the engine has it (native/profile/source_answers.cpp), of lines that are here. In line order. */
export function heatOfFile(lines: readonly CacheLine[], file: string, measure: Measure): SourceLineHeat[] {
  const found = new Map<number, LineAccess[]>();
  for (const cacheLine of lines) {
    for (const access of cacheLine.accesses) {
      for (const place of placesOf(access)) {
        if (place.file !== file) continue;
        const there = found.get(place.line);
        if (there) there.push({ cacheLine, access });
        else found.set(place.line, [{ cacheLine, access }]);
      }
    }
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([line, accesses]) => {
      const amount = accesses.reduce((sum, { access }) => sum + amountOf(access, measure), 0);
      const caused = amount === 0 ? causedBy(accesses, measure) : 0;
      return { line, amount, caused, ...competingThreads(accesses, measure) };
    })
    .filter(({ amount, caused }) => amount > 0 || caused > 0);
}

/** What loads measured on the cache lines that these accesses store to; contended samples are of stores themselves. */
export function causedBy(accesses: readonly LineAccess[], measure: Measure): number {
  if (measure === 'contended') return 0;
  const written = new Set(accesses.filter(({ access }) => access.stores.total > 0).map(({ cacheLine }) => cacheLine));
  return [...written].reduce((sum, line) => sum + amountOf(line, measure), 0);
}

/** An access that takes part: it measured something, or it stores to a line on which loads did. */
export function takesPart({ cacheLine, access }: LineAccess, measure: Measure): boolean {
  if (amountOf(access, measure) > 0) return true;
  return measure !== 'contended' && access.stores.total > 0 && amountOf(cacheLine, measure) > 0;
}

/** Threads that compete through these accesses, and what they do. */
export function competingThreads(accesses: readonly LineAccess[], measure: Measure): ThreadRoles {
  const writers = new Set<number>();
  const readers = new Set<number>();
  for (const { cacheLine, access } of accesses.filter((one) => takesPart(one, measure))) {
    const done = { loads: access.loads, stores: access.stores.total };
    for (const tid of access.threads) {
      // A HITM proves that its thread competes, however few samples there are to see turns in.
      const proven = measure !== 'contended' || cacheLine.threads.some((thread) => thread.tid === tid && thread.competes);
      if (!proven) continue;
      if (writes(done)) writers.add(tid);
      if (reads(done)) readers.add(tid);
    }
  }
  return rolesOf(writers, readers);
}

/** "31% of contended samples, 2 threads write and 1 reads", "312 HITMs (78%), 2 threads write", "stores to lines with 312 HITMs, …". */
export function heatText({
  measure,
  amount,
  share,
  caused,
  ...roles
}: Pick<LineHeat, 'measure' | 'amount' | 'share' | 'caused'> & ThreadRoles): string {
  const what = caused > 0 ? t('stores to lines with {0}', amountText(caused, measure)) : measured(measure, amount, share);
  return [what, rolesText(roles)].filter((text) => text !== '').join(', ');
}

function measured(measure: Measure, amount: number, share: number): string {
  const isCount = measure !== 'contended' && measure !== 'latency';
  return isCount
    ? `${amountText(amount, measure)} (${wholePercent(share)})`
    : t('{0} of {1}', wholePercent(share), MEASURE_WORDS[measure].whole);
}

/** "312 HITMs", "1 peer hit", "128,544 load cycles". */
export function amountText(amount: number, measure: Measure): string {
  const rounded = Math.round(amount);
  const { one, many } = MEASURE_WORDS[measure];
  return `${count(rounded)} ${rounded === 1 ? one : many}`;
}

/** What rounds to 0 but is not reads "<1%". */
export function wholePercent(share: number): string {
  const whole = Math.round(share * 100);
  return share > 0 && whole === 0 ? '<1%' : `${whole}%`;
}
