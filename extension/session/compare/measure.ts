// By what two recordings are compared: the waiting of a run, where both are of whole runs that do the same; else that of a second; and
// where there are no times, the share of samples.
import type { DiffMeasure, DiffUnit } from '../../protocol/diff';
import { t } from '../../protocol/l10n';
import { amount, proportion, type Estimate } from './chance';
import type { Side, Sums } from './sums';

export interface Measure {
  unit: DiffUnit;
  /** A clause: why it is not the waiting of a run; empty: it is. */
  reason: string;
  /** Seconds that the recorded runs took; null where they were no two whole runs with the same arguments on one machine. */
  elapsed: Record<Side, number> | null;
  /** Of so many contended samples of one side, in ns or as a share. */
  of: (side: Side, contended: number) => Estimate;
  /** That of all samples of the side that has more. */
  all: number;
  /** The time that so many contended samples of one side stand for. */
  nsOf: (side: Side, contended: number) => number;
}

/** @param comparable times mean the same on both sides: the machines are alike */
export function measureOf(before: Sums, after: Sums, comparable: boolean): Measure {
  const obstacle = comparable ? obstacleOf(before, after) : t('the machines differ');
  const elapsed = obstacle === '' ? { before: elapsedOf(before), after: elapsedOf(after) } : null;
  const untimed = untimedOf(before) || untimedOf(after);
  const seconds = elapsed !== null || [before, after].every(({ report }) => report.seconds > 0);
  const sides = { before, after };
  const total = (side: Side): number => sides[side].report.samples.total;
  const [own, other] = [meanNs(before), meanNs(after)];
  const mean = { before: own ?? other ?? 1, after: other ?? own ?? 1 };
  const nsOf = (side: Side, contended: number): number => contended * mean[side];
  if (!comparable || untimed !== '' || !seconds) {
    const reason = comparable && untimed !== '' ? untimed : obstacle;
    return { unit: 'samples', reason, elapsed, of: (side, contended) => proportion(contended, total(side)), all: 1, nsOf };
  }
  const unit = elapsed === null ? 'second' : 'run';
  const units = (side: Side): number => (unit === 'run' ? 1 : sides[side].report.seconds);
  const each = { before: mean.before / units('before'), after: mean.after / units('after') };
  return {
    unit,
    reason: obstacle,
    elapsed,
    of: (side, contended) => amount(contended, each[side]),
    all: Math.max(total('before') * each.before, total('after') * each.after),
    nsOf,
  };
}

/** The number that is compared; null: this evidence cannot say. */
export function valueOf(unit: DiffUnit, measure: DiffMeasure): number | null {
  return { run: measure.contendedNs, second: measure.contendedNsPerSecond, samples: measure.programShare }[unit];
}

/** Samples of data sources are of accesses, not of time. */
export function hasTimes(evidence: Sums['report']['evidence']): boolean {
  return evidence.includes('clock');
}

/** Why there are no times; empty: there are. A perf.data of others need not have the samples' periods. */
function untimedOf({ tables, report }: Sums): string {
  if (!hasTimes(report.evidence)) return t('accesses were sampled, not time');
  const known = (tables[0] ?? []).every(({ contendedNs }) => contendedNs !== null);
  return known ? '' : t('samples do not say how much time they stand for');
}

/** What a contended sample stands for; undefined where there is none. */
function meanNs({ tables, report }: Sums): number | undefined {
  let [samples, ns] = [0, 0];
  for (const { contended, contendedNs } of tables[0] ?? []) {
    if (contendedNs === null) continue;
    samples += contended;
    ns += contendedNs;
  }
  if (samples > 0) return ns / samples;
  const { period = 0, frequency = 0 } = report.recording ?? {};
  return period > 0 ? period : frequency > 0 ? 1e9 / frequency : undefined;
}

function elapsedOf({ report }: Sums): number {
  return report.recording?.durationSeconds ?? 0;
}

/** Why the recordings are not of two whole runs that did the same; empty: they are. */
function obstacleOf(before: Sums, after: Sums): string {
  const obstacle = obstacleIn(before, t('the recording before')) || obstacleIn(after, t('the recording after'));
  if (obstacle !== '') return obstacle;
  const [own, other] = [before, after].map(({ report }) => JSON.stringify(report.recording?.command.slice(1)));
  return own === other ? '' : t('the programs had different arguments');
}

/**
 * A whole run is of a program that was started for it, and that ended by itself.
 * @param which of the recordings it is, in words
 */
function obstacleIn({ report: { recording }, window }: Sums, which: string): string {
  if (window) return t('only a part of {0} was chosen', which);
  if (recording === null) return t('{0} does not say whether it is of a whole run', which);
  const { target, command, interrupted, program, durationSeconds } = recording;
  if ((target?.kind ?? 'command') !== 'command' || command.length === 0) return t('{0} is of something that already ran', which);
  if (interrupted) return t('{0} ended before its program', which);
  if (!program || durationSeconds <= 0) return t('{0} is incomplete', which);
  return program.exitStatus === 0 ? '' : t('the program of {0} failed', which);
}
