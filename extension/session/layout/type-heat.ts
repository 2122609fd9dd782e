// A type's members with what was measured at them: joins the fields of a report with the members of a layout.
import type { FieldHeat, Layout, LayoutMember, TypeHeat } from '../../protocol/layout';
import { shareOf, wholeOf, type Measure, type Measured } from '../../protocol/measure';
import type { Access, Report } from '../../protocol/report';
import { heatText } from '../profile/heat';
import { rolesOf, rolesText, type ThreadRoles } from '../report/sharing-facts';
import { plural } from '../text/terminal-text';

/** What a report says of a field, without its place. */
export interface FieldUse extends Omit<FieldHeat, 'offset' | 'size' | 'field' | 'meanCycles' | 'falseShare'> {
  /** Of all loads together, in core cycles; null: not measured. */
  loadCycles: number | null;
}

export interface MemberHeat {
  member: LayoutMember;
  /** No other member lies inside of it. */
  leaf: boolean;
  /** Of a member with others inside: with all of theirs. */
  use: FieldUse | undefined;
  /** What `use` adds up: of an array, its elements. */
  fields: readonly FieldHeat[];
  /** A member of the same union or bit-fields' unit that the report names for both: its samples may be this one's. */
  sameBytesAs?: MemberHeat;
}

/** What a card shows. */
export interface TypeCard {
  layout: Layout;
  /** Undefined: no sample accessed the type, or there is no profile. */
  heat: TypeHeat | undefined;
  members: MemberHeat[];
  /** Samples in holes and of the object as a whole. */
  outside: FieldUse | undefined;
}

/** Types that add up to no more than the report's samples: whole objects only. */
export function outerTypes({ types }: Pick<Report, 'types'>): TypeHeat[] {
  return (types ?? []).filter(({ nested }) => !nested);
}

const wholes = new WeakMap<readonly TypeHeat[], TypeHeat[]>();

/** Each type once, with all of its instances; the same list each time. */
export function wholeTypes({ types = [] }: Pick<Report, 'types'>): readonly TypeHeat[] {
  let list = wholes.get(types);
  if (!list) {
    const whole = new Map<string, TypeHeat>();
    for (const type of types) {
      const key = JSON.stringify([type.binary, layoutKey(type.layout)]);
      if (type.nested || !whole.has(key)) whole.set(key, type);
    }
    list = [...whole.values()].sort((a, b) => b.contended - a.contended);
    wholes.set(types, list);
  }
  return list;
}

/** Tells definitions of one name apart. */
export function layoutKey({ name, size, file, line, members }: Layout): string {
  const rows = members.map((one) => [one.name, one.type, one.offset, one.size, one.bitOffset, one.bitSize]);
  return JSON.stringify([name, size, file.slice(file.lastIndexOf('/') + 1), line, rows]);
}

const cards = new WeakMap<TypeHeat, TypeCard>();

/** The same card each time. */
export function cardOf(heat: TypeHeat): TypeCard {
  let card = cards.get(heat);
  if (!card) cards.set(heat, (card = makeCard(heat)));
  return card;
}

/** Of an array only the first element's members are listed: a card sums up the whole array. */
function withoutElements(layout: Layout): Layout {
  const isOutside = ({ elements }: { elements?: number }): boolean => elements === undefined;
  return { ...layout, members: layout.members.filter(isOutside), holes: layout.holes.filter(isOutside) };
}

function makeCard(heat: TypeHeat): TypeCard {
  const layout = withoutElements(heat.layout);
  const uses = new Map<number, FieldHeat[]>();
  const outside: FieldHeat[] = [];
  const same = new Map<number, number>();
  for (const field of heat.fields) {
    // `b1 | b2`: nobody knows which of them it is. It counts at the first.
    const [index, ...others] = field.field.split(' | ').map((path) => memberOf({ ...field, field: path }, layout.members));
    for (const other of others) if (other !== undefined && index !== undefined) same.set(other, index);
    if (index === undefined) outside.push(field);
    else uses.set(index, [...(uses.get(index) ?? []), field]);
  }
  const members = layout.members.map((member, index): MemberHeat => {
    const end = insideEnd(layout, index);
    const leaf = end === index + 1;
    const fields = leaf ? (uses.get(index) ?? []) : [...uses].filter(([at]) => at >= index && at < end).flatMap(([, found]) => found);
    return { member, leaf, use: sumOf(fields), fields };
  });
  for (const [other, index] of same) {
    const one = members[other];
    if (one && !one.use && one.leaf && members[index]?.leaf) one.sameBytesAs = members[index];
  }
  markSameBytes(members);
  return { layout, heat, members, outside: sumOf(outside) };
}

