// Opens a source line for a page of ours: beside the page, not over it.
import * as vscode from 'vscode';
import type { SourcePlace } from '../protocol/report';
import { showWarning } from './notify';
import type { SourceDocuments } from './source-documents';

/** Of the current profile's places. Where it is not here, that is said. */
export async function openBeside(
  page: vscode.WebviewPanel,
  place: SourcePlace,
  { documents, log }: { documents: SourceDocuments; log: vscode.LogOutputChannel },
): Promise<void> {
  const found = documents.find(place);
  if (!found) {
    const choice = vscode.l10n.t('Map Paths…');
    if ((await showWarning(documents.whyNotFound(place), choice)) === choice)
      await vscode.commands.executeCommand('workbench.action.openSettings', 'cacheline.sourceMap');
    return;
  }
  const position = new vscode.Position(found.line, 0);
  const options = { viewColumn: columnBeside(page), selection: new vscode.Range(position, position) };
  await vscode.window.showTextDocument(found.uri, options).then(undefined, (error: unknown) => {
    log.warn(String(error));
    void showWarning(vscode.l10n.t('{0}:{1} cannot be opened. The file was removed or cannot be read.', found.uri.fsPath, found.line + 1));
  });
}

function columnBeside(page: vscode.WebviewPanel): vscode.ViewColumn {
  const column = page.viewColumn ?? vscode.ViewColumn.Beside;
  if (column === vscode.ViewColumn.Beside) return vscode.ViewColumn.Active;
  const other = vscode.window.visibleTextEditors.find(({ viewColumn }) => viewColumn !== undefined && viewColumn !== column)?.viewColumn;
  return other ?? (column === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
}
