// What heat counts: HITMs or peer hits, load latency, or contended samples, as far as a report's evidence can say.
// The same functions serve gutter, hovers and the panel's bars, so that they cannot differ.
import { t } from './l10n';
import type { LineSummary } from './profile';
import type { Access, CacheLine, Evidence, Report } from './report';

/** What a person chooses. `hitm` means peer hits where the evidence is of that kind. */
export type HeatMetric = 'hitm' | 'latency' | 'contended';
export const HEAT_METRICS: readonly HeatMetric[] = ['hitm', 'latency', 'contended'];

/** What is counted then. */
export type Measure = 'hitm' | 'localHitm' | 'remoteHitm' | 'peer' | 'latency' | 'contended';

/** How a measure is called in texts. */
export interface MeasureWords {
  /** Above a column or in a list. */
  name: string;
  one: string;
  many: string;
  /** What a share is a share of. */
  whole: string;
}

export const MEASURE_WORDS: Record<Measure, MeasureWords> = {
  hitm: { name: t('HITMs'), one: t('HITM'), many: t('HITMs'), whole: t('all HITMs') },
  localHitm: { name: t('Local HITMs'), one: t('local HITM'), many: t('local HITMs'), whole: t('all local HITMs') },
  remoteHitm: { name: t('Remote HITMs'), one: t('remote HITM'), many: t('remote HITMs'), whole: t('all remote HITMs') },
  peer: { name: t('Peer hits'), one: t('peer hit'), many: t('peer hits'), whole: t('all peer hits') },
  latency: { name: t('Latency'), one: t('load cycle'), many: t('load cycles'), whole: t('load cycles') },
  contended: { name: t('Contended share'), one: t('contended sample'), many: t('contended samples'), whole: t('contended samples') },
};

/** A report, or its head with what the loads of its lines took together: all of `lines` need not be there then. */
export type Measured = Omit<Report, 'lines'> & {
  lines?: readonly CacheLine[];
  /** Core cycles; null: no load carries a latency. */
  loadCycles?: number | null;
};

/** The evidence comes from data sources of the memory PMU (none, where none of them says anything), not from samples of time. */
export function hasDataSources({ evidence }: { evidence: readonly Evidence[] }): boolean {
  return !evidence.includes('clock');
}

/** Why a report cannot be heated by this metric, as a sentence; empty where it can. */
export function whyMissing(report: Measured, metric: HeatMetric): string {
  switch (metric) {
    case 'hitm':
      if (report.evidence.includes('hitm') || report.evidence.includes('peer')) return '';
      return hasDataSources(report)
        ? t('The data sources of this recording do not say which loads another core’s cache answered.')
        : t('Clock samples count no cache hits: that needs a memory PMU.');
    case 'latency':
      if (!hasDataSources(report)) return t('Clock samples carry no load latencies: that needs a memory PMU.');
      return loadCyclesOf(report) === null ? t('No load of this recording carries a latency (perf records them with -W).') : '';
    case 'contended':
      return '';
  }
}

/** What "hitm" counts in a report: what its lines are displayed and sorted by. */
function hitmMeasure({ evidence, c2c }: Measured): Measure {
  if (!evidence.includes('hitm') || c2c?.display === 'peer') return 'peer';
  return c2c?.display === 'lcl' ? 'localHitm' : c2c?.display === 'rmt' ? 'remoteHitm' : 'hitm';
}

/** What a report is heated by: the metric that is wanted where its evidence allows, else the strongest one it has. */
export function measureOf(report: Measured, wanted: HeatMetric | 'auto'): { metric: HeatMetric; measure: Measure } {
  const order = wanted === 'auto' ? HEAT_METRICS : [wanted, ...HEAT_METRICS];
  const metric = order.find((candidate) => whyMissing(report, candidate) === '') ?? 'contended';
  return { metric, measure: metric === 'hitm' ? hitmMeasure(report) : metric };
}

/** A line that was added up already. */
type Counted = Pick<LineSummary, 'contended' | 'hitm' | 'peer' | 'loadCycles'>;

/** By how much an access or a whole line counts; `latency` in core cycles, everything else in samples. */
export function amountOf(of: Access | CacheLine | Counted, measure: Measure): number {
  switch (measure) {
    case 'hitm':
      return (of.hitm?.local ?? 0) + (of.hitm?.remote ?? 0);
    case 'localHitm':
      return of.hitm?.local ?? 0;
    case 'remoteHitm':
      return of.hitm?.remote ?? 0;
    case 'peer':
      return (of.peer?.local ?? 0) + (of.peer?.remote ?? 0);
    case 'latency':
      if ('loadCycles' in of) return of.loadCycles ?? 0;
      return 'accesses' in of ? of.accesses.reduce((sum, access) => sum + loadCycles(access), 0) : loadCycles(of);
    case 'contended':
      return of.contended;
  }
}

/** Of all its loads, in core cycles: of each kind the number of samples times the mean. 0 where no latency is known. */
export function loadCycles({ loads, hitm, peer, meanCycles }: Access): number {
  if (!meanCycles) return 0;
  const hitms = (hitm?.local ?? 0) * (meanCycles.localHitm ?? 0) + (hitm?.remote ?? 0) * (meanCycles.remoteHitm ?? 0);
  const { peer: meanPeer, localPeer = meanPeer, remotePeer = meanPeer } = meanCycles;
  const peers = (peer?.local ?? 0) * (localPeer ?? 0) + (peer?.remote ?? 0) * (remotePeer ?? 0);
  const others = loads - (hitm?.local ?? 0) - (hitm?.remote ?? 0) - (peer?.local ?? 0) - (peer?.remote ?? 0);
  return hitms + peers + Math.max(0, others) * meanCycles.load;
}

/** Of all lines together; null: no load carries a latency. */
export function loadCyclesOf({ lines = [], loadCycles: known }: Measured): number | null {
  if (known !== undefined) return known;
  const timed = lines.flatMap(({ accesses }) => accesses.filter(({ meanCycles }) => meanCycles !== null));
  return timed.length === 0 ? null : timed.reduce((sum, access) => sum + loadCycles(access), 0);
}

/** What shares are shares of: everything of the kind in the recording, listed or not; of latencies what is listed. */
export function wholeOf(report: Measured, measure: Measure): number {
  const { localHitm, remoteHitm, localPeer, remotePeer } = report.stats;
  switch (measure) {
    case 'hitm':
      return (localHitm ?? 0) + (remoteHitm ?? 0);
    case 'localHitm':
      return localHitm ?? 0;
    case 'remoteHitm':
      return remoteHitm ?? 0;
    case 'peer':
      return (localPeer ?? 0) + (remotePeer ?? 0);
    case 'latency':
      return loadCyclesOf(report) ?? 0;
    case 'contended':
      return report.samples.contended;
  }
}

/** @returns 0 to 1; 0 of nothing is 0 */
export function shareOf(amount: number, whole: number): number {
  return whole > 0 ? amount / whole : 0;
}
