// The page of the table, in whatever webview shows it: what it is sent and what it may ask for.
// Messages: protocol/panel.ts. The page is untrusted input too: it may only open places of the report it shows.
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { EngineError } from '../protocol/engine';
import { HEAT_METRICS, measureOf, MEASURE_WORDS, whyMissing, wholeOf, type Measured } from '../protocol/measure';
import {
  DEFAULT_SORT,
  MOST_EXAMPLES,
  MOST_HOTTEST,
  type FromPanel,
  type PanelHeat,
  type PanelWords,
  type RowOrder,
  type ToPanel,
  type UnfoldedLine,
} from '../protocol/panel';
import type { LineDetail } from '../protocol/panel-detail';
import type { TabAnswer, TabRequest } from '../protocol/panel-tabs';
import type { Display, ObjectSum, SourcePlace } from '../protocol/report';
import { hasPlace } from '../session/code/code-tab';
import { panelWords } from '../session/report/first-words';
import { lineDetail } from '../session/profile/line-detail';
import { lineOrder } from '../session/profile/line-order';
import { panelLines, unfoldedLine } from '../session/profile/panel-lines';
import { paced } from '../session/profile/progress-pace';
import { printable } from '../session/text/terminal-text';
import { droppedUris } from '../session/record/recording-path';
import type { ShownProfile } from '../session/profile/shown-profile';
import type { AdviceActions, ShownAdvice } from './advice';
import type { PanelState } from './api';
import { showError } from './errors';
import type { HeatMetricChoice } from './heat-metric';
import { showWarning } from './notify';
import { onceMore } from './once-more';
import { openBeside } from './open-beside';
import { runRowAction, type RowPage } from './panel-rows';
import { parseMessage } from './panel-messages';
import { PanelTabs } from './panel-tabs';
import type { SourceDocuments } from './source-documents';
import { showPage } from './webview-page';

/** What a page shows. */
export type PageContent =
  | { kind: 'empty' }
  | { kind: 'working'; title: string; share: number }
  | { kind: 'failed'; title: string; error: EngineError; isFile: boolean }
  | { kind: 'profile'; profile: ShownProfile };

/** What the owner of a page does for it. */
export interface PageOwner {
  /** Makes the profile of this page the one that gutters and hovers show. */
  activate(profile: ShownProfile): Promise<void>;
  /** Shows the same recording by another metric. */
  display(profile: ShownProfile, display: Display): Promise<void>;
  /** Shows the same recording by another filter. */
  show(profile: ShownProfile): Promise<void>;
  /** Ends when the profile that is shown is the current one, where it becomes that. */
  activated(): Promise<unknown>;
  drop(uri: vscode.Uri): Promise<void>;
  retry(): Promise<void>;
  reopen(): Promise<void>;
}

/** What all pages share. */
export interface PageServices {
  extensionUri: vscode.Uri;
  documents: SourceDocuments;
  metric: HeatMetricChoice;
  advice: AdviceActions;
  log: vscode.LogOutputChannel;
  /** Those that there are, the one that was active last at the end. */
  open: Set<RowPage>;
}

/** For the page, or for rows of it, before going on without. */
const MOST_WAIT_MS = 500;

/** No two reports that any page is sent have the same version. */
let lastVersion = 0;

export class PanelPage implements vscode.Disposable {
  private content: PageContent = { kind: 'empty' };
  private shown = false;
  private disposed = false;
  /** Of what was sent last. */
  private version = 0;
  /** About what the recording that is shown begins with. */
  private firstVersion = 0;
  /** Looks for advice. */
  private looking: AbortController | undefined;
  private advised: ShownAdvice | undefined;
  /** What was sent last of it. */
  private detail: LineDetail | undefined;
  /** Likewise. */
  private unfolded: UnfoldedLine | undefined;
  /** The filter before the window was loaded again; empty: none, or it is set again; undefined: the page has not said it. */
  private restored: string | undefined;
  /** What was sent last. */
  private tab: TabAnswer | undefined;
  private filtering: AbortController | undefined;
  /** Of the lines that the page asked for last; undefined: as they come with the report. */
  private order: RowOrder | undefined;
  /** Ends all waiting for the page: it has painted what it was sent last, or is hidden or closed. */
  private readonly painting = new vscode.EventEmitter<void>();
  private readonly tabs = new PanelTabs(
    () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '',
    (profile, file) => this.services.documents.compiledLines(profile, file),
  );
  private readonly subscriptions: { dispose(): void }[];

