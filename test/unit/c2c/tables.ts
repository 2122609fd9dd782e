// The numbers of `perf c2c report` in one shape, whoever counted them: perf, an independent recount, or the engine.
// Cells are the texts that perf prints, without padding.

export type Display = 'tot' | 'lcl' | 'rmt' | 'peer';
export type CoalesceKey = 'pid' | 'tid' | 'iaddr' | 'dso';
export type Cells = Record<string, string>;

export interface Question {
  display: Display;
  coalesce: readonly CoalesceKey[];
  showAll: boolean;
  /** 0: node numbers; 1: with CPUs and shares; 2: with CPU lists. */
  nodeInfo: 0 | 1 | 2;
  /** Rows get a cell of how many samples came by each call chain. */
  callers?: boolean;
}

export const plainQuestion: Question = { display: 'tot', coalesce: ['iaddr'], showAll: false, nodeInfo: 0 };

export interface TableLine {
  cells: Cells;
  /** Lines that compare equal in perf's sort order have the same rank. */
  rank: string;
  rows: TableRow[];
}

export interface TableRow {
  cells: Cells;
  rank: string;
  /** Of all loads; only a recount has them. */
  cycles?: number[];
}

export interface Tables {
  stats: Record<string, string>;
  shared: Record<string, string>;
  lines: TableLine[];
}

/** printf's `%.*f`: ties go to the even digit, which toFixed does not do. */
export function fixed(value: number, digits: number): string {
  const scaled = value * 10 ** digits;
  const low = Math.floor(scaled);
  // Only a value that is a tie in binary is one: multiples of 1/8 are the ones that reach two digits and are exact.
  const isTie = scaled - low === 0.5 && Number.isInteger(value * 8);
  if (!isTie) return value.toFixed(digits);
  return ((low % 2 === 0 ? low : low + 1) / 10 ** digits).toFixed(digits);
}

export const percent = (part: number, whole: number, digits = 2): string => `${fixed(whole === 0 ? 0 : (100 * part) / whole, digits)}%`;

/** "0-2,5": how perf prints sets of CPUs and nodes; "N/A" where there is none. */
export function ranges(numbers: Iterable<number>): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let start = 0, end = 0; start < sorted.length; start = end) {
    for (end = start + 1; end < sorted.length && sorted[end] === sorted[end - 1]! + 1;) end++;
    parts.push(end - start === 1 ? `${sorted[start]!}` : `${sorted[start]!}-${sorted[end - 1]!}`);
  }
  return parts.length === 0 ? 'N/A' : parts.join(',');
}

/** What the node column says of one node. */
export interface NodeUse {
  node: number;
  cpus: readonly number[];
  metric: number;
  stores: number;
}

export function nodesText(uses: readonly NodeUse[], info: Question['nodeInfo'], metric: number, stores: number): string {
  const share = (part: number, whole: number): string => (whole === 0 ? 'n/a' : percent(part, whole, 1));
  const texts = uses.map((use) => {
    if (info === 0) return `${use.node}`;
    if (info === 2) return `${use.node}{${ranges(use.cpus)}}`;
    return `${use.node}{${use.cpus.length} ${share(use.metric, metric)} ${share(use.stores, stores)}}`;
  });
  return texts.join(' ');
}

/** The same without the lines of samples that have no address: perf lists them as a line at 0 where it lists all. */
export function withoutNoAddress(tables: Tables): Tables {
  return { ...tables, lines: tables.lines.filter(({ cells }) => cells['address'] !== '0x0') };
}

/** Sentences on what differs, `theirs` being the judge's. Order counts between different ranks only. */
export function differences(ours: Tables, theirs: Tables, ignored: ReadonlySet<string> = new Set()): string[] {
  const found: string[] = [];
  const compare = (where: string, a: Cells, b: Cells): void => {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      if (!ignored.has(key) && !isEqual(a[key], b[key])) found.push(`${where}: ${key} is ${a[key] ?? 'absent'}, not ${b[key] ?? 'absent'}`);
  };
  compare('stats', ours.stats, theirs.stats);
  compare('shared', ours.shared, theirs.shared);

  const text = (cells: Cells): string =>
    Object.entries(cells)
      .filter(([key]) => !ignored.has(key) && !key.startsWith('mean'))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, value]) => value)
      .join(' | ');
  const lineText = (line: TableLine): string => [line.rank, text(line.cells), ...line.rows.map((row) => text(row.cells))].join('\n');
  const settled = (tables: Tables): TableLine[] => {
    for (const line of tables.lines) line.rows = sortTies(line.rows, (row) => text(row.cells));
    return sortTies(tables.lines, lineText);
  };
  const left = settled(ours);
  const right = settled(theirs);
  if (left.length !== right.length) found.push(`${left.length} lines, not ${right.length}`);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const where = `line ${i} (${right[i]!.cells['address']!})`;
    compare(where, left[i]!.cells, right[i]!.cells);
    const [a, b] = [left[i]!.rows, right[i]!.rows];
    if (a.length !== b.length) found.push(`${where}: ${a.length} rows, not ${b.length}`);
    for (let j = 0; j < Math.min(a.length, b.length); j++) compare(`${where} row ${j}`, a[j]!.cells, b[j]!.cells);
  }
  return found;
}

/** "49 or 50" equals both. */
function isEqual(a: string | undefined, b: string | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.split(' or ').includes(b));
}

/** The same items, those next to each other with one rank sorted by their text. */
function sortTies<T extends { rank: string }>(items: readonly T[], text: (item: T) => string): T[] {
  const sorted: T[] = [];
  for (let start = 0, end = 0; start < items.length; start = end) {
    for (end = start + 1; end < items.length && items[end]!.rank === items[start]!.rank;) end++;
    const ties = items.slice(start, end).map((item) => ({ item, key: text(item) }));
    ties.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    sorted.push(...ties.map(({ item }) => item));
  }
  return sorted;
}
