// One recording in a webview, by the panel's page: reads it, and holds its profile in the engine as long as the webview is open.
// Of all of these the one that was active last is the one that gutters, hovers and the tree follow.
import { existsSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import * as vscode from 'vscode';
import { EngineError } from '../protocol/engine';
import type { FromPanel } from '../protocol/panel';
import type { Display } from '../protocol/report';
import { paced } from '../session/profile/progress-pace';
import type { ShownProfile } from '../session/profile/shown-profile';
import type { PanelState } from './api';
import { showError } from './errors';
import { PanelPage, type PageServices } from './panel-page';
import type { RowPage } from './panel-rows';
import type { Recordings } from './recordings';

/** What the owner of the webview does for it. */
export interface RecordingPageOwner {
  /** The recording can be shown by another editor, which `reopen` does. */
  isFile: boolean;
  reopen(): Promise<void>;
  drop(uri: vscode.Uri): Promise<void>;
  /** Told of each profile that is shown. */
  shows?(profile: ShownProfile): void;
}

export class RecordingPage implements RowPage, vscode.Disposable {
  private readonly page: PanelPage;
  private shown: ShownProfile | undefined;
  /** Reads what was asked for last once more. */
  private again = (): Promise<void> => Promise.resolve();
  private running: AbortController | undefined;
  private disposed = false;
  /** Of the profile that is shown, where it is activated: ends also where that fails. */
  private activating: Promise<unknown> = Promise.resolve();

  constructor(
    readonly view: vscode.WebviewPanel,
    private readonly services: PageServices,
    private readonly recordings: Recordings,
    private readonly owner: RecordingPageOwner,
  ) {
    view.iconPath = panelIcon(services.extensionUri);
    this.page = new PanelPage(view, services, {
      activate: (profile) => this.activate(profile),
      display: (profile, display) => this.load(profile.path, display),
      show: (profile) => this.replace(profile),
      activated: () => this.activating,
      drop: (uri) => owner.drop(uri),
      retry: () => this.again(),
      reopen: () => owner.reopen(),
    });
    services.open.add(this);
    view.onDidChangeViewState(() => {
      if (!view.active) return;
      this.isLast();
      const { shown } = this;
      if (shown && services.documents.wanted !== shown)
        services.documents.use(shown).catch((error: unknown) => showError(error, services.log));
    });
    view.onDidDispose(() => this.dispose());
  }

  /** Undefined: its recording is read, cannot be read, or there is none. */
  get profile(): ShownProfile | undefined {
    return this.shown;
  }

  state(): PanelState {
    return this.page.state();
  }

  receive(message: FromPanel): Promise<void> {
    return this.page.receive(message);
  }

  profileOf(version: number): ShownProfile | undefined {
    return this.page.profileOf(version);
  }

  filter(profile: ShownProfile, filter: string): Promise<void> {
    return this.page.filter(profile, filter);
  }

  /** Gutters and hovers follow this page from now on. */
  async activate(profile: ShownProfile): Promise<void> {
    const { documents } = this.services;
    this.isLast();
    if (!documents.shows(profile)) await documents.use(profile);
  }

  /** Shows a profile that was read already, and activates it. */
  async take(profile: ShownProfile): Promise<void> {
    this.running?.abort();
    await this.replace(profile, true);
  }

  /** Reads the recording and shows it; a failure is shown in the page, with what to do. */
  async load(path: string, display?: Display): Promise<void> {
    if (!isAbsolute(path)) {
      const error = new EngineError(
        'impossible',
        vscode.l10n.t('{0} was made elsewhere and cannot be read again.', path),
        vscode.l10n.t('Open its recording.'),
      );
      showError(error, this.services.log);
      return;
    }
    this.again = () => this.load(path, display);
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const title = basename(path);
    const working = (share: number): void => {
      if (!running.signal.aborted) this.page.show({ kind: 'working', title, share });
    };
    working(0);
    try {
      const profile = await this.recordings.analyze(path, {
        ...(display === undefined ? {} : { display }),
        cancel: running.signal,
        onShare: paced(working),
      });
      if (running.signal.aborted) drop(profile, this.services.log);
      else await this.replace(profile);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (running.signal.aborted) return;
      this.services.log.error(`${path}: ${error.message}`);
      this.page.show({ kind: 'failed', title, error: existsSync(path) ? error : isGone(path), isFile: this.owner.isFile });
    }
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.running?.abort();
    this.page.dispose();
    this.services.open.delete(this);
    this.shown?.release(this.services.log);
  }

  private show(): void {
    if (this.shown && !this.disposed) this.page.show({ kind: 'profile', profile: this.shown });
  }

  /** It was active last. */
  private isLast(): void {
    const { open } = this.services;
    open.delete(this);
    open.add(this);
  }

  /** @param activate also where neither this page nor its profile before is the one that is followed */
  private async replace(profile: ShownProfile, activate = false): Promise<void> {
    if (this.disposed) {
      drop(profile, this.services.log);
      return;
    }
    const before = this.shown;
    const { wanted } = this.services.documents;
    profile.hold();
    this.shown = profile;
    this.owner.shows?.(profile);
    this.show();
    try {
      if (activate || this.view.active || wanted === undefined || wanted === before) {
        // After the first rows: finding the sources asks for what all lines have.
        const activating = this.page.painted().then(async () => {
          if (this.shown === profile && !this.disposed) await this.activate(profile);
        });
        this.activating = Promise.allSettled([activating]);
        await activating;
      }
    } finally {
      before?.release(this.services.log);
    }
  }
}

function isGone(path: string): EngineError {
  const text = vscode.l10n.t('There is no {0} any more.', path);
  return new EngineError('io', text, vscode.l10n.t('Put it back and try again, or close this tab.'));
}

/** Nobody shows it. */
function drop(profile: ShownProfile, log: vscode.LogOutputChannel): void {
  profile.hold();
  profile.release(log);
}

export function panelIcon(extensionUri: vscode.Uri): { light: vscode.Uri; dark: vscode.Uri } {
  const icon = (theme: string): vscode.Uri => vscode.Uri.joinPath(extensionUri, 'media', `heat-4-${theme}.svg`);
  return { light: icon('light'), dark: icon('dark') };
}
