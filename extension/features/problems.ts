// What a profile finds contended, as entries of the editor's list of problems; the code of each leads to the page of its verdict.
// Setting: cacheline.problems.
import * as vscode from 'vscode';
import { amountOf, type Measure } from '../protocol/measure';
import { MOST_LINES_AT_ONCE } from '../protocol/panel';
import type { CacheLine } from '../protocol/report';
import { findingsOf, type Finding } from '../session/profile/findings';
import { lineOrder } from '../session/profile/line-order';
import type { ShownProfile } from '../session/profile/shown-profile';
import type { CurrentProfile } from './current-profile';
import type { HeatMetricChoice } from './heat-metric';
import { onSettingChange, setting } from './settings';
import type { SourceDocuments } from './source-documents';
import { verdictPage } from './verdict-page';

/** Of all entries; quick fixes know ours by it. */
export const PROBLEM_SOURCE = 'Cacheline';
/** Edits come in bursts. */
const DELAY_MS = 50;
/** Lines that are asked for at once. */
const PART = 50;
/** A line is at most so many columns long where its document is not open. */
const WIDE = 1000;

export class Problems implements vscode.Disposable {
  private readonly entries = vscode.languages.createDiagnosticCollection('cacheline');
  private findings: readonly Finding[] = [];
  private waiting: NodeJS.Timeout | undefined;
  private readonly subscriptions: { dispose(): void }[];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly metric: HeatMetricChoice,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const again = (): void => void this.find();
    this.subscriptions = [
      this.entries,
      current.onDidChange(again),
      metric.onDidSettle(again),
      onSettingChange('problems', again),
      documents.onDidMove(() => this.placeSoon()),
    ];
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async find(): Promise<void> {
    this.findings = [];
    this.place();
    const profile = this.current.get();
    const percent = setting('problems', this.log);
    if (!profile || percent === 0) return;
    const { measure } = this.metric.of(profile.report);
    try {
      const isStill = (): boolean => this.isStill(profile, percent) && this.metric.of(profile.report).measure === measure;
      const lines = await hottestLines(profile, measure, isStill);
      if (isStill()) this.findings = findingsOf(profile.report, lines, (type) => profile.cardsOf(type), measure, percent);
    } catch (error) {
      this.log.error(`No problems of ${profile.path}: ${String(error)}`);
    }
    this.place();
  }

  private isStill(profile: ShownProfile, percent: number): boolean {
    return this.current.get() === profile && setting('problems', this.log) === percent;
  }

  private placeSoon(): void {
    if (this.findings.length === 0) return;
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      this.place();
    }, DELAY_MS);
  }

  /** Where the findings are in the texts as they are now. */
  private place(): void {
    const byFile = new Map<string, [vscode.Uri, vscode.Diagnostic[]]>();
    for (const finding of this.findings) {
      const now = this.documents.find(finding.place);
      if (!now) continue;
      const key = now.uri.toString();
      const file: [vscode.Uri, vscode.Diagnostic[]] = byFile.get(key) ?? [now.uri, []];
      file[1].push(this.entry(finding, rangeOf(now.uri, now.line), this.documents.textAge(now.uri)));
      byFile.set(key, file);
    }
    this.entries.clear();
    this.entries.set([...byFile.values()]);
  }

  private entry({ verdict, text }: Finding, range: vscode.Range, age: string): vscode.Diagnostic {
    const isAvoidable = verdict === 'false sharing' || verdict === 'mixed';
    const { Warning, Information } = vscode.DiagnosticSeverity;
    const entry = new vscode.Diagnostic(range, text + age, isAvoidable ? Warning : Information);
    entry.source = PROBLEM_SOURCE;
    entry.code = { value: verdict, target: verdictPage(this.extensionUri, verdict) };
    return entry;
  }
}

/** In parts, so that no answer keeps the editor's other features waiting. */
async function hottestLines(profile: ShownProfile, measure: Measure, isWanted: () => boolean): Promise<CacheLine[]> {
  const lines: CacheLine[] = [];
  let hasMore = true;
  while (hasMore && isWanted()) {
    const { rows } = await profile.ask({ question: 'lines', ...lineOrder('share', true, measure), offset: lines.length, count: PART });
    lines.push(...rows.map(({ line }) => line));
    const last = lines.at(-1);
    hasMore = rows.length === PART && lines.length < MOST_LINES_AT_ONCE && last !== undefined && amountOf(last, measure) > 0;
  }
  return lines;
}

/** The text of a line, without the room before it where the document is open. */
function rangeOf(uri: vscode.Uri, line: number): vscode.Range {
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
  if (!document || line >= document.lineCount) return new vscode.Range(line, 0, line, WIDE);
  const { range, firstNonWhitespaceCharacterIndex } = document.lineAt(line);
  return range.with(range.start.with({ character: firstNonWhitespaceCharacterIndex }));
}
