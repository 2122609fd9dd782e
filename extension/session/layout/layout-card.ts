// The card of a type as Markdown: its head, the picture of its cache lines (or the same as a list), the table of members.
// All names come out of binaries and are untrusted: they are shown as code or escaped, never as Markdown.
import { t } from '../../protocol/l10n';
import { shareOf, wholeOf } from '../../protocol/measure';
import { PIECE_WORDS, type LinePiece } from '../../protocol/panel-detail';
import { wholePercent } from '../profile/heat';
import { code, escapeMarkdown, markdownTable, NBSP } from '../hover/hover-parts';
import { cardRows, shareOfType } from './layout-card-rows';
import { cardPicture, dataUri, foldText, type ThemeKind } from './layout-card-svg';
import { phaseOf, straddlesAt } from './layout-phase';
import { bytesText, cardTitle, heatSummary, layoutNotes, measureTitle, sizeText, type CardContext } from './layout-card-words';
import { count, enumerate, plural, printable } from '../text/terminal-text';
import { amountOfUse, useText, whoText, type FieldUse, type MemberHeat, type TypeCard } from './type-heat';

export interface CardStyle {
  theme: ThemeKind;
  /** A list instead of the picture. */
  text: boolean;
}

const MAX_TABLE_ROWS = 12;
/** Of a card that stands below another one. */
const MAX_SHORT_ROWS = 4;
const MAX_LIST_MEMBERS = 40;
const MAX_ALT_MEMBERS = 4;
/** Threads or names in a cell; of more it says how many. */
const MAX_NAMED = 3;
const UNKNOWN = t('unknown');

/** The card, in parts that a hover shows below each other. */
export function layoutCard(card: TypeCard, context: CardContext, style: CardStyle): string[] {
  const { report, measure, notes } = context;
  const phase = phaseOf(card, report);
  const rows = cardRows(card, measure, phase);
  const hidden = rows.reduce((sum, row) => sum + (row.kind === 'line' ? row.hidden : 0), 0);
  const remarks = layoutNotes(card, phase, hidden, style.text ? '' : t(' (edges with teeth)'));
  return [
    cardHead(card, context),
    ...(notes.length > 0 ? [`*${escapeMarkdown(notes.join(' '))}*`] : []),
    style.text ? cardList(card, context) : image(card, context, style.theme),
    memberTable(card, context, MAX_TABLE_ROWS),
    ...(remarks.length > 0 ? [escapeMarkdown(remarks.join(' '))] : []),
    ...(report && card.heat ? [t('evidence: **{0}**', report.evidence.join(', '))] : []),
  ];
}

/** The card of another type that the same line declares: which binary has it, size, heat, and its hottest members. */
export function shortCard(card: TypeCard, context: CardContext): string {
  const where = card.heat ? t('declared here too, in {0}: ', code(card.heat.object)) : '';
  return `${where}${cardHead(card, context)}\n\n${memberTable(card, context, MAX_SHORT_ROWS)}`;
}

function cardHead(card: TypeCard, context: CardContext): string {
  const summary = heatSummary(card, context);
  return [`**${code(cardTitle(card))}** · ${sizeText(card)}`, ...(summary === '' ? [] : [`**${escapeMarkdown(summary)}**`])].join('  \n');
}

function image(card: TypeCard, { report, measure, ...rest }: CardContext, theme: ThemeKind): string {
  const picture = cardPicture(card, report, measure, theme);
  const alt = altText(card, { report, measure, ...rest });
  return `![${escapeAlternative(alt)}](${dataUri(picture)}|width=${picture.width},height=${picture.height})`;
}

/** An alternative text is no Markdown: of what could end it, backslashes would be read out, entities are not. */
function escapeAlternative(text: string): string {
  return printable(text).replace(/[^\p{L}\p{N} ,.:;()–…-]/gu, (character) => `&#${character.codePointAt(0) ?? 0};`);
}

