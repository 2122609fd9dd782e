// Which data of two builds is the same, though its type has another name: a fix that pads the elements of an array gives them a type
// around their own. Rows of a recording can also name one array by its elements' type and by that of a part of them.
import type { Layout } from '../../protocol/layout';
import type { TableRow } from '../../protocol/table';
import { pathOf, typesByName, type NamedType } from './members';
import { isUnknown, lastingName, type Sums } from './sums';

/** What a table calls a row's data. */
export interface DataNames {
  object: string;
  type: string;
  member: string;
}

/** Where a type is inside of another one. */
export interface Inside {
  type: string;
  /** Of the member that it is; empty: the other has the same members, and another name. */
  path: string;
}

export interface SameData {
  /** The names under which both recordings have the row's data. */
  common(row: TableRow): DataNames;
  /** The type of the recording after that has a type of the one before inside; undefined: none, or several. */
  typeAfter(before: string): Inside | undefined;
}

/** A variable by its name, or memory without a name of its own: " (heap)". */
interface Place {
  name: string;
  named: boolean;
}

export function ownNames({ key }: TableRow): DataNames {
  const { object = '', type = '', member = '' } = key;
  return { object: lastingName(object), type, member };
}

function placeOf(object: string, type: string): Place {
  const name = lastingName(object);
  return name.startsWith(`${type} (`) ? { name: name.slice(type.length), named: false } : { name, named: true };
}

/** The types that one side has at a place, and of each the functions that allocated it, as far as they are known. */
type TypesAt = Map<string, Set<string>>;

export function sameData(before: Sums, after: Sums): SameData {
  const sides = [before, after].map((sums) => ({ types: typesByName(sums.report.types ?? []), places: placesOf(sums) }));
  const [was, is] = sides;
  const inside = new Map<string, Inside>();
  const layoutOf = (type: string): Layout | undefined =>
    sides.map(({ types }) => onlyOne(types.get(type))).find((one) => one !== undefined);
  for (const [key, { place, types: now = new Map<string, Set<string>>() }] of is?.places ?? []) {
    const then = was?.places.get(key)?.types ?? new Map<string, Set<string>>();
    const pairs = place.named ? allPairs([...then.keys()], [...now.keys()]) : changedPairs(then, now, layoutOf);
    for (const [type, outer] of pairs) {
      const found = place.named ? insideOf(type, outer, layoutOf) : unmistakable(type, outer, layoutOf);
      if (insideOf(outer, type, layoutOf) !== undefined && rank(type, now) >= rank(outer, now)) continue; // they have the same members
      const known = inside.get(typeKey(key, type));
      // The outermost one is the data that people know.
      if (found !== undefined && (known === undefined || sizeOf(known.type, layoutOf) < sizeOf(outer, layoutOf)))
        inside.set(typeKey(key, type), { type: outer, path: found });
    }
  }
  return {
    common(row) {
      const own = ownNames(row);
      const place = placeOf(row.key.object ?? '', own.type);
      const found = inside.get(typeKey(placeKey(place), own.type));
      if (found === undefined) return own;
      const { type, path } = found;
      return { object: place.named ? own.object : `${type}${place.name}`, type, member: memberIn(path, own, layoutOf(own.type)) };
    },
    typeAfter(type) {
      const found = [...inside].filter(([key, one]) => key.endsWith(`\n${type}`) && is?.types.has(one.type) === true);
      return new Set(found.map(([, one]) => one.type)).size === 1 ? found[0]?.[1] : undefined;
    },
  };
}

function memberIn(path: string, { member }: DataNames, layout: Layout | undefined): string {
  if (layout === undefined) return path; // a number, which has no members
  if (path === '' || member === '[no member]') return member;
  return `${path}.${member}`;
}

function typeKey(place: string, type: string): string {
  return `${place}\n${type}`;
}

function placeKey({ name, named }: Place): string {
  return `${named ? 'variable' : 'memory'} ${name}`;
}

