// What the order of members means to a program besides its layout: where it means something, another order is refused.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import { printable } from '../../protocol/printable';
import { mentions, namesOf, type Definition } from './definitions';
import { listed, Refusal } from './edits';
import { byTool, checkInitialisers } from './initialisers';
import { described, type Body, type TextMember } from './members';
import type { Piece } from './reorder';
import { childrenOf, declaratorsOf, declaredName, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

/** Destroyed in the reverse order of their declaration, which programs rely on: a thread ends before what it uses. */
const ENDS_IN_ORDER = /\b(?:jthread|thread|future|lock_guard|unique_lock|scoped_lock|shared_lock)\b/;

/**
 * @param order all members in their new order
 * @param placed what moves, in the new order, with the part of the body in whose place it comes
 * @throws Refusal naming the line that relies on the order
 */
export function checkOrder(
  source: SourceText,
  definition: Definition,
  body: Body,
  order: readonly TextMember[],
  placed: readonly { piece: Piece; item: number }[],
): void {
  const names = namesOf(source, definition);
  checkLastMember(source, body, order);
  checkFirstMember(source, body, order);
  checkUses(source, body, placed);
  checkDestruction(source, body, order);
  checkComparison(source, body);
  const isClass = source.language !== 'c';
  const constructors = isClass ? checkConstructors(source, definition, body, order) : 0;
  const isAggregate = constructors === 0 && body.items.every(({ members, access }) => members.length === 0 || access === 'public');
  if (isAggregate) checkInitialisers(source, definition, names, order);
}

/** A flexible array is the last member. */
function checkLastMember({ file }: SourceText, { members }: Body, order: readonly TextMember[]): void {
  const last = members.at(-1);
  if (last && order.at(-1) !== last && /\[ (?:0 )?\]/.test(last.type))
    throw new Refusal(
      t('{0}:{1}: {2} is an array without a length, which has to stay last.', file, lineOfNode(last.declaration), described(last)),
    );
}

/** C programs cast a pointer to a structure into one to its first member. */
function checkFirstMember(source: SourceText, { members }: Body, order: readonly TextMember[]): void {
  const first = members[0];
  const type = first?.declaration.childForFieldName('type');
  if (!first || !type || first === order[0] || /[*[]/.test(first.type)) return;
  const own = type.childForFieldName('name')?.text ?? type.text;
  if (/^(?:primitive_type|sized_type_specifier)$/.test(type.type)) return;
  const cast = nodesOfType(source.root, 'type_descriptor').find(
    (node) =>
      (node.parent?.type === 'cast_expression' || /_cast$/.test(node.parent?.parent?.childForFieldName('name')?.text ?? '')) &&
      node.childForFieldName('declarator') !== null &&
      mentions(node, new Set([own])),
  );
  if (cast)
    throw new Refusal(
      t(
        '{0}:{1} casts to a pointer to {2}, the type of the first member {3}, which therefore has to stay first.',
        source.file,
        lineOfNode(cast),
        printable(own),
        described(first),
      ),
    );
}

/** What a part of a body declares and uses, and where it stands. */
interface Part {
  node: Node;
  /** Offset now, and rank in the new order. */
  from: number;
  to: number;
  isFunction: boolean;
  /** Types and enumerators, and of what does not move also constants and aliases. */
  names: Set<string>;
  types: Set<string>;
  /** Names of members, which values of other members may use. */
  members: Set<string>;
  words: Set<string>;
  values: Set<string>;
}

/** A declaration uses what stands before it: types, constants, and other members in its value. */
function checkUses({ file, language }: SourceText, { items }: Body, placed: readonly { piece: Piece; item: number }[]): void {
  const ranks = placed.length + 1;
  const moved = placed.map(({ piece, item }, index): Part => {
    const node = items[piece.first]?.node ?? piece.members[0]?.declaration;
    const from = Math.min(...piece.members.map(({ declarator, declaration }) => (declarator ?? declaration).startIndex));
    const to = item * ranks + index + 1;
    const part = partOf(
      items.slice(piece.first, piece.last + 1).map((one) => one.node),
      from,
      to,
    );
    const members = language === 'c' ? [] : piece.members.map(({ name }) => name);
    return { ...part, node: node ?? part.node, names: part.types, members: new Set(members), isFunction: false };
  });
  const fixed = items.flatMap(({ node, members }, item) => {
    const isMoved = placed.some(({ piece }) => item >= piece.first && item <= piece.last);
    return isMoved || members.length > 0 || node.type === 'access_specifier' ? [] : [partOf([node], node.startIndex, item * ranks)];
  });
  for (const user of [...moved, ...fixed])
    for (const used of [...moved, ...fixed]) {
      if (used.from >= user.from || used.to < user.to) continue;
      const word = user.isFunction
        ? [...user.words].find((text) => used.types.has(text))
        : ([...user.words].find((text) => used.names.has(text)) ?? [...user.values].find((text) => used.members.has(text)));
      if (word === undefined) continue;
      throw new Refusal(
        t(
          '{0}:{1} needs {2} of line {3} declared before it: move members by hand.',
          file,
          lineOfNode(user.node),
          printable(word),
          lineOfNode(used.node),
        ),
      );
    }
}

function partOf(nodes: readonly Node[], from: number, to: number): Part {
  const [node] = nodes;
  if (!node) throw new RangeError('A part of a body has no declaration.');
  const texts = (...types: string[]): string[] => nodes.flatMap((one) => nodesOfType(one, ...types).map(({ text }) => text));
  const types = new Set(nodes.flatMap(typesDefined));
  const declared = nodes.flatMap((one) =>
    [one.childForFieldName('name'), ...declaratorsOf(one)].flatMap((name) => (name && declaredName(name)?.text) ?? []),
  );
  const fields = nodes.flatMap((one) =>
    nodesOfType(one, 'field_expression').flatMap((field) => field.childForFieldName('field')?.text ?? []),
  );
  const values = new Set([...texts('identifier'), ...fields]);
  const words = new Set([...texts('identifier', 'type_identifier', 'namespace_identifier')]);
  const isFunction = nodes.some(({ type }) => /^(?:function_definition|friend_declaration|template_declaration)$/.test(type));
  return { node, from, to, isFunction, names: new Set([...types, ...declared]), types, members: new Set(), words, values };
}

/** Structures and enumerations, with enumerators, that a member's declaration defines. */
function typesDefined(node: Node): string[] {
  return nodesOfType(node, 'struct_specifier', 'class_specifier', 'union_specifier', 'enum_specifier', 'enumerator').flatMap((type) => {
    const name = type.childForFieldName('name');
    return name && (type.type === 'enumerator' || type.childForFieldName('body')) ? [name.text] : [];
  });
}

function checkDestruction({ file, language }: SourceText, { members }: Body, order: readonly TextMember[]): void {
  if (language === 'c') return;
  for (const ender of members.filter(({ type }) => ENDS_IN_ORDER.test(type)))
    for (const other of members.filter((member) => member !== ender && !isTrivial(member)))
      if (members.indexOf(ender) < members.indexOf(other) !== order.indexOf(ender) < order.indexOf(other))
        throw new Refusal(
          t(
            '{0}:{1}: {2} and {3} are destroyed in the reverse of their order, which may matter: move them by hand.',
            file,
            lineOfNode(ender.declaration),
            described(ender),
            described(other),
          ),
        );
}

/** Whether it surely has no destructor that does something. */
function isTrivial({ declaration, type }: TextMember): boolean {
  const kind = declaration.childForFieldName('type')?.type ?? '';
  return /^(?:primitive_type|sized_type_specifier|enum_specifier)$/.test(kind) || /\*|^(?:std :: )?atomic\b/.test(type);
}

/** A defaulted `<=>` or `<` compares member by member, in their order. */
function checkComparison({ file }: SourceText, { items }: Body): void {
  const ordering = items.find(({ node }) => {
    const name = nodesOfType(node, 'operator_name')[0]?.text.replace(/\s/g, '');
    return /^operator(?:<=>|[<>]=?)$/.test(name ?? '') && nodesOfType(node, 'default_method_clause').length > 0;
  });
  if (ordering)
    throw new Refusal(
      t('{0}:{1} compares members in their order: write the comparison out, then ask again.', file, lineOfNode(ordering.node)),
    );
}

/** @returns how many constructors the class has; @throws Refusal where one initialises members in another order, or is not to be seen */
function checkConstructors(source: SourceText, definition: Definition, { items }: Body, order: readonly TextMember[]): number {
  const { file, root } = source;
  const inside = items.flatMap(({ node }) => {
    const inner = node.type === 'template_declaration' ? childrenOf(node).find(({ type }) => /definition|declaration$/.test(type)) : node;
    const declarator = inner?.childForFieldName('declarator');
    return inner && declarator?.type === 'function_declarator' && declarator.childForFieldName('declarator')?.text === definition.name
      ? [inner]
      : [];
  });
  const outside = nodesOfType(root, 'function_definition').filter((node) => {
    const declarator = node.childForFieldName('declarator')?.childForFieldName('declarator');
    if (declarator?.type !== 'qualified_identifier') return false;
    const scopes = nodesOfType(declarator, 'namespace_identifier', 'type_identifier').map(({ text }) => text);
    return declaredName(declarator)?.text === definition.name && scopes.includes(definition.name);
  });
  const declared = inside.filter(({ type }) => type !== 'function_definition');
  const isWritten = (node: Node): boolean => nodesOfType(node, 'default_method_clause', 'delete_method_clause').length === 0;
  if (declared.length > outside.length) {
    const names = declared.map((node) => t('line {0}', lineOfNode(node)));
    throw new Refusal(
      t(
        '{0} declares constructors of {1} ({2}) that are defined elsewhere and may initialise members in their order: {3}',
        file,
        definition.name,
        listed(names),
        byTool(definition, order),
      ),
    );
  }
  for (const constructor of [...inside, ...outside].filter(isWritten)) checkInitialiserOrder(source, definition, constructor, order);
  return inside.filter(isWritten).length;
}

/** Members are initialised in the order of their declarations; the list should have that order, and what a value uses comes before. */
function checkInitialiserOrder(source: SourceText, definition: Definition, constructor: Node, order: readonly TextMember[]): void {
  const place = (name: string): number => order.findIndex((member) => member.name === name);
  let last = -1;
  const old = [...order].sort((a, b) => (a.declarator?.startIndex ?? 0) - (b.declarator?.startIndex ?? 0));
  for (const initialiser of nodesOfType(constructor, 'field_initializer')) {
    const [field, value] = [initialiser.namedChild(0), initialiser.namedChild(1)];
    const at = field ? place(field.text) : -1;
    if (at < 0) continue;
    if (at < last)
      throw new Refusal(
        t('{0}:{1} initialises members in the order they have now: {2}', source.file, lineOfNode(initialiser), byTool(definition, order)),
      );
    last = at;
    const before = (name: string): boolean => old.findIndex((one) => one.name === name) < old.findIndex((one) => one.name === field?.text);
    const user =
      value &&
      nodesOfType(value, 'identifier', 'field_identifier').find(({ text }) => place(text) >= 0 && before(text) !== place(text) < at);
    if (user)
      throw new Refusal(
        t(
          '{0}:{1} initialises {2} with {3}, whose order would change: {4}',
          source.file,
          lineOfNode(initialiser),
          printable(field?.text ?? ''),
          printable(user.text),
          byTool(definition, order),
        ),
      );
  }
}