/** The picture in one sentence: the hottest members with their bytes, or how many there are. */
export function altText(card: TypeCard, context: CardContext): string {
  const hot = hottest(card, context).filter(({ use }) => amountOfUse(use, context.measure) > 0);
  const named = hot.slice(0, MAX_ALT_MEMBERS).map(({ member, use }) => {
    const who = use ? whoText(use) : '';
    return t('{0} at bytes {1}{2}', member.name, bytesText(member), who === '' ? '' : ` (${who})`);
  });
  const leaves = card.members.filter(({ leaf }) => leaf).length;
  const what = named.length > 0 ? t('hot: {0}', enumerate(named)) : plural(leaves, 'member');
  return `${cardTitle(card)}, ${sizeText(card)}; ${what}`;
}

/** Members with samples, the hottest first. */
function hottest({ members }: TypeCard, { measure }: CardContext): MemberHeat[] {
  return members
    .filter(({ leaf, use }) => leaf && use !== undefined && use.records > 0)
    .sort(
      (a, b) =>
        amountOfUse(b.use, measure) - amountOfUse(a.use, measure) ||
        (b.use?.records ?? 0) - (a.use?.records ?? 0) ||
        a.member.offset - b.member.offset,
    );
}

function memberTable(card: TypeCard, context: CardContext, most: number): string {
  const leaves = card.members.filter(({ leaf }) => leaf);
  if (leaves.length === 0) return t('It has no members.');
  const { report } = context;
  return card.heat && report ? heatTable(card, { ...context, report }, leaves.length, most) : plainTable(leaves, most);
}

function heatTable(
  card: TypeCard,
  context: CardContext & { report: NonNullable<CardContext['report']> },
  leaves: number,
  most: number,
): string {
  const { report, measure } = context;
  const hot = hottest(card, context);
  const shown = hot.slice(0, most);
  const timed = shown.some(({ use }) => use && use.loadCycles !== null);
  const whole = wholeOf(report, measure);
  const phase = phaseOf(card, report) ?? 0;
  const cells = ({ member, use }: MemberHeat): string[] => {
    const amount = amountOfUse(use, measure);
    const bold = amount > 0 ? '**' : '';
    return [
      `${bold}${code(member.name)}${bold}${orNames(card, member)}${straddlesAt(member, phase, card.layout.lineSize) ? NBSP + t('(straddles)') : ''}`,
      bytesText(member),
      count(member.size),
      count(use?.loads ?? 0),
      count(use?.stores ?? 0),
      `${count(Math.round(amount))}${amount > 0 ? `${NBSP}(${share(amount, whole)})` : ''}`,
      ...(timed ? [cycles(use)] : []),
      threads(use),
    ];
  };
  const numbers = [t('bytes'), t('size'), t('reads'), t('writes'), measureTitle(report, measure), ...(timed ? [t('cycles')] : [])];
  const without = leaves - hot.length - card.members.filter(({ sameBytesAs }) => sameBytesAs).length;
  const rest = [
    hot.length > shown.length ? t('{0} with samples', plural(hot.length - shown.length, 'more member')) : '',
    without > 0 ? t('{0} without samples', plural(without, 'member')) : '',
  ].filter((text) => text !== '');
  const columns = [[t('member'), ':--'], ...numbers.map((title) => [title, '--:'] as const), [t('threads'), ':--']] as const;
  const table = markdownTable(columns, shown.map(cells));
  return rest.length > 0 ? `${table}\n\n${rest.join(', ')}` : table;
}

/** " or `as_double`": the other members of a union that samples on these bytes may be of. */
function orNames(card: TypeCard, member: MemberHeat['member']): string {
  const others = card.members.filter(({ sameBytesAs }) => sameBytesAs?.member === member).map((other) => code(other.member.name));
  const more = others.length > MAX_NAMED ? t(' and {0} more', others.length - MAX_NAMED) : '';
  return others.length > 0 ? t(' or {0}{1}', others.slice(0, MAX_NAMED).join(', '), more) : '';
}

const PLAIN_COLUMNS = [
  [t('member'), ':--'],
  [t('type'), ':--'],
  [t('bytes'), '--:'],
  [t('size'), '--:'],
] as const;

