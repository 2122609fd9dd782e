// Two recordings compared for the editor: what changed, where its source lines are, and what was advised on the first one.
import { basename } from 'node:path';
import type { Advice } from '../../protocol/advice';
import type { Diff, DiffEntry, DiffKind } from '../../protocol/diff';
import type { Engine } from '../../protocol/engine';
import type { RecordingMeta } from '../../protocol/recording';
import type { SourcePlace } from '../../protocol/report';
import type { TableKey, TableRow } from '../../protocol/table';
import { DIFF_TABLES, diffOf, memberName } from './diff';
import { followed } from './followed';
import { lineChangesOf, type LineChanges } from './line-changes';
import { sameData } from './same-data';
import { lastingName, placeOfSource, sumsOf, type Side, type Sums } from './sums';

export interface PlaceOnSide extends SourcePlace {
  /** Of the recording that has it. */
  side: Side;
}

export interface Comparison {
  diff: Diff;
  /** By the entries of the diff: the source line that waits most. After, where it still waits there; else before. */
  places: (PlaceOnSide | undefined)[];
  /** On the recording before. */
  advice: Advice[];
  lines: LineChanges;
  /** Of each recording: when the program was built that it is of, in ms since 1970; undefined: it does not say. */
  built: Record<Side, number | undefined>;
  /** By the advice: whether the layouts after show that it was followed; undefined: they cannot tell. */
  followed: (boolean | undefined)[];
}

/** What placesOf() needs of each recording, behind DIFF_TABLES. */
const PLACE_TABLES: TableKey[][] = [
  ['type', 'member', 'source'],
  ['object', 'function', 'source'],
];

/** What comparisonOf() needs of each recording. */
export const COMPARISON_TABLES: TableKey[][] = [...DIFF_TABLES, ...PLACE_TABLES];

/** Steps that take about as long as each other: two recordings, and the advice on the first one. */
const STEPS = 3;

/**
 * Rejects with EngineError.
 * @param paths of recordings
 * @param onShare told what share is done, 0 to 1
 */
export async function compareRecordings(
  engine: Engine,
  paths: Record<Side, string>,
  { cancel, onShare }: { cancel?: AbortSignal; onShare?: (share: number) => void } = {},
): Promise<Comparison> {
  const step = (index: number) => ({
    ...(cancel === undefined ? {} : { signal: cancel }),
    onProgress: (share: number): void => onShare?.((index + share) / STEPS),
  });
  const before = await sumsOf(engine, COMPARISON_TABLES, { path: paths.before }, step(0));
  const after = await sumsOf(engine, COMPARISON_TABLES, { path: paths.after }, step(1));
  const { advice } = await engine.call('advise', { path: paths.before, showAll: false }, step(2));
  return comparisonOf(before, after, advice);
}

export function comparisonOf(before: Sums, after: Sums, advice: Advice[]): Comparison {
  const diff = diffOf(before, after);
  const data = sameData(before, after);
  const places = { before: placesOf(before), after: placesOf(after) };
  return {
    diff,
    places: diff.entries.map((entry) => placeOf(entry, places)),
    advice,
    lines: lineChangesOf(before, after),
    built: { before: builtAt(before.report.recording), after: builtAt(after.report.recording) },
    followed: advice.map((one) => followed(one, before, after, data)),
  };
}

/** By kind and name. */
type Places = Map<string, SourcePlace>;

function placeOf({ kind, name, was: then, perhaps, after }: DiffEntry, places: Record<Side, Places>): PlaceOnSide | undefined {
  const [was, is] = [places.before.get(keyOf(kind, then ?? perhaps ?? name)), places.after.get(keyOf(kind, name))];
  if (is !== undefined && (after.contended > 0 || was === undefined)) return { ...is, side: 'after' };
  return was && { ...was, side: 'before' };
}

function keyOf(kind: DiffKind, name: string): string {
  return `${kind}\n${name}`;
}

/** Where most samples of each entry are contended. */
function placesOf({ tables }: Sums): Places {
  const [byMember = [], byObject = []] = tables.slice(DIFF_TABLES.length);
  const sums = new Map<string, Map<string, number>>();
  const add = (kind: DiffKind, name: string, { key: { source = '' }, contended }: TableRow): void => {
    if (contended === 0 || placeOfSource(source) === undefined) return;
    const key = keyOf(kind, name);
    const lines = sums.get(key) ?? new Map<string, number>();
    lines.set(source, (lines.get(source) ?? 0) + contended);
    sums.set(key, lines);
  };
  for (const row of byMember) {
    const { type = '', member = '' } = row.key;
    add('type', type, row);
    add('member', memberName(type, member), row);
  }
  for (const row of byObject) {
    add('object', lastingName(row.key.object ?? ''), row);
    add('function', row.key.function ?? '', row);
  }
  const places: Places = new Map();
  for (const [key, lines] of sums) {
    const [[hottest] = ['']] = [...lines].sort(([, a], [, b]) => b - a);
    const place = placeOfSource(hottest);
    if (place !== undefined) places.set(key, place);
  }
  return places;
}

/** At the latest: what was built after the recording began is another program. */
function builtAt(recording: RecordingMeta | null): number | undefined {
  if (recording === null) return undefined;
  const { binaries, command, startedAt } = recording;
  const program = binaries.find(({ path }) => basename(path) === basename(command[0] ?? ''));
  return Math.min(Date.parse(startedAt), ...(program === undefined ? [] : [Number(program.mtimeNs) / 1e6]));
}
