// What a report could not see, as a sentence: the same words in reports, in notifications and in the panel.
import { hasDataSources } from './measure';
import { printable } from './printable';
import type { Blind, Report } from './report';

/** From this share of the samples on, what could not be seen comes before all else. */
const MOST = 0.5;

type Seen = Pick<Report, 'blind' | 'recording' | 'evidence'>;

/** Whether nothing can be said about half of the samples or more. */
export function isMostlyBlind({ blind }: Pick<Report, 'blind'>): boolean {
  return blind !== null && blind.share >= MOST;
}

/**
 * Printable text; empty where the report could see enough.
 * @param percent of a share from 0 to 1
 */
export function blindText(report: Seen, percent: (share: number) => string): string {
  const { blind } = report;
  if (blind === null) return '';
  const timed = !hasDataSources(report);
  const whose = report.recording?.target?.kind === 'system' ? "this machine's" : "this program's";
  const what = `${whose} ${timed ? 'time' : 'samples'}`;
  const was = `${timed ? 'was' : 'were'} ${placesText(blind, timed, percent)}`;
  if (isMostlyBlind(report)) return `Most of ${what} (${percent(blind.share)}) ${was}. Nothing can be said about ${timed ? 'it' : 'them'}.`;
  return `Nothing can be said about ${percent(blind.share)} of ${what}: ${timed ? 'it' : 'they'} ${was}.`;
}

/** "in code that no file backs (a JIT: Java)"; of several, each with its share. */
function placesText({ share, reasons }: Blind, timed: boolean, percent: (share: number) => string): string {
  const worth = reasons.filter((reason) => reason.share >= share / 50);
  const texts = worth.map((reason) => {
    const { what } = reason;
    const place = reason.reason === 'lost' && !timed ? 'lost while recording' : `in ${printable(what).replace('(JIT: ', '(a JIT: ')}`;
    return worth.length === 1 ? place : `${place} (${percent(reason.share)})`;
  });
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}
