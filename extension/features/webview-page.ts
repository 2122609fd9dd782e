// The HTML around a page of ours: its bundle in dist/, and a policy that lets it load nothing else.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { outliveBlankness } from './blank-page';

export interface Page {
  extensionUri: vscode.Uri;
  /** Of the bundle: dist/NAME.js and dist/NAME.css. */
  name: string;
  title: string;
  log: vscode.LogOutputChannel;
}

export function showPage(view: vscode.WebviewPanel, { extensionUri, name, title, log }: Page): void {
  outliveBlankness(view, log);
  const { webview } = view;
  const dist = vscode.Uri.joinPath(extensionUri, 'dist');
  const nonce = randomBytes(16).toString('base64');
  const asset = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, file)).toString();
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}`;
  webview.options = { enableScripts: true, localResourceRoots: [dist] };
  const { bundle } = vscode.l10n;
  const translated =
    bundle === undefined ? 'lang="en"' : `lang="${attribute(vscode.env.language)}" data-l10n="${attribute(JSON.stringify(bundle))}"`;
  webview.html = `<!DOCTYPE html>
<html ${translated}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${asset(`${name}.css`)}">
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${asset(`${name}.js`)}"></script>
</body>
</html>`;
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
