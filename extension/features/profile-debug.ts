// Debug configurations of the type `cacheline`: F5 profiles instead of debugging. The editor replaces variables and runs
// `preLaunchTask` first; then the profile starts here, and the debug session, of which nothing is left to do, is not begun.
import * as vscode from 'vscode';
import { configuredCommand } from '../session/record/debug-configuration';
import { showError } from './errors';

const TYPE = 'cacheline';

export class ProfileDebug implements vscode.DebugConfigurationProvider {
  constructor(private readonly log: vscode.LogOutputChannel) {}

  register(): vscode.Disposable {
    return vscode.debug.registerDebugConfigurationProvider(TYPE, this);
  }

  /** Without a launch.json: the program is asked for. */
  resolveDebugConfiguration(_: vscode.WorkspaceFolder | undefined, configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
    if (configuration.type) return configuration;
    return { type: TYPE, request: 'launch', name: 'Profile for False Sharing' };
  }

  resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): undefined {
    try {
      const { command, argument } = configuredCommand(configuration, (folder ?? vscode.workspace.workspaceFolders?.[0])?.uri.fsPath);
      // Not awaited: the editor would show the start of a session for as long as the recording runs.
      void vscode.commands.executeCommand(command, argument);
    } catch (error) {
      showError(error, this.log);
    }
    return undefined;
  }
}
