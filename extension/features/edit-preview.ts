// Edits of sources as a comparison of what is with what would be, to be applied or discarded.
// Commands: cacheline.applyAdvice, cacheline.discardAdvice (optional argument: the Uri of a right side; return whether that was done).
// Context key: cacheline.advicePreview, while there is a comparison.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { TextEdit } from '../session/advice/edit';
import { enumerate, printable } from '../session/text/terminal-text';
import { showInformation, showWarning } from './notify';

/** Of the right sides of comparisons. */
const SCHEME = 'cacheline-advice';

const CONTEXT = 'cacheline.advicePreview';

interface ProposedFile {
  uri: vscode.Uri;
  before: string;
  after: string;
  edits: readonly TextEdit[];
}

export interface ProposedEdit {
  /** What applying it does; has untrusted names. */
  title: string;
  /** What it costs and gains: sentences. */
  detail: string;
  files: readonly ProposedFile[];
}

interface Preview extends ProposedEdit {
  label: string;
}

/**
 * One WorkspaceEdit, so that one undo takes all of it back.
 * @returns or the names of the files whose text is no longer the one that the edit was made for. Nothing is awaited between the comparison
 *   and the answer, so that the editor knows of each later change of a text.
 */
export async function workspaceEdit({ files }: Pick<ProposedEdit, 'files'>): Promise<vscode.WorkspaceEdit | { changed: string[] }> {
  const documents = await Promise.all(files.map(({ uri }) => vscode.workspace.openTextDocument(uri)));
  const edit = new vscode.WorkspaceEdit();
  const changed: string[] = [];
  for (const [at, document] of documents.entries()) {
    const { uri, before, edits = [] } = files[at] ?? {};
    if (uri === undefined || document.getText() !== before) changed.push(basename(document.uri.fsPath));
    else
      for (const { start, end, text } of edits)
        edit.replace(uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), text);
  }
  return changed.length > 0 ? { changed } : edit;
}

export class EditPreviews implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly previews = new Map<string, Preview>();
  private last = 0;
  private readonly subscriptions: vscode.Disposable[];

  constructor() {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        const isOpen = vscode.workspace.textDocuments.some((other) => other.uri.scheme === SCHEME && other.uri.query === uri.query);
        if (uri.scheme === SCHEME && !isOpen) this.forget(uri.query);
      }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const file = this.previews.get(uri.query)?.files.find((one) => one.uri.path === uri.path);
    return file?.after ?? '';
  }

  /** Opens the comparison. */
  async show(edit: ProposedEdit): Promise<void> {
    const id = String(++this.last);
    const label = vscode.l10n.t('Preview: {0}', printable(edit.title));
    this.previews.set(id, { ...edit, label });
    void vscode.commands.executeCommand('setContext', CONTEXT, true);
    const pairs = edit.files.map(({ uri }) => [uri, uri.with({ scheme: SCHEME, authority: '', query: id })] as const);
    const [first] = pairs;
    if (first === undefined) return;
    if (pairs.length === 1) await vscode.commands.executeCommand('vscode.diff', ...first, label, { preview: true });
    else
      await vscode.commands.executeCommand(
        'vscode.changes',
        label,
        pairs.map(([before, after]) => [before, before, after]),
      );
    // Without buttons: nothing can end a notification that has some when the comparison ends.
    void showInformation(vscode.l10n.t('{0}. {1} Apply or discard it at the top right of the comparison.', edit.title, edit.detail));
  }

  /** Command: cacheline.applyAdvice. The documents are left to be saved. */
  async apply(argument: unknown): Promise<boolean> {
    const { id, preview } = this.chosen(argument);
    if (preview === undefined) {
      void showInformation(vscode.l10n.t('This preview is closed. Its edit was applied or discarded.'));
      return false;
    }
    const edit = await workspaceEdit(preview);
    if ('changed' in edit) {
      void showWarning(
        vscode.l10n.t(
          '{0} changed after this preview was made, so the edit no longer fits. Open the preview again.',
          enumerate(edit.changed),
        ),
      );
      return false;
    }
    if (!(await vscode.workspace.applyEdit(edit))) {
      void showWarning(
        vscode.l10n.t(
          '{0} cannot be edited. It may be read-only, or it has just changed.',
          enumerate(preview.files.map(({ uri }) => basename(uri.fsPath))),
        ),
      );
      return false;
    }
    await this.close(id, preview);
    const [file] = preview.files;
    if (file !== undefined) await vscode.window.showTextDocument(file.uri);
    return true;
  }

  /** Command: cacheline.discardAdvice. */
  async discard(argument: unknown): Promise<boolean> {
    const { id, preview } = this.chosen(argument);
    if (preview === undefined) return false;
    await this.close(id, preview);
    return true;
  }

  dispose(): void {
    this.previews.clear();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** That of the Uri, else of the active tab. */
  private chosen(argument: unknown): { id: string; preview: Preview | undefined } {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const active = input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
    const uri = argument instanceof vscode.Uri && argument.scheme === SCHEME ? argument : active;
    // A comparison of several files has no Uri of its own.
    const label = vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '';
    const id = uri?.scheme === SCHEME ? uri.query : ([...this.previews].findLast(([, preview]) => isTabOf(preview, label))?.[0] ?? '');
    return { id, preview: this.previews.get(id) };
  }

  private forget(id: string): void {
    this.previews.delete(id);
    if (this.previews.size === 0) void vscode.commands.executeCommand('setContext', CONTEXT, false);
  }

  private async close(id: string, preview: Preview): Promise<void> {
    this.forget(id);
    const tabs = vscode.window.tabGroups.all.flatMap(({ tabs: all }) => all);
    const own = tabs.filter(({ input, label: shown }) =>
      input instanceof vscode.TabInputTextDiff ? input.modified.scheme === SCHEME && input.modified.query === id : isTabOf(preview, shown),
    );
    await vscode.window.tabGroups.close(own);
  }
}

/** VS Code adds the number of files: "Preview: … (2 files)". */
function isTabOf({ label }: Preview, shown: string): boolean {
  return shown === label || shown.startsWith(`${label} (`);
}
