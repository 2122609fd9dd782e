// Advice where the source is read: quick fixes at the definition, the members and the contended lines of an advice that has an edit, and
// the preview of it. Also one member on a line of its own, without a profile.
// Commands: cacheline.previewAdvice (optional arguments: the number of an advice of the shown profile, 1 for the first; the title under
// which it was offered, so that none of a later profile is taken for it), cacheline.previewOwnLine (a Uri or its text, a 0-based line and
// the name of the member that it declares); they return whether there is a preview.
import * as vscode from 'vscode';
import type { Advice, Change } from '../protocol/advice';
import { EngineError } from '../protocol/engine';
import type { PanelAdvice } from '../protocol/panel';
import type { Access, SourcePlace } from '../protocol/report';
import { actionText, actionTitle, noChangeReason, costSentences, gainSentences, luckSentences } from '../session/advice/advice-words';
import { leadAdvice } from '../session/report/first-words';
import { cannotTell } from '../session/report/verdict-text';
import { subjectName } from '../session/advice/advice-names';
import { placesOf } from '../session/advice/advice-places';
import { ownLineChange } from '../session/advice/own-line';
import { typeName } from '../session/layout/type-names';
import type { ShownProfile } from '../session/profile/shown-profile';
import { percent } from '../protocol/words';
import { printable } from '../session/text/terminal-text';
import type { CurrentProfile } from './current-profile';
import { workspaceEdit, type EditPreviews, type ProposedEdit } from './edit-preview';
import { showError } from './errors';
import { LANGUAGES } from './layout-hover';
import type { Layouts } from './layouts';
import { showInformation, showWarning } from './notify';
import { PROBLEM_SOURCE } from './problems';
import type { SourceDocuments } from './source-documents';

/** That a list of quick fixes waits for the engine: when a person asks for it, and when the editor asks for the lightbulb. */
const LONGEST_WAIT_MS = { asked: 3000, unasked: 500 };

/** An advice of a profile, and where it is offered. */
interface Offer {
  advice: Advice;
  /** From 1. */
  number: number;
  places: readonly SourcePlace[];
  /** The edit for the texts as they were at these versions. */
  edited?: { versions: string; answer: Edited };
}

type Edited = Pick<ProposedEdit, 'files'> | { reason: string };

/** A change with its places as they are now, and the documents by the names that the change has for them. */
interface PlacedChange {
  change: Change;
  documents: Map<string, vscode.TextDocument>;
}

/** What a page shows of an advice, and what `cacheline.previewAdvice` calls it. */
export interface ShownAdvice {
  shown: PanelAdvice;
  number: number;
  title: string;
  place: SourcePlace | undefined;
}

export class AdviceActions implements vscode.CodeActionProvider {
  private readonly offers = new WeakMap<ShownProfile, Promise<Offer[]>>();

