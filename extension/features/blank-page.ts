// A page that stays blank: its frame never came to read the HTML. It happens where all frames have one origin (code-server with VS Code 1.100):
// of two that start at the same moment, as after a reload of the window, one asks a service worker that the other one's replaces,
// and waits for its answer for ever. The editor makes a frame anew when its tab is hidden and shown again.
import * as vscode from 'vscode';

/** What a page takes to its first message on a busy machine, in milliseconds. */
const PATIENCE_MS = 5000;
/** What else keeps a page blank is not cured by trying on. */
const TRIES = 3;

/** The turn of a page to be made anew: frames that start at the same moment would meet the same fate again. */
let turn = Promise.resolve();

/**
 * Hides and shows a page again that says nothing in time while it is visible. Any message says that its script runs.
 * Does nothing on the desktop, where each frame has an origin of its own.
 */
export function outliveBlankness(view: vscode.WebviewPanel, log: vscode.LogOutputChannel, patienceMs = PATIENCE_MS): void {
  if (vscode.env.uiKind !== vscode.UIKind.Web) return;
  let triesLeft = TRIES;
  /** Visible, and silent since it is. */
  let isBlank = false;
  let wasVisible = false;
  let timer: NodeJS.Timeout | undefined;
  let answered = (): void => {};
  const isFine = (): void => {
    isBlank = false;
    clearTimeout(timer);
    answered();
  };
  const watch = (): void => {
    if (view.visible === wasVisible) return;
    wasVisible = view.visible;
    isFine();
    if (!view.visible || triesLeft === 0) return;
    isBlank = true;
    timer = setTimeout(() => {
      turn = turn.then(showAgain);
    }, patienceMs);
  };
  const showAgain = async (): Promise<void> => {
    if (!isBlank) return;
    --triesLeft;
    log.warn(`The page of ${view.title} said nothing within ${patienceMs} ms: it is hidden and shown again.`);
    try {
      await hideAndShow(view);
    } catch (error) {
      log.error(`The page of ${view.title} could not be shown again: ${String(error)}`);
    }
    await new Promise<void>((resolve) => {
      answered = resolve;
      setTimeout(resolve, patienceMs);
    });
  };
  const subscriptions = [view.onDidChangeViewState(watch), view.webview.onDidReceiveMessage(isFine)];
  view.onDidDispose(() => {
    isFine();
    for (const subscription of subscriptions) subscription.dispose();
  });
  watch();
}

/** An empty text lies over the page for a moment: it has no frame that could meet the same fate, and is closed without a question. */
async function hideAndShow(view: vscode.WebviewPanel): Promise<void> {
  const { active: isActive } = view;
  const column = view.viewColumn ?? vscode.ViewColumn.Active;
  const { uri } = await vscode.workspace.openTextDocument({ content: '' });
  await vscode.window.showTextDocument(uri, { viewColumn: column, preserveFocus: !isActive, preview: false });
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const over = tabs.filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString());
  await vscode.window.tabGroups.close(over, !isActive);
}
