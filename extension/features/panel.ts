// The panel: the table of contended lines of the current profile, in a webview beside the editor.
// Messages: protocol/panel.ts. Its page is untrusted input too: it may only open places of the current report.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { FromPanel, ToPanel } from '../protocol/panel';
import type { SourcePlace } from '../protocol/report';
import type { PanelState } from './api';
import type { CurrentProfile } from './current-profile';
import type { SourceDocuments } from './source-documents';

export class Panel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown = false;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscription = current.onDidChange(() => this.send());
  }

  /** @param preserveFocus leaves the keyboard in the editor */
  show(preserveFocus = false): void {
    if (this.panel) {
      this.panel.reveal(undefined, preserveFocus);
      return;
    }
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    const panel = vscode.window.createWebviewPanel(
      'cacheline.panel',
      'Contended Lines',
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus },
      { enableScripts: true, localResourceRoots: [dist] },
    );
    panel.iconPath = {
      light: vscode.Uri.joinPath(this.extensionUri, 'media', 'heat-4-light.svg'),
      dark: vscode.Uri.joinPath(this.extensionUri, 'media', 'heat-4-dark.svg'),
    };
    panel.webview.onDidReceiveMessage((message: unknown) => {
      const known = parseMessage(message);
      if (known) void this.receive(known);
      else this.log.warn(`The panel's page sent something unknown: ${JSON.stringify(message ?? null).slice(0, 200)}`);
    });
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.shown = false; // a hidden page is gone: it asks again when it comes back
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.shown = false;
    });
    panel.webview.html = pageHtml(panel.webview, dist);
    this.panel = panel;
  }

  state(): PanelState {
    return { open: this.panel !== undefined, shown: this.shown, message: this.message() };
  }

  async receive(message: FromPanel): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.send();
        return;
      case 'open':
        await this.open(message);
        return;
      case 'error':
        this.log.error(`The panel's page failed: ${message.message}`);
    }
  }

  dispose(): void {
    this.panel?.dispose();
    this.subscription.dispose();
  }

  private send(): void {
    if (!this.panel) return;
    void this.panel.webview.postMessage(this.message()).then((delivered) => (this.shown = delivered));
  }

  private message(): ToPanel {
    const profile = this.current.get();
    if (!profile) return { type: 'empty' };
    const { lines, objects, ...head } = profile.report;
    return { type: 'report', summary: { ...head, title: profile.title, path: profile.path }, lines, objects };
  }

  private async open(place: SourcePlace): Promise<void> {
    if (!this.current.get()?.places().get(place.file)?.has(place.line)) {
      this.log.warn(`The panel's page asked for ${place.file}:${place.line}, which is no place of the report.`);
      return;
    }
    const found = this.documents.find(place);
    if (!found) {
      void vscode.window.showWarningMessage(`${place.file}:${place.line} is not in this workspace, or was removed since the profile.`);
      return;
    }
    const position = new vscode.Position(found.line, 0);
    await vscode.window.showTextDocument(found.uri, { viewColumn: this.sourceColumn(), selection: new vscode.Range(position, position) });
  }

  /** Sources open beside the panel, not over it. */
  private sourceColumn(): vscode.ViewColumn {
    const column = this.panel?.viewColumn ?? vscode.ViewColumn.Beside;
    if (column === vscode.ViewColumn.Beside) return vscode.ViewColumn.Active;
    const other = vscode.window.visibleTextEditors.find(({ viewColumn }) => viewColumn !== undefined && viewColumn !== column)?.viewColumn;
    return other ?? (column === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
  }
}

function parseMessage(message: unknown): FromPanel | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, file, line, message: text } = message as Record<string, unknown>;
  if (type === 'ready') return { type };
  if (type === 'open' && typeof file === 'string' && typeof line === 'number') return { type, file, line };
  if (type === 'error' && typeof text === 'string') return { type, message: text };
  return undefined;
}

function pageHtml(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const asset = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contended Lines</title>
<link rel="stylesheet" href="${asset('panel.css')}">
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${asset('panel.js')}"></script>
</body>
</html>`;
}
