// Questions to the nodes of a syntax tree.
import type { Node } from 'web-tree-sitter';

/** The node and all below it, in the order of the text. */
function nodesIn(node: Node): Node[] {
  const all: Node[] = [];
  const pending = [node];
  for (let next = pending.pop(); next; next = pending.pop()) {
    all.push(next);
    pending.push(...childrenOf(next).reverse());
  }
  return all;
}

export function childrenOf(node: Node): Node[] {
  return [...node.children];
}

/** Of a declaration, in the order of the text. */
export function declaratorsOf(declaration: Node): Node[] {
  return declaration.childrenForFieldName('declarator').filter(({ isNamed }) => isNamed);
}

/** Those of these types, the node itself included, in the order of the text. */
export function nodesOfType(node: Node, ...types: string[]): Node[] {
  if (node.parent !== null) return [...node.descendantsOfType(types)];
  let known = ofWholeTexts.get(node);
  if (!known) ofWholeTexts.set(node, (known = new Map<string, Node[]>()));
  const unknown = types.some((type) => !known.has(type)) ? [...new Set([...OFTEN_ASKED, ...types])].filter((type) => !known.has(type)) : [];
  for (const type of unknown) known.set(type, []);
  if (unknown.length > 0) for (const found of node.descendantsOfType(unknown)) known.get(found.type)?.push(found);
  const all = types.flatMap((type) => known.get(type) ?? []);
  return types.length > 1 ? all.sort((a, b) => a.startIndex - b.startIndex || b.endIndex - a.endIndex) : all;
}

/** A walk over a whole text costs as much for one type as for all of these. */
const OFTEN_ASKED = (
  'declaration field_declaration function_definition function_declarator struct_specifier class_specifier union_specifier type_definition ' +
  'alias_declaration preproc_include preproc_call preproc_def preproc_function_def static_assert_declaration call_expression ' +
  'compound_literal_expression new_expression initializer_list field_initializer type_descriptor alignas_qualifier'
).split(' ');

/** By the root of a tree. */
const ofWholeTexts = new WeakMap<Node, Map<string, Node[]>>();

/** Of `= {}`, the grammar misses a type. */
const VALUE = 'compound_literal_expression';

/** Whether something below the node is not understood. C's `_Atomic(int)`, which the grammar takes for a macro, is. */
export function isUnclear(node: Node): boolean {
  if (!node.hasError) return false;
  return nodesIn(node).some((one) => one.isError || (one.isMissing && !isAtomic(one.parent) && one.parent?.type !== VALUE));
}

/** A qualifier `_Atomic` and then a "macro" without a name, with the type as its argument. */
export function isAtomic(type: Node | null): boolean {
  return type?.type === 'macro_type_specifier' && type.child(0)?.isMissing === true && type.previousSibling?.text === '_Atomic';
}

/** The nearest node around it of one of these types. */
export function around(node: Node, ...types: string[]): Node | undefined {
  for (let outer = node.parent; outer; outer = outer.parent) if (types.includes(outer.type)) return outer;
  return undefined;
}

/** Offset behind a node; the line comments of a text with CR LF take the CR, which is left out here. */
export function endOf(node: Node, text: string): number {
  return node.type === 'comment' && text[node.endIndex - 1] === '\r' ? node.endIndex - 1 : node.endIndex;
}

/** 1-based. */
export function lineOfNode(node: Node): number {
  return node.startPosition.row + 1;
}

/** The name that a declarator declares, behind its pointers, arrays and parentheses; undefined: none, as of a padding bit-field. */
export function declaredName(declarator: Node): Node | undefined {
  let inner: Node | null = declarator;
  while (inner) {
    if (/^(?:field_|type_)?identifier$/.test(inner.type)) return inner.isMissing ? undefined : inner;
    if (inner.type === 'qualified_identifier' || inner.type === 'template_function') inner = inner.childForFieldName('name');
    else
      inner = inner.childForFieldName('declarator') ?? childrenOf(inner).find(({ type }) => /(declarator|identifier)$/.test(type)) ?? null;
  }
  return undefined;
}

/** Whether it declares a function, and no pointer to one. */
export function declaresFunction(declarator: Node): boolean {
  const name = declaredName(declarator);
  let outer = name?.parent ?? undefined;
  while (outer?.type === 'qualified_identifier') outer = outer.parent ?? undefined;
  if (!name) return nodesOfType(declarator, 'destructor_name', 'operator_name', 'operator_cast').length > 0;
  return outer?.type === 'function_declarator' && outer.startIndex >= declarator.startIndex;
}
