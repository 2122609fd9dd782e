// Assertions behind a definition that its members start cache lines, so that a later change of it does not undo the edit unseen.
import type { Definition } from './definitions';
import { indentationAt, lineEnding, type TextEdit } from './edits';
import type { TextMember } from './members';
import { childrenOf, declaredName, isUnclear, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

/** Built-in types, pointers and atomics of them: with these alone a class of public members has standard layout. */
const PLAIN_TYPE = /^(?:(?:std :: )?atomic(?:_\w+)?(?: < [\w ]+ >)?|[\w ]+)(?: (?:\*|\[|\]|\d+))*$/;

/**
 * None where `offsetof` is not surely known, or not surely allowed: outside of the definition's scope, for private members, for what
 * is perhaps no standard layout.
 * @param alignment bytes
 */
export function guardsOf(
  source: SourceText,
  definition: Definition,
  members: readonly TextMember[],
  aligned: readonly TextMember[],
  alignment: number,
): TextEdit[] {
  const { text, language } = source;
  const name = assertedName(source, definition);
  const names = aligned.filter((member) => member.name !== '' && !member.isBits && !member.isConditional).map((member) => member.name);
  if (name === undefined || names.length === 0 || !hasOffsetof(source)) return [];
  if (language === 'c++' && !isPlainClass(definition, members)) return [];
  const word = language === 'c++' ? 'static_assert' : '_Static_assert';
  const semicolon = endOfDefinition(definition);
  if (semicolon === undefined) return [];
  const lineEnd = text.indexOf('\n', semicolon);
  const behind = text.slice(semicolon, lineEnd < 0 ? text.length : lineEnd);
  const isAlone = behind.trim() === '' || /^\s*(?:\/\/[^\\]*|\/\*(?:(?!\*\/).)*\*\/\s*)$/.test(behind);
  const at = isAlone ? semicolon + behind.trimEnd().length : semicolon;
  const newline = lineEnding(text) + indentationAt(text, definition.whole.startIndex);
  const lines = names.map(
    (member) => `${newline}${word}(offsetof(${name}, ${member}) % ${alignment} == 0, "${member} starts a cache line");`,
  );
  return [{ start: at, end: at, text: lines.join('') }];
}

/** How the scope of the definition calls the type; undefined: an assertion cannot stand behind it there. */
function assertedName({ language }: SourceText, definition: Definition): string | undefined {
  const { specifier, whole, name, isTemplate, isUnion } = definition;
  if (language === 'both' || isTemplate || isUnion || name === '' || isUnclear(specifier)) return undefined;
  if (specifier.childForFieldName('name')?.type === 'qualified_identifier') return undefined;
  for (let outer = whole.parent; outer; outer = outer.parent)
    if (!/^(translation_unit|declaration_list|namespace_definition|linkage_specification|preproc_(if|ifdef|else|elif))$/.test(outer.type))
      return undefined;
  if (language === 'c++' || specifier.childForFieldName('name') === null) return name;
  return `struct ${name}`;
}

function hasOffsetof({ root, language }: SourceText): boolean {
  const wanted = language === 'c++' ? ['<cstddef>', '<stddef.h>'] : ['<stddef.h>'];
  return nodesOfType(root, 'preproc_include').some(({ text }) => wanted.some((name) => text.includes(name)));
}

function isPlainClass({ specifier, body }: Definition, members: readonly TextMember[]): boolean {
  if (childrenOf(specifier).some(({ type }) => type === 'base_class_clause')) return false;
  if (specifier.type === 'class_specifier' || nodesOfType(body, 'access_specifier', 'virtual', 'virtual_specifier').length > 0)
    return false;
  return members.every(({ type, declarator }) => PLAIN_TYPE.test(type) && declarator !== null && declaredName(declarator) !== undefined);
}

/** Offset behind its semicolon. */
function endOfDefinition({ specifier, whole }: Definition): number | undefined {
  if (!whole.equals(specifier)) return whole.endIndex;
  const next = specifier.nextSibling;
  return next?.text === ';' ? next.endIndex : undefined;
}
