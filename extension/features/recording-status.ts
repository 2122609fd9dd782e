// The status bar while something is recorded: what, how long, how many samples; a click ends it.
import * as vscode from 'vscode';
import type { ProfileProgress } from '../session/record/profile';
import { countsText } from '../session/record/profile-words';

export class RecordingStatus implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('cacheline.recording', vscode.StatusBarAlignment.Left);

  constructor() {
    this.item.name = 'Cacheline Recording';
    this.item.command = 'cacheline.stop';
  }

  begin(name: string): void {
    this.item.text = '$(record) Recording';
    this.item.tooltip = `Cacheline records ${name}. Click to stop and show what was found.`;
    this.item.accessibilityInformation = { label: `Recording ${name}. Stop.`, role: 'button' };
    this.item.show();
  }

  progress(now: ProfileProgress): void {
    this.item.text = now.phase === 'recording' ? `$(record) ${countsText(now)}` : '$(loading~spin) Analyzing';
  }

  end(): void {
    this.item.hide();
  }

  dispose(): void {
    this.item.dispose();
  }
}
