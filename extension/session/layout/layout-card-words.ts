// What the picture, the table and the text form of a type say in the same words: head, notes, and who does what.
import { t } from '../../protocol/l10n';
import type { Layout, LayoutMember, MissingPart } from '../../protocol/layout';
import { hasDataSources, MEASURE_WORDS, shareOf, wholeOf, type Measure, type Measured } from '../../protocol/measure';
import { isFrom, wholePercent } from '../profile/heat';
import { straddlesAt } from './layout-phase';
import { VERDICT_WORDS } from '../../protocol/words';
import { alignmentText, incompleteSentences, unplacedSentence } from './layout-unknown';
import { lastPart, typeName } from './type-names';
import type { TypePlace } from './type-places';
import { count, plural, printable, shortenMiddle } from '../text/terminal-text';
import { amountOfUse, useText, whoText, wholeUse, type MemberHeat, type TypeCard } from './type-heat';

/** Where a card's numbers and colours come from. */
export interface CardContext {
  /** Undefined: there is no profile. */
  report: Measured | undefined;
  measure: Measure;
  /** Sentences about the source's age and the like, as plain text. */
  notes: readonly string[];
}

/** Characters of a type's name. */
const LONGEST_NAME = 50;

/** The type's name for prose: those of templates can be longer than any line. */
export function readableType({ name }: Pick<Layout, 'name'>): string {
  return shortenMiddle(printable(typeName(name)), LONGEST_NAME);
}

/** "struct queue". */
export function cardTitle({ layout }: TypeCard): string {
  return `${layout.kind} ${readableType(layout)}`;
}

/** "16 bytes on 1 cache line, aligned to 8". */
export function sizeText({ layout }: TypeCard): string {
  const { size, lineSize, lines } = layout;
  const wide = lineSize === 64 ? '' : t(' of {0} bytes', lineSize);
  return t('{0} on {1}{2}, {3}', plural(size, 'byte'), plural(lines, 'cache line'), wide, alignmentText(layout));
}

/** "false sharing, 41% of contended samples, 2 threads write"; empty without samples. */
export function heatSummary(card: TypeCard, { report, measure }: CardContext): string {
  const use = wholeUse(card);
  if (!card.heat || !use || !report) return '';
  const { instances, lines } = card.heat;
  const verdict = amountOfUse(use, measure) > 0 ? `${VERDICT_WORDS[card.heat.verdict]}, ` : '';
  return t('{0}{1} ({2} on {3})', verdict, useText(use, measure, report), plural(instances, 'instance'), plural(lines, 'line'));
}

/** The line above a definition: "2 threads write, 1 line, false sharing 41%: show layout". */
export function lensTitle(card: TypeCard, report: Measured, measure: Measure): string {
  const use = wholeUse(card);
  if (!card.heat || !use) return '';
  const amount = amountOfUse(use, measure);
  const verdict = VERDICT_WORDS[card.heat.verdict];
  const share = amount > 0 ? `${verdict} ${wholePercent(shareOf(amount, wholeOf(report, measure)))}` : verdict;
  return t('{0}: show layout', [whoText(use), plural(card.heat.lines, 'line'), share].filter((part) => part !== '').join(', '));
}

/** Text after a member's declaration; empty where it measured nothing. */
export function memberText(card: TypeCard, member: LayoutMember, report: Measured, measure: Measure): string {
  const use = card.members.find((one) => one.member === member)?.use;
  if (!use || amountOfUse(use, measure) === 0) return '';
  return t('byte {0} of {1}: {2}', member.offset, readableType(card.layout), useText(use, measure, report));
}

/**
 * Text after a line that declares members: the hottest of the first type, and how many others of it the line declares.
 * @param percent of the whole that a member has to have measured
 */
