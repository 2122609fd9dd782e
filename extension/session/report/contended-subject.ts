// What the first paragraph of a report speaks of: the cache line, the object on several lines, or the type of many objects that
// most of the contended samples are on.
import { t } from '../../protocol/l10n';
import type { TypeHeat } from '../../protocol/layout';
import type { Access, CacheLine, ObjectSum, Report, Verdict } from '../../protocol/report';
import { objectName, quoted } from './data-text';
import { accessesOf } from '../profile/heat';
import { contendedLines, objectFinder, weight } from './sharing-facts';
import { percent, VERDICT_WORDS } from '../../protocol/words';
import { count, plural } from '../text/terminal-text';
import { cardOf, cardOfAccess, outerTypes } from '../layout/type-heat';
import { cardsByType } from '../layout/types-of-accesses';
import { verdictText } from './verdict-text';

export interface Pair {
  access: Access;
  samples: number;
}

export interface Subject {
  /** "93.8% of these are on 38 objects of type 'session', spread over 19 lines"; empty: of one line. */
  where: string;
  verdict: Verdict;
  /** The verdict, and how sure it is. */
  text: string;
  /** That threads compete for and that have something of it. */
  lines: CacheLine[];
  /** Of these lines, and only of what the sentence counts. */
  accesses: Pair[];
}

/** Many objects lead instead of the largest single one, or the hottest line, where they have this many times its samples. */
const CLEARLY = 1.5;

/** @param lines that threads compete for, the hottest first, which is `top` */
export function contendedSubject(report: Report, lines: readonly CacheLine[], top: CacheLine): Subject {
  const object = topObject(report);
  return (
    manyObjects(report, lines, Math.max(top.contended, object?.contended ?? 0) * CLEARLY) ??
    (object && objectSubject(report, lines, object)) ?? {
      where: '',
      verdict: top.verdict,
      text: verdictText(top),
      lines: [top],
      accesses: top.accesses.map((access) => pair(access, top)),
    }
  );
}

function topObject(report: Report): ObjectSum | undefined {
  return report.objects.reduce<ObjectSum | undefined>(
    (best, object) => (object.contended > (best?.contended ?? 0) ? object : best),
    undefined,
  );
}

/** Undefined where one line shows all of it. */
function objectSubject(report: Report, lines: readonly CacheLine[], object: ObjectSum): Subject | undefined {
  const find = objectFinder(report);
  const own = partOf(lines, (line, access) => find(line, access) === object);
  if (own.lines.length < 2) return undefined;
  const where = t(
    '{0} of these are on {1}, spread over {2} lines',
    percent(object.contendedShare),
    quoted(object.object),
    count(own.lines.length),
  );
  return { where, verdict: object.verdict, text: verdictText(object), ...own };
}

interface ManyObjects extends Subject {
  contended: number;
}

/** Objects of one type, or heap blocks of one name, that have more than `least` of the samples together: those with most of them. */
function manyObjects(report: Report, lines: readonly CacheLine[], least: number): Subject | undefined {
  const ofType = manyOfType(report, lines, least);
  return manyOfName(report, lines, Math.max(least, ofType?.contended ?? 0)) ?? ofType;
}

function manyOfType(report: Report, lines: readonly CacheLine[], least: number): ManyObjects | undefined {
  const types = outerTypes(report).filter(({ contended }) => contended > least);
  const find = typeFinder(report);
  for (const type of types) {
    const own = partOf(lines, (_, access) => find(access) === type);
    const objects = new Set(own.accesses.map(({ access, line }) => instanceOf(type, line, access)));
    if (own.lines.length < 2 || objects.size < 2) continue;
    const { contended, contendedShare, name, verdict } = type;
    const share = percent(contendedShare);
    const where = t(
      '{0} of these are on {1} objects of type {2}, spread over {3} lines',
      share,
      count(objects.size),
      quoted(name),
      count(own.lines.length),
    );
    return { where, verdict, text: verdictText(type), contended, ...own };
  }
  return undefined;
}

