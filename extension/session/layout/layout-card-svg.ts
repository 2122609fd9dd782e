// The picture of a type: a row for each cache line, members to scale in the colours of heat, holes hatched, members that
// straddle a line marked where they are cut. Transparent background; colours by the kind of theme.
import { heatStep } from '../../protocol/heat-scale';
import { t } from '../../protocol/l10n';
import { PIECE_WORDS } from '../../protocol/panel-detail';
import { shareOf, wholeOf, type Measure, type Measured } from '../../protocol/measure';
import { wholePercent } from '../profile/heat';
import { cardRows, shareOfType, type CardRow, type FoldRow, type LineRow, type Piece } from './layout-card-rows';
import { phaseOf, straddlesAt } from './layout-phase';
import { plural, printable, shortenMiddle } from '../text/terminal-text';
import { amountOfUse, type TypeCard } from './type-heat';

export type ThemeKind = 'light' | 'dark' | 'contrast' | 'contrastLight';

export interface Picture {
  svg: string;
  /** Pixels. */
  width: number;
  height: number;
}

/** Room of a hover without scrolling, in pixels, and of a picture in one, as characters of a data URI. */
export const MAX_WIDTH = 720;
export const MAX_HEIGHT = 230;
export const MAX_URI = 60_000;

const LEFT = 50;
const RIGHT = 52;
const LANE = MAX_WIDTH - LEFT - RIGHT;
const RULER = 14;
const ROW = 30;
const GAP = 4;
const FOLD = 14;
/** Of one character of the 11 px names and the 10 px marks, in pixels: a little more than common monospaced fonts take. */
const NAME_WIDTH = 6.8;
const MARK_WIDTH = 6.2;
/** Characters that a shortened name needs. */
const MIN_SHORTENED = 4;
/** Narrower members of the same heat are drawn as one. */
const MIN_PIECE = 2;

interface Palette {
  /** Steps 1 to 5: those of the colours cacheline.heat1 to heat5 in package.json. */
  heat: readonly [string, string, string, string, string];
  member: string;
  sampled: string;
  text: string;
  faint: string;
  border: string;
  warning: string;
}

const LIGHT_HEAT = ['#c9a227', '#d9822b', '#cf5328', '#a82546', '#6a1250'] as const;
const DARK_HEAT = ['#8a4a9e', '#b8508a', '#e2645a', '#f79a3c', '#ffe14d'] as const;

export const PALETTES: Record<ThemeKind, Palette> = {
  light: {
    heat: LIGHT_HEAT,
    member: '#eceef2',
    sampled: '#d3d9e3',
    text: '#1f1f1f',
    faint: '#616161',
    border: '#8c8c8c',
    warning: '#b5200d',
  },
  dark: {
    heat: DARK_HEAT,
    member: '#2f3237',
    sampled: '#454b55',
    text: '#e4e4e4',
    faint: '#a0a0a0',
    border: '#7a7a7a',
    warning: '#ff8f80',
  },
  contrast: {
    heat: DARK_HEAT,
    member: '#000000',
    sampled: '#2b2b2b',
    text: '#ffffff',
    faint: '#ffffff',
    border: '#ffffff',
    warning: '#ffb0a0',
  },
  contrastLight: {
    heat: LIGHT_HEAT,
    member: '#ffffff',
    sampled: '#e0e0e0',
    text: '#000000',
    faint: '#292929',
    border: '#0f4a85',
    warning: '#b5200d',
  },
};

/** @param report what shares are shares of; undefined: there is no profile */
export function cardPicture(card: TypeCard, report: Measured | undefined, measure: Measure, theme: ThemeKind): Picture {
  // Many narrow members take many bytes: fewer lines are shown then, never a cut picture.
  for (let most = 6; most > 1; --most) {
    const picture = draw(card, report, measure, PALETTES[theme], most);
    if (dataUri(picture).length <= MAX_URI) return picture;
  }
  return draw(card, report, measure, PALETTES[theme], 1);
}

