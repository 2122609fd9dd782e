// What is said of a recording while it runs and when it has ended.
import type { RecordProgress, RecordResult } from '../../protocol/engine';
import { t } from '../../protocol/l10n';
import { joinArguments } from './launch';
import type { ProfileProgress } from './profile';
import type { ProfileTarget } from './profile-target';
import { plural, printable } from '../text/terminal-text';

/** "> ./server --threads 8    (in /home/a)" */
export function startText(target: ProfileTarget): string {
  if (target.kind === 'process') return t('> attached to {0} (process {1})', printable(target.name), target.pid);
  return t('> {0}    (in {1})', joinArguments([target.program, ...target.args]), target.cwd);
}

export function progressText(target: ProfileTarget, progress: ProfileProgress): string {
  if (progress.phase === 'analyzing') return t('analyzing, {0}%', Math.round(progress.share * 100));
  const ends =
    target.kind === 'process' ? t('the recording and shows it; the process keeps running') : t('the program and keeps what was recorded');
  return t('{0}. Cancel ends {1}.', countsText(progress), ends);
}

/** "2.5 s, 1,200 samples" */
export function countsText({ elapsedSeconds, samples, lost }: Pick<RecordProgress, 'elapsedSeconds' | 'samples' | 'lost'>): string {
  return `${elapsedSeconds.toFixed(1)} s, ${plural(samples, 'sample')}${lost > 0 ? t(', {0} lost', lost) : ''}`;
}

/** Empty where a program ended well, or the recording of a process was ended as asked. */
export function endText(target: ProfileTarget, { exitStatus, signal, interrupted, durationReached }: RecordResult): string {
  if (target.kind === 'process') return interrupted || durationReached ? '' : t('The process ended.');
  if (durationReached) return t('The duration is over, so the program was stopped.');
  if (interrupted) return t('The recording was stopped before the program ended.');
  if (signal !== null) return t('The program was killed by signal {0}.', signal);
  return exitStatus !== null && exitStatus !== 0 ? t('The program ended with exit status {0}.', exitStatus) : '';
}

export function failed({ exitStatus, signal, interrupted }: RecordResult): boolean {
  return !interrupted && (signal !== null || (exitStatus ?? 0) !== 0);
}
