// The status bar while something is recorded: what, how long, how many samples; a click ends it.
import * as vscode from 'vscode';
import type { ProfileProgress } from '../session/record/profile';
import { countsText } from '../session/record/profile-words';

export class RecordingStatus implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('cacheline.recording', vscode.StatusBarAlignment.Left);

  constructor() {
    this.item.name = vscode.l10n.t('Cacheline Recording');
    this.item.command = 'cacheline.stop';
  }

  begin(name: string): void {
    this.item.text = vscode.l10n.t('$(record) Recording');
    this.item.tooltip = vscode.l10n.t('Cacheline records {0}. Click to stop and show what was found.', name);
    this.item.accessibilityInformation = { label: vscode.l10n.t('Recording {0}. Stop.', name), role: 'button' };
    this.item.show();
  }

  progress(now: ProfileProgress): void {
    this.item.text = now.phase === 'recording' ? `$(record) ${countsText(now)}` : vscode.l10n.t('$(loading~spin) Analyzing');
  }

  end(): void {
    this.item.hide();
  }

  dispose(): void {
    this.item.dispose();
  }
}
