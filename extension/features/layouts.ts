// Finds the card of what a source line declares: types that the profile has samples of, and where that is wanted any other
// type of the binary, asked of the engine. Settings: cacheline.layout.alwaysShow, cacheline.layout.binary.
import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { EngineError, type Engine } from '../protocol/engine';
import type { Declaration, Layout, MissingPart, TypeHeat } from '../protocol/layout';
import type { Measured } from '../protocol/measure';
import type { SourcePlace } from '../protocol/report';
import { resolveTarget } from '../session/record/launch';
import { missingNotes, readableType } from '../session/layout/layout-card-words';
import { definitionsIn, sourceLanguage } from '../session/layout/source-definitions';
import { shortPlace } from '../session/lines/source-path';
import { enumerate } from '../session/text/terminal-text';
import { fits } from '../session/layout/type-definitions';
import { cardOf, layoutKey, plainCard, twinsOf, wholeTypes, type TypeCard } from '../session/layout/type-heat';
import { lastPart, sourceName, typeName } from '../session/layout/type-names';
import type { TypePlace } from '../session/layout/type-places';
import type { ShownProfile } from '../session/profile/shown-profile';
import type { CurrentProfile } from './current-profile';
import { folderSetting, setting } from './settings';
import { ageOf, builtAt } from './source-age';
import type { SourceDocuments } from './source-documents';

/** Binaries of a profile that are asked for a file. */
const MAX_BINARIES = 3;
/** Files whose declarations are kept. */
const MAX_KEPT = 64;
/** Other types of one line that have a table below the card. */
const MAX_OTHERS = 3;
/** Names in a note. */
const MAX_NAMED = 3;
/** Rank of what a line is taken for: types, their members, variables, and members of members. */
const MEMBER = 1;
const VARIABLE = 2;
const LAST_BINARY = 'cacheline.lastBinary';

export interface FoundCard {
  card: TypeCard;
  /** Of which the card has samples; undefined: it has none. */
  report: Measured | undefined;
  /** Other types with samples that the line declares: instances of a template, or of a structure that is not the same everywhere. */
  others: TypeCard[];
  /** What the line declares: the type, or a member or variable. */
  name: string;
  /** The line declares a member of the type itself. */
  isMember: boolean;
  /** When the binary was built whose lines it is found by; undefined: those of the profile. */
  built?: number | undefined;
  /** The source is newer than the binary, and nothing says where its lines went. */
  uncertain: boolean;
  /** About the age of source and binary, and what may be missing. */
  notes: string[];
}

