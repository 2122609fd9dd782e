// Values that a text gives to the members of a structure by their position: in another order they would go to other members.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import { mentions, type Definition } from './definitions';
import { Refusal } from './edits';
import type { TextMember } from './members';
import { printable } from '../../protocol/printable';
import { around, childrenOf, declaratorsOf, declaredName, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

/** They make a whole value, for one element or for a copy. */
const WHOLE_VALUES = new Set(['call_expression', 'compound_literal_expression', 'new_expression']);

/**
 * @param names what the text calls the type
 * @throws Refusal naming the line of a value by position, or of designators that C++ wants in the order of the members
 */
export function checkInitialisers(
  source: SourceText,
  definition: Definition,
  names: ReadonlySet<string>,
  order: readonly TextMember[],
): void {
  const { root } = source;
  const types = withContainers(root, names);
  const macros = macrosOf(root);
  const refuse = (node: Node, what: string): never => {
    throw new Refusal(`${source.file}:${lineOfNode(node)} ${what} ${definition.name || definition.variable}: ${byTool(definition, order)}`);
  };
  const check = (list: Node | null, isDirect = true): void => {
    if (!list) return;
    const callee = list.type === 'call_expression' ? list.childForFieldName('function') : list;
    if (callee?.type === 'identifier' && (macros.has(callee.text) || IN_CAPITALS.test(callee.text)))
      refuse(list, t('gives values by a macro to members of'));
    if (list.type === 'argument_list' && list.namedChildCount >= 2 && isDirect) refuse(list, t('gives values by position to members of'));
    if (list.type !== 'initializer_list') return;
    const positional = firstPositional(list);
    if (positional) refuse(positional, t('gives values by position to members of'));
    if (source.language !== 'c' && !keepsOrder(list, order))
      refuse(list, t('names members in the order they have now, which C++ requires, of'));
  };
  const isOfType = (declaration: Node): boolean => {
    const type = declaration.childForFieldName('type');
    if (!type) return false;
    // The variable of the definition itself, perhaps without a name for the type.
    return mentions(type, types) || type.equals(definition.specifier);
  };
  const variables = new Set<string>();
  for (const declaration of nodesOfType(root, 'declaration', 'field_declaration', 'optional_parameter_declaration', 'condition_clause')) {
    if (!isOfType(declaration)) continue;
    for (const declarator of declaratorsOf(declaration)) {
      const name = declaredName(declarator);
      if (name) variables.add(name.text);
      check(declarator.childForFieldName('value') ?? null, isPlainType(declaration));
    }
    for (const value of declaration.childrenForFieldName('default_value')) check(value);
  }
  for (const literal of nodesOfType(root, 'compound_literal_expression', 'new_expression'))
    if (isOfType(literal)) check(literal.childForFieldName('value') ?? literal.childForFieldName('arguments'), isPlainType(literal));
  for (const [, body] of macros)
    if (body?.text.includes('{') && wordsOf(body.text).some((word) => types.has(word)))
      refuse(body, t('has a macro that may give values to members of'));
  if (source.language === 'c') return;
  for (const initialiser of nodesOfType(root, 'field_initializer'))
    if (variables.has(initialiser.namedChild(0)?.text ?? '')) check(initialiser.namedChild(1));
  for (const list of nodesOfType(root, 'initializer_list'))
    if (isOfUnknownType(list, variables, isOfType) && couldBe(list, order)) check(list);
  for (const call of nodesOfType(root, 'call_expression')) if (makesOne(call, types, variables)) check(call.childForFieldName('arguments'));
  for (const binding of nodesOfType(root, 'structured_binding_declarator'))
    if (binding.namedChildCount === order.length) refuse(binding, t('may bind names by position to members of'));
}

const IN_CAPITALS = /^[A-Z_][A-Z0-9_]*$/;

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}_$]+/u);

/** Those that the text defines, with what they stand for. */
function macrosOf(root: Node): Map<string, Node | null> {
  const definitions = nodesOfType(root, 'preproc_def', 'preproc_function_def');
  return new Map(definitions.map((node) => [node.childForFieldName('name')?.text ?? '', node.childForFieldName('value')]));
}

/** `T(1, 2)`, which C++20 takes for an aggregate, `std::make_unique<T>(1, 2)` and `list.emplace_back(1, 2)`. */
function makesOne(call: Node, types: ReadonlySet<string>, variables: ReadonlySet<string>): boolean {
  const callee = call.childForFieldName('function');
  if (callee?.type === 'identifier') return types.has(callee.text);
  if (callee?.type === 'field_expression') {
    const [field, object] = [callee.childForFieldName('field')?.text ?? '', callee.childForFieldName('argument')?.text ?? ''];
    return field.startsWith('emplace') && variables.has(object);
  }
  const [template] = callee ? nodesOfType(callee, 'template_function') : [];
  const makes = /^(?:make_\w+|emplace\w*|construct\w*)$/.test(template?.childForFieldName('name')?.text ?? '');
  const given = template?.childForFieldName('arguments');
  return makes && given !== undefined && given !== null && mentions(given, types);
}

