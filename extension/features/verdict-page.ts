// The page of the documents that explains a verdict, as a file of the extension.
import * as vscode from 'vscode';
import type { Verdict } from '../protocol/report';
import { VERDICT_PAGES } from '../protocol/words';

export function verdictPage(extensionUri: vscode.Uri, verdict: Verdict): vscode.Uri {
  return vscode.Uri.joinPath(extensionUri, 'docs', VERDICT_PAGES[verdict]);
}
