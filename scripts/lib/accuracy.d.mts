// The types of accuracy.mjs, for the tests.
import type { Report } from '../../extension/protocol/report';
import type { CorpusMember } from './corpus.mjs';

export const alarmShare: number;
export function judgeContended(
  report: Report,
  members: readonly CorpusMember[],
  source: string,
  markers: ReadonlyMap<number, string[]>,
): { found: boolean; marked: number; right: number; wrong: string[]; verdicts: string[] };
/** What waits falsely most: its share of all samples, and its name. */
export interface Alarm {
  share: number;
  object: string;
}

export function falselyWaiting(report: Pick<Report, 'objects' | 'samples'>): Alarm;
export function isAlarm(waiting: Alarm): boolean;
