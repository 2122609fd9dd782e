// What changed between two recordings: rows of their tables matched by name, with what chance explains told apart.
import type { Diff, DiffChange, DiffEntry, DiffKind, DiffMeasure, DiffSide, DiffStatus } from '../../protocol/diff';
import type { TableKey, TableRow } from '../../protocol/table';
import { differenceOf, shareOf } from './chance';
import { comparability, type Comparability } from './comparability';
import { renamed, typesByName } from './members';
import { isUnknown, withoutAddress, type Sums } from './sums';

/** What diffOf() needs of each recording. */
export const DIFF_TABLES: TableKey[][] = [
  ['object', 'type', 'member'],
  ['frame', 'function'],
];

/** A difference is one from here on: chance makes such a one in a hundred comparisons. */
const SIGNIFICANT = 0.01;
/** Smaller differences are none, of the larger share and of all samples: two runs of one program differ by as much. */
const RELATIVE_MARGIN = 0.1;
const MARGIN = 0.01;
/** Shares that differ by less than this of all samples are the same, however few samples there are. */
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
  const compared = comparability(before.report, after.report);
  const change = (a: Sum, b: Sum): DiffChange => changeOf(measureOf(a, before), measureOf(b, after), before, after, compared);
  const entries = KINDS.flatMap((kind) =>
    matched(kind, before, after)
      .map(({ a, b, ...names }): DiffEntry => {
        const { confidence, ...rest } = change(a, b);
        return { kind, ...names, ...rest, confidence: names.perhaps === undefined ? confidence : confidence * GUESS };
      })
      .sort(
        (x, y) => Math.abs(stepOf(y)) - Math.abs(stepOf(x)) || y.before.programShare - x.before.programShare || compare(x.name, y.name),
      ),
  );
  return {
    schema: 'cacheline-diff/1',
    comparable: compared.shares,
    before: sideOf(before),
    after: sideOf(after),
    program: change(totalOf(before), totalOf(after)),
    entries,
    notes: compared.notes,
  };
}

/** What so many contended samples before and after say of one thing. */
export function contendedChange(before: Sums, after: Sums): (was: number, is: number) => DiffChange {
  const compared = comparability(before.report, after.report);
  const sum = (contended: number): Sum => ({ contended, contendedNs: null, hitm: null });
  return (was, is) => changeOf(measureOf(sum(was), before), measureOf(sum(is), after), before, after, compared);
}

type Matched = Pick<DiffEntry, 'name' | 'perhaps' | 'types' | 'inlined'> & { a: Sum; b: Sum };

/** What waits on either side. */
function matched(kind: DiffKind, before: Sums, after: Sums): Matched[] {
  if (kind === 'member') return matchedMembers(before, after);
  const sides = [before, after].map(({ tables, report }) => {
    const [data, code] = tables;
    return {
      sums: kind === 'function' ? sumsBy('frame', code) : sumsBy(kind, data),
      types: kind === 'type' ? typesByName(report.types ?? []) : undefined,
      symbols: kind === 'function' ? sumsBy('function', code) : undefined,
    };
  });
  return [...new Set(sides.flatMap(({ sums }) => [...sums.keys()]))].flatMap((name) => {
    const [a, b] = sides.map(({ sums }) => sums.get(name));
    if (!waits(a) && !waits(b)) return [];
    const types = Math.max(...sides.map((side) => side.types?.get(name)?.count ?? 0));
    // On both sides as code of its own, or as inlined code, there is nothing to say.
    const [own, stillOwn] = sides.map(({ symbols }) => symbols?.has(name));
    const inlined = a === undefined || b === undefined || own === stillOwn ? undefined : own ? ('after' as const) : ('before' as const);
    return [{ name, ...(types > 1 ? { types } : {}), ...(inlined === undefined ? {} : { inlined }), a: a ?? NOTHING, b: b ?? NOTHING }];
  });
}

function matchedMembers(before: Sums, after: Sums): Matched[] {
  const [a, b] = [membersOf(before), membersOf(after)];
  const [typesBefore, typesAfter] = [typesByName(before.report.types ?? []), typesByName(after.report.types ?? [])];
  const taken = new Set<string>();
  const pairs: Matched[] = [];
  for (const [key, { type, member, sum }] of a) {
    let other = b.get(key);
    let perhaps: string | undefined;
    const [from, to] = [typesBefore.get(type), typesAfter.get(type)];
    if (other === undefined && from?.count === 1 && to?.count === 1) {
      const name = renamed(member, from.layout, to.layout);
      other = name === undefined ? undefined : b.get(memberKey(type, name));
      if (other !== undefined) perhaps = memberName(type, member);
    }
    if (other !== undefined) taken.add(memberKey(other.type, other.member));
    const name = other === undefined ? memberName(type, member) : memberName(other.type, other.member);
    pairs.push({ name, ...(perhaps === undefined ? {} : { perhaps }), a: sum, b: other?.sum ?? NOTHING });
  }
  for (const [key, { type, member, sum }] of b) if (!taken.has(key)) pairs.push({ name: memberName(type, member), a: NOTHING, b: sum });
  return pairs.filter((pair) => waits(pair.a) || waits(pair.b));
}

