// Macros and values in a text that the grammars do not understand, and that declare nothing: for the parser they become blanks.
import type { Node } from 'web-tree-sitter';
import { around, childrenOf, nodesOfType } from './nodes';

/** Something of the text that the tree does not have, by offsets. `line`: a macro that stands alone before a declaration. */
export interface Annotation {
  start: number;
  end: number;
  kind: 'export' | 'annotation' | 'value' | 'line';
}

const MACRO = /^[A-Z][A-Z0-9_]*$/;

/** The text with blanks instead of these; offsets and lines stay. */
export function withoutAnnotations(text: string, annotations: readonly Annotation[]): string {
  let shown = '';
  let at = 0;
  for (const { start, end } of [...annotations].sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    shown += text.slice(at, start) + text.slice(start, end).replace(/[^\r\n]/g, ' ');
    at = end;
  }
  return shown + text.slice(at);
}

/** What a tree took for something else: `class EXPORT Pool {`, `long hits GUARDED_BY(lock);`, `int a : 3 = 1;`, `Q_OBJECT`. */
export function annotationsIn(root: Node): Annotation[] {
  return [
    ...nodesOfType(root, 'function_definition').flatMap(exportMacro),
    ...nodesOfType(root, 'function_declarator').flatMap(annotationMacro),
    ...nodesOfType(root, 'field_declaration', 'declaration').flatMap((node) => [
      ...bitsWithValue(node),
      ...behindArray(node),
      ...macroLine(node),
      ...macroInFront(node),
    ]),
  ];
}

/** A "function" that returns a class without members and takes nothing is a class with a macro before its name. */
function exportMacro(definition: Node): Annotation[] {
  const type = definition.childForFieldName('type');
  const declarator = definition.childForFieldName('declarator');
  const name = type?.childForFieldName('name');
  if (!type || !name || !/^(?:class|struct|union)_specifier$/.test(type.type) || type.childForFieldName('body')) return [];
  if (declarator?.type !== 'identifier' && declarator?.type !== 'template_function') return [];
  return [{ start: name.startIndex, end: name.endIndex, kind: 'export' }];
}

/** A "function" in capitals behind the name of a member. */
function annotationMacro(call: Node): Annotation[] {
  const name = call.childForFieldName('declarator');
  if (!name || !MACRO.test(name.text)) return [];
  const declaration = around(call, 'field_declaration', 'declaration');
  const isBehindName =
    call.previousSibling?.isError === true ||
    (declaration && lastType(declaration)?.type === 'type_identifier') ||
    (declaration?.child(0)?.equals(call) === true && declaration.previousSibling?.lastChild?.isMissing === true);
  return isBehindName ? [{ start: call.startIndex, end: call.endIndex, kind: 'annotation' }] : [];
}

/** What a declaration such as "long hits" has as a type where the name is taken for a part of it. */
function lastType(declaration: Node): Node | null {
  const type = declaration.childForFieldName('type');
  return type?.type === 'sized_type_specifier' ? type.childForFieldName('type') : null;
}

function bitsWithValue(declaration: Node): Annotation[] {
  if (declaration.type !== 'field_declaration' || !declaration.hasError) return [];
  const children = childrenOf(declaration);
  return children.flatMap((child, index) => {
    if (!child.isError || childrenOf(child)[0]?.type !== 'bitfield_clause') return [];
    const [equals, value] = children.slice(index + 1);
    return equals?.type === '=' && value ? [{ start: equals.startIndex, end: value.endIndex, kind: 'value' }] : [];
  });
}

/** Behind an array, an annotation with a value is taken for a member: the declaration before it lacks its semicolon. */
function behindArray(declaration: Node): Annotation[] {
  const type = declaration.childForFieldName('type');
  const declarator = declaration.childForFieldName('declarator');
  const isBehind = type?.type === 'type_identifier' && MACRO.test(type.text) && declaration.previousSibling?.lastChild?.isMissing === true;
  if (!isBehind || declarator?.type !== 'parenthesized_declarator') return [];
  return [{ start: declaration.startIndex, end: declarator.endIndex, kind: 'annotation' }];
}

/** A word in capitals alone on the line before a declaration, taken for its type or for a part of that. */
function macroLine(declaration: Node): Annotation[] {
  const type = declaration.childForFieldName('type');
  const word = type?.type === 'sized_type_specifier' ? type.childForFieldName('type') : declaration.hasError ? type : null;
  const next = type?.type === 'sized_type_specifier' ? word?.nextSibling : type?.nextSibling;
  if (word?.type !== 'type_identifier' || !MACRO.test(word.text) || !next || next.startPosition.row === word.endPosition.row) return [];
  return [{ start: word.startIndex, end: word.endIndex, kind: 'line' }];
}

/** A word in capitals before the type, taken for it: the type then is taken for the name, and the name for too much. */
function macroInFront(declaration: Node): Annotation[] {
  const type = declaration.childForFieldName('type');
  if (type?.type !== 'type_identifier' || !MACRO.test(type.text) || !declaration.hasError) return [];
  if (declaration.type !== 'declaration') return [];
  return [{ start: type.startIndex, end: type.endIndex, kind: 'annotation' }];
}
