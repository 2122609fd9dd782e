// What is said of a recording while it runs and when it has ended.
import type { RecordProgress, RecordResult } from '../../protocol/engine';
import { joinArguments } from './launch';
import type { ProfileProgress } from './profile';
import type { ProfileTarget } from './profile-target';
import { plural, printable } from '../text/terminal-text';

/** "> ./server --threads 8    (in /home/a)" */
export function startText(target: ProfileTarget): string {
  if (target.kind === 'process') return `> attached to ${printable(target.name)} (process ${target.pid})`;
  return `> ${joinArguments([target.program, ...target.args])}    (in ${target.cwd})`;
}

export function progressText(target: ProfileTarget, progress: ProfileProgress): string {
  if (progress.phase === 'analyzing') return `analyzing, ${Math.round(progress.share * 100)}%`;
  const ends = target.kind === 'process' ? 'the recording, which is shown; the process goes on' : 'the program and keeps what was recorded';
  return `${countsText(progress)}. Cancel ends ${ends}.`;
}

/** "2.5 s, 1,200 samples" */
export function countsText({ elapsedSeconds, samples, lost }: Pick<RecordProgress, 'elapsedSeconds' | 'samples' | 'lost'>): string {
  return `${elapsedSeconds.toFixed(1)} s, ${plural(samples, 'sample')}${lost > 0 ? `, ${lost} lost` : ''}`;
}

/** Empty where a program ended well, or the recording of a process was ended as asked. */
export function endText(target: ProfileTarget, { exitStatus, signal, interrupted, durationReached }: RecordResult): string {
  if (target.kind === 'process') return interrupted || durationReached ? '' : 'The process ended.';
  if (durationReached) return 'The duration is over, so the program was stopped.';
  if (interrupted) return 'The recording was stopped before the program ended.';
  if (signal !== null) return `The program was killed by signal ${signal}.`;
  return exitStatus !== null && exitStatus !== 0 ? `The program ended with exit status ${exitStatus}.` : '';
}

export function failed({ exitStatus, signal, interrupted }: RecordResult): boolean {
  return !interrupted && (signal !== null || (exitStatus ?? 0) !== 0);
}
