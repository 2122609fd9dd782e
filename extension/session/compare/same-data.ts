// Which data of two builds is the same, though its type has another name: a fix that pads the elements of an array gives them a type
// around their own. Rows of a recording can also name one array by its elements' type and by that of a part of them.
import type { Layout, LayoutMember } from '../../protocol/layout';
import type { TableRow } from '../../protocol/table';
import { pathOf, typesByName, type NamedType } from './members';
import { isUnknown, lastingName, type Side, type Sums } from './sums';

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
  /** What one recording calls it: data that it has in a larger type, by that type. */
  shown(row: TableRow, side: Side): DataNames;
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

const NONE: TypesAt = new Map();

export function sameData(before: Sums, after: Sums): SameData {
  const sides = { before: sideOf(before), after: sideOf(after) };
  const layoutOf = (type: string): Layout | undefined => onlyOne(sides.before.types.get(type)) ?? onlyOne(sides.after.types.get(type));
  /** By place and type; and of each side, only in types that it has there. */
  const inside = { common: new Map<string, Inside>(), before: new Map<string, Inside>(), after: new Map<string, Inside>() };
  for (const [key, place] of new Map([...sides.before.places, ...sides.after.places])) {
    const [then, now] = [sides.before.at.get(key), sides.after.at.get(key)];
    for (const [type, outer, path] of pairsAt(place, then ?? NONE, now ?? NONE, layoutOf)) {
      keepOutermost(inside.common, typeKey(key, type), { type: outer, path }, layoutOf);
      if (then?.has(outer) === true) keepOutermost(inside.before, typeKey(key, type), { type: outer, path }, layoutOf);
      if (now?.has(outer) === true) keepOutermost(inside.after, typeKey(key, type), { type: outer, path }, layoutOf);
    }
  }
  const named = (row: TableRow, by: Map<string, Inside>): DataNames => {
    const own = ownNames(row);
    const place = placeOf(row.key.object ?? '', own.type);
    const found = by.get(typeKey(placeKey(place), own.type));
    if (found === undefined) return own;
    const { type, path } = found;
    return { object: place.named ? own.object : `${type}${place.name}`, type, member: memberIn(path, own, layoutOf(own.type)) };
  };
  return {
    common: (row) => named(row, inside.common),
    shown: (row, side) => named(row, inside[side]),
    typeAfter(type) {
      const found = [...inside.common].filter(([key, one]) => key.endsWith(`\n${type}`) && sides.after.types.has(one.type));
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

interface DataOfSide {
  types: Map<string, NamedType>;
  /** By placeKey(). */
  places: Map<string, Place>;
  at: Map<string, TypesAt>;
}

function sideOf({ tables, report }: Sums): DataOfSide {
  const side: DataOfSide = { types: typesByName(report.types ?? []), places: new Map(), at: new Map() };
  for (const { key } of tables[ALLOCATIONS] ?? []) {
    const { object = '', type = '', allocation = '' } = key;
    if (isUnknown(type) || isUnknown(object)) continue;
    const place = placeOf(object, type);
    side.places.set(placeKey(place), place);
    const types: TypesAt = side.at.get(placeKey(place)) ?? new Map<string, Set<string>>();
    side.at.set(placeKey(place), types);
    const functions = types.get(type) ?? new Set<string>();
    types.set(type, functions);
    const name = allocation.replace(/ \([^()]*:\d+\)$/, ''); // lines move
    if (name !== '' && !isUnknown(name)) functions.add(name);
  }
  return side;
}

/** Where DIFF_TABLES has the rows by object, type and allocation. */
const ALLOCATIONS = 2;

function onlyOne(type: NamedType | undefined): Layout | undefined {
  return type?.count === 1 ? type.layout : undefined;
}

type Layouts = (type: string) => Layout | undefined;

/** A type, another one that has it inside, and as which member. */
type Pair = [type: string, outer: string, path: string];

function pairsAt({ named }: Place, then: TypesAt, now: TypesAt, layoutOf: Layouts): Pair[] {
  const pairs = variablePairs(then, now, layoutOf);
  if (named) return pairs;
  const allocatorOf = (type: string): string | undefined => onlyOf([...(then.get(type) ?? []), ...(now.get(type) ?? [])]);
  const allocated = pairs.filter(([type, outer]) => allocatorOf(type) !== undefined && allocatorOf(type) === allocatorOf(outer));
  return [...allocated, ...changedPairs(then, now, layoutOf)];
}

/** Of a variable, and of what one function allocates, everything is the same data. Where types have the same members, that of the recording after is taken. */
function variablePairs(then: TypesAt, now: TypesAt, layoutOf: Layouts): Pair[] {
  const all = [...new Set([...then.keys(), ...now.keys()])];
  const rank = (type: string): string => `${now.has(type) ? 1 : 0} ${type}`;
  return all.flatMap((type) =>
    all.flatMap((outer): Pair[] => {
      const path = outer === type ? undefined : insideOf(type, outer, layoutOf);
      if (path === undefined || (insideOf(outer, type, layoutOf) !== undefined && rank(type) >= rank(outer))) return [];
      return [[type, outer, path]];
    }),
  );
}

/** Of memory without a name: a type that is no longer there with the one that is new there and fits, if only one does. */
function changedPairs(then: TypesAt, now: TypesAt, layoutOf: Layouts): Pair[] {
  const gone = [...then].filter(([type]) => !now.has(type));
  const come = [...now].filter(([type]) => !then.has(type));
  const fits = gone.flatMap(([type, allocators]) =>
    come.flatMap(([other, others]): Pair[] => {
      if (allocators.size > 0 && others.size > 0 && ![...allocators].some((name) => others.has(name))) return [];
      const [path, back] = [unmistakable(type, other, layoutOf), unmistakable(other, type, layoutOf)];
      return path !== undefined ? [[type, other, path]] : back !== undefined ? [[other, type, back]] : [];
    }),
  );
  const alone = (type: string): boolean => fits.filter(([one, other]) => one === type || other === type).length === 1;
  return fits.filter(([type, outer]) => alone(type) && alone(outer));
}

/** Types with one member are alike by chance. */
function unmistakable(type: string, outer: string, layoutOf: Layouts): string | undefined {
  return (layoutOf(type)?.members.length ?? 0) < 2 ? undefined : insideOf(type, outer, layoutOf);
}

/** The path of the member of `outer` that is a `type`, by the members of both; undefined: it has none, or several. */
function insideOf(type: string, outer: string, layoutOf: Layouts): string | undefined {
  const [own, around] = [layoutOf(type), layoutOf(outer)];
  if (around === undefined) return undefined;
  if (own === undefined) return onlyOf(around.members.filter((one) => one.type.replace(/ ?(\[\d*\])+$/, '') === type).map(pathOf));
  const [first, ...others] = own.members.filter(({ name }) => name !== '');
  if (first === undefined) return undefined;
  const members = new Map(around.members.map((one) => [pathOf(one), one]));
  const has = (path: string, of: LayoutMember): boolean => {
    const one = members.get(path === '' ? pathOf(of) : `${path}.${pathOf(of)}`);
    return one?.type === of.type && one.size === of.size;
  };
  const begin = pathOf(first);
  const paths = [...members.keys()].flatMap((path) =>
    path === begin ? [''] : path.endsWith(`.${begin}`) ? [path.slice(0, -begin.length - 1)] : [],
  );
  return onlyOf(paths.filter((path) => [first, ...others].every((one) => has(path, one))));
}

/** Undefined: there is none, or there are different ones. */
function onlyOf(texts: readonly string[]): string | undefined {
  return new Set(texts).size === 1 ? texts[0] : undefined;
}

/** The outermost one is the data that people know. */
function keepOutermost(known: Map<string, Inside>, key: string, found: Inside, layoutOf: Layouts): void {
  const size = (one: Inside | undefined): number => (one === undefined ? -1 : (layoutOf(one.type)?.size ?? 0));
  if (size(found) > size(known.get(key))) known.set(key, found);
}
