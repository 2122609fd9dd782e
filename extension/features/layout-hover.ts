// The hover on types, members and variables of a type: the card with its cache lines; and the command that opens it.
// Settings: cacheline.layout.text. Command: cacheline.showLayout (optional arguments: a Uri, a 0-based line and a name in it;
// returns whether there is a card).
import * as vscode from 'vscode';
import { ownLineChange } from '../session/advice/own-line';
import { code } from '../session/hover/hover-parts';
import { layoutCard, shortCard } from '../session/layout/layout-card';
import type { ThemeKind } from '../session/layout/layout-card-svg';
import { readableType } from '../session/layout/layout-card-words';
import { macroAround, macroUses } from '../session/layout/macros';
import { enumerate } from '../session/text/terminal-text';
import { showError } from './errors';
import type { HeatMetricChoice } from './heat-metric';
import { wordIndex, type FoundCard, type Layouts } from './layouts';
import { showInformation } from './notify';
import { setting } from './settings';

/** Languages whose compilers write the debug information that layouts come from. */
export const LANGUAGES: readonly vscode.DocumentFilter[] = ['c', 'cpp', 'cuda-cpp', 'rust', 'go'].map((language) => ({
  scheme: 'file',
  language,
}));

/** Types in the hover over a macro. */
const MAX_MADE = 5;

const THEMES: Record<vscode.ColorThemeKind, ThemeKind> = {
  [vscode.ColorThemeKind.Light]: 'light',
  [vscode.ColorThemeKind.Dark]: 'dark',
  [vscode.ColorThemeKind.HighContrast]: 'contrast',
  [vscode.ColorThemeKind.HighContrastLight]: 'contrastLight',
};

export class LayoutHovers implements vscode.HoverProvider {
  /** Asked for by the command: the next hover there shows also what has no samples. */
  private asked: { uri: string; line: number } | undefined;

  constructor(
    private readonly layouts: Layouts,
    private readonly metric: HeatMetricChoice,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.languages.registerHoverProvider(LANGUAGES, this);
  }

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const asked = this.asked?.uri === document.uri.toString() && this.asked.line === position.line;
    if (asked) this.asked = undefined;
    const found = await this.layouts.at(document, position.line, asked, wordAt(document, position));
    if (position.line >= document.lineCount) return undefined;
    const parts = found ? this.parts(found) : this.madeByMacro(document, position.line);
    if (parts.length === 0) return undefined;
    const contents = parts.map((part) => new vscode.MarkdownString(part));
    return new vscode.Hover([...contents, ...(found ? ownLineLink(document, position.line, found) : [])], document.lineAt(position).range);
  }

  /** Command: cacheline.showLayout. Whether there is a card. */
  async show(uri: unknown, line: unknown, name: unknown): Promise<boolean> {
    const active = vscode.window.activeTextEditor;
    const document = uri instanceof vscode.Uri ? await vscode.workspace.openTextDocument(uri) : active?.document;
    const at = typeof line === 'number' ? line : active?.selection.active.line;
    if (!document || at === undefined || at < 0 || at >= document.lineCount) return false;
    try {
      const word = typeof name === 'string' ? name : typeof line === 'number' ? '' : wordAt(document, active?.selection.active);
      const found = await this.layouts.at(document, at, true, word);
      if (!found) {
        const macro = macroOf(document, at);
        void showInformation(
          macro === undefined
            ? vscode.l10n.t(
                'No structure, class or union with a known layout is declared on this line. Layouts come from the program that was profiled last, or from the setting cacheline.layout.binary.',
              )
            : vscode.l10n.t('{0} is a macro: the layouts of what it declares are shown on the lines that use it.', macro),
        );
        return false;
      }
      const position = new vscode.Position(at, Math.max(0, wordIndex(document.lineAt(at).text, found.name)));
      this.asked = { uri: document.uri.toString(), line: at };
      const selection = new vscode.Range(position, position);
      if (active?.document === document) {
        // Where it is already: a comparison would be left for the file alone.
        active.selection = new vscode.Selection(position, position);
        active.revealRange(selection);
      } else await vscode.window.showTextDocument(document, { selection });
      await vscode.commands.executeCommand('editor.action.showHover');
      return true;
    } catch (error) {
      showError(error, this.log);
      return false;
    }
  }

  /** Of the definition of a macro: where the types with samples are that it makes in this file. */
  private madeByMacro(document: vscode.TextDocument, line: number): string[] {
    const macro = macroOf(document, line);
    if (macro === undefined) return [];
    const sampled = this.layouts.sampledLines(document.uri);
    if (sampled.size === 0) return [];
    const made = macroUses(document.getText(), macro, macroLanguage(document)).flatMap((use) =>
      (sampled.get(use) ?? [])
        .filter(({ what }) => what === 'type' || what === 'member')
        .map(({ card }) => `${code(readableType(card.layout))} (line ${use + 1})`),
    );
    const places = [...new Set(made)];
    if (places.length === 0) return [];
    const shown = enumerate(places.slice(0, MAX_MADE));
    return [
      places.length > MAX_MADE
        ? vscode.l10n.t('{0} is a macro. What it declares has its card on the lines that use it: {1} and more.', code(macro), shown)
        : vscode.l10n.t('{0} is a macro. What it declares has its card on the lines that use it: {1}.', code(macro), shown),
    ];
  }

  private parts({ card, report, others, notes }: FoundCard): string[] {
    const measure = report ? this.metric.of(report).measure : 'contended';
    const context = { report, measure, notes };
    const style = { theme: THEMES[vscode.window.activeColorTheme.kind], text: wantsText(this.log) };
    return [...layoutCard(card, context, style), ...others.map((other) => shortCard(other, context))];
  }
}

/** A link that runs one command and nothing else; its arguments are in no part of the text. */
function ownLineLink({ uri, languageId }: vscode.TextDocument, line: number, { card, name, isMember }: FoundCard): vscode.MarkdownString[] {
  if (!isMember || !['c', 'cpp', 'cuda-cpp'].includes(languageId)) return [];
  if (ownLineChange(card.layout, name, '', { file: uri.fsPath, line: line + 1 }) === undefined) return [];
  const args = encodeURIComponent(JSON.stringify([uri.toString(), line, name])).replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'));
  const link = new vscode.MarkdownString(
    `[${vscode.l10n.t('Put this member on a line of its own')}](command:cacheline.previewOwnLine?${args})`,
  );
  link.isTrusted = { enabledCommands: ['cacheline.previewOwnLine'] };
  return [link];
}

function macroOf(document: vscode.TextDocument, line: number): string | undefined {
  return macroAround(document.getText(), line, macroLanguage(document));
}

function macroLanguage({ languageId }: vscode.TextDocument): 'c' | 'rust' {
  return languageId === 'rust' ? 'rust' : 'c';
}

function wordAt(document: vscode.TextDocument, position: vscode.Position | undefined): string {
  const range = position && document.getWordRangeAtPosition(position);
  return range ? document.getText(range) : '';
}

/** A screen reader reads the list; of the picture it would read the alternative text alone. */
function wantsText(log: vscode.LogOutputChannel): boolean {
  return setting('layout.text', log) || vscode.workspace.getConfiguration('editor').get('accessibilitySupport') === 'on';
}
