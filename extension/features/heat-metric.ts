// What heat counts: the command "Heat Metric" (a choice of what the current recording's evidence can say) and the setting.
// Command: cacheline.heatMetric (optional argument: a metric or "auto"). Setting: cacheline.heatMetric.
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { HEAT_METRICS, measureOf, MEASURE_WORDS, whyMissing, type HeatMetric, type Measure, type Measured } from '../protocol/measure';
import type { CurrentProfile } from './current-profile';
import { showInformation } from './notify';
import { onSettingChange, setting } from './settings';

const MEANING: Record<Measure, string> = {
  hitm: vscode.l10n.t('Loads that hit a line modified in another core’s cache'),
  localHitm: vscode.l10n.t('Loads that hit a line modified in another core’s cache of the same node'),
  remoteHitm: vscode.l10n.t('Loads that hit a line modified in a cache of another node'),
  peer: vscode.l10n.t('Loads that another core’s cache answered'),
  latency: vscode.l10n.t('Core cycles that loads took: samples times mean'),
  contended: vscode.l10n.t('Samples of threads that compete for a cache line'),
};

/** After a change, for what is drawn by it first. */
const SETTLE_MS = 300;

interface MetricItem extends vscode.QuickPickItem {
  metric?: HeatMetric;
  missing?: string;
}

export class HeatMetricChoice implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly settled = new vscode.EventEmitter<void>();
  /** Behind a change, when pages and editors are drawn by it: for what goes through all lines of a recording. */
  readonly onDidSettle = this.settled.event;
  private settling: NodeJS.Timeout | undefined;
  private readonly subscription: vscode.Disposable;
  private wanted: HeatMetric | 'auto';

  constructor(
    private readonly current: CurrentProfile,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.wanted = setting('heatMetric', log);
    this.subscription = onSettingChange('heatMetric', () => this.use(setting('heatMetric', log)));
  }

  /** What a report is heated by now. */
  of(report: Measured): { metric: HeatMetric; measure: Measure } {
    return measureOf(report, this.wanted);
  }

  /** Why a report is heated by something else than the setting asks for; empty where it is not. */
  instead(report: Measured): string {
    return this.wanted === 'auto' ? '' : whyMissing(report, this.wanted);
  }

  async run(argument: unknown): Promise<void> {
    const metric = argument === 'auto' ? argument : HEAT_METRICS.find((known) => known === argument);
    if (metric !== undefined) await this.choose(metric);
    else await this.pick();
  }

  /** Uses it at once, and makes it the setting when it is drawn: the workspace's where that has one, else the user's. */
  async choose(metric: HeatMetric | 'auto'): Promise<void> {
    this.use(metric);
    await sleep(SETTLE_MS); // all extensions are told of new settings, for longer than drawing takes
    if (metric !== this.wanted) return; // another one was chosen meanwhile
    const settings = vscode.workspace.getConfiguration('cacheline');
    const inWorkspace = settings.inspect('heatMetric')?.workspaceValue !== undefined;
    const target = inWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
    try {
      await settings.update('heatMetric', metric, target);
    } finally {
      this.use(setting('heatMetric', this.log));
    }
  }

  dispose(): void {
    clearTimeout(this.settling);
    this.settled.dispose();
    this.changed.dispose();
    this.subscription.dispose();
  }

  private use(metric: HeatMetric | 'auto'): void {
    if (metric === this.wanted) return;
    this.wanted = metric;
    this.changed.fire();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settled.fire(), SETTLE_MS);
  }

  private async pick(): Promise<void> {
    const report = this.current.get()?.report;
    if (!report) return;
    const now = this.of(report).metric;
    const items = HEAT_METRICS.map((metric): MetricItem => {
      const { measure } = measureOf(report, metric);
      const missing = whyMissing(report, metric);
      if (missing !== '') return { label: `$(circle-slash) ${METRIC_NAME[metric]}`, detail: missing, missing };
      const description = metric === now ? vscode.l10n.t('shown now') : '';
      return { label: MEASURE_WORDS[measure].name, description, detail: MEANING[measure], metric };
    });
    const known = items.filter(({ missing }) => missing === undefined);
    const others = items.filter(({ missing }) => missing !== undefined);
    const separator = { label: vscode.l10n.t('not in this recording'), kind: vscode.QuickPickItemKind.Separator };
    const chosen = await vscode.window.showQuickPick<MetricItem>([...known, ...(others.length > 0 ? [separator, ...others] : [])], {
      title: vscode.l10n.t('Heat Metric'),
      placeHolder: vscode.l10n.t('What gutters, hovers and the panel’s bars count'),
    });
    if (chosen?.metric) await this.choose(chosen.metric);
    else if (chosen?.missing !== undefined) void showInformation(chosen.missing);
  }
}

/** Of a metric that a recording does not have. */
const METRIC_NAME: Record<HeatMetric, string> = {
  hitm: vscode.l10n.t('HITMs or peer hits'),
  latency: vscode.l10n.t('Latency'),
  contended: vscode.l10n.t('Contended share'),
};