export function membersText(places: readonly TypePlace[], report: Measured, measure: Measure, percent: number): string {
  const amount = (member: MemberHeat): number => amountOfUse(member.use, measure);
  const hot = places.flatMap(({ card, member }) =>
    member && isContendedFrom(amount(member), report, measure, percent) ? [{ card, member }] : [],
  );
  const ofFirst = hot.filter(({ card }) => card === hot[0]?.card).sort((a, b) => amount(b.member) - amount(a.member));
  const leaves = ofFirst.filter(({ member }) => member.leaf);
  const [hottest, ...others] = leaves.length > 0 ? leaves : ofFirst;
  if (!hottest) return '';
  const { card, member } = hottest;
  const own = memberText(card, member.member, report, measure);
  // The line does not say which one it is.
  const several = places.filter((place) => place.card === card && place.member?.leaf).length > 1;
  const text = several ? `${lastPart(member.member.name)}, ${own}` : own;
  return others.length > 0 ? t('{0} (and {1} on this line)', text, plural(others.length, 'more member')) : text;
}

/** Whether samples of the type measured anything, and so many percent of the whole, so that it may speak without being asked. */
export function isContended(card: TypeCard, report: Measured, measure: Measure, percent: number): boolean {
  return isContendedFrom(amountOfUse(wholeUse(card), measure), report, measure, percent);
}

function isContendedFrom(amount: number, report: Measured, measure: Measure, percent: number): boolean {
  return amount > 0 && isFrom({ amount, caused: 0 }, wholeOf(report, measure), percent);
}

/** "0–7"; bit-fields with their bits. */
export function bytesText({ offset, size, bitOffset, bitSize }: Pick<LayoutMember, 'offset' | 'size' | 'bitOffset' | 'bitSize'>): string {
  if (bitSize !== null) return `${offset}:${bitOffset ?? 0}${bitSize > 1 ? `–${(bitOffset ?? 0) + bitSize - 1}` : ''}`;
  return size > 1 ? `${offset}–${offset + size - 1}` : String(offset);
}

/** Of the column that says how much a member counts. */
export function measureTitle(report: Measured, measure: Measure): string {
  if (!hasDataSources(report)) return t('contended');
  return MEASURE_WORDS[measure].name;
}

/** Where on a cache line the picture begins; empty where all instances begin with a line. */
function phaseNote({ layout, heat }: TypeCard, phase: number | undefined): string {
  const { align, lineSize, size } = layout;
  if (phase !== undefined && phase > 0)
    return t(
      'Drawn as the {0}: from byte {1} of a cache line.',
      heat?.instances === 1 ? t('instance measured here lies') : t('instances measured here lie'),
      phase,
    );
  if (phase === 0 || align === null || align <= 0 || align >= lineSize || size <= 0) return '';
  return t('Drawn from the start of a cache line; instances may begin at any multiple of {0}.', plural(align, 'byte'));
}

/** That other definitions may be in what was not read of the debug information, as notes; a layout that says so itself needs none. */
export function missingNotes({ missing }: Layout, parts: readonly MissingPart[]): string[] {
  if (missing !== undefined) return [];
  return parts.map(({ message, nextStep }) => printable(t('{0} Definitions that are only there are not shown. {1}', message, nextStep)));
}

/**
 * What has to be known to read the picture right, as sentences.
 * @param phase the byte of a cache line that instances begin at; undefined: not known
 * @param hidden members that the picture leaves out
 * @param mark how the picture marks members that straddle
 */
export function layoutNotes(card: TypeCard, phase: number | undefined, hidden: number, mark: string): string[] {
  const { layout, members, outside } = card;
  const begin = phaseNote(card, phase);
  const notes = begin === '' ? [] : [begin];
  notes.push(...(layout.unplaced ?? []).map(unplacedSentence), ...incompleteSentences(layout));
  const straddling = members.filter(({ member, leaf }) => leaf && straddlesAt(member, phase ?? 0, layout.lineSize)).length;
  if (straddling > 0)
    notes.push(
      straddling === 1 ? t('1 member straddles cache lines{0}.', mark) : t('{0} members straddle cache lines{1}.', count(straddling), mark),
    );
  if (outside && outside.records > 0)
    notes.push(t('{0} fell into no member: holes, or the whole object.', plural(outside.records, 'sample')));
  if (hidden === 1) notes.push(t('1 member on the same bytes as others is not drawn.'));
  if (hidden > 1) notes.push(t('{0} members on the same bytes as others are not drawn.', count(hidden)));
  return notes;
}
