// What a person does with a row of a page of the panel, by its menu (`webview/context` in package.json) or by a button of the page.
// Commands: those of ROW_COMMANDS; each gets the context of a row, which names the page's version, the line and the access by numbers and by
// the engine's own name of the line. Everything else is looked up here.
import * as vscode from 'vscode';
import { onlyTerm, withoutTerm } from '../protocol/filter';
import { ROW_COMMANDS, rowOfContext, type RowAction, type RowId } from '../protocol/panel-rows';
import type { SourcePlace } from '../protocol/report';
import { rowCsv, rowJson, rowMarkdown } from '../session/export/row-text';
import { cardOf, findRow, sourceOf, termOf } from '../session/profile/profile-rows';
import type { ShownProfile } from '../session/profile/shown-profile';
import { showError } from './errors';
import { showInformation } from './notify';
import { openBeside } from './open-beside';
import type { PageServices } from './panel-page';

/** A page, as far as its rows need it. */
export interface RowPage {
  readonly view: vscode.WebviewPanel;
  /** That it holds. */
  readonly profile: ShownProfile | undefined;
  /** Undefined: it shows another report by now. */
  profileOf(version: number): ShownProfile | undefined;
  activate(profile: ShownProfile): Promise<void>;
  /** As the filter box does. */
  filter(profile: ShownProfile, filter: string): Promise<void>;
}

export function registerRowCommands(services: PageServices): vscode.Disposable {
  const commands = (Object.entries(ROW_COMMANDS) as [RowAction, string][]).map(([action, command]) =>
    vscode.commands.registerCommand(command, async (context: unknown) => {
      const row = rowOfContext(context);
      if (row) await runRowAction(action, row, services);
    }),
  );
  return vscode.Disposable.from(...commands);
}

/** Says what went wrong. */
export async function runRowAction(action: RowAction, row: RowId, services: PageServices): Promise<void> {
  const page = [...services.open].find((one) => one.profileOf(row.version));
  const profile = page?.profileOf(row.version);
  if (!page || !profile) {
    void showInformation(vscode.l10n.t('The table has changed meanwhile. Choose the row again.'));
    return;
  }
  try {
    const [found] = await Promise.all([findRow(profile, row), profile.complete()]);
    const { line, access } = found;
    const copy = (text: string): Thenable<void> => vscode.env.clipboard.writeText(text);
    const actions: Record<RowAction, () => Thenable<void>> = {
      openSource: async () => {
        const place = sourceOf(found);
        await page.activate(profile);
        if (place) await openBeside(page.view, place, services);
        else
          void showInformation(
            vscode.l10n.t('No debug information says from which source line this row comes. Build with -g and record again.'),
          );
      },
      showCard: async () => {
        const card = cardOf(found, profile);
        await page.activate(profile);
        if (card) await showCard(page.view, card.layout, services);
        else void showInformation(vscode.l10n.t('No type with a known definition is on this row: there is no card to show.'));
      },
      fix: async () => {
        await page.activate(profile);
        const advice = await services.advice.about(profile, found.accesses);
        if (advice?.place) await openBeside(page.view, advice.place, services);
        if (advice) await vscode.commands.executeCommand('cacheline.previewAdvice', advice.number, advice.title);
        else
          void showInformation(vscode.l10n.t('No advice is about the data of this row. “Cacheline: Preview Advice” lists what there is.'));
      },
      copyMarkdown: () => copy(rowMarkdown(line, access)),
      copyCsv: () => copy(rowCsv(profile.report, line, access)),
      copyJson: () => copy(rowJson(line, access)),
      only: () => page.filter(profile, onlyTerm(profile.filter, termOf(found))),
      without: () => page.filter(profile, withoutTerm(profile.filter, termOf(found))),
    };
    await actions[action]();
  } catch (error) {
    showError(error, services.log);
  }
}

async function showCard(view: vscode.WebviewPanel, place: SourcePlace, services: PageServices): Promise<void> {
  await openBeside(view, place, services);
  const at = services.documents.find(place);
  if (at) await vscode.commands.executeCommand('cacheline.showLayout', at.uri, at.line, '');
}
