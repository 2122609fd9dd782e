// All notifications of the extension. Names of recordings and programs stand in them, so every text goes through notificationText().
import * as vscode from 'vscode';
import { notificationText } from '../protocol/printable';

/** Gives the choice that was taken; undefined where the notification was closed without one. */
export type Notify = (text: string, ...choices: string[]) => Thenable<string | undefined>;

export const showInformation: Notify = (text, ...choices) => vscode.window.showInformationMessage(notificationText(text), ...choices);
export const showWarning: Notify = (text, ...choices) => vscode.window.showWarningMessage(notificationText(text), ...choices);
/** Errors of the engine: showError() of errors.ts. */
export const showErrorText: Notify = (text, ...choices) => vscode.window.showErrorMessage(notificationText(text), ...choices);

/** A question that has to be answered first; whether the choice was taken. `detail` may have several lines. */
export async function askModal(text: string, detail: string, choice: string): Promise<boolean> {
  const options = { modal: true, detail: detail.split('\n').map(notificationText).join('\n') };
  return (await vscode.window.showWarningMessage(notificationText(text), options, choice)) === choice;
}

/**
 * A notification while the task runs.
 * @param task gets what shows a message behind the title, and a signal of the notification's "Cancel"
 */
export function withNotification<T>(
  title: string,
  task: (report: (message: string) => void, cancel: AbortSignal) => Promise<T>,
): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, title: notificationText(title), cancellable: true };
  return vscode.window.withProgress(options, (progress, token) => {
    const cancel = new AbortController();
    token.onCancellationRequested(() => cancel.abort());
    return task((message) => progress.report({ message: notificationText(message) }), cancel.signal);
  });
}