  constructor(
    readonly view: vscode.WebviewPanel,
    private readonly services: PageServices,
    private readonly owner: PageOwner,
  ) {
    this.subscriptions = [
      services.metric.onDidChange(() => void this.sendHeat().catch((error: unknown) => showError(error, services.log))),
      view.webview.onDidReceiveMessage((message: unknown) => {
        const known = parseMessage(message);
        if (known) this.receive(known).catch((error: unknown) => showError(error, services.log));
        else services.log.warn(`The panel's page sent something unknown: ${JSON.stringify(message ?? null).slice(0, 200)}`);
      }),
      view.onDidChangeViewState(() => {
        if (view.visible) return;
        this.shown = false; // a hidden page is gone: it asks again when it comes back
        this.painting.fire();
        this.looking?.abort();
        this.tabs.abort();
      }),
    ];
    showPage(view, { ...services, name: 'panel', title: vscode.l10n.t('Contended Lines') });
  }

  show(content: PageContent): void {
    if (pathOf(content) !== pathOf(this.content)) this.firstVersion = lastVersion + 1;
    this.content = content;
    this.looking?.abort();
    this.tabs.clear();
    this.advised = undefined;
    this.detail = undefined;
    this.unfolded = undefined;
    this.tab = undefined;
    this.send();
    void this.restore();
  }

  state(): PanelState {
    const { shown, advised, detail, unfolded, tab } = this;
    return { open: true, shown, message: this.message(), advice: advised?.shown, detail, unfolded, tab };
  }

  async receive(message: FromPanel): Promise<void> {
    const profile = this.content.kind === 'profile' ? this.content.profile : undefined;
    switch (message.type) {
      case 'ready':
        // The first page of a tab has kept something only where the window was loaded again.
        this.restored ??= message.filter;
        this.send();
        await this.restore();
        return;
      case 'painted':
        if (profile && message.version === this.version) {
          this.painting.fire();
          await this.owner.activated(); // advice looks at the sources of the current profile
          if (message.version === this.version) await this.lookForAdvice(profile);
        }
        return;
      case 'open':
        if (profile) await this.open(profile, message);
        return;
      case 'advice':
        if (profile && this.advised) await this.openAdvice(profile, this.advised);
        return;
      case 'allAdvice':
        if (profile) await this.owner.activate(profile);
        if (profile) await vscode.commands.executeCommand('cacheline.previewAdvice');
        return;
      case 'lines':
        if (profile && message.version === this.version) await this.sendLines(profile, message);
        return;
      case 'tab':
        if (profile && message.version === this.version) await this.sendTab(profile, message);
        return;
      case 'filter':
        // Written to an older report it is meant for the recording all the same.
        if (profile && message.version >= this.firstVersion) await this.filter(profile, message.filter);
        return;
      case 'detail':
        if (profile && message.version === this.version) await this.sendDetail(profile, message.id);
        return;
      case 'unfold':
        if (profile && message.version === this.version) await this.sendUnfolded(profile, message.id);
        return;
      case 'row':
        await runRowAction(message.action, message, this.services);
        return;
      case 'metric':
        await this.services.metric.choose(message.metric);
        return;
      case 'display':
        if (profile) await this.owner.display(profile, message.display);
        this.send(); // also where it stayed as it was: the page's control then says so
        return;
      case 'drop':
        await this.drop(message.data);
        return;
      case 'profile':
      case 'openRecording':
        await vscode.commands.executeCommand(`cacheline.${message.type}`);
        return;
      case 'retry':
        await this.owner.retry();
        return;
      case 'reopen':
        await this.owner.reopen();
        return;
      case 'error':
        this.services.log.error(`The panel's page failed: ${message.message}`);
    }
  }

  profileOf(version: number): ShownProfile | undefined {
    return this.content.kind === 'profile' && version === this.version && !this.disposed ? this.content.profile : undefined;
  }

