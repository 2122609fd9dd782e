// Tables as perf prints them: titles in two rows over groups of number columns, then texts. Where the width is too small,
// whole groups and the texts move to further rows of the same entry; a number is never cut.
import { breakText, displayWidth, padEnd, padStart, type Style } from './terminal-text';
import { fit, GAP, NARROWEST, type Column } from './text-table';

/** Number columns under one title. */
export interface Group {
  title: string;
  columns: readonly string[];
  align?: 'left';
}

/** A text column behind the numbers. */
export interface Field {
  title: string;
  /** How a text too long for its place is shortened; without it, it is broken into several rows and never shortened. */
  shorten?: (text: string, width: number) => string;
  /** Left out where all numbers fit one row and this does not fit behind them. */
  optional?: boolean;
  style?: keyof Style;
}

export interface Entry {
  /** One for each number column. */
  cells: readonly string[];
  /** One for each field; an empty one takes no place where the texts have rows of their own. */
  texts: readonly string[];
}

/** A group with the widths of its columns, and where its cells begin in an entry. */
interface PlacedGroup {
  title: string;
  left: boolean;
  columns: { title: string; width: number }[];
  first: number;
  width: number;
}

interface Band {
  indent: number;
  groups: PlacedGroup[];
}

interface PlacedField {
  field: Field;
  index: number;
  width: number;
}

/** Between columns of one group; groups stand GAP apart. */
const INNER_GAP = 1;
/** Of all rows: the titles start with "#" there, as perf's do. */
const MARGIN = 2;
/** Where an entry's second and further rows begin. */
const HANG = 5;
const SPACE = ' '.repeat(GAP);

/** The layout of a table whose entries are printed one by one, perhaps with other text between them. */
export class GroupedTable {
  private readonly bands: Band[];
  /** What of the fields stands in columns behind the numbers; undefined where texts have no columns. */
  private readonly beside: PlacedField[] | undefined;
  /** Texts without columns stand behind an entry's last row of numbers where those of all entries fit there, else below. */
  private readonly textsFollow: boolean;

  /** @param entries all of the table: their widths are the columns' */
  constructor(
    groups: readonly Group[],
    private readonly fields: readonly Field[],
    entries: readonly Entry[],
    private readonly layout: { width: number; style: Style },
  ) {
    this.bands = fold(placeGroups(groups, entries, layout.width - HANG), layout.width);
    this.beside = this.bands.length === 1 ? placeFields(fields, entries, layout.width - this.numbersWidth - GAP) : undefined;
    const last = this.bands.at(-1);
    const room = last === undefined ? 0 : layout.width - last.indent - span(last.groups) - GAP;
    this.textsFollow = [this.titles(), ...entries.map(({ texts }) => this.piecesOf(texts))].every(
      (texts) => displayWidth(texts.join(SPACE)) <= room,
    );
  }

  /** Columns of the widest row of numbers. */
  get numbersWidth(): number {
    return Math.max(...this.bands.map(({ indent, groups }) => indent + span(groups)));
  }

  header(): string[] {
    const rows = this.bands.flatMap(({ indent, groups }) => [
      ' '.repeat(indent) + groups.map(groupTitle).join(SPACE),
      ' '.repeat(indent) + groups.map(columnTitles).join(SPACE),
    ]);
    const last = rows.pop() ?? '';
    if (this.beside === undefined) rows.push(...this.withTexts(last, this.titles()));
    else rows.push([last, ...this.beside.map(({ field, width }) => padEnd(field.title, width))].join(SPACE));
    return rows.map((row) => this.layout.style.dim(`#${row.slice(1)}`.trimEnd()));
  }

  entry({ cells, texts }: Entry): string[] {
    const rows = this.bands.map(({ indent, groups }) => ' '.repeat(indent) + formatCells(groups, cells));
    if (this.beside === undefined) {
      const last = rows.pop() ?? '';
      return [...rows.map((row) => row.trimEnd()), ...this.withTexts(last, this.piecesOf(texts))];
    }
    const beside = this.beside.map(({ field, index, width }) => {
      const text = (field.shorten ?? padEnd)(texts[index] ?? '', width);
      const shown = field.style === undefined ? text : this.layout.style[field.style](text);
      return shown + padEnd('', width - displayWidth(text));
    });
    return [[rows[0] ?? '', ...beside].join(SPACE).trimEnd()];
  }

  /**
   * The first groups of an entry, and any texts instead of the rest; they go on in further rows where they do not fit.
   * @param cells of whole groups
   */
  headline(cells: readonly string[], texts: readonly string[]): string[] {
    const rows = this.bands
      .map(({ indent, groups }) => ({ indent, groups: groups.filter(({ first }) => first < cells.length) }))
      .filter(({ groups }) => groups.length > 0)
      .map(({ indent, groups }) => ' '.repeat(indent) + formatCells(groups, cells));
    const last = rows.pop() ?? '';
    const pieces = texts.flatMap((text) => breakText(text, this.layout.width - HANG));
    return [...rows.map((row) => row.trimEnd()), ...this.flow(last, pieces)];
  }

