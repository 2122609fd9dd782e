// Syntax trees of C and C++ source texts, from tree-sitter's grammars as WebAssembly.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Language, Parser, type Node, type Tree } from 'web-tree-sitter';

/** What a text is compiled as. `both`: a header that either language may include. */
export type SourceLanguage = 'c' | 'c++' | 'both';

/** All offsets and columns of its nodes are UTF-16 code units of `text`, as in JavaScript strings and the editor; rows count from 0. */
export interface SourceText {
  file: string;
  text: string;
  language: SourceLanguage;
  root: Node;
}

const C_ENDINGS = /\.c$/;
const HEADER_ENDINGS = /\.h$/;
const CXX_NODES = [
  'class_specifier',
  'namespace_definition',
  'template_declaration',
  'template_type',
  'access_specifier',
  'alias_declaration',
  'using_declaration',
  'qualified_identifier',
  'reference_declarator',
  'base_class_clause',
  'default_method_clause',
];
const C_WORDS = new Set(['_Atomic', '_Alignas', '_Bool', '_Generic', '_Noreturn', '_Static_assert', '_Thread_local', 'restrict']);

/** Beside the bundle; in a checkout, which runs the sources themselves, where npm put them. */
function grammarFile(name: string): string {
  const beside = join(__dirname, 'syntax', `${name}.wasm`);
  return existsSync(beside) ? beside : createRequire(__filename).resolve(`${name}/${name}.wasm`);
}

async function loadGrammars(): Promise<{ c: Parser; cxx: Parser }> {
  await Parser.init({ wasmBinary: await readFile(grammarFile('web-tree-sitter')) });
  const parser = async (name: string): Promise<Parser> => new Parser().setLanguage(await Language.load(await readFile(grammarFile(name))));
  return { c: await parser('tree-sitter-c'), cxx: await parser('tree-sitter-cpp') };
}

let grammars: ReturnType<typeof loadGrammars> | undefined;

/**
 * Calls `use` with the tree of a text, which goes away afterwards: its memory is not JavaScript's.
 * @param isCxx whether something else than the text shows that it is C++: names of its types in the binary
 * @throws Error where the grammars cannot be read
 */
export async function withSyntax<R>(file: string, text: string, isCxx: boolean, use: (source: SourceText) => R): Promise<R> {
  grammars ??= loadGrammars();
  const { c, cxx } = await grammars;
  const trees: Tree[] = [];
  const parse = (parser: Parser): Node => {
    const tree = parser.parse(text);
    if (tree === null) throw new Error(`${file} could not be parsed: the parser has no language.`);
    trees.push(tree);
    return tree.rootNode;
  };
  try {
    const language = C_ENDINGS.test(file) ? 'c' : isCxx || !HEADER_ENDINGS.test(file) ? 'c++' : languageOfHeader(parse(cxx), parse(c));
    return use({ file, text, language, root: parse(language === 'c++' ? cxx : c) });
  } finally {
    for (const tree of trees) tree.delete();
  }
}

function languageOfHeader(asCxx: Node, asC: Node): SourceLanguage {
  if (asCxx.descendantsOfType(CXX_NODES).length > 0) return 'c++';
  const words = nodesIn(asC).some((node) => node.childCount === 0 && C_WORDS.has(node.text));
  return words ? 'c' : 'both';
}

/** The node and all below it, in the order of the text. */
export function nodesIn(node: Node): Node[] {
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
  return [...node.descendantsOfType(types)];
}

/** Whether something below the node is not understood. C's `_Atomic(int)`, which the grammar takes for a macro, is. */
export function isUnclear(node: Node): boolean {
  if (!node.hasError) return false;
  return nodesIn(node).some((one) => one.isError || (one.isMissing && !isAtomic(one.parent)));
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
