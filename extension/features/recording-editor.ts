// The editor of recordings: opening a perf.data, the meta.json of a recording or a `.cacheline` folder shows the table in that
// tab and heats the sources.
// Custom editor: cacheline.recording. Command: cacheline.openAsProfile (a Uri of the explorer).
import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RecordingTabState } from './api';
import type { PageServices } from './panel-page';
import { RecordingPage } from './recording-page';
import type { Recordings } from './recordings';

export const VIEW_TYPE = 'cacheline.recording';

interface RecordingDocument extends vscode.CustomDocument {
  isFile: boolean;
}

export class RecordingEditor implements vscode.CustomReadonlyEditorProvider<RecordingDocument> {
  private readonly tabs = new Map<RecordingPage, vscode.Uri>();

  constructor(
    private readonly services: PageServices,
    private readonly recordings: Recordings,
    private readonly engine: { prepare(): void },
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
    return [...this.tabs].map(([tab, uri]) => ({ ...tab.state(), uri, receive: (message) => tab.receive(message) }));
  }

  async openCustomDocument(uri: vscode.Uri): Promise<RecordingDocument> {
    this.engine.prepare(); // while the editor makes the tab
    const isFile = await stat(uri.fsPath).then(
      (found) => found.isFile(),
      () => false, // absent: reading it says so
    );
    return { uri, isFile, dispose: () => {} };
  }

  resolveCustomEditor({ uri, isFile }: RecordingDocument, view: vscode.WebviewPanel): void {
    const tab = new RecordingPage(view, this.services, this.recordings, {
      isFile,
      reopen: async () => {
        if (isFile) await vscode.commands.executeCommand('vscode.openWith', uri, 'default');
      },
      drop: async (dropped) => {
        await vscode.commands.executeCommand('vscode.openWith', dropped, VIEW_TYPE);
      },
    });
    this.tabs.set(tab, uri);
    view.onDidDispose(() => this.tabs.delete(tab));
    void tab.load(uri.fsPath);
  }
}
