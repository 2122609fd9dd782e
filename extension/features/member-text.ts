// Text after the declarations of hot members: where in the type, how hot, who. Settings: cacheline.memberText,
// cacheline.lineTextFrom.
import * as vscode from 'vscode';
import { membersText } from '../session/layout/layout-card-words';
import type { MemberTextState } from './api';
import type { CurrentProfile } from './current-profile';
import type { HeatMetricChoice } from './heat-metric';
import { onSettingChange, setting } from './settings';
import type { SourceDocuments } from './source-documents';
import { nearScreen } from './visible-lines';

/** Edits come in bursts. */
const DELAY_MS = 50;

export class MemberTexts implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { margin: '0 0 0 3em', color: new vscode.ThemeColor('editorCodeLens.foreground'), fontStyle: 'italic' },
  });
  private waiting: NodeJS.Timeout | undefined;
  private readonly subscriptions: { dispose(): void }[];

  constructor(
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly metric: HeatMetricChoice,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const soon = (): void => this.drawSoon();
    this.subscriptions = [
      this.type,
      current.onDidChange(soon),
      metric.onDidChange(soon),
      documents.onDidMove(soon),
      vscode.window.onDidChangeVisibleTextEditors(soon),
      vscode.window.onDidChangeTextEditorVisibleRanges(soon),
      onSettingChange('memberText', soon),
      onSettingChange('lineTextFrom', soon),
    ];
    soon();
  }

  /** The texts of a document, in line order. */
  stateOf(uri: vscode.Uri): MemberTextState[] {
    const profile = this.current.get();
    if (!profile || !setting('memberText', this.log)) return [];
    const { report } = profile;
    const { measure } = this.metric.of(report);
    const from = setting('lineTextFrom', this.log);
    const how = this.documents.textAge(uri);
    const texts = new Map<number, string>();
    for (const file of this.documents.namesOf(uri)) {
      for (const [line, places] of profile.types.get(file) ?? []) {
        const now = this.documents.find({ file, line })?.line;
        if (now === undefined) continue;
        const text = membersText(places, report, measure, from);
        if (text !== '' && !texts.has(now)) texts.set(now, text + how);
      }
    }
    return [...texts].sort(([a], [b]) => a - b).map(([line, text]) => ({ line: line + 1, text }));
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private drawSoon(): void {
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      for (const editor of vscode.window.visibleTextEditors) this.draw(editor);
    }, DELAY_MS);
  }

  private draw(editor: vscode.TextEditor): void {
    const { document } = editor;
    const visible = nearScreen(editor);
    editor.setDecorations(
      this.type,
      this.stateOf(document.uri)
        .filter(({ line }) => line <= document.lineCount && visible(line - 1))
        .map(({ line, text }) => {
          const { end } = document.lineAt(line - 1).range;
          return { range: new vscode.Range(end, end), renderOptions: { after: { contentText: text } } };
        }),
    );
  }
}
