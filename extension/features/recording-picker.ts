// Asks for a recording: what is open, those of the workspace, or any other one.
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { pickerText } from '../protocol/printable';
import { findRecordings } from './recording-files';

export interface RecordingQuestion {
  title: string;
  placeHolder: string;
  /** The path of one that is offered first. */
  open?: string | undefined;
  /** The path of one that is not offered. */
  except?: string;
}

/** The path of a folder or file; undefined where nothing was chosen. */
export async function pickRecording(
  log: vscode.LogOutputChannel,
  { title, placeHolder, open, except }: RecordingQuestion,
): Promise<string | undefined> {
  const found = await findRecordings(log);
  const item = (path: string, note = '') => ({
    label: pickerText(basename(path)),
    description: [note, pickerText(vscode.workspace.asRelativePath(dirname(path)))].filter((text) => text !== '').join(' · '),
    choose: () => Promise.resolve<string | undefined>(path),
  });
  const chosen = await vscode.window.showQuickPick(
    [
      ...(open === undefined || open === except ? [] : [item(open, vscode.l10n.t('open now'))]),
      ...found.filter((path) => path !== open && path !== except).map((path) => item(path)),
      { label: '', kind: vscode.QuickPickItemKind.Separator, choose: () => Promise.resolve(undefined) },
      {
        label: vscode.l10n.t('Browse for a recording’s folder…'),
        choose: () => browse(title, { canSelectFolders: true, canSelectFiles: false }),
      },
      {
        label: vscode.l10n.t('Browse for a perf.data file…'),
        choose: () => browse(title, { canSelectFolders: false, canSelectFiles: true }),
      },
    ],
    { title, placeHolder },
  );
  return chosen?.choose();
}

async function browse(openLabel: string, kinds: { canSelectFolders: boolean; canSelectFiles: boolean }): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({ ...kinds, openLabel });
  return chosen?.[0]?.fsPath;
}

/** Of a command's argument: a path, a Uri, or a row of the view "Recordings". */
export function pathOf(argument: unknown): string | undefined {
  if (argument instanceof vscode.Uri) return argument.fsPath;
  if (typeof argument === 'object' && argument !== null && 'path' in argument) return pathOf(argument.path);
  return typeof argument === 'string' ? argument : undefined;
}
