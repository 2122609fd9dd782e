// The settings as the features read them: always the current values, checked.
import * as vscode from 'vscode';
import { SETTINGS, type FolderSetting, type Settings } from '../session/settings';

const SECTION = 'cacheline';

/** The value now; a value that does not fit is said in the log and replaced by the default. */
export function setting<K extends Exclude<keyof Settings, FolderSetting>>(name: K, log: vscode.LogOutputChannel): Settings[K] {
  return read(name, log);
}

/** The folder's value, else the workspace's or the user's; undefined where no folder is open. */
export function folderSetting<K extends FolderSetting>(
  name: K,
  log: vscode.LogOutputChannel,
  folder: vscode.WorkspaceFolder | undefined,
): Settings[K] {
  return read(name, log, folder ?? null);
}

function read<K extends keyof Settings>(name: K, log: vscode.LogOutputChannel, scope?: vscode.WorkspaceFolder | null): Settings[K] {
  const { value, problems } = SETTINGS[name].parse(vscode.workspace.getConfiguration(SECTION, scope).get(name));
  for (const problem of problems) log.warn(problem);
  return value;
}

export function onSettingChange(name: keyof Settings, listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(`${SECTION}.${name}`)) listener();
  });
}
