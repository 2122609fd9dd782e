// The panel: the table of contended lines of the current profile, in a webview beside the editor.
import * as vscode from 'vscode';
import type { FromPanel } from '../protocol/panel';
import type { PanelState } from './api';
import type { CurrentProfile } from './current-profile';
import { PanelPage, type PageContent, type PageServices } from './panel-page';
import type { Recordings } from './recordings';

export class Panel implements vscode.Disposable {
  private view: vscode.WebviewPanel | undefined;
  private page: PanelPage | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly services: PageServices,
    private readonly current: CurrentProfile,
    private readonly recordings: Recordings,
  ) {
    this.subscription = current.onDidChange(() => this.page?.show(this.content()));
  }

  /** @param preserveFocus leaves the keyboard in the editor */
  show(preserveFocus = false): void {
    if (this.view) {
      this.view.reveal(undefined, preserveFocus);
      return;
    }
    const view = vscode.window.createWebviewPanel('cacheline.panel', 'Contended Lines', {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus,
    });
    view.iconPath = panelIcon(this.services.extensionUri);
    this.view = view;
    const page = new PanelPage(view, this.services, {
      activate: () => Promise.resolve(), // it shows the current one
      display: async ({ path }, display) => {
        const profile = await this.recordings.analyzeWithProgress(path, display);
        if (profile) await this.services.documents.use(profile);
      },
      show: (profile) => this.services.documents.use(profile),
      drop: async (uri) => {
        await vscode.commands.executeCommand('cacheline.openRecording', uri);
      },
      retry: () => Promise.resolve(),
      reopen: () => Promise.resolve(),
    });
    this.page = page;
    page.show(this.content());
    view.onDidDispose(() => {
      page.dispose();
      this.view = undefined;
      this.page = undefined;
    });
  }

  state(): PanelState {
    return this.page?.state() ?? { open: false, shown: false, message: { type: 'empty' }, advice: undefined, tab: undefined };
  }

  async receive(message: FromPanel): Promise<void> {
    await this.page?.receive(message);
  }

  dispose(): void {
    this.view?.dispose();
    this.subscription.dispose();
  }

  private content(): PageContent {
    const profile = this.current.get();
    return profile ? { kind: 'profile', profile } : { kind: 'empty' };
  }
}

export function panelIcon(extensionUri: vscode.Uri): { light: vscode.Uri; dark: vscode.Uri } {
  const icon = (theme: string): vscode.Uri => vscode.Uri.joinPath(extensionUri, 'media', `heat-4-${theme}.svg`);
  return { light: icon('light'), dark: icon('dark') };
}
