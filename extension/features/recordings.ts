// Reads recordings for the features that show them.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Engine } from '../protocol/engine';
import type { Display } from '../protocol/report';
import { openRecording } from '../session/record/profile';
import { recordingPath, recordingTitle } from '../session/record/recording-path';
import { ShownProfile } from '../session/profile/shown-profile';
import { showError } from './errors';
import { withNotification } from './notify';

export class Recordings {
  constructor(
    private readonly engine: Engine,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /**
   * @param path a `.cacheline` folder, a file in one, or a perf.data of any name
   * @param onShare told what share is done, 0 to 1
   * Rejects with EngineError.
   */
  async analyze(
    path: string,
    { display, cancel, onShare }: { display?: Display; cancel?: AbortSignal; onShare?: (share: number) => void } = {},
  ): Promise<ShownProfile> {
    const recording = recordingPath(path);
    const opened = await openRecording(
      this.engine,
      recording,
      {
        ...(cancel === undefined ? {} : { cancel }),
        onProgress: (now) => {
          if (now.phase === 'analyzing') onShare?.(now.share);
        },
      },
      display,
    );
    return ShownProfile.begin(opened, recording, recordingTitle(opened.summary.report, recording), cancel);
  }

  /** The same with a notification that can cancel it; undefined where it failed, which is then shown. */
  async analyzeWithProgress(path: string, display?: Display): Promise<ShownProfile | undefined> {
    try {
      return await withNotification(vscode.l10n.t('Analyzing {0}', basename(path)), (report, cancel) =>
        this.analyze(path, {
          ...(display === undefined ? {} : { display }),
          cancel,
          onShare: (share) => report(`${Math.round(share * 100)}%`),
        }),
      );
    } catch (error) {
      showError(error, this.log);
      return undefined;
    }
  }
}
