// Where a source text defines a structure, by its name and the line that debug information states.
import { isUnnamedType } from '../report/data-text';
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import type { TypeReference } from '../../protocol/advice';
import { printable } from '../../protocol/printable';
import { listed, Refusal } from './edits';
import { around, childrenOf, declaratorsOf, declaredName, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

/** A structure, class or union with its members, as the text has it. */
export interface Definition {
  specifier: Node;
  body: Node;
  /** The declaration that ends with the definition's semicolon: of a variable, a typedef, or the specifier itself. */
  whole: Node;
  /** Its tag, or the name of its typedef; empty: it has none. */
  name: string;
  /** The variable or member of a structure without a name; else empty. */
  variable: string;
  /** Namespaces, classes and functions around it, outermost first. */
  scopes: string[];
  isTemplate: boolean;
  isUnion: boolean;
}

const SPECIFIERS = ['struct_specifier', 'class_specifier', 'union_specifier'];
const SCOPES = ['namespace_definition', ...SPECIFIERS, 'function_definition', 'lambda_expression'];

/**
 * The one definition of this type.
 * @throws Refusal where there is none at its line, or several in the text
 */
export function definitionOf(source: SourceText, type: TypeReference): Definition {
  const { line } = type.definition;
  const wanted = simpleName(type.name);
  const place = `${source.file}:${line}`;
  const named = definitionsIn(source).filter(({ name, variable }) =>
    wanted === '' || wanted === variable ? name === '' : name === wanted,
  );
  const here = named.filter((definition) => coversLine(definition, line));
  const exact = here.filter((definition) => lineOfName(definition) === line);
  const found = exact.length > 0 ? exact : here;
  const [definition, second] = found;
  const what = wanted === '' ? t('the unnamed structure') : printable(type.name);
  if (!definition) {
    const elsewhere = named.map((one) => lineOfName(one));
    if (elsewhere.length > 0)
      throw new Refusal(
        t(
          '{0} is defined at line {1} of {2} and was at line {3} when it was recorded: build and record again.',
          what,
          listed(elsewhere.map(String)),
          source.file,
          line,
        ),
      );
    throw new Refusal(
      t(
        '{0} has no readable definition of {1}: a macro may produce it, or the source has changed. Make the change by hand, or build and record again.',
        place,
        what,
      ),
    );
  }
  if (second) throw new Refusal(t('{0} has several definitions of {1}: make the change by hand in the right one.', place, what));
  const twins = named.filter((other) => other !== definition && keyOf(other) === keyOf(definition) && definition.name !== '');
  if (twins.length > 0) {
    const lines = [definition, ...twins].map((one) => lineOfName(one)).sort((a, b) => a - b);
    throw new Refusal(
      t(
        '{0} has several definitions in {1}, at lines {2}: change all that must stay alike by hand.',
        what,
        source.file,
        listed(lines.map(String)),
      ),
    );
  }
  return definition;
}

function definitionsIn(source: SourceText): Definition[] {
  return nodesOfType(source.root, ...SPECIFIERS).flatMap((specifier) => {
    const body = specifier.childForFieldName('body');
    if (!body) return [];
    const outer = specifier.parent;
    const whole =
      outer && outer.childForFieldName('type')?.equals(specifier) === true && outer.type !== 'type_descriptor' ? outer : specifier;
    const declarator = whole.equals(specifier) ? null : whole.childForFieldName('declarator');
    const declared = declarator && declaredName(declarator)?.text;
    const tag = specifier.childForFieldName('name');
    const isTypedef = whole.type === 'type_definition';
    return {
      specifier,
      body,
      whole,
      name: tag ? withoutBlanks(simpleNode(tag).text) : isTypedef ? (declared ?? '') : '',
      variable: tag || isTypedef ? '' : (declared ?? ''),
      scopes: [...scopesAround(specifier), ...qualifiersOf(tag)],
      isTemplate: around(specifier, 'template_declaration') !== undefined,
      isUnion: specifier.type === 'union_specifier',
    };
  });
}

/** Of its name where it has one, as DWARF's declaration line is. */
function lineOfName({ specifier, whole, name }: Definition): number {
  const tag = specifier.childForFieldName('name');
  if (tag) return lineOfNode(tag);
  const declarator = name === '' ? null : whole.childForFieldName('declarator');
  return lineOfNode((declarator && declaredName(declarator)) ?? specifier);
}

/** From the keyword, or the template's or attributes' first line, to the name, also where that stands behind the members. */
function coversLine({ specifier, body, whole, name }: Definition, line: number): boolean {
  const tag = specifier.childForFieldName('name');
  const first = lineOfNode(whole.parent?.type === 'template_declaration' ? whole.parent : whole);
  const last = tag || name === '' ? lineOfNode(body) : whole.endPosition.row + 1;
  const keyword = lineOfNode(specifier);
  return tag || name === '' ? line >= first && line <= last : line === keyword || (line > body.endPosition.row && line <= last);
}

/** What distinguishes it from others of its name: scopes and template arguments. */
function keyOf({ specifier, scopes, name }: Definition): string {
  const tag = specifier.childForFieldName('name');
  return [...scopes, tag ? withoutBlanks(simpleText(tag)) : name].join('::');
}

function simpleText(tag: Node): string {
  return tag.type === 'qualified_identifier' ? simpleText(tag.childForFieldName('name') ?? tag) : tag.text;
}

function simpleNode(tag: Node): Node {
  if (tag.type === 'qualified_identifier' || tag.type === 'template_type') {
    const name = tag.childForFieldName('name');
    if (name) return simpleNode(name);
  }
  return tag;
}

function qualifiersOf(tag: Node | null): string[] {
  const scopes: string[] = [];
  for (let at = tag; at?.type === 'qualified_identifier'; at = at.childForFieldName('name')) {
    const scope = at.childForFieldName('scope');
    if (scope) scopes.push(scope.text);
  }
  return scopes;
}

function scopesAround(node: Node): string[] {
  const scopes: string[] = [];
  for (let outer = around(node, ...SCOPES); outer; outer = around(outer, ...SCOPES)) {
    const name = outer.childForFieldName('name') ?? outer.childForFieldName('declarator');
    // Two unnamed scopes, or two functions of one name, are not the same one; two parts of a namespace are.
    const isOne = outer.type === 'namespace_definition' && name !== null;
    scopes.unshift(`${name?.text ?? ''}${isOne ? '' : `@${outer.startIndex}`}`);
  }
  return scopes;
}

/** Without scopes and template arguments: "Ring" of "ns::Ring<int, std::less<int>>"; empty: it has no name, as "struct {...}". */
function simpleName(name: string): string {
  if (isUnnamedType(name)) return '';
  let depth = 0;
  let simple = '';
  for (const character of name.replace(/^(?:struct|class|union)\s+/, '')) {
    if (character === '<' || character === '(') ++depth;
    else if (character === '>' || character === ')') --depth;
    else if (depth === 0) simple = character === ':' ? '' : simple + character;
  }
  return simple.trim();
}

const withoutBlanks = (text: string): string => text.replace(/\s+/g, '');

/** Every name that the text gives the type: its tag, typedefs and aliases. */
export function namesOf(source: SourceText, { whole, name }: Definition): Set<string> {
  const names = new Set(name === '' ? [] : [name]);
  if (whole.type === 'type_definition')
    for (const declarator of declaratorsOf(whole)) {
      const declared = declaredName(declarator);
      if (declared) names.add(declared.text);
    }
  const aliases = nodesOfType(source.root, 'type_definition', 'alias_declaration');
  for (const alias of aliases) {
    const type = alias.childForFieldName('type');
    if (!type || !mentions(type, names)) continue;
    const declared = alias.childForFieldName('name') ?? declaredName(alias.childForFieldName('declarator') ?? alias);
    if (declared) names.add(declared.text);
  }
  return names;
}

/** Whether a type that is written there is one of these names, or has one inside: `std::vector<T>`. */
export function mentions(type: Node, names: ReadonlySet<string>): boolean {
  const isInBody = (node: Node): boolean => {
    const body = type.childForFieldName('body');
    return body !== null && node.startIndex >= body.startIndex && node.endIndex <= body.endIndex;
  };
  return nodesOfType(type, 'type_identifier', 'identifier').some((node) => names.has(node.text) && !isInBody(node));
}

/** Whether preprocessor conditions, definitions or pragmas stand between its braces. */
export function directiveIn(body: Node): Node | undefined {
  return childrenOf(body).find(({ type }) => type.startsWith('preproc_'));
}
