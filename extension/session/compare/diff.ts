// What changed between two recordings: rows of their tables matched by name, with what chance explains told apart.
import type { Diff, DiffChange, DiffEntry, DiffKind, DiffMeasure, DiffSide, DiffStatus, DiffUnit } from '../../protocol/diff';
import type { TableKey, TableRow } from '../../protocol/table';
import { differenceOf } from './chance';
import { comparability } from './comparability';
import { hasTimes, measureOf, valueOf, type Measure } from './measure';
import { renamed, typesByName, type NamedType } from './members';
import { sameData, type DataNames, type SameData } from './same-data';
import { isUnknown, type Side, type Sums } from './sums';

/** What diffOf() needs of each recording. */
export const DIFF_TABLES: TableKey[][] = [
  ['object', 'type', 'member'],
  ['function', 'symbol'],
  ['object', 'type', 'allocation'],
];

/** A difference is one from here on: chance makes such a one in a hundred comparisons. */
const SIGNIFICANT = 0.01;
/** Smaller differences are none, of the larger side and of what all samples stand for: two runs of one program differ by as much. */
const RELATIVE_MARGIN = 0.1;
const MARGIN = 0.01;
/** What differs by less than this of what all samples stand for is the same, however few samples there are. */
const EQUAL = 0.001;
/** Of no difference is it certain that it is not chance. */
const MOST_CONFIDENT = 0.9999;
/** Of a guess: a member with another name. */
const GUESS = 0.5;

interface Sum {
  contended: number;
  contendedNs: number | null;
  hitm: number | null;
}

const KINDS: readonly DiffKind[] = ['object', 'type', 'member', 'function'];

export function diffOf(before: Sums, after: Sums): Diff {
  const judge = judgeOf(before, after);
  const { measure, notes, shares } = judge;
  const data = sameData(before, after);
  const step = ({ before: a, after: b }: DiffChange): number => Math.abs((valueOf(measure.unit, b) ?? 0) - (valueOf(measure.unit, a) ?? 0));
  const entries = KINDS.flatMap((kind) =>
    matched(kind, before, after, data)
      .map(({ a, b, ...names }): DiffEntry => {
        const { confidence, ...rest } = judge.change(a, b);
        return { kind, ...names, ...rest, confidence: names.perhaps === undefined ? confidence : confidence * GUESS };
      })
      .sort((x, y) => step(y) - step(x) || y.before.programShare - x.before.programShare || compare(x.name, y.name)),
  );
  return {
    schema: 'cacheline-diff/1',
    comparable: shares,
    unit: measure.unit,
    unitReason: measure.reason === '' ? null : measure.reason,
    before: sideOf(before, measure.elapsed?.before ?? null),
    after: sideOf(after, measure.elapsed?.after ?? null),
    program: judge.change(totalOf(before), totalOf(after)),
    remaining: remainingOf(after),
    entries,
    notes,
  };
}

/** What so many contended samples before and after say of one thing. */
export function contendedChange(before: Sums, after: Sums): { unit: DiffUnit; of: (was: number, is: number) => DiffChange } {
  const { measure, change } = judgeOf(before, after);
  const sum = (side: Side, contended: number): Sum => {
    const contendedNs = measure.unit === 'samples' ? null : measure.nsOf(side, contended);
    return { contended, contendedNs, hitm: null };
  };
  return { unit: measure.unit, of: (was, is) => change(sum('before', was), sum('after', is)) };
}

type Matched = Pick<DiffEntry, 'name' | 'was' | 'perhaps' | 'types' | 'inlined'> & { a: Sum; b: Sum };

function matched(kind: DiffKind, before: Sums, after: Sums, data: SameData): Matched[] {
  if (kind === 'function') return matchedFunctions(before, after);
  const [was, is] = [sumsOfData(kind, 'before', before, data), sumsOfData(kind, 'after', after, data)];
  const types = [before, after].map(({ report }) => typesByName(report.types ?? []));
  if (kind === 'member') for (const [key, other] of renamedMembers(was, is, types)) is.set(key, other);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key): Matched[] => {
    const [a, b] = [was.get(key), is.get(key)];
    if (!waits(a?.sum) && !waits(b?.sum)) return [];
    const [then, now] = [a && nameOf(a), b && nameOf(b)];
    const name = now ?? then ?? '';
    const guessed = b?.guessed === true;
    const count = kind === 'type' ? Math.max(...types.map((one) => one.get(name)?.count ?? 0)) : 0;
    const other = then === undefined || then === name ? {} : guessed ? { perhaps: then } : { was: then };
    return [{ name, ...other, ...(count > 1 ? { types: count } : {}), a: a?.sum ?? NOTHING, b: b?.sum ?? NOTHING }];
  });
}