const NOTHING: Sum = { contended: 0, contendedNs: 0, hitm: 0 };

function waits(sum: Sum | undefined): boolean {
  return sum !== undefined && sum.contended > 0;
}

/** The rows of a table added up by one of its keys; without what has no name. */
function sumsBy(key: TableKey, rows: readonly TableRow[] = []): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const name = withoutAddress(row.key[key] ?? '');
    if (!isUnknown(name)) sums.set(name, added(sums.get(name), row));
  }
  return sums;
}

function added(sum: Sum = NOTHING, { contended, contendedNs, hitm }: Sum): Sum {
  const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
  return { contended: sum.contended + contended, contendedNs: add(sum.contendedNs, contendedNs), hitm: add(sum.hitm, hitm) };
}

interface MemberSum {
  type: string;
  member: string;
  sum: Sum;
}

function membersOf({ tables }: Sums): Map<string, MemberSum> {
  const members = new Map<string, MemberSum>();
  for (const row of tables[0] ?? []) {
    const { type = '', member = '' } = row.key;
    const key = memberKey(type, member);
    if (!isUnknown(type)) members.set(key, { type, member, sum: added(members.get(key)?.sum, row) });
  }
  return members;
}

function memberKey(type: string, member: string): string {
  return `${type}\n${member}`;
}

/** What an entry calls a member. */
export function memberName(type: string, member: string): string {
  return member === '[no member]' ? `${type} ${member}` : `${type}.${member}`;
}

function totalOf({ tables }: Sums): Sum {
  return (tables[0] ?? []).reduce<Sum>((sum, row) => added(sum, row), NOTHING);
}

function measureOf({ contended, contendedNs, hitm }: Sum, { report }: Sums): DiffMeasure {
  const { seconds } = report;
  const perSecond = (value: number | null): number | null => (value === null || seconds === 0 ? null : value / seconds);
  const timed = hasTimes(report) ? contendedNs : null;
  return {
    contended,
    programShare: shareOf({ part: contended, of: report.samples.total }),
    contendedNs: timed,
    contendedNsPerSecond: perSecond(timed),
    hitmPerSecond: perSecond(report.evidence.includes('hitm') ? hitm : null),
  };
}

/** Samples of data sources are of accesses, not of time. */
function hasTimes({ evidence }: Sums['report']): boolean {
  return evidence.includes('clock');
}

function changeOf(before: DiffMeasure, after: DiffMeasure, a: Sums, b: Sums, { shares }: Comparability): DiffChange {
  const [wasThere, isThere] = [before.contended > 0, after.contended > 0];
  const difference = differenceOf(
    { part: before.contended, of: a.report.samples.total },
    { part: after.contended, of: b.report.samples.total },
  );
  // What is not there may be where that recording could not look.
  const seen = 1 - (wasThere && isThere ? 0 : blindShareOf(wasThere ? b : a));
  const judged = (status: DiffStatus, confidence: number): DiffChange => ({
    status,
    before,
    after,
    confidence: Math.min(MOST_CONFIDENT, confidence),
  });
  if (!shares && wasThere && isThere) return judged('unsure', 0);
  const size = Math.abs(difference.value);
  const tenth = RELATIVE_MARGIN * Math.max(before.programShare, after.programShare);
  const margin = Math.max(MARGIN, tenth);
  if (size >= EQUAL && size >= tenth && difference.p <= SIGNIFICANT)
    return judged(seen < 0.5 ? 'unsure' : directionOf(wasThere, isThere, difference.value), (1 - difference.p) * seen);
  if (size < EQUAL || (difference.low >= -margin && difference.high <= margin)) return judged('same', difference.within(margin));
  return judged('unsure', 1 - Math.min(1, difference.p));
}

function directionOf(wasThere: boolean, isThere: boolean, difference: number): DiffStatus {
  if (!isThere) return 'gone';
  if (!wasThere) return 'new';
  return difference < 0 ? 'better' : 'worse';
}

function stepOf({ before, after }: DiffChange): number {
  return after.programShare - before.programShare;
}

function blindShareOf({ report }: Sums): number {
  return report.blind?.share ?? 0;
}

function sideOf(sums: Sums): DiffSide {
  const { collector, evidence, samples, seconds, recording } = sums.report;
  return {
    recording: sums.path,
    command: recording?.command ?? [],
    collector,
    evidence,
    samples: samples.total,
    contended: samples.contended,
    seconds,
    blindShare: blindShareOf(sums),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
