// Heat of source lines: gutter icons (or borders), marks in the overview ruler, and a short text after visible lines. While a
// comparison is open, of what it changed.
// Settings: cacheline.gutterStyle, cacheline.gutterFrom, cacheline.lineText, cacheline.lineTextFrom, cacheline.heatMetric. Colours: cacheline.heat1 to heat5.
import * as vscode from 'vscode';
import type { HeatStep } from '../protocol/heat-scale';
import { wholeOf } from '../protocol/measure';
import { heatText, isFrom, type LineHeat } from '../session/profile/heat';
import type { LineHeatState } from './api';
import type { CurrentProfile } from './current-profile';
import type { HeatMetricChoice } from './heat-metric';
import type { LineDifference, LineDifferences } from './line-differences';
import { onSettingChange, setting } from './settings';
import type { SourceDocuments } from './source-documents';
import { nearScreen } from './visible-lines';

type Meter = HeatStep | LineDifference['direction'];
const METERS: readonly Meter[] = [1, 2, 3, 4, 5, 'better', 'worse'];
/** Edits and scrolling come in bursts: no editor is drawn more often. */
const PAUSE_MS = 30;

/** Heat on a line of a document, 0-based. */
interface Placed {
  line: number;
  heat: LineHeat;
}

/** What a line shows. */
interface Mark {
  line: number;
  /** Undefined: too little for a mark. */
  meter: Meter | undefined;
  /** Empty: too little for a text. Made for the lines that can be seen: of the others it costs more than all else. */
  text: () => string;
}