export class Layouts implements vscode.Disposable {
  private readonly kept = new Map<string, Promise<unknown>>();
  private readonly told = new Set<string>();
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly engine: Engine,
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscription = current.onDidChange((profile) => {
      const [binary] = profile ? binariesOf(profile) : [];
      if (binary !== undefined) void memory.update(LAST_BINARY, binary);
    });
  }

  /**
   * @param line 0-based, in the document as it is now
   * @param asked by a person for this line: then types without samples have a card too, and it rejects with EngineError
   *   where no binary can say anything
   * @param word in the line: of several things that it declares, the one of this name comes first
   */
  async at(document: vscode.TextDocument, line: number, asked = false, word = ''): Promise<FoundCard | undefined> {
    const profile = this.current.get();
    const sampled = namedFirst(word, this.sampledAt(document.uri, line));
    for (const place of sampled) {
      const built = await builtAt(place.card.heat?.binary ?? '', profile?.report);
      const found = await this.checked(document, line, place.card, place.name, built, this.documents.followedFrom(document.uri), profile);
      if (!found) continue;
      const others = [...new Set(sampled.map(({ card }) => card))].filter((card) => card !== found.card);
      const notes = [...found.notes, ...namesakes(found.card, others.slice(MAX_OTHERS), profile?.report)];
      return { ...found, isMember: place.what === 'member', others: others.slice(0, MAX_OTHERS), notes };
    }
    const all = asked || setting('layout.alwaysShow', this.log);
    if (!profile && !all) return undefined;
    for (const binary of this.binaries(document.uri, profile)) {
      const declared = namedFirst(word, await this.declaredAt(document, line, binary, asked));
      for (const { name, layout, built, rank, missing } of declared) {
        const twins = twinsOf(
          layout,
          declared.map((one) => one.layout),
        );
        const heat = heatOf(layout, binary, profile, twins.length === 0);
        if (!heat && !all) continue;
        const from = this.documents.followedFrom(document.uri, built);
        const found = await this.checked(document, line, heat ? cardOf(heat) : plainCard(layout), name, built, from, profile);
        const ofAll =
          heat && rank === VARIABLE ? [vscode.l10n.t("The numbers cover all instances of the type, not only '{0}'.", name)] : [];
        if (found)
          return {
            ...found,
            built,
            isMember: rank === MEMBER,
            others: twins.slice(0, MAX_OTHERS).map(plainCard),
            notes: [...found.notes, ...ofAll, ...missingNotes(layout, missing)],
          };
      }
    }
    return undefined;
  }

  /** What the profile has samples of and the line declares, the best first. */
  sampledAt(uri: vscode.Uri, line: number): TypePlace[] {
    const types = this.current.get()?.types;
    return this.documents.placesAt(uri, line).flatMap((place) => types?.get(place.file)?.get(place.line) ?? []);
  }

  /** The same of all lines of a document that have any. */
  sampledLines(uri: vscode.Uri): Map<number, TypePlace[]> {
    const types = this.current.get()?.types;
    const lines = new Map<number, TypePlace[]>();
    for (const file of this.documents.namesOf(uri))
      for (const [line, places] of types?.get(file) ?? []) {
        const now = this.documents.find({ file, line })?.line;
        if (now !== undefined) lines.set(now, [...(lines.get(now) ?? []), ...places]);
      }
    return lines;
  }

  /** Where the type of a member is defined now; undefined: not above it. Lines are 0-based. */
  definitionAbove(uri: vscode.Uri, line: number, { card, built }: FoundCard): number | undefined {
    const { layout } = card;
    for (let above = line; above >= 0; --above)
      if (this.documents.placesAt(uri, above, built).some((place) => place.file === layout.file && place.line === layout.line))
        return above;
    return undefined;
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private async checked(
    document: vscode.TextDocument,
    line: number,
    card: TypeCard,
    name: string,
    built: number | undefined,
    followedFrom: number | undefined,
    profile: ShownProfile | undefined,
  ): Promise<FoundCard | undefined> {
    const { notes, uncertain } = await ageOf(document, built, followedFrom);
    if (line >= document.lineCount || (uncertain && wordIndex(document.lineAt(line).text, name) < 0)) return undefined;
    const report = card.heat && profile && (await this.withLines(card, profile));
    return { card, report, others: [], name, isMember: false, uncertain, notes };
  }

  /** The report with lines of the type, by which the card knows where instances begin. */
  private async withLines(card: TypeCard, profile: ShownProfile): Promise<Measured> {
    try {
      return { ...profile.report, lines: (await profile.linesOfType(card)).lines };
    } catch (error) {
      this.log.warn(`No cache lines of ${card.layout.name}: ${String(error)}`);
      return profile.report;
    }
  }

  /** What a binary says that the line declares: types first, then their members, then variables. */
  private async declaredAt(document: vscode.TextDocument, line: number, binary: string, asked: boolean): Promise<Found[]> {
    const { uri } = document;
    for (const file of new Set([...this.documents.namesOf(uri), uri.fsPath, this.documents.realPath(uri.fsPath)])) {
      const answer = await this.asked(binary, file, asked, () => this.engine.call('declarations', { binary, file, expand: true }));
      if (!answer) continue;
      const { declarations, missing } = answer;
      const declared = declarations.flatMap((one) => [declaredBy(one), ...membersOf(one)]);
      const files = new Set(declared.map((one) => one.file));
      const built = files.size > 0 ? (await stat(binary)).mtimeMs : 0;
      for (const name of files) await this.documents.follow(uri, name, declared, built);
      const places = this.documents.placesAt(uri, line, built);
      const here = declared.filter((one) => places.some((place) => place.file === one.file && place.line === one.line));
      // What other members of a member's type do is nothing of this one.
      const members = new Set(here.filter(({ rank }) => rank !== VARIABLE).map(({ name }) => name));
      const own = here.filter(({ name, rank }) => rank !== VARIABLE || !members.has(name));
      if (own.length > 0) return own.sort((a, b) => a.rank - b.rank || behind(a) - behind(b)).map((one) => ({ ...one, built, missing }));
    }
    return this.definedAt(document, line, binary, asked);
  }

  /** What the text itself says that the line defines, where debug information does not (Rust, Go). */
  private async definedAt(document: vscode.TextDocument, line: number, binary: string, asked: boolean): Promise<Found[]> {
    const file = document.uri.fsPath;
    const language = sourceLanguage(file);
    if (!language) return [];
    const found: Found[] = [];
    for (const definition of definitionsIn(document.getText(), language)) {
      const member = [...definition.members].find(([, at]) => at === line + 1)?.[0];
      if (definition.line !== line + 1 && member === undefined) continue;
      const { name } = definition;
      const answer = await this.asked(binary, name, asked, () => this.engine.call('layout', { binary, name, expand: true }));
      const layout = answer?.layouts.find((one) => fits(definition, one));
      const declared = definition.line === line + 1 ? name : lastPart(member ?? '');
      if (!answer || !layout) continue;
      const built = await builtAt(binary, undefined);
      found.push({ name: declared, file, line, layout, rank: 0, built, missing: answer.missing });
    }
    return found;
  }

  /** What the engine says of a file or a type of the binary, kept as long as the binary stays as it is; undefined: nothing. */
  private async asked<T>(binary: string, about: string, asked: boolean, call: () => Promise<T>): Promise<T | undefined> {
    try {
      const { mtimeMs } = await stat(binary).catch((error: unknown) => {
        throw new EngineError(
          'unreadable',
          (error as NodeJS.ErrnoException).code === 'ENOENT'
            ? vscode.l10n.t('{0} cannot be read: there is no such file.', binary)
            : vscode.l10n.t('{0} cannot be read.', binary),
          vscode.l10n.t('Set cacheline.layout.binary to the program.'),
        );
      });
      const key = JSON.stringify([binary, mtimeMs, about]);
      let answer = this.kept.get(key) as Promise<T> | undefined;
      if (!answer) {
        if (this.kept.size >= MAX_KEPT) this.kept.clear();
        this.kept.set(key, (answer = call()));
        answer.catch((error: unknown) => {
          if (error instanceof EngineError && error.kind !== 'unreadable') this.kept.delete(key); // may go better the next time
        });
      }
      return await answer;
    } catch (error) {
      if (asked || !(error instanceof EngineError)) throw error;
      // A hover nobody asked for stays silent; the log says it once.
      if (!this.told.has(error.message)) this.log.warn(`No layouts for ${about}: ${error.message} ${error.nextStep}`.trim());
      this.told.add(error.message);
      return undefined;
    }
  }

  private binaries(source: vscode.Uri, profile: ShownProfile | undefined): string[] {
    const folder = vscode.workspace.getWorkspaceFolder(source) ?? vscode.workspace.workspaceFolders?.[0];
    const chosen = folderSetting('layout.binary', this.log, folder);
    if (chosen !== '') return [resolveTarget({ program: chosen }, folder?.uri.fsPath).program];
    if (profile) return binariesOf(profile).slice(0, MAX_BINARIES);
    const last = this.memory.get<string>(LAST_BINARY);
    return last === undefined ? [] : [last];
  }
}