/** Data of one side that both sides have under one name. */
interface DataSum {
  sum: Sum;
  /** What this side calls it, with the samples of each name. */
  names: Map<string, number>;
  type: string;
  member: string;
  /** It is matched by a guess. */
  guessed?: true;
}

function nameOf({ names }: DataSum): string {
  const [[name] = ['']] = [...names].sort(([one, a], [other, b]) => b - a || compare(one, other));
  return name;
}

function sumsOfData(kind: Exclude<DiffKind, 'function'>, side: Side, { tables }: Sums, data: SameData): Map<string, DataSum> {
  const sums = new Map<string, DataSum>();
  for (const row of tables[0] ?? []) {
    const [common, own] = [data.common(row), data.shown(row, side)];
    if (isUnknown(kind === 'object' ? own.object : own.type)) continue;
    const key = kind === 'member' ? memberKey(common) : common[kind];
    const known = sums.get(key) ?? { sum: NOTHING, names: new Map<string, number>(), type: common.type, member: common.member };
    const name = kind === 'member' ? memberName(own.type, own.member) : own[kind];
    known.names.set(name, (known.names.get(name) ?? 0) + row.samples);
    sums.set(key, { ...known, sum: added(known.sum, row) });
  }
  return sums;
}

/** The members after whose names are new, by the key of the member before that has their place; they are taken out of `is`. */
function renamedMembers(
  was: Map<string, DataSum>,
  is: Map<string, DataSum>,
  types: readonly ReadonlyMap<string, NamedType>[],
): Map<string, DataSum> {
  const found = new Map<string, DataSum>();
  for (const [key, { type, member }] of was) {
    const [from, to] = types.map((one) => one.get(type));
    if (is.has(key) || from?.count !== 1 || to?.count !== 1) continue;
    const name = renamed(member, from.layout, to.layout);
    const other = name === undefined ? undefined : memberKey({ type, member: name });
    const sum = other === undefined ? undefined : is.get(other);
    if (other === undefined || sum === undefined) continue;
    is.delete(other);
    found.set(key, { ...sum, guessed: true });
  }
  return found;
}

function matchedFunctions(before: Sums, after: Sums): Matched[] {
  const sides = [before, after].map(({ tables }) => ({ sums: sumsBy('function', tables[1]), symbols: sumsBy('symbol', tables[1]) }));
  return [...new Set(sides.flatMap(({ sums }) => [...sums.keys()]))].flatMap((name) => {
    const [a, b] = sides.map(({ sums }) => sums.get(name));
    if (!waits(a) && !waits(b)) return [];
    // On both sides as code of its own, or as inlined code, there is nothing to say.
    const [own, stillOwn] = sides.map(({ symbols }) => symbols.has(name));
    const inlined = a === undefined || b === undefined || own === stillOwn ? undefined : own ? ('after' as const) : ('before' as const);
    return [{ name, ...(inlined === undefined ? {} : { inlined }), a: a ?? NOTHING, b: b ?? NOTHING }];
  });
}

const NOTHING: Sum = { contended: 0, contendedNs: 0, hitm: 0 };

function waits(sum: Sum | undefined): boolean {
  return sum !== undefined && sum.contended > 0;
}

/** The rows of a table added up by one of its keys; without what has no name. */
function sumsBy(key: TableKey, rows: readonly TableRow[] = []): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const name = row.key[key] ?? '';
    if (!isUnknown(name)) sums.set(name, added(sums.get(name), row));
  }
  return sums;
}

function added(sum: Sum = NOTHING, { contended, contendedNs, hitm }: Sum): Sum {
  const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
  return { contended: sum.contended + contended, contendedNs: add(sum.contendedNs, contendedNs), hitm: add(sum.hitm, hitm) };
}

function memberKey({ type, member }: Pick<DataNames, 'type' | 'member'>): string {
  return `${type}\n${member}`;
}

