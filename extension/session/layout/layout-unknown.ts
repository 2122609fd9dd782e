// What is said of a type's bases and members whose places or sizes are not known.
import { t } from '../../protocol/l10n';
import type { Layout, LayoutMember } from '../../protocol/layout';
import { count, enumerate, plural, printable } from '../text/terminal-text';

const MAX_NAMED = 4;
/** In the place of a type's name. */
const UNKNOWN_TYPE = '(unknown type)';
/** With these every unit defines the classes that it uses. */
export const DEFINING_OPTIONS = '-fstandalone-debug (clang) or -femit-class-debug-always (g++)';
const COMPILE_WITH = t('Compile what defines them with -g, too, or all with {0}, without -femit-struct-debug-*.', DEFINING_OPTIONS);

/** "the virtual bases S and W". */
export function basesText(bases: readonly string[]): string {
  const names = enumerate(firstOf(bases));
  return bases.length === 1 ? t('the virtual base {0}', names) : t('the virtual bases {0}', names);
}

/** "The debug information does not say where the virtual bases S and W lie: 140 bytes from byte 12 on may be theirs." */
export function unplacedSentence({ offset, size, bases }: NonNullable<Layout['unplaced']>[number]): string {
  const [what, bytes] = [basesText(bases), plural(size, 'byte')];
  return printable(
    bases.length === 1
      ? t('The debug information does not say where {0} lies: {1} from byte {2} on may be its own.', what, bytes, offset)
      : t('The debug information does not say where {0} lie: {1} from byte {2} on may be theirs.', what, bytes, offset),
  );
}

/** "aligned to 8". */
export function alignmentText({ align }: Layout): string {
  return align === null ? t('alignment not stated') : t('aligned to {0}', count(align));
}

/** Which members' types are not known, and why, as sentences; none where all are. */
export function incompleteSentences({ members, missing }: Layout): string[] {
  const reason = missing === undefined ? [] : [printable(`${missing.message} ${missing.nextStep}`)];
  const incomplete = members.filter((member) => member.incomplete);
  if (incomplete.length === 0) return reason;
  const isUnread = missing !== undefined || incomplete.some(({ type }) => type.includes(UNKNOWN_TYPE));
  const names = enumerate(firstNames(incomplete));
  const what =
    incomplete.length === 1
      ? t('The debug information does not define the type of {0}: its size is at most the room up to the next member.', names)
      : t('The debug information does not define the types of {0}: their sizes are at most the room up to the next member.', names);
  return [what, ...(isUnread ? reason : [COMPILE_WITH])];
}

/** What is left out, as sentences; none where all is shown. */
export function cutOffSentences({ cutOff, members }: Layout): string[] {
  if (cutOff === undefined) return [];
  const ends = members.reduce((end, { offset, elements }) => (elements === undefined ? Math.max(end, offset) : end), 0);
  return [
    ...(cutOff.members === undefined
      ? []
      : [
          t(
            'Not everything is shown: after {0}, what begins beyond byte {1} is left out, holes too.',
            plural(cutOff.members, 'member'),
            count(ends),
          ),
        ]),
    ...(cutOff.depth === undefined
      ? []
      : [t('Not everything is shown: members nested more than {0} deep are left out.', count(cutOff.depth))]),
  ];
}

/** For "a, b, c, d and 2 more". */
export function firstNames(members: readonly LayoutMember[]): string[] {
  return firstOf(members.map(({ name, type }) => (name === '' ? type : name))).map(printable);
}

/** By what types differ that may look alike, as a sentence. */
export function differenceSentences(layouts: readonly Layout[]): string[] {
  const names = [...new Set(layouts.flatMap(({ differsIn }) => differsIn ?? []))];
  if (names.length === 0) return [];
  const inside = enumerate(firstOf(names).map(printable));
  return [t('Those that look alike differ inside {0}: cacheline layout {1} shows how.', inside, printable(names[0] ?? ''))];
}

function firstOf(names: readonly string[]): string[] {
  return names.length <= MAX_NAMED ? [...names] : [...names.slice(0, MAX_NAMED), t('{0} more', names.length - MAX_NAMED)];
}