  private titles(): string[] {
    return this.fields.map(({ title }) => title);
  }

  /** The texts, none longer than a row. */
  private piecesOf(texts: readonly string[]): string[] {
    const room = Math.max(NARROWEST, this.layout.width - HANG);
    return this.fields.flatMap(({ shorten }, index) => {
      const text = texts[index] ?? '';
      if (text === '') return [];
      return shorten === undefined ? breakText(text, room) : [shorten(text, room)];
    });
  }

  private withTexts(row: string, [first, ...others]: readonly string[]): string[] {
    if (first === undefined) return [row.trimEnd()];
    return this.textsFollow ? this.flow(row, [first, ...others]) : [row.trimEnd(), ...this.flow(' '.repeat(HANG) + first, others)];
  }

  /** Texts behind a row, and in further rows where they do not fit. */
  private flow(row: string, texts: readonly string[]): string[] {
    const rows = [row];
    for (const text of texts) {
      const longer = [rows.pop() ?? '', text].join(SPACE);
      if (displayWidth(longer) <= this.layout.width) rows.push(longer);
      else rows.push(longer.slice(0, -text.length - GAP), ' '.repeat(HANG) + text);
    }
    return rows.map((line) => line.trimEnd());
  }
}

/** @param room a group wider than this becomes one group a column */
function placeGroups(groups: readonly Group[], entries: readonly Entry[], room: number): PlacedGroup[] {
  let first = 0;
  return groups.flatMap(({ title, columns, align }) => {
    const start = first;
    first += columns.length;
    const placed = columns.map((name, i) => ({
      title: name,
      width: entries.reduce((widest, { cells }) => Math.max(widest, displayWidth(cells[start + i] ?? '')), displayWidth(name)),
    }));
    const natural = placed.reduce((sum, { width }) => sum + width, 0) + INNER_GAP * (placed.length - 1);
    // A title longer than its columns widens the first of them.
    const width = Math.max(natural, displayWidth(title));
    for (const column of placed.slice(0, 1)) column.width += width - natural;
    const left = align === 'left';
    if (width <= room) return [{ title, left, columns: placed, first: start, width }];
    return placed.map((column, i) => ({ title: i === 0 ? title : '', left, columns: [column], first: start + i, width: column.width }));
  });
}

/** Groups side by side, as many in a row as fit. */
function fold(groups: readonly PlacedGroup[], width: number): Band[] {
  const bands: Band[] = [];
  let band: Band = { indent: MARGIN, groups: [] };
  for (const group of groups) {
    if (band.groups.length > 0 && band.indent + span([...band.groups, group]) > width) {
      bands.push(band);
      band = { indent: HANG, groups: [] };
    }
    band.groups.push(group);
  }
  return [...bands, band];
}

/** @returns undefined where the fields that are not optional do not fit `room` */
function placeFields(fields: readonly Field[], entries: readonly Entry[], room: number): PlacedField[] | undefined {
  let shown = fields.map((field, index): PlacedField => {
    const widest = entries.reduce((most, { texts }) => Math.max(most, displayWidth(texts[index] ?? '')), displayWidth(field.title));
    return { field, index, width: widest };
  });
  for (;;) {
    const columns = shown.map(({ field }): Column => ({ align: 'left', ...field }));
    const widths = fit(
      columns,
      shown.map(({ width }) => width),
      room,
    );
    if (widths.reduce((sum, width) => sum + width + GAP, -GAP) <= room)
      return shown.map((place, i) => ({ ...place, width: widths[i] ?? 0 }));
    const dropped = shown.findLast(({ field }) => field.optional);
    if (dropped === undefined) return undefined;
    shown = shown.filter((place) => place !== dropped);
  }
}

function span(groups: readonly PlacedGroup[]): number {
  return groups.reduce((sum, { width }) => sum + width, 0) + GAP * (groups.length - 1);
}

function formatCells(groups: readonly PlacedGroup[], cells: readonly string[]): string {
  return groups
    .map(({ columns, first, left }) =>
      columns.map(({ width }, i) => (left ? padEnd : padStart)(cells[first + i] ?? '', width)).join(' '.repeat(INNER_GAP)),
    )
    .join(SPACE);
}

/** Over several columns in the middle of dashes, over one column as that is aligned. */
function groupTitle({ title, columns, left, width }: PlacedGroup): string {
  if (columns.length === 1) return (left ? padEnd : padStart)(title, width);
  const dashes = width - displayWidth(title) - 2;
  if (dashes < 2) return padStart(title, width);
  return `${'-'.repeat(Math.floor(dashes / 2))} ${title} ${'-'.repeat(Math.ceil(dashes / 2))}`;
}

function columnTitles({ columns, left }: PlacedGroup): string {
  return columns.map(({ title, width }) => (left ? padEnd : padStart)(title, width)).join(' '.repeat(INNER_GAP));
}