  constructor(
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly layouts: Layouts,
    private readonly previews: EditPreviews,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.languages.registerCodeActionsProvider(LANGUAGES, this, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] });
  }

  async provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): Promise<vscode.CodeAction[]> {
    const profile = this.current.get();
    const isWanted = context.only === undefined || context.only.intersects(vscode.CodeActionKind.QuickFix);
    if (!profile || !isWanted || this.documents.namesOf(document.uri).length === 0) return [];
    const actions: vscode.CodeAction[] = [];
    const problems = context.diagnostics.filter(({ source }) => source === PROBLEM_SOURCE);
    const wait = context.triggerKind === vscode.CodeActionTriggerKind.Invoke ? LONGEST_WAIT_MS.asked : LONGEST_WAIT_MS.unasked;
    for (const offer of (await inTime(this.offersOf(profile), wait)) ?? []) {
      if (this.current.get() !== profile) return []; // its places are not found among those of another one
      if (!offer.places.some((place) => this.isIn(place, document.uri, range))) continue;
      const answer = await this.edited(offer);
      if ('reason' in answer) continue;
      const edit = await workspaceEdit(answer);
      if ('changed' in edit) continue; // the editor asks again after each change
      const title = actionTitle(offer.advice);
      const fix = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      fix.edit = edit;
      fix.diagnostics = problems.filter((problem) => offer.places.some((place) => this.isIn(place, document.uri, problem.range)));
      const preview = new vscode.CodeAction(vscode.l10n.t('Preview: {0}', title), vscode.CodeActionKind.QuickFix);
      preview.command = { command: 'cacheline.previewAdvice', title: vscode.l10n.t('Preview'), arguments: [offer.number, title] };
      actions.push(fix, preview);
    }
    return actions;
  }

  /**
   * The advice about what a profile's first paragraph leads with, for its page, and where it is; and how many there are beside it. Rejects
   * with EngineError.
   */
  async first(profile: ShownProfile, signal: AbortSignal): Promise<{ found: ShownAdvice | undefined; more: number }> {
    await profile.advice(signal);
    const offers = await this.offersOf(profile);
    const offer = offers[leadAdvice(profile.report) ?? -1];
    if (!offer) return { found: undefined, more: offers.length };
    const { advice, number } = offer;
    const { way, change, definition, subject } = advice;
    // Of another profile than the current one the sources are not looked at.
    const answer: Edited | undefined = this.current.get() === profile || change === null ? await this.edited(offer) : undefined;
    const reason = answer && 'reason' in answer ? answer.reason : '';
    const hasCard = definition !== null && definition.file !== '' && subject.type !== '';
    const shown: PanelAdvice = {
      title: offerTitle(advice),
      words: [luckSentences(advice), gainSentences(advice), costSentences(advice)].filter((text) => text !== '').join(' '),
      opens: reason === '' ? 'preview' : hasCard ? 'card' : 'nothing',
      reason: way === 'none' ? '' : printable(reason),
    };
    return { found: { shown, number, title: actionTitle(advice), place: placeOf(advice) }, more: offers.length - 1 };
  }

  /** The first advice about the data of one of these accesses, one with an edit before others. Rejects with EngineError. */
  async about(profile: ShownProfile, accesses: readonly Access[]): Promise<Pick<ShownAdvice, 'number' | 'title' | 'place'> | undefined> {
    await profile.advice();
    const types = new Set(accesses.map(({ data }) => typeName(data.type ?? '')));
    const objects = new Set(accesses.map(({ data }) => data.object));
    // Memory of many types may have one name, as "[heap]" has.
    const own = (await this.offersOf(profile)).filter(({ advice: { subject } }) =>
      subject.type === '' ? objects.has(subject.object) : types.has(typeName(subject.type)),
    );
    const offer = own.find(({ advice }) => advice.change !== null) ?? own[0];
    return offer && { number: offer.number, title: actionTitle(offer.advice), place: placeOf(offer.advice) };
  }

  /** Command: cacheline.previewAdvice. */
  async preview(argument: unknown, title?: unknown): Promise<boolean> {
    const profile = this.current.get();
    if (!profile) {
      void showInformation(vscode.l10n.t('No profile loaded. Record a program or open a recording to get advice.'));
      return false;
    }
    const offers = await this.offersOf(profile);
    const offer = typeof argument === 'number' ? offers.find(({ number }) => number === argument) : await this.pick(offers);
    if (typeof argument === 'number' && (!offer || (typeof title === 'string' && title !== actionTitle(offer.advice)))) {
      void showInformation(vscode.l10n.t('The profile has changed since this advice was offered. Open the list of quick fixes again.'));
      return false;
    }
    if (!offer) return false;
    const answer = await this.edited(offer);
    const { advice } = offer;
    if ('reason' in answer) {
      void showWarning(vscode.l10n.t('No edit available for {0}: {1}', subjectName(advice.subject), answer.reason));
      return false;
    }
    const detail = [luckSentences(advice), costSentences(advice), gainSentences(advice)].filter((text) => text !== '').join(' ');
    await this.previews.show({ title: actionText(advice), detail, files: answer.files });
    return true;
  }

  /** Command: cacheline.previewOwnLine. */
  async previewOwnLine(uri: unknown, line: unknown, name: unknown): Promise<boolean> {
    const target = uri instanceof vscode.Uri ? uri : typeof uri === 'string' ? vscode.Uri.parse(uri) : undefined;
    if (target?.scheme !== 'file' || typeof line !== 'number' || typeof name !== 'string') return false;
    try {
      const document = await vscode.workspace.openTextDocument(target);
      const found = await this.layouts.at(document, line, true, name);
      const file = target.fsPath;
      const binary = found?.card.heat?.binary ?? '';
      const definition = found?.isMember === true ? this.layouts.definitionAbove(target, line, found) : undefined;
      const change =
        found && definition !== undefined && ownLineChange(found.card.layout, found.name, binary, { file, line: definition + 1 });
      if (!found || !change) {
        void showInformation(
          vscode.l10n.t('An alignment cannot put {0} on a cache line of its own: it is not a member of a structure here.', printable(name)),
        );
        return false;
      }
      const answer = await editedIn({ change, documents: new Map([[file, document]]) }, () => found.uncertain);
      if ('reason' in answer) {
        void showWarning(answer.reason);
        return false;
      }
      const detail = vscode.l10n.t('The member after it also starts a new line. Record the program to see what this costs and gains.');
      await this.previews.show({
        title: vscode.l10n.t("Put '{0}' on a cache line of its own", printable(found.name)),
        detail,
        files: answer.files,
      });
      return true;
    } catch (error) {
      showError(error, this.log);
      return false;
    }
  }

  private async pick(offers: readonly Offer[]): Promise<Offer | undefined> {
    if (offers.length === 0) {
      void showInformation(vscode.l10n.t('No advice: no data with a known type or name has enough samples waiting for other threads.'));
      return undefined;
    }
    const items = await Promise.all(
      offers.map(async (offer) => {
        const { advice } = offer;
        const answer = await this.edited(offer);
        return {
          label: offerTitle(advice),
          description: percent(advice.programShare),
          detail: 'reason' in answer ? printable(answer.reason) : '',
          offer,
        };
      }),
    );
    const chosen = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t('Advice'),
      placeHolder: vscode.l10n.t('Choose a change to preview'),
    });
    return chosen?.offer;
  }

  /** Of a profile whose advice cannot be had none; the log says it once. */
  private offersOf(profile: ShownProfile): Promise<Offer[]> {
    let offers = this.offers.get(profile);
    if (!offers) {
      offers = makeOffers(profile).catch((error: unknown) => {
        if (!(error instanceof EngineError)) throw error;
        this.log.warn(`No advice for ${profile.path}: ${error.message} ${error.nextStep}`.trim());
        if (error.kind === 'cancelled' || error.kind === 'crashed') this.offers.delete(profile); // may go better the next time
        return [];
      });
      this.offers.set(profile, offers);
    }
    return offers;
  }

  private isIn(place: SourcePlace, uri: vscode.Uri, { start, end }: vscode.Range): boolean {
    const now = this.documents.find(place);
    return now !== undefined && now.line >= start.line && now.line <= end.line && this.isSame(now.uri, uri);
  }

  private isSame(one: vscode.Uri, other: vscode.Uri): boolean {
    return this.documents.realPath(one.fsPath) === this.documents.realPath(other.fsPath);
  }

  /** What the change of an advice makes of the texts as they are now. */
  private async edited(offer: Offer): Promise<Edited> {
    const { change } = offer.advice;
    const refused = noChangeReason(offer.advice);
    if (change === null || refused !== '') return { reason: refused };
    const placed = await this.placed(change);
    if ('reason' in placed) return placed;
    const versions = JSON.stringify([placed.change, [...placed.documents.values()].map(({ uri, version }) => [uri.toString(), version])]);
    if (offer.edited?.versions !== versions)
      offer.edited = {
        versions,
        answer: await editedIn(placed, (file) => this.documents.isPlaceMatchedByNames({ file, line: 0 })),
      };
    return offer.edited.answer;
  }

  private async placed(change: Change): Promise<PlacedChange | { reason: string }> {
    const documents = new Map<string, vscode.TextDocument>();
    const now = new Map<string, SourcePlace>();
    for (const place of placesIn(change)) {
      const found = this.documents.find(place);
      if (found) documents.set(place.file, await vscode.workspace.openTextDocument(found.uri));
      // Opened, the text may be another one than was last seen.
      const line = found && this.documents.find(place)?.line;
      if (line === undefined) return { reason: this.documents.whyNotFound(place) };
      now.set(keyOf(place), { file: place.file, line: line + 1 });
    }
    return { change: moved(change, (place) => now.get(keyOf(place)) ?? place), documents };
  }
}

