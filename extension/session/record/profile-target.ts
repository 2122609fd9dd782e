// What a profile is made of: a program that is started, or a process that runs. From arguments written by hand to the engine's
// request.
import { t } from '../../protocol/l10n';
import { basename } from 'node:path';
import { environmentList, type LaunchTarget } from './launch';
import { HIGHEST_PID, type ProcessInfo } from './processes';
import type { RecordRequest } from './profile';
import { DEFAULT_FREQUENCY, LaunchError, recordingChoices, type RecordingChoices } from './recording-choices';
import { attachedName } from './recording-folder';
import type { Settings } from '../settings';

/** A process that runs, with how it is recorded. */
interface AttachTarget extends RecordingChoices {
  pid: number;
  /** Foreign text. */
  name: string;
}

export type ProfileTarget = ({ kind: 'program' } & LaunchTarget) | ({ kind: 'process' } & AttachTarget);

/**
 * The process and choices of a command's argument or a debug configuration: `pid` is a number, or its digits.
 * @throws LaunchError
 */
export function attachRequest(value: unknown): { pid: number } & RecordingChoices {
  if (typeof value !== 'object' || value === null) throw new LaunchError(t('expected an object with "pid".'));
  const { pid } = value as Record<string, unknown>;
  const number = typeof pid === 'string' && /^\d+$/.test(pid.trim()) ? Number(pid) : pid;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 1 || number > HIGHEST_PID)
    throw new LaunchError(t('"pid" has to be the number of a process, not {0}.', pid === undefined ? t('missing') : JSON.stringify(pid)));
  return { pid: number, ...recordingChoices(value as Record<string, unknown>) };
}

/** @throws LaunchError where the process has gone */
export function processTarget({ pid, ...choices }: { pid: number } & RecordingChoices, found: ProcessInfo | undefined): ProfileTarget {
  if (found === undefined)
    throw new LaunchError(
      t(
        'There is no process {0} that could be profiled: it may have ended. Choose a running one with "Cacheline: Attach to Process".',
        pid,
      ),
    );
  return { kind: 'process', pid, name: found.name, ...choices };
}

/** For people, and the recording's folder. */
export function targetName(target: ProfileTarget): string {
  return target.kind === 'program' ? basename(target.program) : target.name;
}

/**
 * The recording of a target, with what it does not say itself taken from the settings.
 * @param parent the folder in which NAME.cacheline is made
 */
export function recordRequest(
  target: ProfileTarget,
  settings: Pick<Settings, 'frequency' | 'collector' | 'confirm' | 'attachDuration'>,
  parent: string,
): RecordRequest {
  const frequency = target.frequency ?? settings.frequency;
  const confirm = target.confirm ?? settings.confirm;
  const common = {
    frequency,
    frequencyGiven: target.frequency !== undefined || frequency !== DEFAULT_FREQUENCY,
    collector: target.collector ?? settings.collector,
    stdio: 'capture' as const,
    ...(confirm || target.watch !== undefined ? { watch: { expressions: target.watch ?? [], confirm } } : {}),
  };
  if (target.kind === 'process') {
    return {
      ...common,
      command: [],
      attach: { kind: 'processes', ids: [target.pid] },
      durationSeconds: target.duration ?? settings.attachDuration,
      output: { parent, program: attachedName(target) },
    };
  }
  return {
    ...common,
    command: [target.program, ...target.args],
    workingDirectory: target.cwd,
    environment: environmentList(target.env),
    durationSeconds: target.duration ?? 0,
    output: { parent },
  };
}
