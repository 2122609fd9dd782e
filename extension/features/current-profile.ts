// The one profile that the gutter, the hovers and the views show: that of the panel that was active last.
// Context key: `cacheline.hasProfile`.
import * as vscode from 'vscode';
import type { ShownProfile } from '../session/profile/shown-profile';

export class CurrentProfile implements vscode.Disposable {
  private profile: ShownProfile | undefined;
  private readonly changed = new vscode.EventEmitter<ShownProfile | undefined>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  get(): ShownProfile | undefined {
    return this.profile;
  }

  async set(profile: ShownProfile | undefined): Promise<void> {
    const before = this.profile;
    profile?.hold();
    this.profile = profile;
    this.changed.fire(profile);
    before?.release(this.log);
    await vscode.commands.executeCommand('setContext', 'cacheline.hasProfile', profile !== undefined);
  }

  dispose(): void {
    this.changed.dispose();
  }
}
