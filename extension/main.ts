// The extension's entry: makes the features and connects them to each other and to their commands, nothing else.
import './features/translations';
import * as vscode from 'vscode';
import { withBundledFiles } from './engine/bundled-files';
import { EngineClient } from './engine/client';
import { AdviceActions } from './features/advice';
import type { CachelineApi } from './features/api';
import { AttachCommand } from './features/attach';
import { CheckMachine } from './features/check-machine';
import { Compare } from './features/compare';
import { ContendedTree } from './features/contended-tree';
import { CurrentProfile } from './features/current-profile';
import { EditPreviews } from './features/edit-preview';
import { EngineHealth } from './features/engine-health';
import { bundledFolder, Example, exampleFolder } from './features/example';
import { Heat } from './features/heat';
import { HeatMetricChoice } from './features/heat-metric';
import { Hovers } from './features/hover';
import { LayoutHovers } from './features/layout-hover';
import { LineDifferences } from './features/line-differences';
import { Layouts } from './features/layouts';
import { MemberTexts } from './features/member-text';
import { OpenRecordingCommand } from './features/open-recording';
import { Panels } from './features/panel';
import { registerRowCommands, type RowPage } from './features/panel-rows';
import { Problems } from './features/problems';
import { ProfileCommand } from './features/profile-command';
import { ProfileDebug } from './features/profile-debug';
import { Profiler } from './features/profiler';
import { ProfileTasks } from './features/profile-tasks';
import { ProgramPicker } from './features/program-picker';
import { RecordingEditor } from './features/recording-editor';
import { RecordingTree } from './features/recording-tree';
import { Recordings } from './features/recordings';
import { SourceDocuments } from './features/source-documents';
import { TerminalPath } from './features/terminal-path';
import { TypeLenses } from './features/type-lens';
import { EXAMPLE_FOLDER } from './session/example/example-program';
import { ReportProfile } from './session/profile/report-profile';
import { ShownProfile } from './session/profile/shown-profile';

let engine: EngineClient | undefined;

