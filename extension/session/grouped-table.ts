// Tables as perf prints them: titles in two rows over groups of number columns, then texts. Where the width is too small,
// whole groups and the texts move to further rows of the same entry; a number is never cut.
import { blanks, breakText, displayWidth, isPlain, padEnd, padStart, type Style } from './terminal-text';
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

interface Row {
  text: string;
  /** What it takes on a terminal. */
  columns: number;
}

/** Of the number columns, and whether every cell takes a column a character. */
interface Widths {
  columns: number[];
  plain: boolean;
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
const HANGING = ' '.repeat(HANG);
/** What texts below an entry's numbers stand behind. */
const BELOW: Row = { text: ' '.repeat(HANG - GAP), columns: HANG - GAP };

/** The layout of a table whose entries are printed one by one, perhaps with other text between them. */
export class GroupedTable {
  private readonly bands: Band[];
  /** What of the fields stands in columns behind the numbers; undefined where texts have no columns. */
  private readonly beside: PlacedField[] | undefined;
  /** Texts without columns stand behind an entry's last row of numbers where those of all entries fit there, else below. */
  private readonly textsFollow: boolean;
  private readonly plain: boolean;

  /** @param entries all of the table: their widths are the columns' */
  constructor(
    groups: readonly Group[],
    private readonly fields: readonly Field[],
    entries: readonly Entry[],
    private readonly layout: { width: number; style: Style },
  ) {
    const widths = widthsOf(groups, entries);
    this.plain = widths.plain;
    this.bands = fold(placeGroups(groups, widths.columns, layout.width - HANG), layout.width);
    this.beside = this.bands.length === 1 ? placeFields(fields, entries, layout.width - this.numbersWidth - GAP) : undefined;
    const last = this.bands.at(-1);
    const room = last === undefined ? 0 : layout.width - bandWidth(last) - GAP;
    const fits = (texts: readonly string[]): boolean => rowWidth(texts) <= room;
    this.textsFollow = this.beside === undefined && fits(this.titles()) && entries.every(({ texts }) => fits(this.piecesOf(texts)));
  }

  /** Columns of the widest row of numbers. */
  get numbersWidth(): number {
    return Math.max(...this.bands.map(bandWidth));
  }

  header(): string[] {
    const rows = this.bands.flatMap(({ indent, groups }) => [
      ' '.repeat(indent) + groups.map(groupTitle).join(SPACE),
      ' '.repeat(indent) + groups.map(columnTitles).join(SPACE),
    ]);
    const last = rows.pop() ?? '';
    if (this.beside === undefined) this.addWithTexts({ text: last, columns: displayWidth(last) }, this.titles(), rows);
    else rows.push([last, ...this.beside.map(({ field, width }) => padEnd(field.title, width))].join(SPACE));
    return rows.map((row) => this.layout.style.dim(`#${row.slice(1)}`.trimEnd()));
  }

  /** Adds the rows of an entry to `into`. */
  add({ cells, texts }: Entry, into: string[]): void {
    const last = this.bands.length - 1;
    for (let i = 0; i < last; i++) into.push(this.bandRow(this.bands[i], cells).text.trimEnd());
    const row = this.bandRow(this.bands[last], cells);
    if (this.beside === undefined) this.addWithTexts(row, this.piecesOf(texts), into);
    else into.push((row.text + this.besideText(this.beside, texts)).trimEnd());
  }

  private besideText(fields: readonly PlacedField[], texts: readonly string[]): string {
    let row = '';
    for (const { field, index, width } of fields) {
      const text = (field.shorten ?? padEnd)(texts[index] ?? '', width);
      const shown = field.style === undefined ? text : this.layout.style[field.style](text);
      row += SPACE + shown + blanks(width - displayWidth(text));
    }
    return row;
  }

