// The editor of recordings: opening a perf.data, the meta.json of a recording or a `.cacheline` folder shows the table in that
// tab and heats the sources. The tab that was active last is the one that gutters and hovers follow.
// Custom editor: cacheline.recording. Command: cacheline.openAsProfile (a Uri of the explorer).
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { EngineError } from '../protocol/engine';
import type { Display } from '../protocol/report';
import type { RecordingTabState } from './api';
import type { ShownProfile } from '../session/profile/shown-profile';
import type { CurrentProfile } from './current-profile';
import { panelIcon } from './panel';
import { PanelPage, type PageServices } from './panel-page';
import type { Recordings } from './recordings';

export const VIEW_TYPE = 'cacheline.recording';

interface RecordingDocument extends vscode.CustomDocument {
  isFile: boolean;
}

export class RecordingEditor implements vscode.CustomReadonlyEditorProvider<RecordingDocument> {
  private readonly tabs = new Set<RecordingTab>();

  constructor(
    private readonly services: PageServices,
    private readonly current: CurrentProfile,
    private readonly recordings: Recordings,
  ) {}

  register(): vscode.Disposable {
    return vscode.window.registerCustomEditorProvider(VIEW_TYPE, this);
  }

  /** Command: cacheline.openAsProfile. */
  async openAsProfile(argument: unknown): Promise<void> {
    if (argument instanceof vscode.Uri) await vscode.commands.executeCommand('vscode.openWith', argument, VIEW_TYPE);
    else await vscode.commands.executeCommand('cacheline.openRecording');
  }

  states(): RecordingTabState[] {
    return [...this.tabs].map((tab) => tab.state());
  }

  async openCustomDocument(uri: vscode.Uri): Promise<RecordingDocument> {
    const isFile = await stat(uri.fsPath).then(
      (found) => found.isFile(),
      () => false, // absent: reading it says so
    );
    return { uri, isFile, dispose: () => {} };
  }

  resolveCustomEditor(document: RecordingDocument, view: vscode.WebviewPanel): void {
    const tab = new RecordingTab(document, view, this.services, this.current, this.recordings);
    this.tabs.add(tab);
    view.onDidDispose(() => {
      this.tabs.delete(tab);
      tab.dispose();
    });
    void tab.load();
  }
}

/** One tab with a recording. */
class RecordingTab {
  private readonly page: PanelPage;
  private profile: ShownProfile | undefined;
  private running: AbortController | undefined;
  private disposed = false;

  constructor(
    private readonly document: RecordingDocument,
    private readonly view: vscode.WebviewPanel,
    private readonly services: PageServices,
    private readonly current: CurrentProfile,
    private readonly recordings: Recordings,
  ) {
    view.iconPath = panelIcon(services.extensionUri);
    this.page = new PanelPage(view, services, {
      activate: (profile) => this.activate(profile),
      display: (_, display) => this.load(display),
      show: async (profile) => {
        profile.hold();
        if (this.disposed) profile.release(services.log);
        else await this.replace(profile);
      },
      drop: async (uri) => {
        await vscode.commands.executeCommand('vscode.openWith', uri, VIEW_TYPE);
      },
      retry: () => this.load(),
      reopen: async () => {
        if (document.isFile) await vscode.commands.executeCommand('vscode.openWith', document.uri, 'default');
      },
    });
    view.onDidChangeViewState(() => {
      if (view.active && this.profile) void this.activate(this.profile);
    });
  }

  state(): RecordingTabState {
    return { ...this.page.state(), uri: this.document.uri, receive: (message) => this.page.receive(message) };
  }

  /** Reads the recording and shows it; a failure is shown in the tab, with what to do. */
  async load(display?: Display): Promise<void> {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const title = basename(this.document.uri.fsPath);
    const working = (share: number): void => {
      if (!running.signal.aborted) this.page.show({ kind: 'working', title, share });
    };
    working(0);
    try {
      const profile = await this.recordings.analyze(this.document.uri.fsPath, {
        ...(display === undefined ? {} : { display }),
        cancel: running.signal,
        onShare: working,
      });
      profile.hold();
      if (running.signal.aborted) {
        profile.release(this.services.log);
        return;
      }
      await this.replace(profile);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (running.signal.aborted) return;
      this.services.log.error(`${this.document.uri.fsPath}: ${error.message}`);
      this.page.show({ kind: 'failed', title, error, isFile: this.document.isFile });
    }
  }

  /** Shows a profile, which is held for it, instead of the one before. */
  private async replace(profile: ShownProfile): Promise<void> {
    const shown = this.current.get();
    const isCurrent = shown === undefined || shown === this.profile;
    const before = this.profile;
    this.profile = profile;
    this.show(); // the sources are looked for when its rows are on their way
    if (this.view.active || isCurrent) await this.activate(profile);
    before?.release(this.services.log);
  }

  dispose(): void {
    this.disposed = true;
    this.running?.abort();
    this.page.dispose();
    this.profile?.release(this.services.log);
  }

  private show(): void {
    if (this.profile && !this.disposed) this.page.show({ kind: 'profile', profile: this.profile });
  }

  private async activate(profile: ShownProfile): Promise<void> {
    if (this.current.get() !== profile) await this.services.documents.use(profile);
  }
}
