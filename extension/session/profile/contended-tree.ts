// The tree of contended data: type, field, cache line, access. Objects of no structure type, or of an unknown one, stand beside
// the types.
import { blindText, isMostlyBlind } from '../../protocol/blindness';
import { heatStep, type HeatStep } from '../../protocol/heat-scale';
import { t } from '../../protocol/l10n';
import { amountOf, shareOf, wholeOf, type Measure, type Measured } from '../../protocol/measure';
import type { DataSum, LineChoice } from '../../protocol/profile';
import type { Access, CacheLine, SourcePlace } from '../../protocol/report';
import { memoryName } from '../../protocol/stack-owner';
import { FLAG_WORDS, NOTHING_ATTRIBUTED, VERDICT_WORDS } from '../../protocol/words';
import { amountText, wholePercent } from './heat';
import { bytesText, cardTitle, heatSummary } from '../layout/layout-card-words';
import { accessKind, KIND_WORDS } from '../../protocol/roles';
import { ownPlace, shortPlace } from '../lines/source-path';
import { alternatives, count, plural, printable, shortenMiddle } from '../text/terminal-text';
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
} from '../layout/type-heat';
import { cardsByType } from '../layout/types-of-accesses';

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
  /** Whether it has any. */
  expandable: boolean;
  /** Asked for when they are looked at: a profile can have a hundred thousand accesses. The same ones each time. */
  children(): Promise<TreeNode[]>;
}

/** For screen readers and tooltips: what a node is. */
const KIND_NAMES: Record<TreeNode['kind'], string> = {
  type: t('type'),
  object: t('object'),
  field: t('member'),
  line: t('cache line'),
  access: t('access'),
  more: '',
};
const MAX_CHILDREN = 100;
const LONGEST_NAME = 80;

/** What the tree is made of. */
export interface TreeSource {
  report: Measured;
  /** With amounts of the measure. */
  data: readonly DataSum[];
  /** The lines that measured most of those that fit, and how many fit. */
  lines(choice: LineChoice, measure: Measure): Promise<{ total: number; lines: readonly CacheLine[] }>;
}

/** What competes in the measure, the hottest first. */
export function contendedTree(source: TreeSource, measure: Measure): TreeNode[] {
  const { report, data } = source;
  const cards = outerTypes(report).map((heat) => cardOf(heat));
  const make: Make = { source, report, measure, whole: wholeOf(report, measure), cardOf: cardFinder(cards, data) };
  const { typed, untyped } = sortData(data, make);
  const titles = new Map<string, TypeCard[]>();
  for (const card of cards) push(titles, cardTitle(card), card);
  const types = cards.map((card) => {
    // Definitions that differ: which one is meant.
    const where = (titles.get(cardTitle(card)) ?? []).length > 1 ? `${definedAt(card)}, ` : '';
    return typeNode(card, where, typed.get(card) ?? new Map<number, DataSum[]>(), make);
  });
  const objects = [...untyped].map(([object, sums]) => objectNode(object, sums, make));
  return hottest(
    [...types, ...objects].filter(({ amount }) => amount > 0),
    t('more types and objects'),
  );
}

/** Of a profile without nodes: nothing is contended, or nothing is known. */
export function emptyTreeText(report: Measured): string {
  const { samples } = report;
  if (isMostlyBlind(report)) return blindText(report);
  return samples.total > 0 && samples.attributed === 0
    ? NOTHING_ATTRIBUTED
    : t('Nothing contended was measured in this profile. Contention shows under load: record a run that uses all its threads.');
}

type CardFinder = (access: Pick<Access, 'data'>) => TypeCard | undefined;

interface Make {
  source: TreeSource;
  report: Measured;
  measure: Measure;
  /** Of the measure in the recording. */
  whole: number;
  /** Of the type of the data; undefined: it is not among the types. */
  cardOf: CardFinder;
}

interface Weighed {
  amount: number;
  node: TreeNode;
}

/**
 * The first ones, and a node that says how many more there are.
 * @param unseen at most so many were not asked for
 */
function hottest(weighed: readonly Weighed[], rest: string, unseen = 0): TreeNode[] {
  const sorted = [...weighed].sort((a, b) => b.amount - a.amount);
  const nodes = sorted.slice(0, MAX_CHILDREN).map(({ node }) => node);
  const left = sorted.length - nodes.length;
  if (left + unseen > 0) {
    const label = `${unseen > 0 ? t('up to ') : ''}${count(left + unseen)} ${rest}`;
    nodes.push({
      kind: 'more',
      label,
      description: '',
      text: t('{0}: open the panel', label),
      step: undefined,
      place: undefined,
      expandable: false,
      children: () => Promise.resolve([]),
    });
  }
  return nodes;
}

