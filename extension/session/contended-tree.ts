// The tree of contended data: type, field, cache line, access. Objects of no structure type, or of an unknown one, stand beside
// the types.
import { blindText, isMostlyBlind } from '../protocol/blindness';
import { heatStep, type HeatStep } from '../protocol/heat-scale';
import { amountOf, shareOf, wholeOf, type Measure } from '../protocol/measure';
import type { Access, CacheLine, Report, SourcePlace } from '../protocol/report';
import { memoryName } from '../protocol/stack-owner';
import { NOTHING_ATTRIBUTED } from '../protocol/words';
import { amountText, wholePercent, type LineAccess } from './heat';
import { bytesText, cardTitle, heatSummary } from './layout-card-words';
import { accessKind } from './sharing-facts';
import { ownFunction, ownPlace, shortPlace } from './source-path';
import { count, percent, plural, printable, shortenMiddle } from './terminal-text';
import {
  amountOfUse,
  cardOf,
  cardOfAccess,
  fieldInType,
  memberIndex,
  outerTypes,
  useText,
  wholeUse,
  type MemberHeat,
  type TypeCard,
} from './type-heat';
import { cardsByType } from './types-of-accesses';

export interface TreeNode {
  kind: 'type' | 'object' | 'field' | 'line' | 'access' | 'more';
  label: string;
  /** Beside the label, dimmed. */
  description: string;
  /** All of it as one text, for tooltips and screen readers. */
  text: string;
  /** How hot; undefined: the measure counts nothing here. */
  step: HeatStep | undefined;
  /** What a click opens. */
  place: SourcePlace | undefined;
  /** Made when they are looked at: a report can have a hundred thousand accesses. */
  readonly children: TreeNode[];
}

const MAX_CHILDREN = 100;
const LONGEST_NAME = 80;

/** What competes in the measure, the hottest first. */
export function contendedTree(report: Report, measure: Measure): TreeNode[] {
  const whole = wholeOf(report, measure);
  const make: Make = { report, measure, whole };
  const cards = outerTypes(report).map((heat) => cardOf(heat));
  const { typed, untyped } = sortAccesses(report, cards);
  const titles = new Map<string, TypeCard[]>();
  for (const card of cards) push(titles, cardTitle(card), card);
  const types = cards.map((card) => {
    // Definitions that differ: which one is meant.
    const where = (titles.get(cardTitle(card)) ?? []).length > 1 ? `${definedAt(card)}, ` : '';
    return typeNode(card, where, typed.get(card) ?? new Map<number, LineAccess[]>(), make);
  });
  const objects = [...untyped].map(([object, accesses]) => objectNode(object, accesses, make));
  return hottest([...types, ...objects].filter(({ amount }) => amount > 0));
}

/** Of a profile without nodes: nothing is contended, or nothing is known. */
export function emptyTreeText(report: Report): string {
  const { samples } = report;
  if (isMostlyBlind(report)) return blindText(report, percent);
  return samples.total > 0 && samples.attributed === 0 ? NOTHING_ATTRIBUTED : 'Nothing contended was measured in this profile.';
}

interface Make {
  report: Report;
  measure: Measure;
  /** Of the measure in the recording. */
  whole: number;
}

interface Weighed {
  amount: number;
  node: TreeNode;
}

function hottest(weighed: readonly Weighed[], rest = 'more'): TreeNode[] {
  const sorted = [...weighed].sort((a, b) => b.amount - a.amount);
  const nodes = sorted.slice(0, MAX_CHILDREN).map(({ node }) => node);
  const left = sorted.length - nodes.length;
  if (left > 0) {
    const label = `${count(left)} ${rest}`;
    nodes.push({ kind: 'more', label, description: '', text: label, step: undefined, place: undefined, children: [] });
  }
  return nodes;
}

/** Accesses by type and member (-1: none of them), and by object where the type is not among them. */
function sortAccesses(
  report: Report,
  cards: readonly TypeCard[],
): { typed: Map<TypeCard, Map<number, LineAccess[]>>; untyped: Map<string, LineAccess[]> } {
  const byType = cardsByType(cards, report);
  const typed = new Map<TypeCard, Map<number, LineAccess[]>>();
  const untyped = new Map<string, LineAccess[]>();
  for (const cacheLine of report.lines) {
    for (const access of cacheLine.accesses) {
      const { data } = access;
      const card = data.type === undefined || data.type === '' ? undefined : cardOfAccess(byType(data.type), access);
      if (!card) {
        push(untyped, memoryName(data), { cacheLine, access });
        continue;
      }
      let members = typed.get(card);
      if (!members) typed.set(card, (members = new Map<number, LineAccess[]>()));
      push(members, memberOfAccess(card, access), { cacheLine, access });
    }
  }
  return { typed, untyped };
}

function push<K, V>(map: Map<K, V[]>, key: K, one: V): void {
  const there = map.get(key);
  if (there) there.push(one);
  else map.set(key, [one]);
}

function memberOfAccess(card: TypeCard, { data, width }: Access): number {
  const field = fieldInType(data.field ?? '');
  const { size } = card.layout;
  const offset = size > 0 ? data.offset % size : data.offset;
  return memberIndex(card, { field, offset, size: Math.max(1, width) }) ?? -1;
}

/** "pool.c:12 in libpool.so". */
function definedAt({ layout, heat }: TypeCard): string {
  return [layout.file === '' ? '' : shortPlace(layout), heat ? `in ${heat.object}` : ''].join(' ').trim();
}

