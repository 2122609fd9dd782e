// A profile's life: a folder, a recording in it, and its analysis. Used by the command line and the editor.
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { EngineError } from '../../protocol/engine';
import type { Engine, RecordParams, RecordProgress, RecordResult } from '../../protocol/engine';
import { t } from '../../protocol/l10n';
import type { Display } from '../../protocol/report';
import { withFullStop } from '../../protocol/words';
import { OpenProfile } from '../profile/open-profile';
import { BinaryKeeper } from './kept-binaries';
import { orphansOf } from './processes';
import { createRecordingFolder, type FolderRequest, type RecordingFolder } from './recording-folder';
import { printable } from '../text/terminal-text';
import { endedByTrap } from './watch-hazard';

export interface RecordRequest extends Omit<RecordParams, 'outputDirectory'> {
  /** `program`: what the folder is named after; by default the command's program, or what is attached to. */
  output: Omit<FolderRequest, 'program'> & { program?: string };
  /** The program and its libraries are kept in the recording (kept-binaries.ts); by default true. */
  keepsBinaries?: boolean;
}

export interface Recording {
  path: string;
  result: RecordResult;
}

export interface Profile {
  recording: Recording;
  opened: OpenProfile;
}

export type ProfileProgress = ({ phase: 'recording'; path: string } & RecordProgress) | { phase: 'analyzing'; share: number };

export interface RecordControl {
  /** Ends the recording, which is kept, and asks the program to end. */
  stop?: AbortSignal;
  onProgress?: (progress: { phase: 'recording'; path: string } & RecordProgress) => void;
}

export interface ProfileControl {
  /** Ends the recording early; what was recorded is analysed. */
  stop?: AbortSignal;
  /** Ends everything: rejects with kind 'cancelled'; a recording stays on disk. */
  cancel?: AbortSignal;
  onProgress?: (progress: ProfileProgress) => void;
}

/**
 * Runs and records a program, or records what runs already. Rejects with EngineError: where nothing was recorded everything on disk is as before,
 * otherwise the message says where the recording is.
 */
export async function recordProgram(
  engine: Engine,
  { output, keepsBinaries = true, ...params }: RecordRequest,
  control: RecordControl = {},
): Promise<Recording> {
  const program = output.program ?? params.command[0];
  if (program === undefined || program === '') throw new EngineError('usage', t('There is no program to record.'));
  const folder = await createRecordingFolder({ ...output, program });
  const { path } = folder;
  const keeper = keepsBinaries ? new BinaryKeeper(path) : undefined;
  const since = Date.now();
  try {
    const result = await engine.call(
      'record',
      { ...params, outputDirectory: path },
      {
        ...(control.stop === undefined ? {} : { signal: control.stop }),
        onProgress: (progress) => {
          keeper?.look();
          control.onProgress?.({ phase: 'recording', path, ...progress });
        },
      },
    );
    await folder.keep();
    result.warnings.push(...((await keeper?.end()) ?? []));
    result.warnings.push(...[endedByTrap(params, result)].filter((sentence) => sentence !== undefined));
    const [command] = params.command;
    if (command !== undefined && !result.durationReached && control.stop?.aborted !== true) {
      // Not to know is no reason to lose the recording.
      const left = await orphansOf(command, since).catch(() => []);
      if (left.length > 0) result.warnings.push(backgroundText(program, left));
    }
    return { path, result };
  } catch (error) {
    throw error instanceof EngineError ? await settle(folder, keeper, error) : error;
  }
}

function backgroundText(program: string, pids: readonly number[]): string {
  const which = pids.length === 1 ? t('process {0}, which was', pids.join()) : t('processes {0}, which were', pids.join(', '));
  return t(
    'the program {0} still runs in the background ({1} recorded only until it went there): keep it in the foreground (daemons have an option for that), or record it with -p {2}',
    printable(basename(program)),
    which,
    pids.join(),
  );
}

/** Records a program, then analyses the recording. */
export async function profile(engine: Engine, request: RecordRequest, { stop, cancel, onProgress }: ProfileControl = {}): Promise<Profile> {
  const ends = [stop, cancel].filter((signal) => signal !== undefined);
  const recording = await recordProgram(engine, request, {
    stop: AbortSignal.any(ends),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  if (cancel?.aborted)
    throw new EngineError('cancelled', t('The profile was cancelled.'), t('The recording is kept in {0}.', recording.path));
  const opened = await openRecording(engine, recording.path, {
    ...(cancel === undefined ? {} : { cancel }),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  return { recording, opened };
}

/**
 * Opens a recording folder or a perf.data file, which is closed by the caller.
 * @param display what lines of a recording with data sources are sorted by; the recording's own default without it
 */
export function openRecording(
  engine: Engine,
  path: string,
  { cancel, onProgress }: Omit<ProfileControl, 'stop'> = {},
  display?: Display,
): Promise<OpenProfile> {
  return OpenProfile.open(
    engine,
    { path, showAll: false, callers: true, ...(display === undefined ? {} : { display }) },
    {
      ...(cancel === undefined ? {} : { signal: cancel }),
      onProgress: (share) => onProgress?.({ phase: 'analyzing', share }),
    },
  );
}

/** Keeps what a failed recording left, or puts things back, and returns the error to throw. */
async function settle(folder: RecordingFolder, keeper: BinaryKeeper | undefined, error: EngineError): Promise<EngineError> {
  const recorded = (await fileSize(join(folder.path, 'perf.data'))) > 0;
  const notKept: string[] = [];
  try {
    await (recorded ? folder.keep() : folder.abandon());
    if (recorded) notKept.push(...((await keeper?.end()) ?? []));
  } catch (failure) {
    return new EngineError(
      error.kind,
      t('{0} Cleaning up {1} failed too: {2}.', error.message, folder.path, (failure as Error).message),
      error.nextStep,
    );
  }
  if (!recorded) return error;
  return new EngineError(
    error.kind,
    error.message,
    [
      t('{0} What was recorded until then is kept in {1}.', withFullStop(error.nextStep), folder.path).trimStart(),
      ...notKept.map(withFullStop),
    ].join(' '),
  );
}

async function fileSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
