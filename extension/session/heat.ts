// Heat of source lines: each access of a report credits what it measured to every line it stands on, inline chain included.
import { heatStep, type HeatStep } from '../protocol/heat-scale';
import { amountOf, MEASURE_WORDS, shareOf, wholeOf, type Measure } from '../protocol/measure';
import type { Access, CacheLine, Report, SourcePlace } from '../protocol/report';
import { reads, writes } from '../protocol/roles';
import { rolesOf, rolesText, type ThreadRoles } from './sharing-facts';
import { count } from './terminal-text';

/** `writers`, `readers` and `both`: of the threads that compete here. */
export interface LineHeat extends SourcePlace, ThreadRoles {
  measure: Measure;
  /** What was measured at this source line: samples, or core cycles for `latency`. */
  amount: number;
  /** Of everything measured in the recording, 0 to 1. */
  share: number;
  step: HeatStep;
  /**
   * What loads measured on the cache lines that this source line stores to. Data sources are of loads: a line that only
   * stores has none itself, and yet is what makes those loads miss. 0 where it has an amount of its own.
   */
  caused: number;
}

/** An access together with the cache line it is part of. */
export interface LineAccess {
  cacheLine: CacheLine;
  access: Access;
}

/** Each source line an access stands on, once: its innermost place and the places it was inlined into. */
export function placesOf(access: Access): SourcePlace[] {
  const places: SourcePlace[] = [];
  for (const { file, line } of [access, ...access.inlined]) {
    if (file !== '' && line > 0 && !places.some((place) => place.file === file && place.line === line)) {
      places.push({ file, line });
    }
  }
  return places;
}

/** Accesses by source file and line. */
export type AccessIndex = Map<string, Map<number, LineAccess[]>>;

export function indexAccesses(report: Report): AccessIndex {
  const index: AccessIndex = new Map();
  for (const cacheLine of report.lines) {
    for (const access of cacheLine.accesses) {
      for (const { file, line } of placesOf(access)) {
        let lines = index.get(file);
        if (!lines) index.set(file, (lines = new Map<number, LineAccess[]>()));
        const there = lines.get(line);
        if (there) there.push({ cacheLine, access });
        else lines.set(line, [{ cacheLine, access }]);
      }
    }
  }
  return index;
}

/** Heat by file, in line order; lines that measured nothing and caused nothing have none. */
export function heatOfReport(report: Report, measure: Measure, index: AccessIndex = indexAccesses(report)): Map<string, LineHeat[]> {
  const whole = wholeOf(report, measure);
  const heat = new Map<string, LineHeat[]>();
  for (const [file, lines] of index) {
    const hot: LineHeat[] = [];
    for (const [line, accesses] of lines) {
      const amount = accesses.reduce((sum, { access }) => sum + amountOf(access, measure), 0);
      const caused = amount === 0 ? causedBy(accesses, measure) : 0;
      if (amount === 0 && caused === 0) continue;
      const share = shareOf(amount, whole);
      hot.push({ file, line, measure, amount, share, step: heatStep(share), ...competingThreads(accesses, measure), caused });
    }
    if (hot.length > 0) {
      heat.set(
        file,
        hot.sort((a, b) => a.line - b.line),
      );
    }
  }
  return heat;
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

/** "31 % of contended samples, 2 threads write and 1 reads", "312 HITMs (78 %), 2 threads write", "stores to lines with 312 HITMs, …". */
export function heatText({
  measure,
  amount,
  share,
  caused,
  ...roles
}: Pick<LineHeat, 'measure' | 'amount' | 'share' | 'caused'> & ThreadRoles): string {
  const what = caused > 0 ? `stores to lines with ${amountText(caused, measure)}` : measured(measure, amount, share);
  return [what, rolesText(roles)].filter((text) => text !== '').join(', ');
}

function measured(measure: Measure, amount: number, share: number): string {
  const isCount = measure !== 'contended' && measure !== 'latency';
  return isCount ? `${amountText(amount, measure)} (${wholePercent(share)})` : `${wholePercent(share)} of ${MEASURE_WORDS[measure].whole}`;
}

/** "312 HITMs", "1 peer hit", "128,544 load cycles". */
export function amountText(amount: number, measure: Measure): string {
  const rounded = Math.round(amount);
  const { one, many } = MEASURE_WORDS[measure];
  return `${count(rounded)} ${rounded === 1 ? one : many}`;
}

/** What rounds to 0 but is not reads "<1 %". */
export function wholePercent(share: number): string {
  const whole = Math.round(share * 100);
  return share > 0 && whole === 0 ? '<1 %' : `${whole} %`;
}