  /** Ends when the page has painted what it was sent last, is hidden, or has not said so for a while. */
  painted(): Promise<void> {
    if (this.disposed || !this.view.visible) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.painting.fire(), MOST_WAIT_MS);
      const waiting = this.painting.event(() => {
        clearTimeout(timer);
        waiting.dispose();
        resolve();
      });
    });
  }

  dispose(): void {
    this.disposed = true;
    this.painting.fire();
    this.painting.dispose();
    this.looking?.abort();
    this.filtering?.abort();
    this.tabs.abort();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private send(): void {
    this.version = ++lastVersion;
    void this.view.webview.postMessage(this.message()).then((delivered) => (this.shown = delivered && this.view.visible));
    if (this.content.kind === 'profile' && !this.content.profile.hasObjects)
      this.sendHead(this.content.profile).catch((error: unknown) => showError(error, this.services.log));
  }

  /** What the report before this one said stands until then. */
  private async sendHead(profile: ShownProfile): Promise<void> {
    await this.painted(); // what goes through all lines would take its time from the rows
    await profile.complete();
    if (this.profileOf(this.version) === profile)
      void this.view.webview.postMessage({ type: 'head', version: this.version, ...headOf(profile) } satisfies ToPanel);
  }

  /** The page has the report. Where the metric sorts its lines, the first ones come along, unless that takes long: then it asks for them. */
  private async sendHeat(): Promise<void> {
    if (this.content.kind !== 'profile') return;
    const { profile } = this.content;
    const heat = panelHeat(profile.report, this.services.metric);
    const order = (this.order = { ...(this.order ?? DEFAULT_SORT), metric: heat.metric });
    const asked =
      order.key === DEFAULT_SORT.key ? profile.ordered(order).catch((error: unknown) => this.warnOf(profile, error)) : undefined;
    const ordered = asked && (await Promise.race([asked, sleep(MOST_WAIT_MS)]));
    // Where another profile or metric came meanwhile, that is what the page is sent.
    if (this.profileOf(this.version) !== profile || this.services.metric.of(profile.report).metric !== heat.metric) return;
    this.version = ++lastVersion;
    void this.view.webview.postMessage({ type: 'heat', version: this.version, heat, ...(ordered ? { ordered } : {}) } satisfies ToPanel);
  }

  private async sendLines(profile: ShownProfile, { count, ...request }: Extract<FromPanel, { type: 'lines' }>): Promise<void> {
    const { key, descending, offset } = request;
    const { metric, measure } = this.services.metric.of(profile.report);
    this.order = { key, descending, metric };
    const order = lineOrder(key, descending, measure);
    try {
      const { rows } = await profile.rows({ question: 'rows', ...order, offset, count });
      const lines = panelLines(rows);
      if (request.version === this.version) void this.view.webview.postMessage({ ...request, lines } satisfies ToPanel);
    } catch (error) {
      showError(error, this.services.log);
    }
  }

  private async restore(): Promise<void> {
    if (this.content.kind !== 'profile' || this.restored === undefined) return;
    const filter = this.restored;
    this.restored = '';
    const { profile } = this.content;
    if (filter !== '' && profile.filter === '') await this.filter(profile, filter);
  }

  private async sendDetail(profile: ShownProfile, id: string): Promise<void> {
    const { version } = this;
    const detail = await lineDetail(profile, id).catch((error: unknown) => this.warnOf(profile, error));
    if (version !== this.version) return;
    this.detail = detail ?? undefined;
    void this.view.webview.postMessage({ type: 'detail', version, id, detail } satisfies ToPanel);
  }

  /** Of a line that the filter does not leave. */
  private warnOf(profile: ShownProfile, error: unknown): null {
    if (!(error instanceof EngineError)) throw error;
    this.services.log.warn(`${profile.path}: ${error.message}`);
    return null;
  }

  private async sendUnfolded(profile: ShownProfile, id: string): Promise<void> {
    const { version } = this;
    const found = await profile.line(id).catch((error: unknown) => this.warnOf(profile, error));
    if (!found || version !== this.version) return;
    this.unfolded = unfoldedLine(found);
    void this.view.webview.postMessage({ type: 'unfolded', version, line: this.unfolded } satisfies ToPanel);
  }

  private async sendTab(profile: ShownProfile, request: TabRequest): Promise<void> {
    const answer = await this.tabs.answer(profile, request);
    if (!answer) return;
    this.tab = answer;
    void this.view.webview.postMessage({ type: 'tab', ...answer } satisfies ToPanel);
  }

  async filter(profile: ShownProfile, filter: string): Promise<void> {
    this.filtering?.abort();
    const { signal } = (this.filtering = new AbortController());
    const { version } = this;
    const onShare = paced((share) => {
      if (!signal.aborted) void this.view.webview.postMessage({ type: 'filtering', version, share } satisfies ToPanel);
    });
    try {
      const filtered = await profile.filtered(filter, signal, { onShare, order: this.order });
      if (!signal.aborted) {
        await this.owner.show(filtered);
        return;
      }
      filtered.hold(); // nobody shows it: a later filter holds
      filtered.release(this.services.log);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const problem = signal.aborted ? '' : printable(`${error.message} ${error.nextStep}`.trim());
      void this.view.webview.postMessage({ type: 'filterFailed', version: this.version, problem } satisfies ToPanel);
    }
  }

  /** Who asks before the last one has its answer waits for the same. */
  private async lookForAdvice(profile: ShownProfile): Promise<void> {
    const before = this.looking;
    const { signal } = (this.looking = new AbortController());
    const answer = onceMore(() => this.services.advice.first(profile, signal), signal);
    before?.abort();
    let problem = '';
    const { found, more } = await answer.catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
      problem = `${error.message} ${error.nextStep}`.trim();
      return { found: undefined, more: 0 };
    });
    if (signal.aborted) return;
    this.advised = found;
    const message: ToPanel = { type: 'advice', version: this.version, advice: found?.shown ?? null, more, problem };
    void this.view.webview.postMessage(message);
  }

  /** In the sources, beside the page: the edit, or the card of the type. */
  private async openAdvice(profile: ShownProfile, { shown, number, title, place }: ShownAdvice): Promise<void> {
    await this.owner.activate(profile);
    if (place) await openBeside(this.view, place, this.services);
    if (shown.opens === 'preview') await vscode.commands.executeCommand('cacheline.previewAdvice', number, title);
    const at = shown.opens === 'card' && place ? this.services.documents.find(place) : undefined;
    if (at) await vscode.commands.executeCommand('cacheline.showLayout', at.uri, at.line, '');
  }

  private message(): ToPanel {
    const { content } = this;
    switch (content.kind) {
      case 'empty':
        return { type: 'empty' };
      case 'working':
        return { type: 'working', title: content.title, share: content.share };
      case 'failed': {
        const { message, nextStep } = content.error;
        return { type: 'failed', title: content.title, message, nextStep, isFile: content.isFile };
      }
      case 'profile':
        return { type: 'report', version: this.version, ...reportParts(content.profile, this.services.metric) };
    }
  }

  private async open(profile: ShownProfile, place: SourcePlace): Promise<void> {
    await profile.complete();
    if (!profile.places().get(place.file)?.has(place.line) && !hasPlace(this.tab?.content, place)) {
      this.services.log.warn(`The panel's page asked for ${place.file}:${place.line}, which is no place of the report.`);
      return;
    }
    await this.owner.activate(profile);
    await openBeside(this.view, place, this.services);
  }

  private async drop(data: Record<string, string>): Promise<void> {
    const [first] = droppedUris(data);
    if (first === undefined) {
      void showWarning(
        vscode.l10n.t(
          'This is not a file on this machine. Hold Shift and drag a recording from the Explorer, or use "Cacheline: Open Recording".',
        ),
      );
      return;
    }
    // Of a remote window the page's URIs name the remote machine, which is where this code runs.
    await this.owner.drop(vscode.Uri.file(vscode.Uri.parse(first).path));
  }
}