/** By placeKey(). */
function placesOf({ tables }: Sums): Map<string, { place: Place; types: TypesAt }> {
  const places = new Map<string, { place: Place; types: TypesAt }>();
  for (const { key } of tables[ALLOCATIONS] ?? []) {
    const { object = '', type = '', allocation = '' } = key;
    if (isUnknown(type) || isUnknown(object)) continue;
    const place = placeOf(object, type);
    const there = places.get(placeKey(place)) ?? { place, types: new Map<string, Set<string>>() };
    places.set(placeKey(place), there);
    const functions = there.types.get(type) ?? new Set<string>();
    there.types.set(type, functions);
    const name = allocation.replace(/ \([^()]*:\d+\)$/, ''); // lines move
    if (name !== '' && !isUnknown(name)) functions.add(name);
  }
  return places;
}

/** Where DIFF_TABLES has the rows by object, type and allocation. */
const ALLOCATIONS = 2;

function onlyOne(type: NamedType | undefined): Layout | undefined {
  return type?.count === 1 ? type.layout : undefined;
}

type Layouts = (type: string) => Layout | undefined;

/** Of a variable everything is the same data: each type with each other one. */
function allPairs(then: readonly string[], now: readonly string[]): [string, string][] {
  const all = [...new Set([...then, ...now])];
  return all.flatMap((type) => all.flatMap((outer): [string, string][] => (outer === type ? [] : [[type, outer]])));
}

/** Of several names for the same members, the one that the recording after has is taken. */
function rank(type: string, now: TypesAt): string {
  return `${now.has(type) ? 1 : 0} ${type}`;
}

/** Of memory without a name: a type that is no longer there with the one that is new there and fits, if only one does. */
function changedPairs(then: TypesAt, now: TypesAt, layoutOf: Layouts): [string, string][] {
  const gone = [...then.keys()].filter((type) => !now.has(type));
  const come = [...now.keys()].filter((type) => !then.has(type));
  const fits = (one: string, other: string): boolean => {
    const [a, b] = [then.get(one) ?? new Set<string>(), now.get(other) ?? new Set<string>()];
    const alike = a.size === 0 || b.size === 0 || [...a].some((name) => b.has(name));
    return alike && (unmistakable(one, other, layoutOf) ?? unmistakable(other, one, layoutOf)) !== undefined;
  };
  return gone.flatMap((one): [string, string][] => {
    const [found, ...others] = come.filter((other) => fits(one, other));
    if (found === undefined || others.length > 0 || gone.filter((other) => fits(other, found)).length > 1) return [];
    return unmistakable(one, found, layoutOf) === undefined ? [[found, one]] : [[one, found]];
  });
}

/** Types with one member are alike by chance. */
function unmistakable(type: string, outer: string, layoutOf: Layouts): string | undefined {
  return (layoutOf(type)?.members.length ?? 0) < 2 ? undefined : insideOf(type, outer, layoutOf);
}

/** The path of the member of `outer` that is a `type`, by the members of both; undefined: it has none, or several. */
function insideOf(type: string, outer: string, layoutOf: Layouts): string | undefined {
  const [own, around] = [layoutOf(type), layoutOf(outer)];
  if (around === undefined) return undefined;
  const members = around.members.map((one) => ({ path: pathOf(one), type: one.type, size: one.size }));
  const paths =
    own === undefined
      ? members.filter((one) => one.type.replace(/ ?(\[\d*\])+$/, '') === type).map(({ path }) => path)
      : ['', ...members.map(({ path }) => path)].filter((path) => {
          const named = own.members.filter(({ name }) => name !== '');
          const has = (wanted: string, of: (typeof named)[number]): boolean =>
            members.some((one) => one.path === wanted && one.type === of.type && one.size === of.size);
          return named.length > 0 && named.every((one) => has(path === '' ? pathOf(one) : `${path}.${pathOf(one)}`, one));
        });
  return new Set(paths).size === 1 ? paths[0] : undefined;
}

function sizeOf(type: string, layoutOf: Layouts): number {
  return layoutOf(type)?.size ?? 0;
}
