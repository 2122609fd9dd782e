// Where recordings are: in the workspace, and in the folder that the setting `cacheline.recordingFolder` names.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { LaunchError, resolveTarget } from '../session/record/launch';
import { SUFFIX } from '../session/record/recording-folder';
import { folderSetting } from './settings';

/** Of folders, and of files, in one workspace. */
const MAX_FOUND = 200;

/** Paths of recordings, sorted. */
export async function findRecordings(log: vscode.LogOutputChannel): Promise<string[]> {
  const [folders, files, outside] = await Promise.all([
    vscode.workspace.findFiles('**/*.cacheline/meta.json', null, MAX_FOUND),
    vscode.workspace.findFiles('**/{perf.data,*.perf.data}', '**/*.cacheline/**', MAX_FOUND),
    Promise.all(outsideFolders(log).map((folder) => recordingsIn(folder, log))),
  ]);
  const paths = [...folders.map(({ fsPath }) => dirname(fsPath)), ...files.map(({ fsPath }) => fsPath), ...outside.flat()];
  return [...new Set(paths)].sort();
}

/**
 * The absolute path of the folder in which the setting has recordings made; undefined: it names none.
 * @throws LaunchError where it cannot be a path
 */
export function recordingFolder(log: vscode.LogOutputChannel, folder: vscode.WorkspaceFolder | undefined): string | undefined {
  const wanted = folderSetting('recordingFolder', log, folder);
  return wanted === '' ? undefined : resolveTarget({ program: wanted }, folder?.uri.fsPath).program;
}

/** Folders of the setting that are in no folder of the workspace. */
export function outsideFolders(log: vscode.LogOutputChannel): string[] {
  const folders = (vscode.workspace.workspaceFolders ?? [undefined]).flatMap((folder) => {
    try {
      return recordingFolder(log, folder) ?? [];
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error;
      log.warn(`cacheline.recordingFolder: ${error.message}`);
      return [];
    }
  });
  return [...new Set(folders)].filter((folder) => vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder)) === undefined);
}

async function recordingsIn(folder: string, log: vscode.LogOutputChannel): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(SUFFIX)).map((name) => join(folder, name));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code !== 'ENOENT') log.warn(`cacheline.recordingFolder: ${message}`); // the first recording makes it
    return [];
  }
}