function markSameBytes(members: readonly MemberHeat[]): void {
  const extent = ({ member: { offset, size, bitOffset, bitSize } }: MemberHeat): string => [offset, size, bitOffset, bitSize].join();
  const leaves = members.filter(({ leaf, member }) => leaf && member.size > 0);
  const sampled = new Map(leaves.filter(({ use }) => use).map((one) => [extent(one), one]));
  for (const one of leaves) {
    const other = one.use || one.sameBytesAs ? undefined : sampled.get(extent(one));
    if (other) one.sameBytesAs = other;
  }
}

/** The others of the same name, each once: definitions in a header that the binary's sources do not compile alike. */
export function twinsOf(layout: Layout, all: readonly Layout[]): Layout[] {
  const twins = new Map(all.filter(({ name }) => name === layout.name).map((one) => [JSON.stringify(one), one]));
  twins.delete(JSON.stringify(layout));
  return [...twins.values()];
}

/** A layout alone. */
export function plainCard(whole: Layout): TypeCard {
  const layout = withoutElements(whole);
  const members = layout.members.map((member, index) => ({
    member,
    leaf: insideEnd(layout, index) === index + 1,
    use: undefined,
    fields: [],
  }));
  return { layout, heat: undefined, members, outside: undefined };
}

/** Index behind the last member that lies inside of member `index`. */
function insideEnd({ members }: Layout, index: number): number {
  const depth = members[index]?.depth ?? 0;
  let end = index + 1;
  while ((members[end]?.depth ?? -1) > depth) ++end;
  return end;
}

const pathsOf = new WeakMap<readonly LayoutMember[], ReadonlyMap<string, number>>();

/** By path, the first of that name. */
function memberPaths(members: readonly LayoutMember[]): ReadonlyMap<string, number> {
  const known = pathsOf.get(members);
  if (known) return known;
  const paths = new Map<string, number>();
  for (const [index, { name }] of members.entries()) if (name !== '' && !paths.has(name)) paths.set(name, index);
  pathsOf.set(members, paths);
  return paths;
}

/**
 * The member of a field: of the same path, else the one that it is an element or a part of, else the narrowest around it.
 * A whole object without a path (std::atomic) is its only member.
 */
function memberOf(
  { field, offset, size }: Pick<FieldHeat, 'field' | 'offset' | 'size'>,
  members: readonly LayoutMember[],
): number | undefined {
  const named = memberOfPath(field, members);
  if (named !== undefined) return named;
  let best: number | undefined;
  let leaves = 0;
  for (const [index, member] of members.entries()) {
    if (offset < member.offset || offset + size > member.offset + member.size) continue;
    if (member.size <= (members[best ?? -1]?.size ?? Infinity)) best = index;
    if ((members[index + 1]?.depth ?? 0) <= member.depth) ++leaves;
  }
  return field !== '' || leaves === 1 ? best : undefined;
}

/** The member of this path, else the one that it is an element or a part of. */
function memberOfPath(field: string, members: readonly LayoutMember[]): number | undefined {
  const paths = memberPaths(members);
  for (let path = field; path !== ''; path = withoutLastPart(path)) {
    const index = paths.get(path);
    if (index !== undefined) return index;
  }
  return undefined;
}

/** "slots[2].count": "slots[2]", then "slots", then nothing. */
function withoutLastPart(path: string): string {
  const cut = Math.max(path.lastIndexOf('.'), path.endsWith(']') ? path.lastIndexOf('[') : -1);
  return cut > 0 ? path.slice(0, cut) : '';
}

