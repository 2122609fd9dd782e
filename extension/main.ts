// The extension's entry: makes the features and connects them to each other and to their commands, nothing else.
import * as vscode from 'vscode';
import { EngineClient } from './engine/client';
import type { CachelineApi } from './features/api';
import { checkMachine } from './features/check-machine';
import { CurrentProfile } from './features/current-profile';
import { EngineHealth } from './features/engine-health';
import { Heat } from './features/heat';
import { Hovers } from './features/hover';
import { OpenRecordingCommand } from './features/open-recording';
import { Panel } from './features/panel';
import { ProfileCommand } from './features/profile';
import { ProgramPicker } from './features/program-picker';
import { SourceDocuments } from './features/source-documents';

let engine: EngineClient | undefined;

export function activate(context: vscode.ExtensionContext): CachelineApi {
  const { extensionUri, subscriptions } = context;
  const output = vscode.window.createOutputChannel('Cacheline');
  const log = vscode.window.createOutputChannel('Cacheline Log', { log: true });
  const client = new EngineClient({ helperPath: context.asAbsolutePath('dist/helper.js') });
  engine = client;
  const health = new EngineHealth(client, log);
  const current = new CurrentProfile();
  const documents = new SourceDocuments(current, log);
  const heat = new Heat(extensionUri, current, documents, log);
  const panel = new Panel(extensionUri, current, documents, log);
  const picker = new ProgramPicker(client, context.workspaceState, log);
  const profile = new ProfileCommand(client, picker, documents, panel, output, log);
  const recordings = new OpenRecordingCommand(client, documents, panel, log);

  subscriptions.push(
    output,
    log,
    health,
    current,
    documents,
    heat,
    panel,
    new Hovers(current, documents).register(),
    vscode.commands.registerCommand('cacheline.profile', (argument: unknown) => profile.run(argument)),
    vscode.commands.registerCommand('cacheline.stop', () => profile.stop()),
    vscode.commands.registerCommand('cacheline.openRecording', (argument: unknown) => recordings.run(argument)),
    vscode.commands.registerCommand('cacheline.showPanel', () => panel.show()),
    vscode.commands.registerCommand('cacheline.clear', () => documents.use(undefined)),
    vscode.commands.registerCommand('cacheline.checkMachine', () => checkMachine(client, output, log)),
  );

  return {
    currentReport: () => current.get()?.report,
    heatOf: (uri) => heat.stateOf(uri),
    panelState: () => panel.state(),
    receiveFromPanel: (message) => panel.receive(message),
    enginePid: () => client.pid,
    engineCrashes: () => health.history,
    restartEngine: () => health.restart(),
  };
}

export async function deactivate(): Promise<void> {
  await engine?.dispose();
}