export function activate(context: vscode.ExtensionContext): CachelineApi {
  const { extensionUri, globalStorageUri, subscriptions } = context;
  const output = vscode.window.createOutputChannel('Cacheline');
  const log = vscode.window.createOutputChannel('Cacheline Log', { log: true });
  const { version } = context.extension.packageJSON as { version: string };
  const client = new EngineClient({ helperPath: context.asAbsolutePath('dist/helper.js'), version });
  engine = client;
  const reader = withBundledFiles(client, bundledFolder(extensionUri));
  const health = new EngineHealth(client, log);
  const current = new CurrentProfile(log);
  const ownPaths = [{ from: EXAMPLE_FOLDER, to: exampleFolder(globalStorageUri) }];
  const documents = new SourceDocuments(current, ownPaths, log);
  const metric = new HeatMetricChoice(current, log);
  const differences = new LineDifferences(ownPaths, log);
  const heat = new Heat(extensionUri, current, documents, metric, differences, log);
  const layouts = new Layouts(client, current, documents, context.workspaceState, log);
  const cards = new LayoutHovers(layouts, metric, log);
  const members = new MemberTexts(current, documents, metric, log);
  const tree = new ContendedTree(current, documents, metric, log);
  const recordings = new Recordings(reader, log);
  const previews = new EditPreviews();
  const advice = new AdviceActions(current, documents, layouts, previews, log);
  const pages = { extensionUri, documents, metric, advice, log, open: new Set<RowPage>() };
  const panels = new Panels(pages, current, recordings);
  const listed = new RecordingTree(current, panels, context.workspaceState, log);
  const editor = new RecordingEditor(pages, recordings, client);
  const picker = new ProgramPicker(client, context.workspaceState, log);
  const profiler = new Profiler(client, panels, output, log);
  const profile = new ProfileCommand(profiler, picker, log);
  const attach = new AttachCommand(profiler, log);
  const machine = new CheckMachine(client, extensionUri, output, log);
  const opening = new OpenRecordingCommand(recordings, panels, log);
  const compare = new Compare(pages, current, recordings, reader, differences);
  const example = new Example(extensionUri, globalStorageUri, profiler, opening, compare, log);
  const terminals = new TerminalPath(context.environmentVariableCollection, extensionUri, log);

  subscriptions.push(
    output,
    log,
    health,
    current,
    documents,
    metric,
    differences,
    heat,
    layouts,
    members,
    tree,
    listed,
    terminals,
    new Problems(extensionUri, current, documents, metric, log),
    new TypeLenses(current, documents, metric, log),
    panels,
    panels.register(),
    profiler,
    machine,
    compare,
    previews,
    advice.register(),
    editor.register(),
    registerRowCommands(pages),
    new ProfileTasks(profiler, log).register(),
    new ProfileDebug(log).register(),
    new Hovers(extensionUri, current, documents, metric, differences, log).register(),
    cards.register(), // of two hovers on one line the later provider's comes first: the picture, then who accesses the variable
    vscode.commands.registerCommand('cacheline.profile', (argument: unknown) => profile.run(argument)),
    vscode.commands.registerCommand('cacheline.stop', () => profiler.stop()),
    vscode.commands.registerCommand('cacheline.pause', () => profiler.pause(true)),
    vscode.commands.registerCommand('cacheline.resume', () => profiler.pause(false)),
    vscode.commands.registerCommand('cacheline.attach', (argument: unknown) => attach.run(argument)),
    vscode.commands.registerCommand('cacheline.pickProcess', () => attach.pickProcess()),
    vscode.commands.registerCommand('cacheline.openRecording', (argument: unknown) => opening.run(argument)),
    vscode.commands.registerCommand('cacheline.compare', (before: unknown, after: unknown) => compare.run(before, after)),
    vscode.commands.registerCommand('cacheline.openAsProfile', (argument: unknown) => editor.openAsProfile(argument)),
    vscode.commands.registerCommand('cacheline.openListed', (argument: unknown) => listed.open(argument)),
    vscode.commands.registerCommand('cacheline.renameRecording', (argument: unknown) => listed.rename(argument)),
    vscode.commands.registerCommand('cacheline.revealRecording', (argument: unknown) => listed.reveal(argument)),
    vscode.commands.registerCommand('cacheline.deleteRecording', (argument: unknown) => listed.delete(argument)),
    vscode.commands.registerCommand('cacheline.refreshRecordings', () => listed.refresh()),
    vscode.commands.registerCommand('cacheline.heatMetric', (argument: unknown) => metric.run(argument)),
    vscode.commands.registerCommand('cacheline.showPanel', () => panels.show()),
    vscode.commands.registerCommand('cacheline.showLayout', (uri: unknown, line: unknown, name: unknown) => cards.show(uri, line, name)),
    vscode.commands.registerCommand('cacheline.previewAdvice', (number: unknown, title: unknown) => advice.preview(number, title)),
    vscode.commands.registerCommand('cacheline.previewOwnLine', (uri: unknown, line: unknown, name: unknown) =>
      advice.previewOwnLine(uri, line, name),
    ),
    vscode.commands.registerCommand('cacheline.applyAdvice', (uri: unknown) => previews.apply(uri)),
    vscode.commands.registerCommand('cacheline.discardAdvice', (uri: unknown) => previews.discard(uri)),
    vscode.commands.registerCommand('cacheline.openSource', (place: unknown) => tree.open(place)),
    vscode.commands.registerCommand('cacheline.clear', () => documents.use(undefined)),
    vscode.commands.registerCommand('cacheline.checkMachine', () => machine.run()),
    vscode.commands.registerCommand('cacheline.restartEngine', () => health.restart()),
    vscode.commands.registerCommand('cacheline.openWalkthrough', () => example.run('openWalkthrough')),
    vscode.commands.registerCommand('cacheline.buildExample', () => example.run('begin')),
    vscode.commands.registerCommand('cacheline.openExampleRecording', () => example.run('openRecording')),
    vscode.commands.registerCommand('cacheline.profileExample', () => example.run('profile')),
    vscode.commands.registerCommand('cacheline.showExample', () => example.run('show')),
    vscode.commands.registerCommand('cacheline.compareExample', () => example.run('compareRecordings')),
  );

  return {
    currentReport: async () => current.get()?.whole(),
    heatOf: (uri) => heat.stateOf(uri),
    differencesOf: async (uri) =>
      differences.of(await vscode.workspace.openTextDocument(uri))?.map((one) => ({ ...one, line: one.line + 1 })),
    memberTextsOf: (uri) => members.stateOf(uri),
    contendedData: () => tree,
    recordings: () => listed,
    terminalVariables: () => terminals.variables,
    showReport: async (report, title, advised) => panels.use(await ShownProfile.of(new ReportProfile(report, advised), title, title)),
    panelState: () => panels.state(),
    recordingTabs: () => editor.states(),
    receiveFromPanel: (message) => panels.receive(message),
    machineState: () => machine.state(),
    receiveFromMachine: (message) => machine.receive(message),
    compareState: () => compare.state(),
    receiveFromCompare: (message) => compare.receive(message),
    openProfiles: () => client.openProfiles,
    enginePid: () => client.pid,
    recorderPid: () => client.recorderPid,
    engineCrashes: () => health.history,
    restartEngine: () => health.restart(),
  };
}

export async function deactivate(): Promise<void> {
  await engine?.dispose();
}
