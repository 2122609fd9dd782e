// Where a run is shown while it is recorded.
import type { ProfileProgress } from './profile';

/** A task's terminal, or a notification with the output channel. */
export interface RunDisplay {
  /** What the program printed. */
  output(text: string): void;
  /** A line about the recording. */
  line(text: string): void;
  /** What a person should know while it is recorded. */
  warning(text: string): void;
  /** What is going on now. */
  progress(text: string, isAnalyzing: boolean): void;
  /** Ends the recording, or the analysis that follows it. */
  stop: AbortSignal;
}

/** Shows what the program and the recorder said. */
export function showSaid(now: ProfileProgress, display: Pick<RunDisplay, 'output' | 'warning'>): void {
  if (now.phase !== 'recording') return;
  if (now.output) display.output(now.output);
  for (const sentence of now.news ?? []) display.warning(sentence);
}
