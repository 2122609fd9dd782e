// Errors of the engine as messages: the cause, the next step, and a button that copies a command to run.
import * as vscode from 'vscode';
import { EngineError } from '../protocol/engine';
import { LaunchError } from '../session/record/launch';
import { commandIn } from '../session/text/next-step';
import { showErrorText } from './notify';

/**
 * Shows an error without waiting for its buttons. Cancelled calls are no errors, and a crash is told by engine-health.
 * Errors of other types are bugs and are thrown on.
 */
export function showError(error: unknown, log: vscode.LogOutputChannel): void {
  if (error instanceof LaunchError) {
    log.error(error.message);
    void showErrorText(error.message);
    return;
  }
  if (!(error instanceof EngineError)) throw error;
  const text = `${error.message} ${error.nextStep}`.trim();
  log.error(`${error.kind}: ${text}`);
  if (error.kind !== 'cancelled' && error.kind !== 'crashed') void offerActions(error, text);
}

async function offerActions(error: EngineError, text: string): Promise<void> {
  const command = commandIn(error.nextStep);
  const actions: Record<string, () => Thenable<unknown>> = {
    ...(command === undefined ? {} : { [vscode.l10n.t('Copy Command')]: () => vscode.env.clipboard.writeText(command) }),
    ...(error.kind === 'impossible'
      ? { [vscode.l10n.t('Check This Machine')]: () => vscode.commands.executeCommand('cacheline.checkMachine') }
      : {}),
  };
  const chosen = await showErrorText(text, ...Object.keys(actions));
  await actions[chosen ?? '']?.();
}
