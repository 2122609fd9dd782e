// Edits of allocations, so that each block starts a cache line.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import { printable } from '../../protocol/printable';
import { fileEdit, lineEnding, Refusal, type FileEdit, type TextEdit } from './edits';
import { around, declaratorsOf, declaredName, isUnclear, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

const ALLOCATORS =
  /^(?:std\s*::\s*)?(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|valloc|strdup|g_malloc0?|g_new0?|kmalloc)$/;

/** @throws Refusal where the line has no call of malloc(), or several, or another allocation, with the line to write */
export function allocationEdit(source: SourceText, line: number, alignment: number): FileEdit {
  const place = `${source.file}:${line}`;
  const calls = callsAt(source, line);
  const mallocs = calls.filter(({ name }) => name === 'malloc');
  const [malloc, second] = mallocs;
  if (!malloc) throw refusalOf(place, calls[0], newAt(source, line), alignment);
  if (second) throw new Refusal(t('{0} calls malloc() several times: give each a line of its own, then build and record again.', place));
  const { node } = malloc;
  const [argument, other] = argumentsOf(node);
  if (!argument || other || isUnclear(node))
    throw new Refusal(t('{0} calls malloc() in a way that is not understood: make the change by hand.', place));
  checkNotResized(source, node, place, alignment);
  const callee = node.childForFieldName('function');
  if (!callee) throw new Refusal(t('{0} calls malloc() in a way that is not understood: make the change by hand.', place));
  const name = { start: callee.endIndex - 'malloc'.length, end: callee.endIndex, text: 'aligned_alloc' };
  const [before = '', behind = ''] = roundedUp(SIZE, alignment).split(SIZE);
  const { startIndex: start, endIndex: end } = argument;
  const size = [
    { start, end: start, text: `${alignment}, ${before}` },
    { start: end, end, text: behind },
  ];
  return fileEdit(source, [...includeEdits(source), name, ...size]);
}

const SIZE = 'size';

/** aligned_alloc() takes only multiples of the alignment. */
const roundedUp = (size: string, alignment: number): string => `((${size}) + ${alignment - 1}) / ${alignment} * ${alignment}`;

interface Call {
  node: Node;
  name: string;
  callee: Node;
}

function callsIn({ root }: SourceText): Call[] {
  return nodesOfType(root, 'call_expression').flatMap((node) => {
    const callee = node.childForFieldName('function');
    const [, name] = ALLOCATORS.exec(callee?.text ?? '') ?? [];
    return callee && name !== undefined ? { node, name, callee } : [];
  });
}

/**
 * Lines with calls that allocate objects of a type, as far as the text shows: by `sizeof`, or by the pointer that is given the block.
 * @param type as debug information spells it; names that `typedef` gives it in this text count, too
 */
export function allocationsOf(source: SourceText, type: string): number[] {
  const names = namesOf(source, type);
  const pointers = pointersTo(source, names);
  const isOf = ({ node }: Call): boolean => {
    const sized = nodesOfType(node, 'sizeof_expression').flatMap(
      (of) => of.childForFieldName('type') ?? of.childForFieldName('value') ?? [],
    );
    if (sized.length === 0) return pointers.has(targetOf(node) ?? '');
    return sized.some((of) => names.has(plainType(withoutParentheses(of).text)) || pointsTo(withoutParentheses(of), pointers));
  };
  return [
    ...new Set(
      callsIn(source)
        .filter(isOf)
        .map(({ callee }) => lineOfNode(callee)),
    ),
  ];
}

const plainType = (text: string): string => text.replace(/\b(?:struct|class|union|const|volatile)\b/g, '').trim();

/** The grammar takes the name of a type in parentheses for a value. */
const withoutParentheses = (node: Node): Node => (node.type === 'parenthesized_expression' ? (node.namedChild(0) ?? node) : node);

/** `*p`, `p[0]`. */
function pointsTo(value: Node, pointers: ReadonlySet<string>): boolean {
  const isElement = value.type === 'pointer_expression' || value.type === 'subscript_expression';
  return isElement && pointers.has(lastName(value.namedChild(0) ?? undefined) ?? '');
}

function namesOf({ root }: SourceText, type: string): Set<string> {
  const names = new Set([plainType(type)]);
  for (const definition of nodesOfType(root, 'type_definition')) {
    const of = definition.childForFieldName('type');
    const name = of?.childForFieldName('name')?.text ?? of?.text ?? '';
    if (!names.has(plainType(name))) continue;
    for (const declarator of declaratorsOf(definition)) if (declarator.type === 'type_identifier') names.add(declarator.text);
  }
  return names;
}

/** Names of variables, parameters and members that are declared as pointers to the type. */
function pointersTo({ root }: SourceText, names: ReadonlySet<string>): Set<string> {
  const pointers = new Set<string>();
  for (const declaration of nodesOfType(root, 'declaration', 'parameter_declaration', 'field_declaration')) {
    const type = declaration.childForFieldName('type');
    if (!names.has(plainType(type?.childForFieldName('name')?.text ?? type?.text ?? ''))) continue;
    for (const declarator of declaratorsOf(declaration))
      if (nodesOfType(declarator, 'pointer_declarator').length === 1) pointers.add(declaredName(declarator)?.text ?? '');
  }
  pointers.delete('');
  return pointers;
}

/** Allocations whose name stands on the line; else those of a statement that goes over it. */
function callsAt(source: SourceText, line: number): Call[] {
  const all = callsIn(source);
  const here = all.filter(({ callee }) => lineOfNode(callee) === line);
  return here.length > 0 ? here : all.filter(({ node }) => coversLine(node, line));
}

function newAt({ root }: SourceText, line: number): Node | undefined {
  return nodesOfType(root, 'new_expression').find((node) => coversLine(node, line));
}

function coversLine(node: Node, line: number): boolean {
  const outer = around(node, 'expression_statement', 'declaration', 'return_statement') ?? node;
  return line >= lineOfNode(outer) && line <= outer.endPosition.row + 1;
}

function argumentsOf(call: Node): Node[] {
  return (call.childForFieldName('arguments')?.namedChildren ?? []).filter(({ type }) => type !== 'comment');
}

/** What the line should be, in words: blocks that these give are set to zero, moved or freed in ways of their own. */
function refusalOf(place: string, call: Call | undefined, creation: Node | undefined, alignment: number): Refusal {
  if (call?.name === 'calloc') {
    const [count, size] = argumentsOf(call.node).map(({ text }) => printable(text));
    const bytes = `(${count ?? 'n'}) * (${size ?? 'size'})`;
    return new Refusal(
      t(
        '{0} calls calloc(), which also zeroes: write “aligned_alloc({1}, {2})” and clear the block with memset().',
        place,
        alignment,
        roundedUp(bytes, alignment),
      ),
    );
  }
  if (call?.name === 'realloc' || call?.name === 'reallocarray')
    return new Refusal(
      t(
        '{0} calls {1}(), which keeps no alignment: allocate with “aligned_alloc({2}, …)”, copy with memcpy(), and free() the old block.',
        place,
        call.name,
        alignment,
      ),
    );
  if (call)
    return new Refusal(
      t('{0} calls {1}(): replace it by “aligned_alloc({2}, size)”, with a size that is a multiple of {2}.', place, call.name, alignment),
    );
  if (creation) {
    const type = printable(creation.childForFieldName('type')?.text ?? 'T');
    return new Refusal(
      t(
        '{0} creates objects with new: declare the type as “struct alignas({1}) {2}”, which new respects from C++17 on.',
        place,
        alignment,
        type,
      ),
    );
  }
  return new Refusal(
    t(
      '{0} has no allocation that can be read: a macro or a template may make it. Let it give blocks aligned to {1} bytes.',
      place,
      alignment,
    ),
  );
}

/** realloc() keeps the bytes of a block and not its alignment. */
function checkNotResized({ root, file }: SourceText, malloc: Node, place: string, alignment: number): void {
  const target = targetOf(malloc);
  const resized = nodesOfType(root, 'call_expression').find(
    (node) =>
      /realloc/.test(node.childForFieldName('function')?.text ?? '') && lastName(argumentsOf(node)[0]) === target && target !== undefined,
  );
  if (resized)
    throw new Refusal(
      t(
        '{0}: the block goes to realloc() at {1}:{2}, which would lose the alignment: there, allocate with “aligned_alloc({3}, …)”, copy and free.',
        place,
        file,
        lineOfNode(resized),
        alignment,
      ),
    );
}

/** The variable or member that is given the block. */
function targetOf(malloc: Node): string | undefined {
  const holder = around(malloc, 'init_declarator', 'assignment_expression');
  const target = holder?.childForFieldName(holder.type === 'init_declarator' ? 'declarator' : 'left');
  return target ? (declaredName(target)?.text ?? lastName(target)) : undefined;
}

function lastName(node: Node | undefined): string | undefined {
  return node ? nodesOfType(node, 'identifier', 'field_identifier').at(-1)?.text : undefined;
}

function includeEdits({ root, text, language }: SourceText): TextEdit[] {
  const includes = nodesOfType(root, 'preproc_include');
  if (includes.some((include) => /<(?:stdlib\.h|cstdlib)>/.test(include.text))) return [];
  const header = language === 'c++' ? '<cstdlib>' : '<stdlib.h>';
  const last = includes.filter(({ parent }) => parent?.type === 'translation_unit').at(-1);
  const newline = lineEnding(text);
  if (!last) return [{ start: 0, end: 0, text: `#include ${header}${newline}` }];
  const at = last.endIndex;
  const isLineEnd = text[at - 1] === '\n';
  return [{ start: at, end: at, text: isLineEnd ? `#include ${header}${newline}` : `${newline}#include ${header}` }];
}
