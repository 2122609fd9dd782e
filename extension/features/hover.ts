// Hovers on contended lines and on the definitions of contended variables: who reads, who writes, where, how often.
import * as vscode from 'vscode';
import { definitionHoverText, lineHoverText } from '../session/hover-text';
import { MATCHED_BY_NAMES } from '../session/line-words';
import type { CurrentProfile } from './current-profile';
import type { HeatMetricChoice } from './heat-metric';
import type { SourceDocuments } from './source-documents';

export class Hovers implements vscode.HoverProvider {
  constructor(
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly metric: HeatMetricChoice,
  ) {}

  register(): vscode.Disposable {
    return vscode.languages.registerHoverProvider({ scheme: 'file' }, this);
  }

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const texts = this.textsAt(document.uri, position.line);
    if (texts.length === 0) return undefined;
    const contents = texts.map((text) => new vscode.MarkdownString(text));
    // Names of the recording are escaped in the text; should one still make a link, this is the only command it can run.
    const last = contents.at(-1);
    last?.appendMarkdown(' · [Show contended lines](command:cacheline.showPanel)');
    if (last) last.isTrusted = { enabledCommands: ['cacheline.showPanel'] };
    if (this.documents.isMatchedByNames(document.uri)) contents.push(new vscode.MarkdownString(`*${MATCHED_BY_NAMES}*`));
    return new vscode.Hover(contents, document.lineAt(position).range);
  }

  /** @param line 0-based */
  textsAt(uri: vscode.Uri, line: number): string[] {
    const profile = this.current.get();
    if (!profile) return [];
    const { report } = profile;
    const { measure } = this.metric.of(report);
    const places = this.documents.placesAt(uri, line);
    const accesses = places.flatMap((place) => profile.accesses.get(place.file)?.get(place.line) ?? []);
    const definitions = places.flatMap((place) => profile.definitions.get(place.file)?.get(place.line) ?? []);
    return [
      ...definitions.map((definition) => definitionHoverText(report, definition.object, definition.accesses, measure)),
      lineHoverText(report, [...new Set(accesses)], measure),
    ].filter((text) => text !== '');
  }
}