function plainTable(leaves: readonly MemberHeat[], most: number): string {
  const shown = leaves.slice(0, most);
  const rows = shown.map(({ member }) => {
    const role = member.role === 'field' || member.role === member.name ? '' : `${NBSP}(${member.role})`;
    const name = code(member.name === '' ? member.role : member.name);
    return [`${name}${role}`, code(member.type), bytesText(member), count(member.size)];
  });
  const table = markdownTable(PLAIN_COLUMNS, rows);
  return leaves.length > shown.length ? `${table}\n\n${plural(leaves.length - shown.length, 'more member')}` : table;
}

/** The same as the picture in words: a list of cache lines with their members. */
function cardList(card: TypeCard, context: CardContext): string {
  const { report, measure } = context;
  const items: string[] = [];
  let left = MAX_LIST_MEMBERS;
  const phase = phaseOf(card, report) ?? 0;
  for (const row of cardRows(card, measure, phase)) {
    if (row.kind === 'fold') {
      items.push(`- ${escapeMarkdown(foldText(row, card))}`);
      continue;
    }
    const { lineSize, size } = card.layout;
    const start = row.index * lineSize - phase;
    const hot = row.amount > 0 && report ? t(': {0} of what the type measured', share(shareOfType(row, card, measure), 1)) : '';
    items.push(
      t('- line {0}, bytes {1}–{2}{3}', row.index + 1, Math.max(0, start), Math.max(0, Math.min(start + lineSize, size) - 1), hot),
    );
    let skipped = 0;
    for (const { kind, start: from, end, member, use, cutLeft, cutRight } of row.pieces) {
      if (left === 0) {
        ++skipped;
        continue;
      }
      --left;
      if (!member) {
        items.push(`  - ${gapText(kind, start + from, start + end)}`);
        continue;
      }
      const name = `${bytesText(member)}: ${code(member.name)}`;
      const same = card.members.find((one) => one.member === member)?.sameBytesAs;
      if (same) {
        items.push(t('  - {0}, on the same bytes as {1}', name, code(same.member.name)));
        continue;
      }
      const whence = cutLeft ? t(', continued from the line before') : '';
      items.push(`  - ${name}${whence || (cutRight ? t(', continues on the next line') : '')}${useWords(use, context)}`);
    }
    if (skipped > 0) items.push(`  - ${plural(skipped, 'more member')}`);
  }
  return items.join('\n');
}

/** "4–7: hole of 4 bytes", "12:2–7: hole of 6 bits". @param start byte in the type, of bits a fraction; `end` likewise */
function gapText(kind: LinePiece['kind'], start: number, end: number): string {
  if (Number.isInteger(start) && Number.isInteger(end))
    return t('{0}–{1}: {2} of {3}', start, end - 1, PIECE_WORDS[kind], plural(end - start, 'byte'));
  const offset = Math.floor(start);
  const bitSize = Math.round(8 * (end - start));
  const bytes = bytesText({ offset, size: 1, bitOffset: Math.round(8 * (start - offset)), bitSize });
  return t('{0}: {1} of {2}', bytes, PIECE_WORDS[kind], plural(bitSize, 'bit'));
}

/** ": 62% of contended samples, 1 thread writes (0 reads, 620 writes)"; empty without samples. */
function useWords(use: FieldUse | undefined, { report, measure }: CardContext): string {
  if (!use || use.records === 0 || !report) return '';
  return `: ${escapeMarkdown(useText(use, measure, report))} (${plural(use.loads, 'read')}, ${plural(use.stores, 'write')})`;
}

function share(amount: number, whole: number): string {
  return wholePercent(shareOf(amount, whole)).replace('<', '&lt;');
}

/** Mean of all loads. */
function cycles(use: FieldUse | undefined): string {
  if (!use || use.loads === 0) return '–';
  return use.loadCycles === null ? UNKNOWN : count(Math.round(use.loadCycles / use.loads));
}

/** "W 11, 12; R 13". */
function threads(use: FieldUse | undefined): string {
  if (!use) return UNKNOWN;
  const list = (letter: string, tids: readonly number[]): string => {
    if (tids.length === 0) return '';
    return tids.length > MAX_NAMED ? `${letter}${NBSP}${plural(tids.length, 'thread')}` : `${letter}${NBSP}${tids.join(`,${NBSP}`)}`;
  };
  return [list(t('W'), use.writers), list(t('R'), use.readers)].filter((text) => text !== '').join('; ') || UNKNOWN;
}