/** No template, whose arguments may be anything. */
function isPlainType(declaration: Node): boolean {
  const type = declaration.childForFieldName('type');
  return type !== null && nodesOfType(type, 'template_argument_list').length === 0;
}

/** With all structures of the text that have one inside or as a base, those that have one of these, and their other names. */
function withContainers(root: Node, names: ReadonlySet<string>): Set<string> {
  const all = new Set(names);
  const structures = nodesOfType(root, 'struct_specifier', 'class_specifier', 'union_specifier').filter((node) =>
    node.childForFieldName('body'),
  );
  const aliases = nodesOfType(root, 'type_definition', 'alias_declaration');
  for (let size = -1; size !== all.size;) {
    size = all.size;
    for (const structure of structures) {
      const name = structure.childForFieldName('name')?.text ?? typedefName(structure);
      const fields = childrenOf(structure.childForFieldName('body') ?? structure);
      const has = fields.some((field) => {
        const type = field.type === 'field_declaration' ? field.childForFieldName('type') : null;
        return type && mentions(type, all) && field.childForFieldName('declarator')?.type !== 'pointer_declarator';
      });
      const bases = childrenOf(structure).find(({ type }) => type === 'base_class_clause');
      if ((has || (bases && mentions(bases, all))) && name !== undefined) all.add(name);
    }
    for (const alias of aliases) {
      const type = alias.childForFieldName('type');
      const name = alias.childForFieldName('name') ?? declaredName(alias.childForFieldName('declarator') ?? alias);
      if (type && name && mentions(type, all)) all.add(name.text);
    }
  }
  return all;
}

function typedefName({ parent }: Node): string | undefined {
  const declarator = parent?.type === 'type_definition' ? parent.childForFieldName('declarator') : null;
  return declarator ? declaredName(declarator)?.text : undefined;
}

/** The first value that neither names its member nor is whole; `{}` and `{0}` set all to zero in any order. */
function firstPositional(list: Node): Node | undefined {
  const values = childrenOf(list).filter(({ isNamed, type }) => isNamed && type !== 'comment');
  const [only] = values;
  if (values.length === 1 && only?.type === 'number_literal' && only.text === '0') return undefined;
  for (const value of values) {
    const inner = value.type === 'initializer_pair' ? value.childForFieldName('value') : value;
    if (inner?.type === 'initializer_list') {
      const found = firstPositional(inner);
      if (found) return found;
    } else if (value.type !== 'initializer_pair' && !WHOLE_VALUES.has(value.type)) return value;
  }
  return undefined;
}

function keepsOrder(list: Node, order: readonly TextMember[]): boolean {
  const named = nodesOfType(list, 'initializer_list').every((inner) => {
    const places = childrenOf(inner)
      .flatMap((pair) => (pair.type === 'initializer_pair' ? [pair.childForFieldName('designator')?.namedChild(0)?.text] : []))
      .map((name) => order.findIndex((member) => member.name === name))
      .filter((place) => place >= 0);
    return places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0));
  });
  return named;
}

/** Arguments, results and assigned values: `f({1, 2})`, `return {1, 2}`, `x = {1, 2}`. */
function isOfUnknownType(list: Node, variables: ReadonlySet<string>, isOfType: (declaration: Node) => boolean): boolean {
  const { parent } = list;
  if (parent?.type === 'return_statement') {
    const outer = around(parent, 'function_definition', 'lambda_expression');
    return outer?.type !== 'function_definition' || isOfType(outer);
  }
  if (parent?.type === 'assignment_expression')
    return variables.has(parent.childForFieldName('left')?.text ?? '') || parent.childForFieldName('left')?.type !== 'identifier';
  return parent?.type === 'argument_list' && parent.parent?.type === 'call_expression';
}

function couldBe(list: Node, order: readonly TextMember[]): boolean {
  return list.namedChildCount > 0 && list.namedChildCount <= order.length;
}

/** The tool that reorders members and all that initialises them, in every file that a compilation database names. */
export function byTool({ name, scopes }: Definition, order: readonly TextMember[]): string {
  const type = [...scopes.filter((scope) => !scope.includes('@')), name].join('::');
  const fields = order.map((member) => member.name).join(',');
  return t(
    'reorder with “clang-reorder-fields --record-name {0} --fields-order {1} -i FILE”, then ask again.',
    printable(type),
    printable(fields),
  );
}