export function dataUri({ svg }: Picture): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg, 'utf8').toString('base64')}`;
}

function draw(card: TypeCard, report: Measured | undefined, measure: Measure, palette: Palette, most: number): Picture {
  const phase = phaseOf(card, report) ?? 0;
  const rows = cardRows(card, measure, phase, most);
  const { lineSize } = card.layout;
  const scale = LANE / lineSize;
  const parts: string[] = [];
  for (let byte = 0; byte < lineSize; byte += lineSize / 8)
    parts.push(text(LEFT + byte * scale, RULER - 4, String(byte), 'r', palette.faint));
  let y = RULER;
  for (const row of rows) {
    parts.push(
      ...(row.kind === 'fold' ? foldParts(row, y, card, palette) : lineParts(row, y, { card, report, measure, palette, scale, phase })),
    );
    y += rowHeight(row);
  }
  const height = y;
  const { heat, member, sampled, border, warning } = palette;
  const fills = heat.map((color, index) => `.h${index + 1}{fill:${color}}`).join('');
  const style =
    `text{font:11px Consolas,Menlo,'DejaVu Sans Mono',monospace}.r{font-size:9px}.k{font-size:10px}` +
    `rect{stroke:${border};stroke-width:.7}.c{fill:${member}}.u{fill:${sampled}}${fills}.g{fill:url(#g)}.s{stroke:${warning};stroke-width:1.6}`;
  const hatch =
    `<pattern id="g" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
    `<path d="M0 0V6" stroke="${border}" stroke-width="1.4"/></pattern>`;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${MAX_WIDTH}" height="${height}" viewBox="0 0 ${MAX_WIDTH} ${height}">` +
    `<style>${style}</style><defs>${hatch}</defs>${parts.join('')}</svg>`;
  return { svg, width: MAX_WIDTH, height };
}

function rowHeight(row: CardRow): number {
  return row.kind === 'fold' ? FOLD : ROW + GAP;
}

function foldParts(row: FoldRow, y: number, card: TypeCard, { faint }: Palette): string[] {
  return [text(LEFT, y + 10, foldText(row, card), 'k', faint)];
}

/** "… 12 lines without samples". */
export function foldText({ lines, sampled }: FoldRow, { heat }: TypeCard): string {
  if (!heat) return `… ${plural(lines, 'more line')}`;
  if (sampled === 0) return t('… {0} without samples', plural(lines, 'line'));
  return t('… {0}, {1} of them with samples', plural(lines, 'line'), sampled);
}

interface Context {
  card: TypeCard;
  report: Measured | undefined;
  measure: Measure;
  palette: Palette;
  /** Pixels a byte. */
  scale: number;
  /** Byte of the first line that the type begins at. */
  phase: number;
}

function lineParts(row: LineRow, y: number, context: Context): string[] {
  const { card, measure, palette, phase, scale } = context;
  const { lineSize, size } = card.layout;
  const start = row.index * lineSize - phase; // in the type
  const parts = [text(LEFT - 6, y + 19, `+${Math.max(0, start)}`, 'k', palette.faint, 'end')];
  for (const piece of merged(row.pieces, context)) parts.push(...pieceParts(piece, y, context));
  const [x, end] = [Math.max(0, -start) * scale, Math.min(LANE, Math.max(0, size - start) * scale)];
  if (end > x) parts.push(`<rect x="${px(LEFT + x)}" y="${y}" width="${px(end - x)}" height="${ROW}" fill="none"/>`);
  if (row.amount > 0) parts.push(text(LEFT + LANE + 6, y + 19, wholePercent(shareOfType(row, card, measure)), 'k', palette.text));
  else if (row.hidden > 0) parts.push(text(LEFT + LANE + 6, y + 19, t('+{0} more', row.hidden), 'k', palette.faint));
  return parts;
}

/** Joins neighbours of the same look that are too narrow to be told apart. */
function merged(pieces: readonly Piece[], context: Context): Piece[] {
  const found: Piece[] = [];
  for (const piece of pieces) {
    const last = found.at(-1);
    const narrow = (one: Piece): boolean => one.tracks === 1 && (one.end - one.start) * context.scale < MIN_PIECE;
    const joined = last?.kind === 'member' && last.member === undefined;
    if (last && last.end === piece.start && narrow(piece) && (joined || narrow(last)) && look(last, context) === look(piece, context)) {
      found[found.length - 1] = { ...last, end: piece.end, member: undefined };
    } else found.push(piece);
  }
  return found;
}

/** Class of the shape. */
function look({ kind, use }: Piece, { measure, report }: Context): string {
  if (kind !== 'member') return 'g';
  const amount = amountOfUse(use, measure);
  if (amount > 0 && report) return `h${heatStep(shareOf(amount, wholeOf(report, measure)))}`;
  return use && use.records > 0 ? 'u' : 'c';
}

function pieceParts(piece: Piece, y: number, context: Context): string[] {
  const { card, palette, phase, scale } = context;
  const { member, use, track, tracks } = piece;
  const x = LEFT + piece.start * scale;
  const width = (piece.end - piece.start) * scale;
  const height = ROW / tracks;
  const top = y + track * height;
  const kind = look(piece, context);
  const cut = member !== undefined && straddlesAt(member, phase, card.layout.lineSize) && (piece.cutLeft || piece.cutRight);
  const shape = `<rect class="${kind}${cut ? ' s' : ''}" x="${px(x)}" y="${px(top)}" width="${px(width)}" height="${px(height)}"/>`;
  const parts = [shape];
  if (cut) parts.push(cutMark(piece, x, width, top, height, palette.warning));
  const ink = kind.startsWith('h') ? inkOn(palette.heat[Number(kind[1]) - 1] ?? palette.member) : palette.text;
  const name = piece.kind === 'member' ? memberLabel(member?.name ?? '', width) : '';
  const label = piece.kind === 'member' ? name : gapLabel(piece, width);
  const marks = use && use.records > 0 && tracks === 1 ? fitting([marksOf(piece, context), roles(piece)], (width - 4) / MARK_WIDTH) : '';
  const middle = px(x + width / 2);
  if (label !== '') {
    const low = height < 12; // three above each other
    const baseline = marks === '' ? top + height / 2 + (low ? 3 : 4) : y + 13;
    // A hatched ground needs a plate under its words.
    if (piece.kind !== 'member') parts.push(plate(x + width / 2, baseline, label.length * MARK_WIDTH + 4, palette.member));
    parts.push(text(middle, px(baseline), label, low ? 'r' : piece.kind === 'member' ? '' : 'k', ink, 'middle'));
  }
  if (marks !== '') parts.push(text(middle, y + (label === '' ? 19 : 25), marks, 'k', ink, 'middle'));
  return parts;
}

/** "W2 R1": threads that write, that read. */
function roles({ use }: Piece): string {
  if (!use) return '';
  const written = use.writers.length > 0 ? `W${use.writers.length}` : '';
  const read = use.readers.length > 0 ? `R${use.readers.length}` : '';
  return [written, read].filter((part) => part !== '').join(' ');
}

/** The same with its share of what was measured, where there is room. */
function marksOf(piece: Piece, { report, measure }: Context): string {
  const amount = amountOfUse(piece.use, measure);
  return [roles(piece), amount > 0 && report ? wholePercent(shareOf(amount, wholeOf(report, measure))) : ''].join(' ').trim();
}

/** The first of the texts that fits. */
function fitting(texts: readonly string[], room: number): string {
  return texts.find((one) => one !== '' && one.length <= room) ?? '';
}

function memberLabel(path: string, width: number): string {
  const room = Math.floor((width - 4) / NAME_WIDTH);
  if (room < 2 || path === '') return '';
  const plain = printable(path);
  const last = plain.slice(plain.lastIndexOf('.') + 1);
  const shortened = shortenMiddle(Array.from(plain).length <= room ? plain : last, room);
  // Of a name that is cut to a letter or two nothing is left to know it by.
  return room < MIN_SHORTENED && shortened.includes('…') ? '' : shortened;
}

function gapLabel({ kind, start, end }: Piece, width: number): string {
  const bytes = end - start;
  const size = Number.isInteger(bytes) ? String(bytes) : t('{0} bits', Math.round(8 * bytes));
  return [`${PIECE_WORDS[kind]} ${size}`, size].find((label) => label.length * MARK_WIDTH + 8 <= width) ?? '';
}

/** Teeth on the edge where a member goes on on the next line, or came from the one before. */
function cutMark(piece: Piece, x: number, width: number, top: number, height: number, color: string): string {
  const edge = piece.cutRight ? x + width : x;
  const tooth = piece.cutRight ? -5 : 5;
  const step = height / 3;
  const teeth = [0, 1, 2].map((n) => `L${px(edge + tooth)} ${px(top + (n + 0.5) * step)}L${px(edge)} ${px(top + (n + 1) * step)}`).join('');
  return `<path d="M${px(edge)} ${px(top)}${teeth}Z" fill="${color}"/>`;
}

function plate(middle: number, baseline: number, width: number, fill: string): string {
  return `<path d="M${px(middle - width / 2)} ${px(baseline - 10)}h${px(width)}v13h${px(-width)}Z" fill="${fill}"/>`;
}

/** Black or white, whichever reads better on the colour (relative luminance of WCAG 2). */
function inkOn(color: string): string {
  const linear = [1, 3, 5].map((at) => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  return luminance > 0.179 ? '#000000' : '#ffffff';
}

function text(x: number | string, y: number | string, content: string, kind: string, color: string, anchor = ''): string {
  const classes = kind === '' ? '' : ` class="${kind}"`;
  const anchored = anchor === '' ? '' : ` text-anchor="${anchor}"`;
  return `<text${classes} x="${x}" y="${y}" fill="${color}"${anchored}>${escapeXml(content)}</text>`;
}

/** Untrusted text as XML character data: what XML 1.0 does not allow is made visible or replaced. */
export function escapeXml(content: string): string {
  const entities: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', "'": '&#39;' };
  return printable(content)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[<>&"']/g, (character) => entities[character] ?? character);
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}
