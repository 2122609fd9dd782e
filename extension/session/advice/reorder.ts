// The members of a definition in another order: whole declarations move with their comments, everything else keeps its place.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import { directiveIn, type Definition } from './definitions';
import { indentationAt, lineEnding, Refusal, startsItsLine, type TextEdit } from './edits';
import { described, type Body, type Item, type TextMember } from './members';
import { checkOrder } from './order-hazards';
import { applied, declarationOf, partsOf, type Parts } from './split';
import { declaratorsOf, declaresFunction, endOf, isAtomic, isUnclear, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

export interface Reordering {
  source: SourceText;
  definition: Definition;
  body: Body;
  /** All members in their new order. */
  wanted: { member: TextMember; startsLine: boolean }[];
  starts: ReadonlySet<TextMember>;
  /** Alignments and cuts of declarations that stay whole. */
  inPlace: TextEdit[];
  /** Bytes. */
  alignment: number;
}

/** What moves as one: a declaration, one cut out of it, or a run of bit-fields that share storage. */
export interface Piece {
  members: TextMember[];
  /** The parts of the body it comes from, first and last. */
  first: number;
  last: number;
  /** Null: it is all of its parts. */
  cut: { parts: Parts; declarators: number[] } | null;
}

/** A place for a piece, between what does not move. */
interface Place {
  item: number;
  access: string;
}

/** @throws Refusal where another order would change what the program does, or cannot be written safely */
export function reorderMembers(reordering: Reordering): TextEdit[] {
  const { source, definition, body, wanted } = reordering;
  if (definition.isUnion)
    throw new Refusal(
      t('{0}:{1} is a union, whose members share their bytes: align it as a whole.', source.file, lineOfNode(definition.specifier)),
    );
  const directive = directiveIn(definition.body);
  if (directive)
    throw new Refusal(
      t(
        '{0}:{1} has a preprocessor line between the members of {2}: move members by hand, on the right side of it.',
        source.file,
        lineOfNode(directive),
        definition.name,
      ),
    );
  checkBody(reordering);
  const pieces = piecesOf(reordering);
  const places = placesOf(body, pieces);
  checkOrder(
    source,
    definition,
    body,
    wanted.map(({ member }) => member),
    pieces.map((piece, index) => ({ piece, item: places[index]?.item ?? 0 })),
  );
  for (const [index, piece] of pieces.entries()) {
    const access = body.items[piece.first]?.access;
    if (access !== places[index]?.access)
      throw new Refusal(
        t(
          '{0}:{1}: {2} would turn from {3} to {4}: move it by hand, with an access specifier.',
          source.file,
          lineOfNode(definition.specifier),
          piece.members.map(described).join(', '),
          access ?? '',
          places[index]?.access ?? '',
        ),
      );
  }
  return [rewritten(reordering, pieces, places)];
}

/** @throws Refusal where it is not sure what stands between the braces */
function checkBody({ source, definition, body }: Reordering): void {
  const { specifier, body: braces } = definition;
  const isInside = ({ start }: { start: number }): boolean => start > braces.startIndex && start < braces.endIndex;
  const isUnsure = ({ node, members, isBits }: Item): boolean => {
    if (members.length > 0 || isBits) return isUnclear(node) || nodesOfType(node, 'macro_type_specifier').some((type) => !isAtomic(type));
    // A function may have something unknown in it, but it must end where the tree says.
    return node.isError || (isUnclear(node) && (!isFunction(node) || /\b(?:public|private|protected)\s*:/.test(node.text)));
  };
  const unsure = body.items.find(isUnsure);
  const line = source.annotations.find((annotation) => annotation.kind === 'line' && isInside(annotation));
  if (unsure || line)
    throw new Refusal(
      t(
        '{0}:{1} has members of {2} that a macro declares or annotates: move members by hand.',
        source.file,
        lineOfNode(unsure?.node ?? specifier),
        definition.name,
      ),
    );
}

function isFunction(node: Node): boolean {
  return node.type === 'function_definition' || declaratorsOf(node).some(declaresFunction) || node.type === 'template_declaration';
}

/** In the new order. */
function piecesOf({ source, body, wanted, starts }: Reordering): Piece[] {
  const { items } = body;
  const itemOf = (member: TextMember): number => items.findIndex(({ members }) => members.includes(member));
  const runs = bitRuns(body);
  const nameless = runs.find(({ first, last }) => items.slice(first, last + 1).every(({ members }) => members.length === 0));
  if (nameless) {
    const line = lineOfNode(items[nameless.first]?.node ?? source.root);
    throw new Refusal(t('{0}:{1} has unnamed bits, which fill a gap: move the members around them by hand.', source.file, line));
  }
  const pieces: Piece[] = [];
  for (const { member, startsLine } of wanted) {
    const item = itemOf(member);
    if (item < 0)
      throw new Refusal(t('{0}: {1} is not declared among the other members: move it by hand.', source.file, described(member)));
    const last = pieces.at(-1);
    const run = runs.find(({ first, last: end }) => item >= first && item <= end);
    if (run) {
      const all = items.slice(run.first, run.last + 1).flatMap(({ members }) => members);
      if (last?.first === run.first && last.members.length < all.length) last.members.push(member);
      else pieces.push({ members: [member], ...run, cut: null });
      const piece = pieces.at(-1);
      const isFirst = piece?.members.length === 1;
      if (piece?.members.some((one, index) => one !== all[index]) || (startsLine && !isFirst)) throw sharesStorage(source, all);
      continue;
    }
    const own = items[item]?.members ?? [];
    const previous = last?.members.at(-1);
    const isNext = previous !== undefined && own.includes(previous) && own.indexOf(member) === own.indexOf(previous) + 1;
    if (last && isNext && starts.has(previous) === starts.has(member)) last.members.push(member);
    else pieces.push({ members: [member], first: item, last: item, cut: null });
  }
  for (const [index, piece] of pieces.entries()) {
    const isRun = runs.some(({ first }) => first === piece.first);
    const all = items.slice(piece.first, piece.last + 1).flatMap(({ members }) => members);
    if (isRun && piece.members.length < all.length) throw sharesStorage(source, all);
    if (isRun && pieces[index + 1]?.members[0]?.isBits)
      throw new Refusal(
        t(
          '{0}: {1} are bit-fields that would come to share storage: keep a member between them.',
          source.file,
          [...piece.members, ...(pieces[index + 1]?.members ?? [])].map(described).join(', '),
        ),
      );
    if (!isRun && piece.members.length < all.length) piece.cut = cutOf(source, items, piece);
  }
  return pieces;
}

function sharesStorage({ file }: SourceText, members: readonly TextMember[]): Refusal {
  const names = members.map(described).join(', ');
  return new Refusal(
    t('{0}: the bit-fields {1} share storage, and only all of them can move, in their order: keep them together.', file, names),
  );
}

function cutOf(source: SourceText, items: readonly Item[], piece: Piece): Piece['cut'] {
  const node = items[piece.first]?.node;
  if (!node) return null;
  const parts = partsOf(source, node);
  const declarators = piece.members.map((member) =>
    parts.declarators.findIndex(({ node: one }) => member.declarator?.equals(one) === true),
  );
  return { parts, declarators };
}

/** Bit-fields without another member between them. */
function bitRuns({ items }: Body): { first: number; last: number }[] {
  const runs: { first: number; last: number }[] = [];
  let isOpen = false;
  for (const [index, item] of items.entries()) {
    if (item.isBits && item.members.some(({ isBits }) => !isBits)) continue;
    if (item.isBits && isOpen) runs[runs.length - 1] = { first: runs.at(-1)?.first ?? index, last: index };
    else if (item.isBits) runs.push({ first: index, last: index });
    if (item.isBits || item.members.length > 0) isOpen = item.isBits;
  }
  return runs;
}

/** As many as pieces, in the order of the text. */
function placesOf({ items }: Body, pieces: readonly Piece[]): Place[] {
  return items.flatMap(({ access }, item) => pieces.filter(({ first }) => first === item).map(() => ({ item, access })));
}

function rewritten(reordering: Reordering, pieces: readonly Piece[], places: readonly Place[]): TextEdit {
  const { source, definition, body } = reordering;
  const { items } = body;
  const { text } = source;
  const end = items.at(-1)?.end ?? body.start;
  const newline = lineEnding(text);
  const firstOwn = items.find(({ members }) => members.length > 0);
  const isLined = firstOwn !== undefined && startsItsLine(text, firstOwn.node.startIndex);
  const indentation = firstOwn ? newline + indentationAt(text, firstOwn.node.startIndex) : newline;
  const inRun = new Set(pieces.flatMap(({ first, last }) => Array.from({ length: last - first }, (_, index) => first + 1 + index)));
  let result = '';
  let before = -1;
  let place = 0;
  let behindComment = endsWithLineComment(source, body, undefined);
  const append = (lead: string, rest: string, isAfterOwn: boolean): void => {
    const isFirst = result === '' || items[before]?.node.type === 'access_specifier';
    let blanks = isLined && !lead.includes('\n') && (!isAfterOwn || lead === '') ? indentation : lead === '' ? ' ' : lead;
    if (isFirst) blanks = withoutEmptyLines(blanks);
    if (behindComment && !blanks.includes('\n')) blanks = indentation;
    result += blanks + rest;
  };
  for (const [index, item] of items.entries()) {
    if (inRun.has(index)) continue;
    if (item.members.length === 0 && !item.isBits) {
      const lead = text.slice(item.start, item.node.startIndex);
      append(lead, text.slice(item.node.startIndex, item.end), before === index - 1);
      behindComment = endsWithLineComment(source, body, item);
      before = index;
      continue;
    }
    for (; places[place]?.item === index; place++) {
      const piece = pieces[place];
      const first = piece && items[piece.first];
      const last = piece && items[piece.last];
      if (!first || !last) continue;
      const { lead, rest, trail } = textOf(reordering, piece, first, last);
      append(lead, rest + trail, before === piece.first - 1 && before >= 0);
      behindComment = trail !== '' && endsWithLineComment(source, body, last);
      before = piece.cut && trail === '' ? -2 : piece.last;
    }
  }
  const tail = text.slice(end, definition.body.endIndex - 1);
  if (behindComment && !tail.includes('\n')) result += newline + indentationAt(text, definition.body.startIndex);
  return { start: body.start, end, text: result };
}

/** Of a cut declaration, the first part has the comments before it and the last the one behind. */
function textOf(
  { source, inPlace, starts, alignment }: Reordering,
  piece: Piece,
  first: Item,
  last: Item,
): { lead: string; rest: string; trail: string } {
  const { text } = source;
  const lead = text.slice(first.start, first.node.startIndex);
  const trail = text.slice(last.node.endIndex, last.end);
  const { cut } = piece;
  if (!cut) return { lead, rest: applied(text.slice(first.node.startIndex, last.node.endIndex), first.node.startIndex, inPlace), trail };
  const isAligned = piece.members[0] !== undefined && starts.has(piece.members[0]);
  const rest = declarationOf(source, first.node, cut.parts, cut.declarators, isAligned ? alignment : 0);
  const hasFirst = cut.declarators.includes(0);
  const hasLast = cut.declarators.includes(cut.parts.declarators.length - 1);
  return { lead: hasFirst ? lead : '', rest, trail: hasLast ? trail : '' };
}

/** @param item undefined: what stands behind the opening brace */
function endsWithLineComment({ root, text }: SourceText, body: Body, item: Item | undefined): boolean {
  const end = item ? item.end : body.start;
  const comment = root.descendantForIndex(Math.max(0, end - 1));
  return comment?.type === 'comment' && comment.text.startsWith('//') && endOf(comment, text) === end;
}

/** Blanks and comments before a declaration without the empty lines in front. */
function withoutEmptyLines(lead: string): string {
  const end = lead.length - lead.trimStart().length;
  const blanks = lead.slice(0, end);
  const last = blanks.lastIndexOf('\n');
  const at = last > 0 && blanks[last - 1] === '\r' ? last - 1 : last;
  return last < 0 ? lead : blanks.slice(at) + lead.slice(end);
}