function pathOf(content: PageContent): string | undefined {
  return content.kind === 'profile' ? content.profile.path : undefined;
}

function reportParts(profile: ShownProfile, metric: HeatMetricChoice): Omit<Extract<ToPanel, { type: 'report' }>, 'type' | 'version'> {
  const { report, title, path, first, filter } = profile;
  const head: Omit<Measured, 'findings' | 'objects' | 'types'> & Partial<Measured> = { ...report };
  delete head.types; // the page shows none, and layouts can be many
  delete head.objects; // there can be a thousand
  delete head.findings; // the page gets their words
  const heat = panelHeat(report, metric);
  const lines = panelLines(first.summaries);
  const examples = first.lines.flatMap(({ accesses }) => accesses).slice(0, MOST_EXAMPLES);
  const headFollows = !profile.hasObjects;
  const ordered = first.ordered ? { ordered: first.ordered } : {};
  return {
    summary: { ...head, title, path },
    ...headOf(profile),
    headFollows,
    filter,
    heat,
    lines,
    ...ordered,
    examples,
    total: first.total,
  };
}

/** What the page says above its table. */
function headOf(profile: ShownProfile): { words: PanelWords; hottest: ObjectSum[] } {
  const hottest = profile.report.objects.filter(({ contended }) => contended > 0).slice(0, MOST_HOTTEST);
  return { words: panelWords(profile), hottest };
}

function panelHeat(report: Measured, metric: HeatMetricChoice): PanelHeat {
  const now = metric.of(report);
  const choices = HEAT_METRICS.map((choice) => {
    const missing = whyMissing(report, choice);
    return { metric: choice, name: MEASURE_WORDS[missing === '' ? measureOf(report, choice).measure : choice].name, missing };
  });
  return { ...now, whole: wholeOf(report, now.measure), choices, instead: metric.instead(report) };
}