interface Declared extends SourcePlace {
  /** Of what the line declares. */
  name: string;
  layout: Layout;
  rank: number;
}

interface Found extends Declared {
  /** When the binary was built that says so, in ms since 1970. */
  built: number | undefined;
  /** Of its debug information. */
  missing: MissingPart[];
}

function declaredBy({ variable, file, line, layout }: Declaration): Declared {
  return variable === ''
    ? { name: sourceName(layout.name), file, line, layout, rank: 0 }
    : { name: variable, file, line, layout, rank: VARIABLE };
}

/** Members of all types, also of those that are no structures and have no declaration of their own; those of members come last. */
function membersOf({ variable, file, layout }: Declaration): Declared[] {
  if (variable !== '' || layout.file !== file) return [];
  return layout.members
    .filter((member) => member.line > 0 && member.file === undefined)
    .map(({ name, line, depth }) => ({ name: lastPart(name), file, line, layout, rank: depth === 0 ? MEMBER : 3 }));
}

/** How far behind the type's first line: a member of a base class belongs to the class that it stands in. */
function behind({ line, layout }: Declared): number {
  return line >= layout.line ? line - layout.line : Infinity;
}

/** Of the types with samples, the hottest first; where none are known, the program and what it brought along. */
function binariesOf({ report }: ShownProfile): string[] {
  const ofTypes = (report.types ?? []).map(({ binary }) => binary).filter((binary) => binary !== '');
  const others = report.binaries.filter(({ path, status }) => status === 'ok' && !/^\/(usr\/)?lib/.test(path)).map(({ path }) => path);
  return [...new Set([...ofTypes, ...others])];
}

