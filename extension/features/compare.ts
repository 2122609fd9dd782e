// The command "Compare Recordings": a page with what changed between two recordings, and what was predicted of it.
// While it is open, the gutter shows what changed on source lines (line-differences.ts).
// Command: cacheline.compare (optional arguments: paths or Uris of the recordings before and after; returns whether it is shown).
// Messages: protocol/compare.ts.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { FromCompare, ToCompare } from '../protocol/compare';
import { EngineError, type Engine } from '../protocol/engine';
import { compareRecordings, type Comparison } from '../session/compare/comparison';
import { compareView, parseCompareMessage } from '../session/compare/compare-view';
import { diffMarkdown } from '../session/compare/diff-text';
import type { Side } from '../session/compare/sums';
import type { ShownProfile } from '../session/profile/shown-profile';
import { recordingPath } from '../session/record/recording-path';
import type { CompareState } from './api';
import type { CurrentProfile } from './current-profile';
import { showError } from './errors';
import type { LineDifferences } from './line-differences';
import { withNotification } from './notify';
import { onceMore } from './once-more';
import { openBeside } from './open-beside';
import { panelIcon } from './recording-page';
import type { PageServices } from './panel-page';
import { pathOf, pickRecording } from './recording-picker';
import type { Recordings } from './recordings';
import { showPage } from './webview-page';

const TITLE = vscode.l10n.t('Compare');

/** What the page shows. */
interface Compared extends Comparison {
  paths: Record<Side, string>;
}

export class Compare implements vscode.Disposable {
  private view: vscode.WebviewPanel | undefined;
  private shown = false;
  private compared: Compared | undefined;
  /** Of what was compared last. */
  private version = 0;
  /** Recordings whose sources were opened, by their paths. */
  private readonly profiles = new Map<string, ShownProfile>();

  constructor(
    private readonly services: PageServices,
    private readonly current: CurrentProfile,
    private readonly recordings: Recordings,
    private readonly engine: Engine,
    private readonly differences: LineDifferences,
  ) {}

  async run(beforeArgument: unknown, afterArgument: unknown): Promise<boolean> {
    const open = this.current.get()?.path;
    const title = vscode.l10n.t('Compare Recordings');
    const { log } = this.services;
    const before =
      pathOf(beforeArgument) ??
      (await pickRecording(log, { title, placeHolder: vscode.l10n.t('Choose the recording before the change'), open }));
    if (before === undefined) return false;
    const after =
      pathOf(afterArgument) ??
      (await pickRecording(log, { title, placeHolder: vscode.l10n.t('Choose the recording after the change'), open, except: before }));
    if (after === undefined) return false;
    return this.compare({ before: recordingPath(before), after: recordingPath(after) });
  }

  state(): CompareState {
    return { open: this.view !== undefined, shown: this.shown, message: this.message() };
  }

  async receive(message: FromCompare): Promise<void> {
    const { compared } = this;
    switch (message.type) {
      case 'ready':
        this.send();
        return;
      case 'open':
        if (compared && message.version === this.version) await this.open(compared, message.row);
        return;
      case 'swap':
        if (compared) await this.compare({ before: compared.paths.after, after: compared.paths.before });
        return;
      case 'again':
        if (compared) await this.compare(compared.paths);
        return;
      case 'copy':
        if (!compared) return;
        await vscode.env.clipboard.writeText(diffMarkdown(compared.diff));
        vscode.window.setStatusBarMessage(vscode.l10n.t('Copied the comparison as Markdown.'), 5000);
        return;
      case 'error':
        this.services.log.error(`The page of "${TITLE}" failed: ${message.message}`);
    }
  }

  dispose(): void {
    this.view?.dispose();
    this.forget();
  }

  /** Where it fails, what was shown stays. */
  private async compare(paths: Record<Side, string>): Promise<boolean> {
    try {
      const compared = await withNotification(
        vscode.l10n.t('Comparing {0} with {1}', basename(paths.before), basename(paths.after)),
        (report, cancel) => {
          const onShare = (share: number): void => report(`${Math.round(share * 100)}%`);
          return onceMore(() => compareRecordings(this.engine, paths, { cancel, onShare }), cancel);
        },
      );
      this.forget();
      this.compared = { ...compared, paths };
      this.version++;
      this.reveal();
      await this.differences.show(this.compared);
      return true;
    } catch (error) {
      showError(error, this.services.log);
      return false;
    }
  }

  private async open({ places, paths }: Compared, row: number): Promise<void> {
    const place = places[row];
    if (!place) return;
    const path = paths[place.side];
    try {
      // Lines are found by the recording that has them, which the gutter then shows, too.
      if (this.current.get()?.path !== path) await this.services.documents.use(await this.profileOf(path));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      showError(error, this.services.log);
      return;
    }
    if (this.view) await openBeside(this.view, place, this.services);
  }

  private async profileOf(path: string): Promise<ShownProfile> {
    const known = this.profiles.get(path);
    if (known) return known;
    const profile = await withNotification(vscode.l10n.t('Analyzing {0}', basename(path)), (_, cancel) =>
      this.recordings.analyze(path, { cancel }),
    );
    profile.hold();
    this.profiles.set(path, profile);
    return profile;
  }

  private forget(): void {
    for (const profile of this.profiles.values()) profile.release(this.services.log);
    this.profiles.clear();
  }

  private reveal(): void {
    if (this.view) {
      this.view.reveal();
      this.send();
      return;
    }
    const { extensionUri, log } = this.services;
    const view = vscode.window.createWebviewPanel('cacheline.compare', TITLE, vscode.ViewColumn.Active);
    this.view = view;
    view.iconPath = panelIcon(extensionUri);
    view.webview.onDidReceiveMessage((message: unknown) => {
      const known = parseCompareMessage(message);
      if (known) void this.receive(known);
      else log.warn(`The page of "${TITLE}" sent something unknown: ${JSON.stringify(message ?? null).slice(0, 200)}`);
    });
    view.onDidChangeViewState(() => {
      if (!view.visible) this.shown = false; // a hidden page is gone: it asks again when it comes back
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.shown = false;
      this.compared = undefined;
      this.forget();
      void this.differences.show(undefined);
    });
    showPage(view, { extensionUri, name: 'compare', title: TITLE, log: this.services.log });
  }

  private message(): ToCompare | undefined {
    return (
      this.compared && {
        type: 'comparison',
        version: this.version,
        view: compareView(this.compared, (path) => vscode.workspace.asRelativePath(path)),
      }
    );
  }

  private send(): void {
    const message = this.message();
    if (message) void this.view?.webview.postMessage(message).then((delivered) => (this.shown = delivered));
  }
}
