// Hovers on contended lines and on the definitions of contended variables: who reads, who writes, where, how often; and on lines that a
// comparison is about.
import * as vscode from 'vscode';
import { hoverTextsAt } from '../session/hover/hover-places';
import { MATCHED_BY_NAMES } from '../session/lines/line-words';
import type { CurrentProfile } from './current-profile';
import type { HeatMetricChoice } from './heat-metric';
import type { LineDifferences } from './line-differences';
import type { SourceDocuments } from './source-documents';
import { verdictPage } from './verdict-page';

export class Hovers implements vscode.HoverProvider {
  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly metric: HeatMetricChoice,
    private readonly differences: LineDifferences,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.languages.registerHoverProvider({ scheme: 'file' }, this);
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const texts = await this.textsAt(document.uri, position.line);
    const compared = this.differences.of(document)?.filter(({ line }) => line === position.line) ?? [];
    if (texts.length + compared.length === 0 || position.line >= document.lineCount) return undefined;
    const contents = compared.map(({ words }) => new vscode.MarkdownString(words));
    if (texts.length === 0) return new vscode.Hover(contents, document.lineAt(position).range);
    contents.push(...texts.map((text) => new vscode.MarkdownString(text)));
    // Names of the recording are escaped in the text; should one still make a link, this is the only command it can run.
    const last = contents.at(-1);
    last?.appendMarkdown(` · [${vscode.l10n.t('Show contended lines')}](command:cacheline.showPanel)`);
    if (last) last.isTrusted = { enabledCommands: ['cacheline.showPanel'] };
    if (this.documents.isMatchedByNames(document.uri)) contents.push(new vscode.MarkdownString(`*${MATCHED_BY_NAMES}*`));
    return new vscode.Hover(contents, document.lineAt(position).range);
  }

  /** @param line 0-based */
  private async textsAt(uri: vscode.Uri, line: number): Promise<string[]> {
    const profile = this.current.get();
    if (!profile) return [];
    const { measure } = this.metric.of(profile.report);
    const places = this.documents.placesAt(uri, line);
    try {
      const words = vscode.l10n.t('What this means');
      return await hoverTextsAt(
        profile,
        places,
        measure,
        (verdict) => `[${words}](${linkTarget(verdictPage(this.extensionUri, verdict))})`,
      );
    } catch (error) {
      // A hover nobody asked for stays silent.
      this.log.warn(`No hover: ${String(error)}`);
      return [];
    }
  }
}

/** For a Markdown link, which parentheses would end. */
function linkTarget(uri: vscode.Uri): string {
  return uri.toString().replaceAll('(', '%28').replaceAll(')', '%29');
}