/** What else the line declares, and other definitions of the same name. */
function namesakes({ layout }: TypeCard, others: readonly TypeCard[], report: Measured | undefined): string[] {
  const notes: string[] = [];
  const own = typeName(layout.name);
  const byName = new Map(others.map((card) => [typeName(card.layout.name), readableType(card.layout)]));
  const names = [...byName].filter(([name]) => name !== own).map(([, readable]) => readable);
  if (names.length > 0) notes.push(declaredToo(enumerate(names.slice(0, MAX_NAMED)), names.length > MAX_NAMED));
  const twins = (report?.types ?? []).filter(
    (type) => typeName(type.name) === typeName(layout.name) && (type.layout.file !== layout.file || type.layout.line !== layout.line),
  );
  if (twins.length > 0)
    notes.push(
      vscode.l10n.t(
        'Another type of this name is defined at {0}.',
        enumerate(twins.slice(0, MAX_NAMED).map((type) => shortPlace(type.layout))),
      ),
    );
  return notes;
}

function declaredToo(names: string, more: boolean): string {
  return more ? vscode.l10n.t('Declared here too: {0} and more.', names) : vscode.l10n.t('Declared here too: {0}.', names);
}

/** Of what a binary declares; `alone`: no other definition stands there, so that little has to tell. */
function heatOf(layout: Layout, binary: string, profile: ShownProfile | undefined, alone: boolean): TypeHeat | undefined {
  const same = (profile ? wholeTypes(profile.report) : []).filter((type) => type.binary === binary && isSameType(type.layout, layout));
  return same.find((type) => layoutKey(type.layout) === layoutKey(layout)) ?? (alone ? same[0] : undefined);
}

/** One name can have several definitions; without a line, its size has to tell. */
function isSameType(one: Layout, other: Layout): boolean {
  const sameLine = one.line === other.line || one.line === 0 || other.line === 0;
  return typeName(one.name) === typeName(other.name) && one.size === other.size && sameLine;
}

/** Those with this name first, else as they were. */
function namedFirst<T extends { name: string }>(word: string, all: readonly T[]): T[] {
  return word === '' ? [...all] : [...all].sort((a, b) => Number(b.name === word) - Number(a.name === word));
}

/** Where a name stands in a line; -1: nowhere. A name that is not known confirms nothing and denies nothing: 0. */
export function wordIndex(text: string, name: string): number {
  if (name === '') return 0;
  const plain = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.search(new RegExp(`(?<![\\p{L}\\p{N}_])${plain}(?![\\p{L}\\p{N}_])`, 'u'));
}