  /**
   * The first groups of an entry, and any texts instead of the rest; they go on in further rows where they do not fit.
   * @param cells of whole groups
   */
  headline(cells: readonly string[], texts: readonly string[]): string[] {
    const bands = this.bands
      .map(({ indent, groups }) => ({ indent, groups: groups.filter(({ first }) => first < cells.length) }))
      .filter(({ groups }) => groups.length > 0);
    const rows = bands.slice(0, -1).map((band) => this.bandRow(band, cells).text.trimEnd());
    const pieces = texts.flatMap((text) => breakText(text, this.layout.width - HANG));
    this.flow(this.bandRow(bands.at(-1), cells), pieces, rows);
    return rows;
  }

  /** From its indent on; cells that are not there are blank. */
  private bandRow(band: Band | undefined, cells: readonly string[]): Row {
    if (band === undefined) return { text: '', columns: 0 };
    let text = '';
    let gap = band.indent;
    for (const { columns, first, left } of band.groups) {
      for (let i = 0; i < columns.length; i++) {
        const cell = cells[first + i] ?? '';
        const pad = (columns[i]?.width ?? 0) - (this.plain ? cell.length : displayWidth(cell));
        // A pad is written together with the gap before it or behind it.
        text += blanks(left ? gap : gap + pad) + cell;
        gap = left ? INNER_GAP + pad : INNER_GAP;
      }
      gap += GAP - INNER_GAP;
    }
    return { text: text + blanks(gap - GAP), columns: bandWidth(band) };
  }

  private titles(): string[] {
    return this.fields.map(({ title }) => title);
  }

  /** The texts, none longer than a row. */
  private piecesOf(texts: readonly string[]): string[] {
    const room = Math.max(NARROWEST, this.layout.width - HANG);
    const pieces: string[] = [];
    for (let i = 0; i < this.fields.length; i++) {
      const text = texts[i] ?? '';
      if (text === '') continue;
      const shorten = this.fields[i]?.shorten;
      if (displayWidth(text) <= room) pieces.push(text);
      else if (shorten === undefined) pieces.push(...breakText(text, room));
      else pieces.push(shorten(text, room));
    }
    return pieces;
  }

  private addWithTexts(row: Row, texts: readonly string[], into: string[]): void {
    if (this.textsFollow || texts.length === 0) {
      this.flow(row, texts, into);
      return;
    }
    into.push(row.text.trimEnd());
    this.flow(BELOW, texts, into);
  }

  /** Texts behind a row, and in further rows where they do not fit. */
  private flow(row: Row, texts: readonly string[], into: string[]): void {
    let open = row.text;
    let used = row.columns;
    for (const text of texts) {
      const columns = displayWidth(text);
      if (used + GAP + columns <= this.layout.width) {
        open += SPACE + text;
        used += GAP + columns;
      } else {
        into.push(open.trimEnd());
        open = HANGING + text;
        used = HANG + columns;
      }
    }
    into.push(open.trimEnd());
  }
}

/** Columns of texts side by side. */
function rowWidth(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + displayWidth(text), GAP * Math.max(0, texts.length - 1));
}

/** Of the widest cells and titles. */
function widthsOf(groups: readonly Group[], entries: readonly Entry[]): Widths {
  const columns = groups.flatMap((group) => group.columns.map(displayWidth));
  let plain = true;
  for (const { cells } of entries) {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i] ?? '';
      if (plain && !isPlain(cell)) plain = false;
      const width = plain ? cell.length : displayWidth(cell);
      if (width > (columns[i] ?? 0)) columns[i] = width;
    }
  }
  return { columns, plain };
}

/** @param room a group wider than this becomes one group a column */
function placeGroups(groups: readonly Group[], widths: readonly number[], room: number): PlacedGroup[] {
  let first = 0;
  return groups.flatMap(({ title, columns, align }) => {
    const start = first;
    first += columns.length;
    const placed = columns.map((name, i) => ({ title: name, width: widths[start + i] ?? 0 }));
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

function bandWidth({ indent, groups }: Band): number {
  return indent + span(groups);
}

function span(groups: readonly PlacedGroup[]): number {
  return groups.reduce((sum, { width }) => sum + width, 0) + GAP * (groups.length - 1);
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