/** Of an access the type of the whole object that it is to; undefined where the report has no sum over that. */
export function typeFinder(report: Report): (access: Access) => TypeHeat | undefined {
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

/** Which object of the type an access is to. */
function instanceOf({ layout }: TypeHeat, { space }: CacheLine, { data }: Access): string {
  const { base, fieldOffset, object } = data;
  const element = layout.size > 0 ? Math.floor((fieldOffset ?? 0) / layout.size) : 0;
  return [space, base ?? object, element].join(' ');
}

/** Of memory whose type is not known: "24 bytes allocated in make_node". */
function manyOfName(report: Report, lines: readonly CacheLine[], least: number): Subject | undefined {
  const names = new Map<string, ObjectSum[]>();
  for (const object of report.objects) {
    if (object.contended <= 0 || (object.base ?? null) === null) continue;
    const those = names.get(object.object);
    if (those) those.push(object);
    else names.set(object.object, [object]);
  }
  const sums = [...names].map(([name, objects]) => ({
    name,
    objects,
    contended: objects.reduce((sum, { contended }) => sum + contended, 0),
  }));
  for (const { name, objects, contended } of sums.sort((a, b) => b.contended - a.contended)) {
    if (contended <= least) return undefined;
    const own = partOf(lines, (_, { data }) => objectName(data) === name);
    if (own.lines.length < 2) continue;
    const share = percent(contended / Math.max(1, report.samples.contended));
    const where = t(
      '{0} of these are on {1} named {2}, spread over {3} lines',
      share,
      plural(objects.length, 'object'),
      quoted(name),
      count(own.lines.length),
    );
    const verdict = verdictOf(own.lines);
    return { where, verdict, text: VERDICT_WORDS[verdict], ...own };
  }
  return undefined;
}

/** As the engine rolls verdicts up. */
function verdictOf(lines: readonly CacheLine[]): Verdict {
  const [first, ...others] = new Set(lines.map(({ verdict }) => verdict));
  return first !== undefined && others.length === 0 ? first : 'mixed';
}

interface LinePair extends Pair {
  line: CacheLine;
}

function partOf(
  lines: readonly CacheLine[],
  isPart: (line: CacheLine, access: Access) => boolean,
): { lines: CacheLine[]; accesses: LinePair[] } {
  const accesses = lines.flatMap((line) =>
    line.accesses
      .filter((access) => access.contended > 0 && isPart(line, access))
      .map((access): LinePair => ({ ...pair(access, line), line })),
  );
  return { lines: [...new Set(accesses.map(({ line }) => line))], accesses };
}

function pair(access: Access, line: CacheLine): Pair {
  return { access, samples: weight(access, line) };
}

/** Of what is mixed because its lines differ: the verdict that most of its samples have, the lines with it, and how many have which. */
export function mostlyOf({ verdict, lines, accesses }: Subject): { verdict: Verdict; lines: CacheLine[]; counts: string } | undefined {
  if (verdict !== 'mixed') return undefined;
  const byVerdict = new Map<Verdict, CacheLine[]>();
  for (const line of lines) {
    const those = byVerdict.get(line.verdict);
    if (those) those.push(line);
    else byVerdict.set(line.verdict, [line]);
  }
  const samples = (of: Verdict): number => {
    const those = new Set(byVerdict.get(of)?.flatMap((line) => line.accesses));
    return accesses.reduce((sum, { access, samples: own }) => sum + (those.has(access) ? own : 0), 0);
  };
  const sorted = [...byVerdict].map(([of, those]) => ({ verdict: of, lines: those, samples: samples(of) }));
  const [most] = sorted.sort((a, b) => b.samples - a.samples);
  if (most === undefined || most.verdict === 'mixed') return undefined;
  const counts = sorted.map(({ verdict: of, lines: those }, i) =>
    i === 0 ? t('{0} on {1} of them', VERDICT_WORDS[of], count(those.length)) : t('{0} on {1}', VERDICT_WORDS[of], count(those.length)),
  );
  return { verdict: most.verdict, lines: most.lines, counts: counts.join(', ') };
}
