// Syntax trees of C and C++ source texts, from tree-sitter's grammars as WebAssembly.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { annotationsIn, withoutAnnotations, type Annotation } from './annotations';
import { Language, Parser, type Node, type Tree } from 'web-tree-sitter';

/** What a text is compiled as. `both`: a header that either language may include. */
type SourceLanguage = 'c' | 'c++' | 'both';

/** All offsets and columns of its nodes are UTF-16 code units of `text`, as in JavaScript strings and the editor; rows count from 0. */
export interface SourceText {
  file: string;
  text: string;
  language: SourceLanguage;
  /** Without `annotations`, which are blanks to it. */
  root: Node;
  annotations: Annotation[];
}

const C_ENDINGS = /\.c$/;
const HEADER_ENDINGS = /\.h$/;
const MAX_PASSES = 4;
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
const C_NODES = ['type_qualifier', 'primitive_type', 'type_identifier', 'storage_class_specifier', 'call_expression'];
const C_WORDS = /^(?:_Atomic|_Alignas|_Bool|_Noreturn|_Static_assert|_Thread_local|restrict)\b/;

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
  const parse = (parser: Parser, shown = text): Node => {
    const tree = parser.parse(shown);
    if (tree === null) throw new Error(`${file} could not be parsed: the parser has no language.`);
    trees.push(tree);
    return tree.rootNode;
  };
  try {
    const language = C_ENDINGS.test(file) ? 'c' : isCxx || !HEADER_ENDINGS.test(file) ? 'c++' : languageOfHeader(parse(cxx), parse(c));
    const parser = language === 'c++' ? cxx : c;
    let root = parse(parser);
    const annotations: Annotation[] = [];
    // One that is understood shows the next.
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const more = annotationsIn(root);
      if (more.length === 0) break;
      annotations.push(...more);
      root = parse(parser, withoutAnnotations(text, annotations));
    }
    return use({ file, text, language, root, annotations });
  } finally {
    for (const tree of trees) tree.delete();
  }
}

function languageOfHeader(asCxx: Node, asC: Node): SourceLanguage {
  if (asCxx.descendantsOfType(CXX_NODES).length > 0) return 'c++';
  return asC.descendantsOfType(C_NODES).some(({ text }) => C_WORDS.test(text)) ? 'c' : 'both';
}
