// Edits of a structure's definition: members that start cache lines, in their order or another, and objects that start one.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import type { Change } from '../../protocol/advice';
import { alignDeclaration, alignStructure } from './alignment';
import { definitionOf } from './definitions';
import { fileEdit, indentationAt, lineEnding, Refusal, startsItsLine, type FileEdit, type TextEdit } from './edits';
import { guardsOf } from './guards';
import { checkLayoutAssertions } from './layout-assertions';
import { bodyOf, checkNotPacked, checkUnderstood, matchMembers, type Body, type TextMember } from './members';
import { reorderMembers } from './reorder';
import { declarationOf, partsOf, runsOf } from './split';
import type { SourceText } from './syntax';

/** @throws Refusal where no edit is safe */
export function alignTypeEdit(source: SourceText, { type, alignment }: Extract<Change, { kind: 'align-type' }>): FileEdit {
  const definition = definitionOf(source, type);
  const body = bodyOf(source, definition);
  matchMembers(source, definition, body, type);
  checkNotPacked(source, definition);
  checkLayoutAssertions(source, definition);
  const first = body.members[0];
  if (source.language === 'c' && first) checkUnderstood(source, first.declaration);
  return fileEdit(source, alignStructure(source, definition.specifier, alignment));
}

/** @throws Refusal where no edit is safe; RangeError where `order` does not have each member once */
export function membersEdit(source: SourceText, { type, alignment, order }: Extract<Change, { kind: 'members' }>): FileEdit {
  const indexes = order.map(({ member }) => member).sort((a, b) => a - b);
  if (indexes.length !== type.members.length || indexes.some((member, index) => member !== index))
    throw new RangeError(`The order of ${type.name} does not have each of its ${type.members.length} members once: ${indexes.join(', ')}.`);
  const definition = definitionOf(source, type);
  const body = bodyOf(source, definition);
  const matched = matchMembers(source, definition, body, type);
  checkNotPacked(source, definition);
  checkLayoutAssertions(source, definition);
  const wanted = order.flatMap(({ member, startsLine }) => {
    const found = matched[member];
    return found ? { member: found, startsLine } : [];
  });
  const starts = new Set(wanted.filter(({ startsLine }) => startsLine).map(({ member }) => member));
  for (const { declaration } of starts) checkUnderstood(source, declaration);
  const inPlace = alignmentEdits(source, body, starts, alignment);
  const changed = isInOrder(order.map(({ member }) => member))
    ? inPlace
    : reorderMembers({ source, definition, body, wanted, starts, inPlace, alignment });
  if (changed.length === 0) return fileEdit(source, []);
  return fileEdit(source, [...changed, ...guardsOf(source, definition, body.members, [...starts], alignment)]);
}

function isInOrder(members: readonly number[]): boolean {
  return members.every((member, index) => member === index);
}

/** Of each declaration that declares members which start a line; where it declares others too, it is cut. */
function alignmentEdits(source: SourceText, { members }: Body, starts: ReadonlySet<TextMember>, alignment: number): TextEdit[] {
  const edits: TextEdit[] = [];
  for (const declaration of new Set([...starts].map((member) => member.declaration))) {
    const own = members.filter((member) => member.declaration === declaration);
    const flags = own.map((member) => starts.has(member));
    if (flags.every(Boolean)) edits.push(...alignDeclaration(source, declaration, alignment));
    else edits.push(splitEdit(source, declaration, own, flags, alignment));
  }
  return edits;
}

function splitEdit(
  source: SourceText,
  declaration: Node,
  own: readonly TextMember[],
  flags: readonly boolean[],
  alignment: number,
): TextEdit {
  const parts = partsOf(source, declaration);
  if (parts.declarators.length !== own.length)
    throw new Refusal(
      t('{0}:{1} declares members with something else: make the change there by hand.', source.file, declaration.startPosition.row + 1),
    );
  const between = startsItsLine(source.text, declaration.startIndex)
    ? lineEnding(source.text) + indentationAt(source.text, declaration.startIndex)
    : ' ';
  const declarations = runsOf(flags).map((run) =>
    declarationOf(source, declaration, parts, run, flags[run[0] ?? 0] === true ? alignment : 0),
  );
  return { start: declaration.startIndex, end: declaration.endIndex, text: declarations.join(between) };
}