function typeNode(card: TypeCard, where: string, members: ReadonlyMap<number, LineAccess[]>, make: Make): Weighed {
  const { report, measure } = make;
  const { file, line } = card.layout;
  const amount = amountOfUse(wholeUse(card), measure);
  const fields = (): Weighed[] => {
    const found = card.members.flatMap((member, index) =>
      member.leaf && member.use && member.use.records > 0 ? [fieldNode(card, member, members.get(index) ?? [], make)] : [],
    );
    if (card.outside && card.outside.records > 0) found.push(outsideNode(card, members.get(-1) ?? [], make));
    return found;
  };
  return weighed(amount, make, {
    kind: 'type',
    label: cardTitle(card),
    description: where + heatSummary(card, { report, measure, notes: [] }),
    place: placeOf(file, line),
    children: () => hottest(fields(), 'more members'),
  });
}

function fieldNode(card: TypeCard, { member, use }: MemberHeat, accesses: readonly LineAccess[], make: Make): Weighed {
  const what = use ? useText(use, make.measure, make.report) : '';
  return weighed(amountOfUse(use, make.measure), make, {
    kind: 'field',
    label: member.name,
    description: `bytes ${bytesText(member)}, ${what}`,
    place: placeOf(member.file ?? card.layout.file, member.line) ?? hottestPlace(accesses, make.measure),
    children: () => lineNodes(accesses, make),
  });
}

function outsideNode({ outside }: TypeCard, accesses: readonly LineAccess[], make: Make): Weighed {
  return weighed(amountOfUse(outside, make.measure), make, {
    kind: 'field',
    label: 'no member',
    description: outside ? `holes, or the whole object, ${useText(outside, make.measure, make.report)}` : '',
    place: hottestPlace(accesses, make.measure),
    children: () => lineNodes(accesses, make),
  });
}

function objectNode(object: string, accesses: readonly LineAccess[], make: Make): Weighed {
  const amount = sumOf(accesses, make.measure);
  const [first] = accesses;
  const types = [...new Set(accesses.map(({ access }) => access.data.type ?? ''))].filter((type) => type !== '');
  return weighed(amount, make, {
    kind: 'object',
    label: object === '' ? 'unknown' : object,
    description: `${types.length > 0 ? types.join(' or ') : 'type unknown'}, ${shareText(amount, make)}`,
    place: first?.access.data.definition ?? hottestPlace(accesses, make.measure),
    children: () => lineNodes(accesses, make),
  });
}

function lineNodes(accesses: readonly LineAccess[], make: Make): TreeNode[] {
  const lines = new Map<CacheLine, LineAccess[]>();
  for (const one of accesses) push(lines, one.cacheLine, one);
  const nodes = [...lines].map(([line, own]) => {
    const amount = sumOf(own, make.measure);
    return weighed(amount, make, {
      kind: 'line',
      label: line.address,
      description: [line.verdict, ...line.flags, shareText(amount, make)].filter((text) => text !== '').join(', '),
      place: hottestPlace(own, make.measure),
      children: () =>
        hottest(
          own.map(({ access }) => accessNode(access, make)),
          'more accesses',
        ),
    });
  });
  return hottest(nodes, 'more cache lines');
}

function accessNode(access: Access, make: Make): Weighed {
  const amount = amountOf(access, make.measure);
  const place = ownPlace(access);
  const name = ownFunction(access) || access.codeAddress;
  const who = access.threads.length === 1 ? `thread ${access.threads[0] ?? ''}` : plural(access.threads.length, 'thread');
  const what = `${accessKind(access)} of byte ${access.offset}, ${plural(access.records, 'sample')}, ${who}`;
  return weighed(amount, make, {
    kind: 'access',
    label: place ? `${name} ${shortPlace(place)}` : name,
    description: [what, shareText(amount, make)].filter((text) => text !== '').join(', '),
    place,
    children: () => [],
  });
}

/** All names are untrusted: what would hide or reverse text is made visible. */
function weighed(
  amount: number,
  { whole }: Make,
  { children, ...node }: Omit<TreeNode, 'text' | 'step' | 'children'> & { children: () => TreeNode[] },
): Weighed {
  const label = shortenMiddle(printable(node.label), LONGEST_NAME);
  const description = printable(node.description);
  const step = amount > 0 ? heatStep(shareOf(amount, whole)) : undefined;
  const text = `${node.kind === 'line' ? 'cache line' : node.kind} ${label}: ${description}`;
  let made: TreeNode[] | undefined;
  return {
    amount,
    node: {
      ...node,
      ...{ label, description, text, step },
      get children() {
        return (made ??= children());
      },
    },
  };
}

function sumOf(accesses: readonly LineAccess[], measure: Measure): number {
  return accesses.reduce((sum, { access }) => sum + amountOf(access, measure), 0);
}

function shareText(amount: number, { measure, whole }: Make): string {
  return amount > 0 ? `${amountText(amount, measure)} (${wholePercent(shareOf(amount, whole))})` : '';
}

function hottestPlace(accesses: readonly LineAccess[], measure: Measure): SourcePlace | undefined {
  const order = [...accesses].sort((a, b) => amountOf(b.access, measure) - amountOf(a.access, measure));
  return order.map(({ access }) => ownPlace(access)).find((place) => place !== undefined);
}

function placeOf(file: string, line: number): SourcePlace | undefined {
  return file !== '' && line > 0 ? { file, line } : undefined;
}
