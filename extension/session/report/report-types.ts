// The table of contended types: each one's cost over all its instances, and the fields that make it.
import type { TypeHeat } from '../../protocol/layout';
import type { Access, Report } from '../../protocol/report';
import { VERDICT_STYLE, type Layout } from './report-lines';
import { percent } from '../../protocol/words';
import { count, plural, printable, shortenEnd, shortenMiddle } from '../text/terminal-text';
import { formatTwoRowTable, type Cell, type Column } from '../text/text-table';
import { cardOf, cardOfAccess, outerTypes } from '../layout/type-heat';
import { cardsByType } from '../layout/types-of-accesses';
import { accessesOf } from '../profile/heat';
import { contendedLines } from './sharing-facts';

const MAX_TYPES = 10;
const MAX_FIELDS = 4;

/** Title and table; empty where no type of contended data is known. */
export function typeTable(report: Report, { width, style }: Layout, showAll: boolean): string[] {
  const contended = outerTypes(report).filter((type) => type.contended > 0);
  if (contended.length === 0) return [];
  const shown = showAll ? contended : contended.slice(0, MAX_TYPES);
  const linesOf = contendedLinesOfType(report);
  const first: Column[] = [
    { title: 'share', align: 'right' },
    { title: 'of all', align: 'right' },
    { title: 'objects', align: 'right' },
    { title: 'lines', align: 'right' },
    { title: 'bytes', align: 'right' },
    { title: 'verdict', align: 'left' },
    { title: 'type', align: 'left', shorten: shortenMiddle },
  ];
  const rows = shown.map((type): Cell[] => [
    { text: percent(type.contendedShare) },
    { text: percent(type.programShare) },
    { text: type.instances === 0 ? '?' : count(type.instances) },
    { text: count(linesOf(type)) },
    { text: count(type.layout.size) },
    { text: type.verdict, style: VERDICT_STYLE[type.verdict] },
    { text: printable(type.name), style: 'bold' },
    { text: hottestFields(type) },
  ]);
  const rest = contended.length - shown.length;
  return [
    style.bold('Contended types'),
    ...formatTwoRowTable(first, [{ title: 'fields', align: 'left', shorten: shortenEnd }], rows, { width, indent: 0, style }),
    ...(rest > 0 ? [plural(rest, 'more type')] : []),
  ];
}

/** "limit 63.6% (r), produced 36.4% (w)": shares of the type's contended samples, and whether threads write or only read. */
function hottestFields({ fields, contended }: TypeHeat): string {
  const hot = fields.filter((field) => field.contended > 0).sort((a, b) => b.contended - a.contended || a.offset - b.offset);
  const shown = hot
    .slice(0, MAX_FIELDS)
    .map(
      ({ field, offset, contended: own, writers }) =>
        `${printable(field) || `+${offset}`} ${percent(own / contended)} (${writers.length > 0 ? 'w' : 'r'})`,
    );
  return shown.join(', ') + (hot.length > shown.length ? `, ${hot.length - shown.length} more` : '');
}

/** Of an access the type of the whole object that it is to; undefined where the report has no sum over that. */
function typeFinder(report: Report): (access: Access) => TypeHeat | undefined {
  const cards = cardsByType(outerTypes(report).map(cardOf), accessesOf(report.lines));
  return (access) => cardOfAccess(cards(access.data.type ?? ''), access)?.heat;
}

/** On how many lines that threads compete for objects of a type are among what they use. */
export function contendedLinesOfType(report: Report): (type: TypeHeat) => number {
  // Not all lines of a recording with data sources are in its report.
  if (report.c2c !== undefined) return ({ lines }) => lines;
  const find = typeFinder(report);
  const counts = new Map<TypeHeat, number>();
  for (const line of contendedLines(report)) {
    const used = new Set(line.accesses.filter(({ contended }) => contended > 0).map(find));
    for (const type of used) if (type) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return (type) => Math.min(type.lines, counts.get(type) ?? type.lines);
}
