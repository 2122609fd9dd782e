// How one target is recorded, where that is said beside it: in a launch entry, a task, a debug configuration or a command's
// argument. What is not said comes from the settings.
import { t } from '../../protocol/l10n';
import type { CollectorChoice } from '../../protocol/engine';

export interface RecordingChoices {
  /** Seconds, above 0; the recording then ends, and with it a program that it started. */
  duration?: number;
  /** Samples a second and CPU. */
  frequency?: number;
  collector?: CollectorChoice;
  /** Watch the most suspect words, too. */
  confirm?: boolean;
  /** What to watch with debug registers: expressions of `--watch`; not empty. */
  watch?: string[];
  /** Begins with sampling off, until it is resumed. */
  paused?: boolean;
}

export const COLLECTORS: readonly [CollectorChoice, ...CollectorChoice[]] = ['auto', 'pmu', 'clock', 'agent'];
export const DEFAULT_FREQUENCY = 499;
export const HIGHEST_FREQUENCY = 10_000;

/** An entry or argument that cannot be used, with what is wrong. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}

/** @throws LaunchError */
export function recordingChoices({
  duration,
  frequency,
  collector,
  confirm,
  watch,
  paused,
}: Readonly<Record<string, unknown>>): RecordingChoices {
  const known = COLLECTORS.find((name) => name === collector);
  if (duration !== undefined && !(typeof duration === 'number' && duration > 0 && Number.isFinite(duration)))
    throw new LaunchError(t('"duration" has to be a number of seconds above 0.'));
  if (frequency !== undefined && !isFrequency(frequency))
    throw new LaunchError(t('"frequency" has to be a whole number of samples per second from 1 to {0}.', HIGHEST_FREQUENCY));
  if (collector !== undefined && known === undefined) throw new LaunchError(t('"collector" has to be one of {0}.', COLLECTORS.join(', ')));
  if (confirm !== undefined && typeof confirm !== 'boolean') throw new LaunchError(t('"confirm" has to be true or false.'));
  if (watch !== undefined && !isWatchList(watch))
    throw new LaunchError(t('"watch" has to be a list of what to watch: variables, members of globals or addresses.'));
  if (paused !== undefined && typeof paused !== 'boolean') throw new LaunchError(t('"paused" has to be true or false.'));
  return {
    ...(duration === undefined ? {} : { duration }),
    ...(frequency === undefined ? {} : { frequency }),
    ...(known === undefined ? {} : { collector: known }),
    ...(confirm === undefined ? {} : { confirm }),
    ...(watch === undefined || watch.length === 0 ? {} : { watch }),
    ...(paused === undefined ? {} : { paused }),
  };
}

function isWatchList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((expression) => typeof expression === 'string' && expression.trim() !== '');
}

function isFrequency(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= HIGHEST_FREQUENCY;
}
