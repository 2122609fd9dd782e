// `cacheline` in the editor's terminals: the folder with the command is behind the others on their PATH. Setting: cacheline.terminalPath.
import * as vscode from 'vscode';
import { onSettingChange, setting } from './settings';

export class TerminalPath implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(
    readonly variables: vscode.GlobalEnvironmentVariableCollection,
    private readonly extensionUri: vscode.Uri,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscription = onSettingChange('terminalPath', () => this.apply());
    this.apply();
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private apply(): void {
    if (!setting('terminalPath', this.log)) {
      this.variables.clear();
      return;
    }
    this.variables.description = 'Adds the command `cacheline` of Cacheline Lens (setting `cacheline.terminalPath`).';
    // Behind the others: a `cacheline` that is installed stays the one that is meant. Again after the shell's own scripts, which may set it.
    const options = { applyAtProcessCreation: true, applyAtShellIntegration: true };
    this.variables.append('PATH', `:${vscode.Uri.joinPath(this.extensionUri, 'bin', 'terminal').fsPath}`, options);
    this.variables.replace('CACHELINE_NODE', process.execPath);
  }
}
