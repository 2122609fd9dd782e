// How an alignment is written in C and C++, where in a declaration it stands, and which one is there already.
import type { Node } from 'web-tree-sitter';
import type { TextEdit } from './edits';
import { childrenOf, declaratorsOf, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

/** Where the GNU attribute is the only way: standard C and C++ align no bit-field, and have no word in common. */
const gnu = (alignment: number): string => `__attribute__((aligned(${alignment})))`;

/** @param alignment bytes */
function alignmentWord(source: SourceText, alignment: number): string {
  if (source.language === 'c++') return `alignas(${alignment})`;
  if (source.language === 'both') return gnu(alignment);
  return usesAlignas(source) ? `alignas(${alignment})` : `_Alignas(${alignment})`;
}

/** C that includes <stdalign.h>, or is C23 and writes `alignas` itself. */
function usesAlignas({ root }: SourceText): boolean {
  const written = nodesOfType(root, 'alignas_qualifier').some((node) => node.child(0)?.type === 'alignas');
  return written || nodesOfType(root, 'preproc_include').some(({ text }) => text.includes('<stdalign.h>'));
}

/**
 * The edits that give all that a declaration of members or variables declares this alignment; none where it has it.
 * @param alignment bytes
 */
export function alignDeclaration(source: SourceText, declaration: Node, alignment: number): TextEdit[] {
  const { text, language } = source;
  const type = declaration.childForFieldName('type');
  const body = type?.childForFieldName('body');
  // A structure without a name and without a variable: nothing is declared that a specifier could align.
  if (type && body && declaration.childForFieldName('declarator') === null && declaration.type === 'field_declaration')
    return alignStructure(source, type, alignment);
  if (writtenAlignment(declaration, body ?? undefined) >= alignment) return [];
  const smaller = smallerAlignment(declaration, body ?? undefined);
  if (smaller) return [{ start: smaller.startIndex, end: smaller.endIndex, text: `${alignment}` }];
  const bits = childrenOf(declaration).some((child) => child.type === 'bitfield_clause');
  // C++ takes no `alignas` behind a macro that may be a GCC attribute.
  const word = bits || (language === 'c++' && macroBefore(source, declaration)) ? gnu(alignment) : alignmentWord(source, alignment);
  let at = declaration.startIndex;
  // In C, attributes of C23 come first of all.
  if (language !== 'c++') for (const child of childrenOf(declaration)) if (child.type === 'attribute_declaration') at = child.endIndex;
  return [at > declaration.startIndex ? { start: at, end: at, text: ` ${word}` } : { start: at, end: at, text: `${word}${gap(text, at)}` }];
}

/** The edits that align each object of a structure: of its specifier in C++, of its first member in C. */
export function alignStructure(source: SourceText, specifier: Node, alignment: number): TextEdit[] {
  const body = specifier.childForFieldName('body');
  if (writtenAlignment(specifier, body ?? undefined) >= alignment) return [];
  const smaller = smallerAlignment(specifier, body ?? undefined);
  if (smaller) return [{ start: smaller.startIndex, end: smaller.endIndex, text: `${alignment}` }];
  const keyword = specifier.child(0);
  if (source.language === 'c') {
    const first = body && childrenOf(body).find((child) => child.isNamed && child.type !== 'comment');
    if (first?.type === 'field_declaration' && isPlain(first)) return alignDeclaration(source, first, alignment);
  }
  if (!keyword) return [];
  const word = source.language === 'c++' && !hasGnuAttribute(source, specifier) ? alignmentWord(source, alignment) : gnu(alignment);
  return [{ start: keyword.endIndex, end: keyword.endIndex, text: ` ${word}` }];
}

/** GCC's attributes, or a macro that may be one: GCC takes no `alignas` beside them between the keyword and the name. */
function hasGnuAttribute({ annotations }: SourceText, specifier: Node): boolean {
  const end = specifier.childForFieldName('body')?.startIndex ?? specifier.endIndex;
  const isMacro = annotations.some((annotation) => annotation.start > specifier.startIndex && annotation.end < end);
  return isMacro || childrenOf(specifier).some(({ type, endIndex }) => type === 'attribute_specifier' && endIndex <= end);
}

/** Whether a macro stands before the type, with nothing but blanks between. */
function macroBefore({ text, annotations }: SourceText, declaration: Node): boolean {
  return annotations.some(
    ({ end, kind }) => kind === 'annotation' && end <= declaration.startIndex && text.slice(end, declaration.startIndex).trim() === '',
  );
}

/** Whether an alignment of the declaration reaches one member alone. */
function isPlain(declaration: Node): boolean {
  return declaratorsOf(declaration).length <= 1;
}

/** The number of the one `alignas(8)` that is there, to be replaced. */
function smallerAlignment(node: Node, body?: Node): Node | undefined {
  const own = nodesOfType(node, 'alignas_qualifier').filter(
    ({ startIndex }) => !body || startIndex < body.startIndex || startIndex >= body.endIndex,
  );
  const [number, ...more] = own.flatMap((written) => childrenOf(written).filter(({ isNamed }) => isNamed));
  return number?.type === 'number_literal' && more.length === 0 ? number : undefined;
}

/** Bytes; 0: none, or an expression whose value the text does not say. Alignments inside of `body` are of other things. */
function writtenAlignment(node: Node, body?: Node): number {
  const isOwn = ({ startIndex }: Node): boolean => !body || startIndex < body.startIndex || startIndex >= body.endIndex;
  const standard = nodesOfType(node, 'alignas_qualifier').filter(isOwn);
  const attributes = nodesOfType(node, 'attribute_specifier')
    .filter(isOwn)
    .flatMap((attribute) => nodesOfType(attribute, 'call_expression'))
    .filter((call) => /^(?:__)?aligned(?:__)?$/.test(call.childForFieldName('function')?.text ?? ''));
  return Math.max(
    0,
    ...[...standard, ...attributes].map((written) => {
      const [argument, ...more] = nodesOfType(written, 'number_literal', 'identifier', 'type_descriptor', 'binary_expression').filter(
        ({ text }) => !/^(?:__)?aligned(?:__)?$/.test(text),
      );
      return argument?.type === 'number_literal' && more.length === 0 ? Number(argument.text) || 0 : 0;
    }),
  );
}

const gap = (text: string, at: number): string => (/\s/.test(text[at] ?? '') ? '' : ' ');