export class Heat implements vscode.Disposable {
  private meters: Map<Meter, vscode.TextEditorDecorationType>;
  private readonly text = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { margin: '0 0 0 3em', color: new vscode.ThemeColor('editorCodeLens.foreground'), fontStyle: 'italic' },
  });
  private readonly waiting = new Map<vscode.TextEditor, NodeJS.Timeout>();
  /** When they were drawn last, of `performance.now()`. */
  private readonly drawn = new WeakMap<vscode.TextEditor, number>();
  private readonly subscriptions: { dispose(): void }[];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly metric: HeatMetricChoice,
    private readonly differences: LineDifferences,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.meters = this.createMeters();
    this.subscriptions = [
      this.text,
      current.onDidChange(() => this.drawAll()),
      metric.onDidChange(() => this.drawAll()),
      differences.onDidChange(() => this.drawAll()),
      documents.onDidMove((uri) => {
        for (const editor of vscode.window.visibleTextEditors) {
          if (!uri || editor.document.uri.toString() === uri.toString()) this.drawSoon(editor);
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.drawAll()),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.drawSoon(textEditor)),
      onSettingChange('gutterStyle', () => {
        for (const type of this.meters.values()) type.dispose();
        this.meters = this.createMeters();
        this.drawAll();
      }),
      ...(['gutterFrom', 'lineText', 'lineTextFrom'] as const).map((name) => onSettingChange(name, () => this.drawAll())),
    ];
    this.drawAll();
  }

  /** What the document's lines show; by line. */
  async stateOf(uri: vscode.Uri): Promise<LineHeatState[]> {
    const placed = await this.placed(uri);
    const marked = this.marking(uri);
    const hasIcons = setting('gutterStyle', this.log) === 'icon';
    return placed.map(({ line, heat }) => ({
      line: line + 1,
      step: heat.step,
      share: heat.share,
      measure: heat.measure,
      amount: heat.amount,
      caused: heat.caused,
      text: marked.text(heat),
      icon: marked.meter(heat) !== undefined && hasIcons ? `heat-${heat.step}` : null,
    }));
  }

  dispose(): void {
    for (const timer of this.waiting.values()) clearTimeout(timer);
    for (const type of this.meters.values()) type.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private createMeters(): Map<Meter, vscode.TextEditorDecorationType> {
    const border = setting('gutterStyle', this.log) === 'border';
    return new Map(
      METERS.map((meter) => {
        const color = new vscode.ThemeColor(colourOf(meter));
        const icon = (theme: 'light' | 'dark'): vscode.ThemableDecorationRenderOptions => ({
          gutterIconPath: vscode.Uri.joinPath(this.extensionUri, 'media', `heat-${meter}-${theme}.svg`),
          gutterIconSize: 'contain',
        });
        return [
          meter,
          vscode.window.createTextEditorDecorationType({
            // A line's heat must not grow onto lines that are typed around it.
            rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
            overviewRulerColor: color,
            overviewRulerLane: vscode.OverviewRulerLane.Right,
            ...(border
              ? { isWholeLine: true, borderWidth: '0 0 0 4px', borderStyle: 'solid', borderColor: color }
              : { light: icon('light'), dark: icon('dark') }),
          }),
        ];
      }),
    );
  }

  /** One heat a line: where edits joined two lines the hotter one counts. */
  private async placed(uri: vscode.Uri): Promise<Placed[]> {
    const profile = this.current.get();
    if (!profile) return [];
    const { measure } = this.metric.of(profile.report);
    const heats = await Promise.all(this.documents.namesOf(uri).map((name) => profile.heat(name, measure)));
    if (this.current.get() !== profile) return []; // it is drawn again
    const byLine = new Map<number, Placed>();
    for (const heat of heats.flat()) {
      const now = this.documents.find(heat);
      const there = now && byLine.get(now.line);
      if (now && !(there && there.heat.amount >= heat.amount)) byLine.set(now.line, { line: now.line, heat });
    }
    return [...byLine.values()].sort((a, b) => a.line - b.line);
  }

  /** What lines of a document show. Reading a setting, or the age of the text, takes longer than a line: each is read once. */
  private marking(uri: vscode.Uri): { meter: (heat: LineHeat) => HeatStep | undefined; text: (heat: LineHeat) => string } {
    const report = this.current.get()?.report;
    const age = this.documents.textAge(uri);
    const gutterFrom = setting('gutterFrom', this.log);
    const textFrom = setting('lineText', this.log) ? setting('lineTextFrom', this.log) : undefined;
    const counts = (heat: LineHeat, percent: number | undefined): boolean =>
      report !== undefined && percent !== undefined && isFrom(heat, wholeOf(report, heat.measure), percent);
    return {
      meter: (heat) => (counts(heat, gutterFrom) ? heat.step : undefined),
      text: (heat) => (counts(heat, textFrom) ? heatText(heat) + age : ''),
    };
  }

  private drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors) this.drawSoon(editor);
  }

  private drawSoon(editor: vscode.TextEditor): void {
    if (this.waiting.has(editor)) return;
    const pause = (this.drawn.get(editor) ?? -Infinity) + PAUSE_MS - performance.now();
    this.waiting.set(
      editor,
      setTimeout(
        () => {
          this.waiting.delete(editor);
          this.drawn.set(editor, performance.now());
          void this.draw(editor);
        },
        Math.max(0, pause),
      ),
    );
  }

  private async draw(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    let found: Mark[];
    try {
      found = await this.marksOf(document);
    } catch (error) {
      this.log.error(`No heat of ${document.uri.fsPath}: ${String(error)}`);
      found = [];
    }
    const marks = found.filter(({ line }) => line < document.lineCount);
    for (const [meter, type] of this.meters) {
      editor.setDecorations(
        type,
        marks.filter((mark) => mark.meter === meter).map(({ line }) => document.lineAt(line).range),
      );
    }
    const visible = nearScreen(editor);
    const texts = marks.filter(({ line }) => visible(line)).map(({ line, text }) => ({ line, text: text() }));
    editor.setDecorations(
      this.text,
      texts
        .filter(({ text }) => text !== '')
        .map(({ line, text }) => ({
          range: new vscode.Range(document.lineAt(line).range.end, document.lineAt(line).range.end),
          renderOptions: { after: { contentText: text } },
        })),
    );
  }

  private async marksOf(document: vscode.TextDocument): Promise<Mark[]> {
    const differences = this.differences.of(document);
    if (differences) {
      const shown = setting('lineText', this.log);
      return differences.map(({ line, direction, text }) => ({ line, meter: direction, text: () => (shown ? text : '') }));
    }
    const placed = await this.placed(document.uri);
    const marked = this.marking(document.uri);
    return placed.map(({ line, heat }) => ({ line, meter: marked.meter(heat), text: () => marked.text(heat) }));
  }
}

function colourOf(meter: Meter): string {
  if (meter === 'better') return 'charts.green';
  return meter === 'worse' ? 'charts.red' : `cacheline.heat${meter}`;
}
