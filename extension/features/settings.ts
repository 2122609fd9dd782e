// The settings as the features read them: always the current values, checked.
import * as vscode from 'vscode';
import { SETTINGS, type Settings } from '../session/settings';

const SECTION = 'cacheline';

/** The value now; a value that does not fit is said in the log and replaced by the default. */
export function setting<K extends keyof Settings>(name: K, log: vscode.LogOutputChannel, scope?: vscode.Uri): Settings[K] {
  const { value, problems } = SETTINGS[name].parse(vscode.workspace.getConfiguration(SECTION, scope).get(name));
  for (const problem of problems) log.warn(problem);
  return value;
}

export function onSettingChange(name: keyof Settings, listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(`${SECTION}.${name}`)) listener();
  });
}
