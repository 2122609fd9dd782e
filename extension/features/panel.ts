// The panel: the table of contended lines of the current profile, in a webview beside the editor.
import { isAbsolute } from 'node:path';
import * as vscode from 'vscode';
import type { FromPanel } from '../protocol/panel';
import type { PanelState } from './api';
import type { CurrentProfile } from './current-profile';
import { PanelPage, type PageContent, type PageServices } from './panel-page';
import type { Recordings } from './recordings';

const VIEW_TYPE = 'cacheline.panel';
/** Of the workspace: the path of the recording that was shown last. */
const SHOWN_KEY = 'cacheline.shownRecording';

export class Panel implements vscode.Disposable {
  private view: vscode.WebviewPanel | undefined;
  private page: PanelPage | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly services: PageServices,
    private readonly current: CurrentProfile,
    private readonly recordings: Recordings,
    private readonly memory: vscode.Memento,
  ) {
    this.subscription = current.onDidChange(() => {
      this.page?.show(this.content());
      const path = current.get()?.path;
      // A report that was made elsewhere has a title instead.
      void memory.update(SHOWN_KEY, path !== undefined && isAbsolute(path) ? path : undefined);
    });
  }

  /** The panel comes back, with its recording, when the window is loaded again. */
  register(): vscode.Disposable {
    return vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, {
      deserializeWebviewPanel: async (view) => {
        if (this.view) view.dispose();
        else await this.restore(view);
      },
    });
  }

  /** @param preserveFocus leaves the keyboard in the editor */
  show(preserveFocus = false): void {
    if (this.view) {
      this.view.reveal(undefined, preserveFocus);
      return;
    }
    const view = vscode.window.createWebviewPanel(VIEW_TYPE, 'Contended Lines', {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus,
    });
    this.adopt(view);
  }

  private async restore(view: vscode.WebviewPanel): Promise<void> {
    this.adopt(view);
    const path = this.memory.get<string>(SHOWN_KEY);
    if (path === undefined || this.current.get()) return;
    const profile = await this.recordings.analyzeWithProgress(path);
    if (profile) await this.services.documents.use(profile);
  }

  private adopt(view: vscode.WebviewPanel): void {
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
    return (
      this.page?.state() ?? { open: false, shown: false, message: { type: 'empty' }, advice: undefined, detail: undefined, tab: undefined }
    );
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
