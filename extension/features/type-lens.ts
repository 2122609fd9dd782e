// The line above the definition of a contended type: who writes, over how many lines, what it costs; a click opens the card.
// Settings: cacheline.codeLens, cacheline.codeLensFrom.
import * as vscode from 'vscode';
import { isContended, lensTitle, readableType } from '../session/layout/layout-card-words';
import { count } from '../session/text/terminal-text';
import type { CurrentProfile } from './current-profile';
import type { HeatMetricChoice } from './heat-metric';
import { LANGUAGES } from './layout-hover';
import { onSettingChange, setting } from './settings';
import type { SourceDocuments } from './source-documents';

/** Above one line: a template can have hundreds of instances. */
const MAX_LENSES = 3;

export class TypeLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly subscriptions: { dispose(): void }[];

  constructor(
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly metric: HeatMetricChoice,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const again = (): void => this.changed.fire();
    this.subscriptions = [
      this.changed,
      current.onDidChange(again),
      metric.onDidChange(again),
      documents.onDidMove(again),
      onSettingChange('codeLens', again),
      onSettingChange('codeLensFrom', again),
      vscode.languages.registerCodeLensProvider(LANGUAGES, this),
    ];
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const profile = this.current.get();
    if (!profile || !setting('codeLens', this.log)) return [];
    const { report } = profile;
    const { measure } = this.metric.of(report);
    const from = setting('codeLensFrom', this.log);
    const how = this.documents.textAge(uri);
    return this.documents.namesOf(uri).flatMap((file) =>
      [...(profile.types.get(file) ?? [])].flatMap(([line, places]) => {
        const now = this.documents.find({ file, line })?.line;
        if (now === undefined) return [];
        const contended = places.filter(({ what, card }) => what === 'type' && isContended(card, report, measure, from));
        const lens = (title: string, name: string): vscode.CodeLens =>
          new vscode.CodeLens(new vscode.Range(now, 0, now, 0), {
            title: withoutIcons(title + how),
            command: 'cacheline.showLayout',
            arguments: [uri, now, name],
          });
        const lenses = contended.slice(0, MAX_LENSES).map(({ card, name }) => {
          // Instances of a template are defined on one line.
          const type = contended.length > 1 ? `${readableType(card.layout)}: ` : '';
          return lens(type + lensTitle(card, report, measure), name);
        });
        const more = contended.length - lenses.length;
        return more > 0 ? [...lenses, lens(moreText(more), '')] : lenses;
      }),
    );
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}

function moreText(more: number): string {
  return more === 1 ? vscode.l10n.t('1 more type on this line') : vscode.l10n.t('{0} more types on this line', count(more));
}

/** VS Code makes pictures of `$(name)`, but not where a backslash is in front. */
function withoutIcons(title: string): string {
  return title.replace(/\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g, '\\$&');
}
