// The panels: each shows one recording beside the editor, by its path, and comes back when the window is loaded again.
// Command: cacheline.showPanel.
import * as vscode from 'vscode';
import type { FromPanel } from '../protocol/panel';
import { printable } from '../protocol/printable';
import type { ShownProfile } from '../session/profile/shown-profile';
import { recordingName } from '../session/record/recording-path';
import type { PanelState } from './api';
import type { CurrentProfile } from './current-profile';
import type { PageServices } from './panel-page';
import { RecordingPage } from './recording-page';
import type { Recordings } from './recordings';

const VIEW_TYPE = 'cacheline.panel';
const NO_PANEL: PanelState = {
  open: false,
  shown: false,
  message: { type: 'empty' },
  advice: undefined,
  detail: undefined,
  unfolded: undefined,
  tab: undefined,
};

export class Panels implements vscode.Disposable {
  /** With the recording that each is for; undefined: the next one that is opened. */
  private readonly panels = new Map<RecordingPage, string | undefined>();

  constructor(
    private readonly services: PageServices,
    private readonly current: CurrentProfile,
    private readonly recordings: Recordings,
  ) {}

  /** What a page keeps says which recording is opened in it again. */
  register(): vscode.Disposable {
    return vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, {
      deserializeWebviewPanel: (view, state: unknown) => {
        const { path } = (state ?? {}) as { path?: unknown };
        const known = typeof path === 'string' && path !== '' ? path : undefined;
        const panel = this.adopt(view, known);
        if (known !== undefined) void panel.load(known);
        return Promise.resolve();
      },
    });
  }

  /** Command: cacheline.showPanel. The page of the current profile; where there is none, the one that was active last. */
  async show(): Promise<void> {
    const profile = this.current.get();
    const pages = [...this.services.open];
    const page = profile ? pages.find((one) => one.profile === profile) : pages.at(-1);
    if (page) page.view.reveal();
    else if (profile) await this.open(profile, true);
    else this.create(undefined, false);
  }

  /** Shows a profile in the panel of its recording, and makes it the current one. */
  async open(profile: ShownProfile, isFocused = false): Promise<void> {
    // The editor tells that a page is active only where another one was before.
    const preserveFocus = !isFocused && ![...this.services.open].some(({ view }) => view.active);
    const panel = this.find(profile.path) ?? this.find(undefined);
    if (panel) panel.view.reveal(undefined, preserveFocus);
    await (panel ?? this.create(profile.path, preserveFocus)).take(profile);
  }

  /** Makes a profile the current one, and shows it where its recording has a panel. */
  async use(profile: ShownProfile): Promise<void> {
    const panel = this.find(profile.path);
    await (panel ? panel.take(profile) : this.services.documents.use(profile));
  }

  /** A recording lies elsewhere now. Whether a panel shows it. */
  moved(from: string, to: string): boolean {
    const panel = this.find(from);
    if (panel) {
      this.panels.set(panel, to);
      void panel.load(to);
    }
    return panel !== undefined;
  }

  /** Of the one that was active last. */
  state(): PanelState {
    return this.last()?.state() ?? NO_PANEL;
  }

  async receive(message: FromPanel): Promise<void> {
    await this.last()?.receive(message);
  }

  dispose(): void {
    for (const { view } of [...this.panels.keys()]) view.dispose();
  }

  private find(path: string | undefined): RecordingPage | undefined {
    return [...this.panels].find(([, shown]) => shown === path)?.[0];
  }

  private last(): RecordingPage | undefined {
    const pages: readonly unknown[] = [...this.services.open];
    return [...this.panels.keys()].sort((a, b) => pages.indexOf(a) - pages.indexOf(b)).at(-1);
  }

  private create(path: string | undefined, preserveFocus: boolean): RecordingPage {
    const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus };
    return this.adopt(vscode.window.createWebviewPanel(VIEW_TYPE, vscode.l10n.t('Contended Lines'), column), path);
  }

  private adopt(view: vscode.WebviewPanel, path: string | undefined): RecordingPage {
    const panel = new RecordingPage(view, this.services, this.recordings, {
      isFile: false,
      reopen: () => Promise.resolve(),
      drop: async (uri) => {
        await vscode.commands.executeCommand('cacheline.openRecording', uri);
      },
      shows: (profile) => {
        this.panels.set(panel, profile.path);
        view.title = printable(recordingName(profile.path));
      },
    });
    this.panels.set(panel, path);
    view.onDidDispose(() => this.panels.delete(panel));
    return panel;
  }
}
