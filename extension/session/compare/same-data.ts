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
  const insides = new Insides([sides.before, sides.after]);
  /** By place and type; and of each side, only in types that it has there. */
  const inside = { common: new Map<string, Inside>(), before: new Map<string, Inside>(), after: new Map<string, Inside>() };
  for (const [key, place] of new Map([...sides.before.places, ...sides.after.places])) {
    const [then, now] = [sides.before.at.get(key), sides.after.at.get(key)];
    for (const [type, outer, path] of pairsAt(place, then ?? NONE, now ?? NONE, insides)) {
      keepOutermost(inside.common, typeKey(key, type), { type: outer, path }, insides);
      if (then?.has(outer) === true) keepOutermost(inside.before, typeKey(key, type), { type: outer, path }, insides);
      if (now?.has(outer) === true) keepOutermost(inside.after, typeKey(key, type), { type: outer, path }, insides);
    }
  }
  const named = (row: TableRow, by: Map<string, Inside>): DataNames => {
    const own = ownNames(row);
    const place = placeOf(row.key.object ?? '', own.type);
    const found = by.get(typeKey(placeKey(place), own.type));
    if (found === undefined) return own;
    const { type, path } = found;
    return { object: place.named ? own.object : `${type}${place.name}`, type, member: memberIn(path, own) };
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

function memberIn(path: string, { object, member }: DataNames): string {
  if (member === object) return path; // a number, whose member is called as itself
  return path === '' || member === '[no member]' ? member : `${path}.${member}`;
}

function typeKey(place: string, type: string): string {
  return `${place}\n${type}`;
}

function placeKey({ name, named }: Place): string {
  return `${named ? 'variable' : 'memory'} ${name}`;
}

interface DataOfSide {
  types: ReadonlyMap<string, NamedType>;
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

/** A type, another one that has it inside, and as which member. */
type Pair = [type: string, outer: string, path: string];

function pairsAt({ named }: Place, then: TypesAt, now: TypesAt, insides: Insides): Pair[] {
  const all = [...new Set([...then.keys(), ...now.keys()])];
  if (named) return pairsOfOne(all, now, insides);
  const allocated = new Map<string, string[]>();
  for (const type of all) {
    const allocator = onlyOf([...(then.get(type) ?? []), ...(now.get(type) ?? [])]);
    if (allocator !== undefined) allocated.set(allocator, [...(allocated.get(allocator) ?? []), type]);
  }
  return [...[...allocated.values()].flatMap((types) => pairsOfOne(types, now, insides)), ...changedPairs(then, now, insides)];
}

/**
 * Of a variable, and of what one function allocates, everything is the same data. Where types have the same members, that of the recording
 * after is taken.
 */
function pairsOfOne(all: readonly string[], now: TypesAt, insides: Insides): Pair[] {
  const rank = (type: string): string => `${now.has(type) ? 1 : 0} ${type}`;
  return all.flatMap((type) =>
    all.flatMap((outer): Pair[] => {
      const path = outer === type ? undefined : insides.pathIn(type, outer);
      if (path === undefined || (insides.pathIn(outer, type) !== undefined && rank(type) >= rank(outer))) return [];
      return [[type, outer, path]];
    }),
  );
}

/** Of memory without a name: a type that is no longer there with the one that is new there and fits, if only one does. */
function changedPairs(then: TypesAt, now: TypesAt, insides: Insides): Pair[] {
  const pairs = (types: TypesAt, others: TypesAt): Pair[] =>
    [...types].flatMap(([type, allocators]) =>
      others.has(type) || !isUnmistakable(type, insides)
        ? []
        : [...insides.outersOf(type)].flatMap(([outer, path]): Pair[] => {
            const around = others.get(outer);
            if (around === undefined || types.has(outer)) return [];
            const apart = allocators.size > 0 && around.size > 0 && ![...allocators].some((name) => around.has(name));
            return apart ? [] : [[type, outer, path]];
          }),
    );
  const found = pairs(then, now);
  const both = new Set(found.map(([type, outer]) => typeKey(type, outer)));
  const fits = [...found, ...pairs(now, then).filter(([type, outer]) => !both.has(typeKey(outer, type)))];
  const counts = new Map<string, number>();
  for (const type of fits.flatMap(([one, other]) => [one, other])) counts.set(type, (counts.get(type) ?? 0) + 1);
  return fits.filter(([type, outer]) => counts.get(type) === 1 && counts.get(outer) === 1);
}

/** Types with one member are alike by chance. */
function isUnmistakable(type: string, insides: Insides): boolean {
  return (insides.layoutOf(type)?.members.length ?? 0) >= 2;
}

/** Which types have which other ones inside, by the names, types and sizes of members: looked up once for each type that is asked for. */
class Insides {
  private readonly layouts = new Map<string, Layout>();
  private readonly members = new Map<string, Map<string, LayoutMember>>();
  /** By memberKey(), and by their types. */
  private readonly named = new Map<string, Found[]>();
  private readonly typed = new Map<string, Found[]>();
  private readonly known = new Map<string, Map<string, string>>();

  constructor(sides: readonly DataOfSide[]) {
    const several = new Set(sides.flatMap(({ types }) => [...types].flatMap(([name, { count }]) => (count > 1 ? [name] : []))));
    for (const { types } of sides)
      for (const [name, { layout }] of types) {
        if (several.has(name)) this.known.set(name, new Map()); // nobody knows which of them is meant
        if (several.has(name) || this.layouts.has(name)) continue;
        this.layouts.set(name, layout);
        this.members.set(name, new Map(layout.members.map((one) => [pathOf(one), one])));
        for (const [path, one] of this.members.get(name) ?? []) {
          append(this.named, memberKey(one), { outer: name, path });
          append(this.typed, one.type.replace(/ ?(\[\d*\])+$/, ''), { outer: name, path });
        }
      }
  }

  layoutOf(type: string): Layout | undefined {
    return this.layouts.get(type);
  }

  /** The path of the member of `outer` that is a `type`; empty: it has the same members; undefined: it has none, or several. */
  pathIn(type: string, outer: string): string | undefined {
    return this.outersOf(type).get(outer);
  }

  /** The types that have it inside, with the path. */
  outersOf(type: string): ReadonlyMap<string, string> {
    const known = this.known.get(type);
    if (known !== undefined) return known;
    const paths = new Map<string, string[]>();
    for (const { outer, path } of this.placesFor(type)) if (outer !== type) paths.set(outer, [...(paths.get(outer) ?? []), path]);
    const found = new Map([...paths].flatMap(([outer, all]) => (all.length === 1 ? [[outer, all[0] ?? ''] as const] : [])));
    this.known.set(type, found);
    return found;
  }

  private placesFor(type: string): Found[] {
    const layout = this.layouts.get(type);
    if (layout === undefined) return this.typed.get(type) ?? []; // a number, which has no members
    const members = layout.members.filter(({ name }) => name !== '');
    const places = members.map((one) => this.named.get(memberKey(one)) ?? []);
    const least = Math.min(...places.map(({ length }) => length)); // of members that are rare
    const rare = places.findIndex(({ length }) => length === least);
    const begin = members[rare] === undefined ? '' : pathOf(members[rare]);
    return (places[rare] ?? []).flatMap(({ outer, path }): Found[] => {
      if (path !== begin && !path.endsWith(`.${begin}`)) return [];
      const prefix = path.slice(0, path.length - begin.length);
      const has = (of: LayoutMember): boolean => {
        const one = this.members.get(outer)?.get(prefix + pathOf(of));
        return one?.type === of.type && one.size === of.size;
      };
      return members.every(has) ? [{ outer, path: prefix.replace(/\.$/, '') }] : [];
    });
  }
}

/** The last part of its path, with what it is. */
function memberKey(of: LayoutMember): string {
  const path = pathOf(of);
  return `${path.slice(path.lastIndexOf('.') + 1)} ${of.type} ${of.size}`;
}

interface Found {
  outer: string;
  path: string;
}

function append(map: Map<string, Found[]>, key: string, found: Found): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [found]);
  else known.push(found);
}

/** Undefined: there is none, or there are different ones. */
function onlyOf(texts: readonly string[]): string | undefined {
  return new Set(texts).size === 1 ? texts[0] : undefined;
}

/** The outermost one is the data that people know. */
function keepOutermost(known: Map<string, Inside>, key: string, found: Inside, insides: Insides): void {
  const size = (one: Inside | undefined): number => (one === undefined ? -1 : (insides.layoutOf(one.type)?.size ?? 0));
  if (size(found) > size(known.get(key))) known.set(key, found);
}