function cardFinder(cards: readonly TypeCard[], data: readonly DataSum[]): CardFinder {
  const byType = cardsByType(cards, data);
  return (access) => {
    const { type = '' } = access.data;
    return type === '' ? undefined : cardOfAccess(byType(type), access);
  };
}

/** By type and member (-1: none of them), and by object where the type is not among them. */
function sortData(
  data: readonly DataSum[],
  { cardOf: find }: Make,
): { typed: Map<TypeCard, Map<number, DataSum[]>>; untyped: Map<string, DataSum[]> } {
  const typed = new Map<TypeCard, Map<number, DataSum[]>>();
  const untyped = new Map<string, DataSum[]>();
  for (const sum of data) {
    const card = find(sum);
    if (!card) {
      push(untyped, memoryName(sum.data), sum);
      continue;
    }
    let members = typed.get(card);
    if (!members) typed.set(card, (members = new Map<number, DataSum[]>()));
    push(members, memberOfAccess(card, sum), sum);
  }
  return { typed, untyped };
}

function push<K, V>(map: Map<K, V[]>, key: K, one: V): void {
  const there = map.get(key);
  if (there) there.push(one);
  else map.set(key, [one]);
}

/** Of the members of its type, the index of the one that an access goes to; -1: none of them. */
export function memberOfAccess(card: TypeCard, { data, width }: Pick<Access, 'data' | 'width'>): number {
  const field = fieldInType(data.field ?? '');
  const { size } = card.layout;
  const offset = size > 0 ? data.offset % size : data.offset;
  return memberIndex(card, { field, offset, size: Math.max(1, width) }) ?? -1;
}

/** "pool.c:12 in libpool.so". */
function definedAt({ layout, heat }: TypeCard): string {
  return [layout.file === '' ? '' : shortPlace(layout), heat ? t('in {0}', heat.object) : ''].join(' ').trim();
}

function typeNode(card: TypeCard, where: string, members: ReadonlyMap<number, DataSum[]>, make: Make): Weighed {
  const { report, measure } = make;
  const { file, line } = card.layout;
  const amount = amountOfUse(wholeUse(card), measure);
  const types = [...new Set([...members.values()].flatMap((sums) => sums.map(({ data }) => data.type ?? '')))];
  const lines =
    (index: number): (() => Promise<TreeNode[]>) =>
    () =>
      lineNodes({ types }, (access) => make.cardOf(access) === card && memberOfAccess(card, access) === index, make);
  const fields = (): Weighed[] => {
    const found = card.members.flatMap((member, index) =>
      member.leaf && member.use && member.use.records > 0 ? [fieldNode(card, member, members.get(index) ?? [], lines(index), make)] : [],
    );
    if (card.outside && card.outside.records > 0) found.push(outsideNode(card, members.get(-1) ?? [], lines(-1), make));
    return found;
  };
  return weighed(amount, make, {
    kind: 'type',
    label: cardTitle(card),
    description: where + heatSummary(card, { report, measure, notes: [] }),
    place: placeOf(file, line),
    expandable: true,
    children: () => Promise.resolve(hottest(fields(), t('more members'))),
  });
}

function fieldNode(
  card: TypeCard,
  { member, use }: MemberHeat,
  sums: readonly DataSum[],
  children: () => Promise<TreeNode[]>,
  make: Make,
): Weighed {
  const what = use ? useText(use, make.measure, make.report) : '';
  return weighed(amountOfUse(use, make.measure), make, {
    kind: 'field',
    label: member.name,
    description: t('bytes {0}, {1}', bytesText(member), what),
    place: placeOf(member.file ?? card.layout.file, member.line) ?? hottestPlace(sums),
    expandable: sums.length > 0,
    children,
  });
}

function outsideNode({ outside }: TypeCard, sums: readonly DataSum[], children: () => Promise<TreeNode[]>, make: Make): Weighed {
  return weighed(amountOfUse(outside, make.measure), make, {
    kind: 'field',
    label: t('no member'),
    description: outside ? t('holes, or the whole object, {0}', useText(outside, make.measure, make.report)) : '',
    place: hottestPlace(sums),
    expandable: sums.length > 0,
    children,
  });
}