/** Where it is to be seen in the sources. */
function placeOf({ change, definition }: Advice): SourcePlace | undefined {
  return (change === null ? undefined : placesIn(change)[0]) ?? definition ?? undefined;
}

function offerTitle(advice: Advice): string {
  if (advice.way !== 'none') return actionTitle(advice);
  const subject = subjectName(advice.subject);
  return cannotTell(advice)
    ? vscode.l10n.t('There are too few samples to tell what helps {0}', subject)
    : vscode.l10n.t('No layout helps {0}', subject);
}

/** Undefined where it takes longer: other quick fixes wait for ours, and the next move of the cursor asks again. */
async function inTime<T>(answer: Promise<T>, longestMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, longestMs, undefined);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function makeOffers(profile: ShownProfile): Promise<Offer[]> {
  const [{ advice }, data] = await Promise.all([profile.advice(), profile.dataBy('contended')]);
  return advice.map((one, at) => ({ advice: one, number: at + 1, places: placesOf(one, data) }));
}

async function editedIn({ change, documents }: PlacedChange, isNewer: (file: string) => boolean): Promise<Edited> {
  const { editOf } = await import('../session/advice/edit'); // loaded where it is needed: it brings a parser along
  const answer = await editOf(change, {
    read: (file) => Promise.resolve(documents.get(file)?.getText()),
    isNewer: (file) => Promise.resolve(isNewer(file)),
  });
  if ('reason' in answer) return answer;
  const files = answer.files.flatMap(({ file, ...edit }) => {
    const uri = documents.get(file)?.uri;
    return uri ? [{ ...edit, uri }] : [];
  });
  return { files };
}

function keyOf({ file, line }: SourcePlace): string {
  return `${line} ${file}`;
}

function placesIn(change: Change): SourcePlace[] {
  switch (change.kind) {
    case 'members':
    case 'split-members':
    case 'align-type':
      return [change.type.definition];
    case 'align-variables':
      return change.variables.map(({ definition }) => definition);
    case 'allocate':
      return change.call !== null ? [change.call] : change.files.map((file) => ({ file, line: 1 }));
  }
}

function moved(change: Change, now: (place: SourcePlace) => SourcePlace): Change {
  switch (change.kind) {
    case 'members':
    case 'split-members':
    case 'align-type':
      return { ...change, type: { ...change.type, definition: now(change.type.definition) } };
    case 'align-variables':
      return { ...change, variables: change.variables.map((variable) => ({ ...variable, definition: now(variable.definition) })) };
    case 'allocate':
      return { ...change, call: change.call && now(change.call) };
  }
}
