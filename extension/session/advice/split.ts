// Declarations with several declarators, cut into one for each that is to stand apart: `long a, b;`.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import { alignDeclaration } from './alignment';
import { Refusal, type TextEdit } from './edits';
import { childrenOf, declaratorsOf, isUnclear, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

export interface Parts {
  /** What stands before the first declarator, with its blank. */
  specifiers: string;
  /** Each declarator with what belongs to it: bits, a value, attributes. */
  declarators: { node: Node; text: string }[];
}

/** @throws Refusal where the text cannot be cut: it defines a type, or has comments inside */
export function partsOf(source: SourceText, declaration: Node): Parts {
  const { file, text } = source;
  const declarators = declaratorsOf(declaration);
  const [first] = declarators;
  const defines = declaration.childForFieldName('type')?.childForFieldName('body');
  const comments = nodesOfType(declaration, 'comment');
  if (!first || defines || comments.length > 0 || isUnclear(declaration)) {
    const why = defines ? t('a type') : comments.length > 0 ? t('comments') : t('a macro');
    throw new Refusal(
      t(
        '{0}:{1} declares several names with {2} between them: give each a declaration of its own, then ask again.',
        file,
        lineOfNode(declaration),
        why,
      ),
    );
  }
  const commas = childrenOf(declaration).filter(({ type }) => type === ',' || type === ';');
  let start = first.startIndex;
  const parts = commas.flatMap((comma) => {
    const node = declarators.find(({ startIndex }) => startIndex >= start && startIndex <= comma.startIndex);
    const part = text.slice(start, comma.startIndex).trim();
    start = comma.endIndex;
    return node ? { node, text: part } : [];
  });
  return { specifiers: text.slice(declaration.startIndex, first.startIndex), declarators: parts };
}

/** One declaration of some of the declarators. @param alignment bytes; 0: as it is */
export function declarationOf(source: SourceText, declaration: Node, parts: Parts, chosen: readonly number[], alignment: number): string {
  const names = chosen.flatMap((index) => parts.declarators[index]?.text ?? []).join(', ');
  const edits = alignment === 0 ? [] : alignDeclaration(source, declaration, alignment);
  return `${applied(parts.specifiers, declaration.startIndex, edits)}${names};`;
}

/** Runs of neighbours that are alike: [[0, 1], [2]] of [true, true, false]. */
export function runsOf(flags: readonly boolean[]): number[][] {
  const runs: number[][] = [];
  flags.forEach((flag, index) => {
    if (index > 0 && flags[index - 1] === flag) runs.at(-1)?.push(index);
    else runs.push([index]);
  });
  return runs;
}

/** A part of a text that begins at `offset`, with the edits that lie in it. */
export function applied(part: string, offset: number, edits: readonly TextEdit[]): string {
  let text = '';
  let at = 0;
  const inside = edits.filter(({ start, end }) => start >= offset && end <= offset + part.length).sort((a, b) => a.start - b.start);
  for (const edit of inside) {
    text += part.slice(at, edit.start - offset) + edit.text;
    at = edit.end - offset;
  }
  return text + part.slice(at);
}