/** Undefined where there are none. */
export function sumOf(fields: readonly FieldHeat[]): FieldUse | undefined {
  if (fields.length === 0) return undefined;
  const sum = (of: (field: FieldHeat) => number): number => fields.reduce((total, field) => total + of(field), 0);
  const both = (of: (field: FieldHeat) => FieldHeat['hitm']): FieldHeat['hitm'] =>
    fields.every((field) => of(field) === null)
      ? null
      : { local: sum((field) => of(field)?.local ?? 0), remote: sum((field) => of(field)?.remote ?? 0) };
  const writers = new Set(fields.flatMap((field) => field.writers));
  const readers = new Set(fields.flatMap((field) => field.readers));
  const ascending = (tids: Set<number>): number[] => [...tids].sort((a, b) => a - b);
  return {
    records: sum(({ records }) => records),
    loads: sum(({ loads }) => loads),
    stores: sum(({ stores }) => stores),
    contended: sum(({ contended }) => contended),
    hitm: both(({ hitm }) => hitm),
    peer: both(({ peer }) => peer),
    loadCycles: fields.every(({ meanCycles }) => meanCycles === null) ? null : sum(({ loads, meanCycles }) => loads * (meanCycles ?? 0)),
    readers: ascending(readers),
    writers: ascending(writers),
  };
}

/** By how much a member counts; `latency` in core cycles, everything else in samples. */
export function amountOfUse(use: FieldUse | undefined, measure: Measure): number {
  if (!use) return 0;
  switch (measure) {
    case 'hitm':
      return (use.hitm?.local ?? 0) + (use.hitm?.remote ?? 0);
    case 'localHitm':
      return use.hitm?.local ?? 0;
    case 'remoteHitm':
      return use.hitm?.remote ?? 0;
    case 'peer':
      return (use.peer?.local ?? 0) + (use.peer?.remote ?? 0);
    case 'latency':
      return use.loadCycles ?? 0;
    case 'contended':
      return use.contended;
  }
}

/** Everything measured at the type's instances. */
export function wholeUse({ heat }: TypeCard): FieldUse | undefined {
  return sumOf(heat?.fields ?? []);
}

/** "31% of contended samples, 2 threads write", and "2 threads write" where the measure counts nothing here. */
export function useText(use: FieldUse, measure: Measure, report: Measured): string {
  const amount = amountOfUse(use, measure);
  if (amount > 0) return heatText({ measure, amount, share: shareOf(amount, wholeOf(report, measure)), ...rolesOfUse(use), caused: 0 });
  return whoText(use) || plural(use.records, 'sample');
}

type Users = Pick<FieldUse, 'writers' | 'readers'>;

function rolesOfUse({ writers, readers }: Users): ThreadRoles {
  return rolesOf(new Set(writers), new Set(readers));
}

/** "2 threads write and 1 reads"; empty where no thread is known. */
export function whoText(use: Users): string {
  return rolesText(rolesOfUse(use));
}

/** Of cards with the name of an access's type (definitions that differ) the one that has the access's field where it is, else the first. */
export function cardOfAccess(cards: readonly TypeCard[], access: Pick<Access, 'data'>): TypeCard | undefined {
  return cards.length > 1 ? (cards.find((card) => fitsCard(card, access)) ?? cards[0]) : cards[0];
}

/** Whether a type has the field of an access at its place, with samples; without a field nothing speaks against it. */
export function fitsCard({ layout: { members: all, size }, members }: TypeCard, { data }: Pick<Access, 'data'>): boolean {
  const field = fieldInType(data.field ?? '');
  if (field === '') return true;
  const offset = data.fieldOffset ?? data.offset;
  const at = size > 0 ? offset % size : offset;
  const one = members[memberOfPath(field, all) ?? -1];
  return one?.use !== undefined && one.member.offset <= at && at < one.member.offset + one.member.size;
}

/** Of an array's element the path begins with its index: "[2].last". Of several members of a union the first one counts. */
export function fieldInType(field: string): string {
  return field.replace(/^\[(?:\d+|\?)?\]\.?/, '').replace(/ \| .*$/s, '');
}

/** Index of the member that an access goes to; undefined: none of them. */
export function memberIndex({ layout: { members } }: TypeCard, field: Pick<FieldHeat, 'field' | 'offset' | 'size'>): number | undefined {
  return memberOf(field, members);
}
