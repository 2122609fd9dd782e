// The command "Open Recording": shows a recording that exists, a `.cacheline` folder or a perf.data file of any name.
// Command: cacheline.openRecording (optional argument: a path or Uri; returns whether it is shown).
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import type { Panel } from './panel';
import type { Recordings } from './recordings';
import type { SourceDocuments } from './source-documents';

const MAX_FOUND = 200;

export class OpenRecordingCommand {
  constructor(
    private readonly recordings: Recordings,
    private readonly documents: SourceDocuments,
    private readonly panel: Panel,
  ) {}

  async run(argument: unknown): Promise<boolean> {
    const path = argument instanceof vscode.Uri ? argument.fsPath : typeof argument === 'string' ? argument : await pickRecording();
    const profile = path === undefined ? undefined : await this.recordings.analyzeWithProgress(path);
    if (!profile) return false;
    await this.documents.use(profile);
    this.panel.show(true);
    return true;
  }
}

async function pickRecording(): Promise<string | undefined> {
  const [folders, files] = await Promise.all([
    vscode.workspace.findFiles('**/*.cacheline/meta.json', null, MAX_FOUND),
    vscode.workspace.findFiles('**/{perf.data,*.perf.data}', '**/*.cacheline/**', MAX_FOUND),
  ]);
  const paths = [...folders.map(({ fsPath }) => dirname(fsPath)), ...files.map(({ fsPath }) => fsPath)].sort();
  const items = paths.map((path) => ({
    label: basename(path),
    description: vscode.workspace.asRelativePath(dirname(path)),
    choose: () => Promise.resolve<string | undefined>(path),
  }));
  const chosen = await vscode.window.showQuickPick(
    [
      ...items,
      { label: '', kind: vscode.QuickPickItemKind.Separator, choose: () => Promise.resolve(undefined) },
      { label: 'Browse for a recording’s folder…', choose: () => browse({ canSelectFolders: true, canSelectFiles: false }) },
      { label: 'Browse for a perf.data file…', choose: () => browse({ canSelectFolders: false, canSelectFiles: true }) },
    ],
    { title: 'Open Recording', placeHolder: 'Choose a recording' },
  );
  return chosen?.choose();
}

async function browse(kinds: { canSelectFolders: boolean; canSelectFiles: boolean }): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({ ...kinds, openLabel: 'Open Recording' });
  return chosen?.[0]?.fsPath;
}
