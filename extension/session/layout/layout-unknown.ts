// What is said of a type's bases and members whose places or sizes are not known.
import type { Layout, LayoutMember } from '../../protocol/layout';
import { count, enumerate, plural, printable } from '../text/terminal-text';

const MAX_NAMED = 4;
/** In the place of a type's name. */
const UNKNOWN_TYPE = '(unknown type)';
/** With these every unit defines the classes that it uses. */
export const DEFINING_OPTIONS = '-fstandalone-debug (clang) or -femit-class-debug-always (g++)';
const COMPILE_WITH = `Compile what defines them with -g, too, or all with ${DEFINING_OPTIONS}, without -femit-struct-debug-*.`;

/** "the virtual bases S and W". */
export function basesText(bases: readonly string[]): string {
  return `the virtual ${bases.length === 1 ? 'base' : 'bases'} ${enumerate(firstOf(bases))}`;
}

/** "The debug information does not say where the virtual bases S and W lie: 140 bytes from byte 12 on may be theirs." */
export function unplacedSentence({ offset, size, bases }: NonNullable<Layout['unplaced']>[number]): string {
  const [lie, whose] = bases.length === 1 ? ['lies', 'its own'] : ['lie', 'theirs'];
  const where = `${plural(size, 'byte')} from byte ${offset} on may be ${whose}`;
  return printable(`The debug information does not say where ${basesText(bases)} ${lie}: ${where}.`);
}

/** "aligned to 8". */
export function alignmentText({ align }: Layout): string {
  return align === null ? 'alignment not stated' : `aligned to ${count(align)}`;
}

/** Which members' types are not known, and why, as sentences; none where all are. */
export function incompleteSentences({ members, missing }: Layout): string[] {
  const reason = missing === undefined ? [] : [printable(`${missing.message} ${missing.nextStep}`)];
  const incomplete = members.filter((member) => member.incomplete);
  if (incomplete.length === 0) return reason;
  const isUnread = missing !== undefined || incomplete.some(({ type }) => type.includes(UNKNOWN_TYPE));
  const [types, sizes] = incomplete.length === 1 ? ['type', 'its size is'] : ['types', 'their sizes are'];
  const what = `The debug information does not define the ${types} of ${enumerate(firstNames(incomplete))}`;
  return [`${what}: ${sizes} at most the room up to the next member.`, ...(isUnread ? reason : [COMPILE_WITH])];
}

/** What is left out, as sentences; none where all is shown. */
export function cutOffSentences({ cutOff, members }: Layout): string[] {
  if (cutOff === undefined) return [];
  const ends = members.reduce((end, { offset, elements }) => (elements === undefined ? Math.max(end, offset) : end), 0);
  return [
    ...(cutOff.members === undefined
      ? []
      : [`Not all is shown: after ${plural(cutOff.members, 'member')} what begins behind byte ${count(ends)} is left out, holes too.`]),
    ...(cutOff.depth === undefined ? [] : [`Not all is shown: what is inside of more than ${count(cutOff.depth)} members is left out.`]),
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
  return [`Those that look alike differ inside ${inside}: cacheline layout ${printable(names[0] ?? '')} shows how.`];
}

function firstOf(names: readonly string[]): string[] {
  return names.length <= MAX_NAMED ? [...names] : [...names.slice(0, MAX_NAMED), `${names.length - MAX_NAMED} more`];
}
