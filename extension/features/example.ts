// The walkthrough "Find your first false sharing in five minutes", and the example that it builds, profiles, fixes and compares. The
// example lies in the folder that the editor gives the extension for its data.
// Commands: cacheline.openWalkthrough, cacheline.buildExample, cacheline.openExampleRecording, cacheline.profileExample,
// cacheline.showExample, cacheline.compareExample; they return whether it was done. Context keys: `cacheline.example.built`,
// `cacheline.example.profiled`.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { buildExample, EXAMPLE_SOURCE, exampleRecordings, findCompiler, readSource, writeSource } from '../session/example/example-program';
import { LaunchError } from '../session/record/recording-choices';
import type { Compare } from './compare';
import { showError } from './errors';
import { askModal, showInformation, showWarning } from './notify';
import type { OpenRecordingCommand } from './open-recording';
import { refuseUntrusted, type Profiler } from './profiler';

const WALKTHROUGH = 'cacheline-lens.cacheline-lens#firstFalseSharing';
/** In the line of the example's source that the walkthrough has people look at. */
const MARK = '// hover here';

type ExampleStep = 'openWalkthrough' | 'begin' | 'openRecording' | 'profile' | 'show' | 'compareRecordings';

export class Example {
  private readonly folder: string;
  private readonly bundled: string;

  /** @param storage of the extension, on this machine */
  constructor(
    private readonly extensionUri: vscode.Uri,
    storage: vscode.Uri,
    private readonly profiler: Profiler,
    private readonly opening: OpenRecordingCommand,
    private readonly compare: Compare,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.folder = exampleFolder(storage);
    this.bundled = bundledFolder(extensionUri);
  }

  /** Says what went wrong. Whether it was done. */
  async run(step: ExampleStep): Promise<boolean> {
    try {
      return await this[step]();
    } catch (error) {
      const isFile = (error as NodeJS.ErrnoException).syscall !== undefined;
      showError(isFile ? new LaunchError(vscode.l10n.t('The example cannot be used: {0}.', (error as Error).message)) : error, this.log);
      return false;
    }
  }

  private async openWalkthrough(): Promise<boolean> {
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', WALKTHROUGH, false);
    return true;
  }

  /** The source as it was delivered, built and opened. */
  private async begin(): Promise<boolean> {
    const delivered = await this.delivered();
    const now = await readSource(this.folder);
    const again =
      now !== undefined &&
      now !== delivered &&
      (await askModal(
        vscode.l10n.t('The example was changed. Start over?'),
        vscode.l10n.t('The source becomes what it was at first. Recordings are kept.'),
        vscode.l10n.t('Start Over'),
      ));
    if (again) await this.saved();
    if (now === undefined || again) await writeSource(this.folder, delivered);
    if ((await this.build()) === undefined) return false;
    await this.openSource();
    return true;
  }

  private async openRecording(): Promise<boolean> {
    await this.sourceThere();
    if (!(await this.opening.run(join(this.bundled, 'before.cacheline')))) return false;
    await reached('profiled');
    return true;
  }

  private async profile(): Promise<boolean> {
    await this.sourceThere();
    const program = await this.build();
    if (program === undefined) return false;
    await this.profiler.run({ kind: 'program', program, args: [], cwd: this.folder, env: {} }, undefined, dirname(program));
    await reached('profiled');
    return true;
  }

  private async show(): Promise<boolean> {
    await this.sourceThere();
    const editor = await this.openSource();
    const at = editor.document.positionAt(Math.max(0, editor.document.getText().indexOf(MARK)));
    const { firstNonWhitespaceCharacterIndex } = editor.document.lineAt(at);
    const position = at.with({ character: firstNonWhitespaceCharacterIndex });
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    await vscode.commands.executeCommand('editor.action.showHover');
    return true;
  }

  private async compareRecordings(): Promise<boolean> {
    const { before, after } = await exampleRecordings(this.folder, await this.delivered());
    if (before !== undefined && after !== undefined) return this.compare.run(before, after);
    const bundled = vscode.l10n.t('Compare Bundled Recordings');
    const missing =
      before === undefined
        ? vscode.l10n.t('There is no recording of the example before the fix. Profile it first.')
        : vscode.l10n.t('There is no recording of the example after the fix. Apply the fix and profile it again.');
    if ((await showInformation(missing, bundled)) === undefined) return false;
    return this.compare.run(join(this.bundled, 'before.cacheline'), join(this.bundled, 'after.cacheline'));
  }

  /** The program of the source as it is now, which is saved; undefined: there is no compiler, which is said. */
  private async build(): Promise<string | undefined> {
    refuseUntrusted();
    await this.saved();
    const compiler = await findCompiler(process.env['PATH'] ?? '');
    if (compiler === undefined) {
      const open = vscode.l10n.t('Open Bundled Recording');
      const text = vscode.l10n.t(
        'No C compiler found: there is no cc, gcc or clang on the PATH. Install gcc, or open the bundled recording.',
      );
      void showWarning(text, open).then((chosen) => {
        if (chosen !== undefined) void vscode.commands.executeCommand('cacheline.openExampleRecording');
      });
      return undefined;
    }
    const program = await buildExample(this.folder, compiler);
    await reached('built');
    return program;
  }

  private delivered(): Promise<string> {
    return readFile(vscode.Uri.joinPath(this.extensionUri, 'media/walkthrough', EXAMPLE_SOURCE).fsPath, 'utf8');
  }

  private async sourceThere(): Promise<void> {
    if ((await readSource(this.folder)) === undefined) await writeSource(this.folder, await this.delivered());
  }

  private get source(): vscode.Uri {
    return vscode.Uri.file(join(this.folder, EXAMPLE_SOURCE));
  }

  private async saved(): Promise<void> {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === this.source.toString());
    if (document?.isDirty === true) await document.save();
  }

  /** Beside the walkthrough, or where it is shown already. */
  private openSource(): Thenable<vscode.TextEditor> {
    const shown = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === this.source.toString());
    return vscode.window.showTextDocument(this.source, { viewColumn: shown?.viewColumn ?? vscode.ViewColumn.Beside });
  }
}

/** Of the source. */
export function exampleFolder(storage: vscode.Uri): string {
  return join(storage.fsPath, 'example');
}

/** Recordings that come with the extension: scripts/example-recordings.mjs makes them. */
export function bundledFolder(extensionUri: vscode.Uri): string {
  return vscode.Uri.joinPath(extensionUri, 'dist/example').fsPath;
}

async function reached(step: 'built' | 'profiled'): Promise<void> {
  await vscode.commands.executeCommand('setContext', `cacheline.example.${step}`, true);
}
