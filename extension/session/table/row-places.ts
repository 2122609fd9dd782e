// Where in the sources the rows of a table stand: where data is declared, else the code that measured most of it.
import type { DataSum } from '../../protocol/profile';
import type { Report, SourcePlace } from '../../protocol/report';
import type { TableKey, TableRow } from '../../protocol/table';
import { objectName } from '../report/data-text';

type Find = (text: string) => SourcePlace | undefined;

/** "/code/a.c:12", in parentheses behind a function, too; undefined where it says no place. */
export function placeIn(text: string): SourcePlace | undefined {
  const [, file = '', line] = /(?:^| \()([^()]*):(\d+)\)?$/.exec(text) ?? [];
  return file === '' || Number(line) === 0 ? undefined : { file, line: Number(line) };
}

/**
 * @param data with amounts, of which the largest decides
 * @returns what finds the place of a row of a table by this key
 */
export function rowPlaces(
  key: TableKey,
  { objects, types = [] }: Pick<Report, 'objects' | 'types'>,
  data: readonly DataSum[],
): (row: TableRow) => SourcePlace | undefined {
  const find = finder(key, objects, types, data);
  return (row) => (key === 'function' ? hottestLine(row) : find(row.key[key] ?? ''));
}

function finder(key: TableKey, objects: Report['objects'], types: NonNullable<Report['types']>, data: readonly DataSum[]): Find {
  switch (key) {
    case 'source':
    case 'allocation':
      return placeIn;
    case 'object': {
      const defined = new Map(objects.map(({ object, definition }) => [object, definition]));
      const hottest = hottestBy(data, ({ data: of }) => objectName(of));
      return (text) => defined.get(text) ?? hottest.get(text);
    }
    case 'type': {
      const declared = new Map(types.map(({ name, layout }) => [name, placeOf(layout.file, layout.line)]));
      const hottest = hottestBy(data, ({ data: of }) => elementType(of.type));
      return (text) => declared.get(text) ?? hottest.get(text);
    }
    case 'member': {
      const declared = new Map<string, SourcePlace | undefined>(
        types.flatMap(({ name, layout }) =>
          layout.members.map((member) => [`${name}.${member.name}`, placeOf(member.file ?? layout.file, member.line)] as const),
        ),
      );
      const hottest = hottestBy(data, ({ data: { type, field = '', object } }) =>
        field === '' ? object : `${elementType(type)}.${withoutIndices(field)}`,
      );
      return (text) => declared.get(text) ?? hottest.get(text);
    }
    default:
      return () => undefined;
  }
}

/** Of a function, its line that waits most. */
function hottestLine({ waitsFor = [] }: TableRow): SourcePlace | undefined {
  const [hottest] = waitsFor.flatMap(({ lines }) => lines).sort((a, b) => b.share - a.share);
  return hottest && placeIn(hottest.source);
}

function hottestBy(data: readonly DataSum[], name: (sum: DataSum) => string): Map<string, SourcePlace> {
  const sorted = [...data].sort((a, b) => a.amount - b.amount);
  return new Map(sorted.flatMap((sum) => (sum.place ? [[name(sum), sum.place] as const] : [])));
}

function placeOf(file: string, line: number): SourcePlace | undefined {
  return file === '' || line === 0 ? undefined : { file, line };
}

/** As native/tables/key_texts.cpp has it: what the elements of an array are. */
function elementType(type = ''): string {
  return type.replace(/(\[\d*\])+$/, '').trimEnd();
}

/** "slots[].count" of "slots[3].count", as analysis::withoutIndices has it. */
function withoutIndices(field: string): string {
  return field.replaceAll(/\[[^\]]*\]/g, '[]');
}
