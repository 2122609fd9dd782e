// The members of a definition as the text has them, cut into pieces that can be moved, and whether they are the binary's.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import type { TypeReference } from '../../protocol/advice';
import { printable } from '../../protocol/printable';
import type { Annotation } from './annotations';
import type { Definition } from './definitions';
import { listed, Refusal } from './edits';
import { canBeSameType } from './member-types';
import { childrenOf, declaratorsOf, declaredName, declaresFunction, endOf, isUnclear, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

/** A data member: one declarator, or a structure or union without a name. */
export interface TextMember {
  /** Empty: it has none. */
  name: string;
  /** As written, without the name. */
  type: string;
  declaration: Node;
  /** Null: a structure or union without a name. */
  declarator: Node | null;
  isBits: boolean;
  /** Stands in an `#if`. */
  isConditional: boolean;
}

/** A part of a body from the end of the one before it: blanks, comments before it, a declaration, a comment behind it. */
export interface Item {
  start: number;
  node: Node;
  end: number;
  /** In the order of the text; none: a function, a type, an access specifier. */
  members: TextMember[];
  access: string;
  /** Bit-fields, also those without a name. */
  isBits: boolean;
}

export interface Body {
  /** Behind the opening brace and what is said of it on its line. */
  start: number;
  items: Item[];
  /** All, also those within `#if`, in the order of the text. */
  members: TextMember[];
}

/** @returns the parts of a definition's body; what lies behind the last one, up to the brace, belongs to none. */
export function bodyOf(source: SourceText, { body, specifier }: Definition): Body {
  const { text } = source;
  const children = childrenOf(body)
    .slice(1)
    .filter((child) => child.endIndex < body.endIndex);
  const open = body.child(0);
  let cursor = open?.endIndex ?? body.startIndex + 1;
  const firstRow = children.find(({ type }) => type !== 'comment')?.startPosition.row;
  for (const child of children) {
    if (child.type !== 'comment' || child.startPosition.row !== open?.startPosition.row || firstRow === child.startPosition.row) break;
    cursor = endOf(child, text);
  }
  const start = cursor;
  const items: Item[] = [];
  let access = specifier.type === 'class_specifier' ? 'private' : 'public';
  let [lastRow, trailingColumn] = [-1, -1];
  for (const child of children) {
    if (child.startIndex < cursor) continue;
    const last = items.at(-1);
    if (child.type === 'comment') {
      const { row, column } = child.startPosition;
      const goesOn = row === lastRow + 1 && column === trailingColumn && column > indentOf(last);
      if (last && (row === lastRow || goesOn || /^\/[/*][/*!]</.test(child.text))) {
        cursor = last.end = endOf(child, text);
        if (row === lastRow) trailingColumn = column;
        lastRow = child.endPosition.row;
      }
      continue;
    }
    if (!child.isNamed && last) {
      cursor = last.end = child.endIndex;
      lastRow = child.endPosition.row;
      continue;
    }
    if (child.type === 'access_specifier') access = child.text;
    const members = child.type === 'field_declaration' ? membersOf(child, false) : [];
    const isBits = child.type === 'field_declaration' && nodesOfType(child, 'bitfield_clause').some(({ parent }) => parent?.equals(child));
    items.push({ start: cursor, node: child, end: child.endIndex, members, access, isBits });
    cursor = child.endIndex;
    [lastRow, trailingColumn] = [child.endPosition.row, -1];
  }
  const members = items.flatMap((item) => (item.node.type.startsWith('preproc_') ? membersBelow(item.node) : item.members));
  return { start, items, members };
}

const indentOf = (item: Item | undefined): number => item?.node.startPosition.column ?? 0;

/** Of an `#if` with its branches. */
function membersBelow(directive: Node): TextMember[] {
  return childrenOf(directive).flatMap((child) => {
    if (child.type === 'field_declaration') return membersOf(child, true);
    return child.type.startsWith('preproc_') ? membersBelow(child) : [];
  });
}

/** None of a function, a static member, a type, or bits that only fill. */
function membersOf(declaration: Node, isConditional: boolean): TextMember[] {
  const children = childrenOf(declaration);
  if (children.some(({ type, text }) => type === 'storage_class_specifier' && text === 'static')) return [];
  const type = declaration.childForFieldName('type');
  const declarators = declaratorsOf(declaration);
  if (declarators.length === 0) {
    const isUnnamed = type?.childForFieldName('body') && type.childForFieldName('name') === null && type.type !== 'enum_specifier';
    if (!isUnnamed) return [];
    return [{ name: '', type: '', declaration, declarator: null, isBits: false, isConditional }];
  }
  return declarators.flatMap((declarator) => {
    const name = declaredName(declarator);
    if (!name || declaresFunction(declarator)) return [];
    const next = declarator.nextSibling;
    return {
      name: name.text,
      type: writtenType(type, declarator, name),
      declaration,
      declarator,
      isBits: next?.type === 'bitfield_clause',
      isConditional,
    };
  });
}

/** A type with its declarator, without the name, attributes, comments and members; empty: not known. */
export function writtenType(type: Node | null, declarator: Node, name: Node): string {
  // What a macro or an expression stands for, the text does not say.
  if (type && /^(?:macro_type_specifier|decltype|placeholder_type_specifier)$/.test(type.type)) return '';
  const words: string[] = [];
  const add = (node: Node): void => {
    if (node.equals(name) || /^(comment|attribute_\w+|alignas_qualifier|field_declaration_list|enumerator_list)$/.test(node.type)) return;
    if (node.childCount === 0) words.push(node.text);
    else for (const child of childrenOf(node)) add(child);
  };
  if (type) add(type);
  add(declarator);
  return words.join(' ');
}

/**
 * The text's member for each member of the type, by its index; undefined: the pointer to virtual functions, which no text has.
 * @throws Refusal where names, order, number or types differ
 */
export function matchMembers(source: SourceText, definition: Definition, body: Body, type: TypeReference): (TextMember | undefined)[] {
  const place = `${source.file}:${lineOfNode(definition.specifier)}`;
  const renew = t(
    'The binary was built from another text, or a macro declares members: build and record again, or make the change by hand.',
  );
  const rest = [...body.members];
  const matched = type.members.map((member) => {
    if (member.name.startsWith('_vptr')) return undefined;
    const name = printable(member.name);
    const at = rest.findIndex((other) => other.name === member.name);
    const skipped = rest.slice(0, Math.max(at, 0)).filter(({ isConditional }) => !isConditional);
    const found = rest[at];
    if (!found)
      throw new Refusal(
        t('{0} declares no {1}. {2}', place, name === '' ? t('further unnamed member') : t('member {0} in this order', name), renew),
      );
    if (skipped.length > 0)
      throw new Refusal(t('{0} declares {1} before {2}, but the binary does not. {3}', place, listed(skipped.map(described)), name, renew));
    if (found.isConditional && body.members.filter((other) => other.name === member.name).length > 1)
      throw new Refusal(t('{0} declares {1} in several branches of an #if: make the change by hand.', place, described(found)));
    checkUnderstood(source, found.declaration);
    if (!definition.isTemplate && (!canBeSameType(found.type, member.type) || found.isBits !== (member.bitSize !== null)))
      throw new Refusal(
        t(
          '{0} declares {1} as {2}, but the binary has {3}. {4}',
          place,
          described(found),
          printable(found.type),
          printable(member.type),
          renew,
        ),
      );
    rest.splice(0, at + 1);
    return found;
  });
  const more = rest.filter(({ isConditional }) => !isConditional);
  if (more.length > 0) throw new Refusal(t('{0} declares {1}, but the binary does not. {2}', place, listed(more.map(described)), renew));
  return matched;
}

/** @throws Refusal where the parser did not understand a declaration that is to be changed, or took a macro for a type */
export function checkUnderstood(source: SourceText, declaration: Node): void {
  const isMacro = nodesOfType(declaration, 'sized_type_specifier').some(
    (node) => node.childForFieldName('type')?.type === 'type_identifier',
  );
  if (!isUnclear(declaration) && !isMacro) return;
  throw new Refusal(
    t(
      '{0}:{1} has something other than a plain declaration, such as a macro: make the change there by hand.',
      source.file,
      lineOfNode(declaration),
    ),
  );
}

/** @throws Refusal where members lie without gaps, so that no alignment holds */
export function checkNotPacked(source: SourceText, definition: Definition): void {
  const { specifier, body, whole } = definition;
  const words = nodesOfType(whole, 'attribute_specifier', 'attribute_declaration').filter(({ text }) =>
    /\bpacked\b|\b__packed__\b/.test(text),
  );
  const declared = whole.equals(specifier) ? [] : declaratorsOf(whole);
  const macro = declared.find((declarator) => /packed/i.test(declaredName(declarator)?.text ?? ''));
  const isBefore = ({ start, end }: Annotation): boolean => start > specifier.startIndex && end < body.startIndex;
  const word = source.annotations.find(
    (annotation) => isBefore(annotation) && /packed/i.test(source.text.slice(annotation.start, annotation.end)),
  );
  const packed = words[0] ?? macro ?? (word ? specifier : openPragma(source, specifier));
  if (packed)
    throw new Refusal(
      t(
        '{0}:{1} packs {2}, so its layout is fixed, as for a file or network format: copy its hot members into a structure of their own.',
        source.file,
        lineOfNode(packed),
        definition.name || t('the structure'),
      ),
    );
}

/** The `#pragma pack` that is in force at a node. */
function openPragma({ root }: SourceText, at: Node): Node | undefined {
  const open: (Node | undefined)[] = [];
  let current: Node | undefined;
  for (const call of nodesOfType(root, 'preproc_call')) {
    if (call.startIndex > at.startIndex) break;
    const [, argument] = /^pack\s*\((.*)\)/.exec(call.childForFieldName('argument')?.text.trim() ?? '') ?? [];
    if (argument === undefined) continue;
    const words = argument.split(',').map((word) => word.trim());
    if (words[0] === 'push') open.push(current);
    if (words[0] === 'pop') current = open.pop();
    else if (words.some((word) => /^\d+$/.test(word))) current = call;
    else if (argument.trim() === '') current = undefined;
  }
  return current;
}

export const described = ({ name, declaration }: TextMember): string =>
  name === '' ? t('the unnamed member at line {0}', lineOfNode(declaration)) : printable(name);