function objectNode(object: string, sums: readonly DataSum[], make: Make): Weighed {
  const amount = sums.reduce((sum, one) => sum + one.amount, 0);
  const [first] = sums;
  const types = [...new Set(sums.map(({ data }) => data.type ?? ''))].filter((type) => type !== '');
  const isOwn = (access: Access): boolean => make.cardOf(access) === undefined && memoryName(access.data) === object;
  return weighed(amount, make, {
    kind: 'object',
    label: object === '' ? t('unknown') : object,
    description: [verdictOf(object, make), types.length > 0 ? alternatives(types) : t('type unknown'), shareText(amount, make)]
      .filter((text) => text !== '')
      .join(', '),
    place: first?.data.definition ?? hottestPlace(sums),
    expandable: true,
    children: () => lineNodes({ object: first?.data.object ?? '' }, isOwn, make),
  });
}

/** Of an object that its name tells from all others; else empty. */
function verdictOf(object: string, { report }: Make): string {
  const [found, other] = report.objects.filter((one) => one.object === object);
  return found && !other && (found.base ?? null) === null ? VERDICT_WORDS[found.verdict] : '';
}

async function lineNodes(choice: LineChoice, isOwn: (access: Access) => boolean, make: Make): Promise<TreeNode[]> {
  const { total, lines } = await make.source.lines(choice, make.measure);
  const nodes = lines.flatMap((line): Weighed[] => {
    const own = line.accesses.filter(isOwn);
    if (own.length === 0) return [];
    const amount = sumOf(own, make.measure);
    return [
      weighed(amount, make, {
        kind: 'line',
        label: line.address,
        description: [VERDICT_WORDS[line.verdict], ...line.flags.map((flag) => FLAG_WORDS[flag]), shareText(amount, make)]
          .filter((text) => text !== '')
          .join(', '),
        place: hottestPlace(own.map((access) => ({ amount: amountOf(access, make.measure), place: ownPlace(access) ?? null }))),
        expandable: true,
        children: () =>
          Promise.resolve(
            hottest(
              own.map((access) => accessNode(access, make)),
              t('more accesses'),
            ),
          ),
      }),
    ];
  });
  return hottest(nodes, t('more cache lines'), total - lines.length);
}

function accessNode(access: Access, make: Make): Weighed {
  const amount = amountOf(access, make.measure);
  const place = ownPlace(access);
  const name = access.symbol || access.codeAddress;
  const who = access.threads.length === 1 ? t('thread {0}', access.threads[0] ?? '') : plural(access.threads.length, 'thread');
  const what = t('{0} of byte {1}, {2}, {3}', KIND_WORDS[accessKind(access)], access.offset, plural(access.records, 'sample'), who);
  return weighed(amount, make, {
    kind: 'access',
    label: place ? `${name} ${shortPlace(place)}` : name,
    description: [what, shareText(amount, make)].filter((text) => text !== '').join(', '),
    place,
    expandable: false,
    children: () => Promise.resolve([]),
  });
}

/** All names are untrusted: what would hide or reverse text is made visible. */
function weighed(amount: number, { whole }: Make, { children, ...node }: Omit<TreeNode, 'text' | 'step'>): Weighed {
  const label = shortenMiddle(printable(node.label), LONGEST_NAME);
  const description = printable(node.description);
  const step = amount > 0 ? heatStep(shareOf(amount, whole)) : undefined;
  const text = `${KIND_NAMES[node.kind]} ${label}: ${description}`;
  let asked: Promise<TreeNode[]> | undefined;
  const once = (): Promise<TreeNode[]> => {
    if (!asked) {
      asked = children();
      asked.catch(() => (asked = undefined)); // it may go better the next time
    }
    return asked;
  };
  return { amount, node: { ...node, label, description, text, step, children: once } };
}

function sumOf(accesses: readonly Access[], measure: Measure): number {
  return accesses.reduce((sum, access) => sum + amountOf(access, measure), 0);
}

function shareText(amount: number, { measure, whole }: Make): string {
  return amount > 0 ? `${amountText(amount, measure)} (${wholePercent(shareOf(amount, whole))})` : '';
}

function hottestPlace(sums: readonly Pick<DataSum, 'amount' | 'place'>[]): SourcePlace | undefined {
  const order = [...sums].sort((a, b) => b.amount - a.amount);
  return order.find(({ place }) => place !== null)?.place ?? undefined;
}

function placeOf(file: string, line: number): SourcePlace | undefined {
  return file !== '' && line > 0 ? { file, line } : undefined;
}