/** What an entry calls a member. */
export function memberName(type: string, member: string): string {
  return member === '[no member]' ? `${type} ${member}` : `${type}.${member}`;
}

function totalOf({ tables }: Sums): Sum {
  return (tables[0] ?? []).reduce<Sum>((sum, row) => added(sum, row), NOTHING);
}

/** The subject of the first finding, by the name that reports and advice have for it. */
function remainingOf(after: Sums): Diff['remaining'] {
  const [most] = after.report.findings;
  const { contended } = totalOf(after);
  if (most === undefined || most.contended === 0 || contended === 0) return null;
  const { object, type } = most.subject;
  return { name: object === '' ? type : object, share: Math.min(1, most.contended / contended) };
}

interface Judge {
  measure: Measure;
  /** Shares of samples mean the same. */
  shares: boolean;
  notes: string[];
  change: (before: Sum, after: Sum) => DiffChange;
}

function judgeOf(before: Sums, after: Sums): Judge {
  const { shares, times, notes } = comparability(before.report, after.report);
  const measure = measureOf(before, after, times);
  return {
    measure,
    shares,
    notes,
    change(a, b) {
      const of = { before: numbersOf(a, before), after: numbersOf(b, after) };
      const [wasThere, isThere] = [a.contended > 0, b.contended > 0];
      if (!shares && wasThere && isThere) return { status: 'unsure', ...of, confidence: 0 };
      const { status, confidence } = judged(a.contended, b.contended, before, after, measure);
      return { status, ...of, confidence: Math.min(MOST_CONFIDENT, confidence) };
    },
  };
}

function judged(was: number, is: number, before: Sums, after: Sums, { of, all }: Measure): Pick<DiffChange, 'status' | 'confidence'> {
  const [a, b] = [of('before', was), of('after', is)];
  const difference = differenceOf(a, b);
  const size = Math.abs(difference.value);
  const tenth = RELATIVE_MARGIN * Math.max(a.value, b.value);
  if (size >= EQUAL * all && size >= tenth && difference.p <= SIGNIFICANT) {
    // What is not there may be where that recording could not look: is it a difference even if all of that were contended?
    const worst =
      difference.value < 0 ? differenceOf(a, of('after', is + unseen(after))) : differenceOf(of('before', was + unseen(before)), b);
    const holds = worst.value * difference.value > 0 && worst.p <= SIGNIFICANT;
    return holds
      ? { status: directionOf(was > 0, is > 0, difference.value), confidence: 1 - worst.p }
      : { status: 'unsure', confidence: 0 };
  }
  const margin = Math.max(MARGIN * all, tenth);
  if (size < EQUAL * all || (difference.low >= -margin && difference.high <= margin))
    return { status: 'same', confidence: difference.within(margin) };
  return { status: 'unsure', confidence: 1 - Math.min(1, difference.p) };
}

/** Samples of which nothing can be said. */
function unseen({ report }: Sums): number {
  return blindShareOf(report) * report.samples.total;
}

function numbersOf({ contended, contendedNs, hitm }: Sum, { report }: Sums): DiffMeasure {
  const { seconds, samples, evidence } = report;
  const perSecond = (value: number | null): number | null => (value === null || seconds === 0 ? null : value / seconds);
  const timed = hasTimes(evidence) ? contendedNs : null;
  return {
    contended,
    programShare: samples.total === 0 ? 0 : contended / samples.total,
    contendedNs: timed,
    contendedNsPerSecond: perSecond(timed),
    hitmPerSecond: perSecond(evidence.includes('hitm') ? hitm : null),
  };
}

function directionOf(wasThere: boolean, isThere: boolean, difference: number): DiffStatus {
  if (!isThere) return 'gone';
  if (!wasThere) return 'new';
  return difference < 0 ? 'better' : 'worse';
}

function blindShareOf({ blind }: Sums['report']): number {
  return blind?.share ?? 0;
}

function sideOf(sums: Sums, runSeconds: number | null): DiffSide {
  const { collector, evidence, samples, seconds, recording } = sums.report;
  return {
    recording: sums.path,
    command: recording?.command ?? [],
    collector,
    evidence,
    samples: samples.total,
    contended: samples.contended,
    seconds,
    runSeconds,
    blindShare: blindShareOf(sums.report),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
