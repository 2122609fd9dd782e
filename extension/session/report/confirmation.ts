// What watchpoints saw, in the words of the text report.
import { isConfirmed } from '../../protocol/confirmation';
import type { Access, Report } from '../../protocol/report';
import { count, plural } from '../text/terminal-text';

/** One sentence for all watched lines of a report; empty where there is none. */
export function watchedText({ lines }: Report): string {
  const watched = lines.filter(({ confirmation }) => confirmation !== undefined);
  if (watched.length === 0) return '';
  const confirmed = watched.filter(isConfirmed).length;
  const which =
    watched.length === 1
      ? `Watchpoints ${confirmed === 1 ? 'confirm' : 'did not confirm'} the verdict of the line that they watched`
      : `Watchpoints confirm the verdicts of ${count(confirmed)} of the ${plural(watched.length, 'line')} that they watched`;
  return confirmed === watched.length ? `${which}.` : `${which}; what they did not see may happen all the same.`;
}

/** "12 r 30 w", "3 ?" of accesses that are known to have happened and no more; empty where the bytes were not watched. */
export function trappedText({ watch }: Access): string {
  if (!watch) return '';
  const parts = [
    watch.reads > 0 ? `${count(watch.reads)} r` : '',
    watch.writes > 0 ? `${count(watch.writes)} w` : '',
    (watch.unknown ?? 0) > 0 ? `${count(watch.unknown ?? 0)} ?` : '',
  ].filter((text) => text !== '');
  return parts.length > 0 ? parts.join(' ') : '0';
}
