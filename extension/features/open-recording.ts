// The command "Open Recording": shows a recording that exists, a `.cacheline` folder or a perf.data file of any name.
// Command: cacheline.openRecording (optional argument: a path or Uri; returns whether it is shown).
import * as vscode from 'vscode';
import type { Panels } from './panel';
import { pathOf, pickRecording } from './recording-picker';
import type { Recordings } from './recordings';

export class OpenRecordingCommand {
  constructor(
    private readonly recordings: Recordings,
    private readonly panels: Panels,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async run(argument: unknown): Promise<boolean> {
    const path =
      pathOf(argument) ??
      (await pickRecording(this.log, { title: vscode.l10n.t('Open Recording'), placeHolder: vscode.l10n.t('Choose a recording') }));
    const profile = path === undefined ? undefined : await this.recordings.analyzeWithProgress(path);
    if (!profile) return false;
    await this.panels.open(profile);
    return true;
  }
}
