// Which names stand on the source lines of a profile: what they declare, as debug information says it, and what their accesses are of.
import { t } from '../../protocol/l10n';
import type { CodePlace, DataIdentity } from '../../protocol/profile';
import { sourceLanguage } from '../layout/source-definitions';
import { fieldInType } from '../layout/type-heat';
import { sourceName } from '../layout/type-names';
import type { TypePlace } from '../layout/type-places';

export interface LineWords {
  /** Names of types, members and variables that the line declares, as they stand in the source. */
  declares: Set<string>;
  /** What its accesses are of, and what it calls: such a word may stand on the line. */
  uses: Set<string>;
  /** The line was found in the text as it is now (types of Rust and Go), and not in debug information. */
  found: boolean;
}

/** By line, 0-based. */
export type FileWords = Map<number, LineWords>;

/** For hovers and messages. */
export const MATCHED_BY_NAMES = t('The source is newer than the binary. Lines are matched by name.');
/** Behind the short texts of lines. */
export const NEWER_SOURCE = t(' (source newer than binary)');
export const EDITED_SOURCE = t(' (before your edits)');

/** What a profile knows of one file, by line, 1-based. */
export interface KnownOfFile {
  file: string;
  types?: ReadonlyMap<number, readonly TypePlace[]> | undefined;
  definitions?: ReadonlyMap<number, readonly Pick<DataIdentity, 'object' | 'how'>[]> | undefined;
  code?: ReadonlyMap<number, CodePlace> | undefined;
}

/** Adds to `words` what is known. */
export function collectWords({ file, types, definitions, code }: KnownOfFile, words: FileWords): void {
  const byText = sourceLanguage(file) !== undefined;
  for (const [line, places] of types ?? []) {
    const there = wordsAt(words, line - 1);
    for (const { name, what } of places) {
      if (name !== '') there.declares.add(name);
      there.found ||= byText && what !== 'variable';
    }
  }
  for (const [line, known] of definitions ?? []) {
    for (const { object, how = 'global' } of known) {
      const name = how === 'global' || how === 'stack' ? sourceName(object) : '';
      if (name !== '') wordsAt(words, line - 1).declares.add(name);
    }
  }
  for (const [line, place] of code ?? []) {
    const { uses } = wordsAt(words, line - 1);
    for (const use of place.uses) for (const word of wordsOf(use)) uses.add(word);
  }
}

export function wordsAt(words: FileWords, line: number): LineWords {
  let there = words.get(line);
  if (!there) words.set(line, (there = { declares: new Set(), uses: new Set(), found: false }));
  return there;
}

/** The variable, the field, and in a caller the function that was inlined there. */
function wordsOf({ object, field, called }: CodePlace['uses'][number]): string[] {
  const member = fieldInType(field).replace(/(?:\[[^\]]*\])+$/, '');
  return [sourceName(object), lastWord(member), lastWord(called)].filter((word) => word !== '');
}

/** "fetch_add" of "std::atomic<long>::fetch_add(long)". */
function lastWord(name: string): string {
  let plain = name.replace(/\(.*$/s, '');
  for (let before = ''; before !== plain;) [before, plain] = [plain, plain.replace(/<[^<>]*>/g, '')];
  return /([\p{L}_][\p{L}\p{N}_]*)$/u.exec(plain)?.[1] ?? '';
}
