// Edits of variables' definitions, so that each starts a cache line.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import type { Change } from '../../protocol/advice';
import { printable } from '../../protocol/printable';
import { alignDeclaration } from './alignment';
import { fileEdit, indentationAt, lineEnding, listed, Refusal, startsItsLine, type FileEdit, type TextEdit } from './edits';
import { writtenType } from './members';
import { canBeSameType } from './member-types';
import { declarationOf, partsOf, runsOf } from './split';
import { declaratorsOf, declaredName, declaresFunction, isUnclear, lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

type Variable = Extract<Change, { kind: 'align-variables' }>['variables'][number];

/** @param variables of this text; @throws Refusal where one has no definition at its line, or no edit is safe */
export function variablesEdit(source: SourceText, variables: readonly Variable[], alignment: number): FileEdit {
  const found = variables.map((variable) => ({ variable, ...definitionOf(source, variable) }));
  const edits: TextEdit[] = [];
  const done: Node[] = [];
  for (const { declaration } of found) {
    if (done.some((other) => other.equals(declaration))) continue;
    done.push(declaration);
    const chosen = found.filter((other) => other.declaration.equals(declaration)).map(({ declarator }) => declarator);
    edits.push(...declarationEdits(source, declaration, chosen, alignment));
  }
  return fileEdit(source, edits);
}

function declarationEdits(source: SourceText, declaration: Node, chosen: readonly Node[], alignment: number): TextEdit[] {
  const all = declaratorsOf(declaration);
  const flags = all.map((node) => chosen.some((other) => other.equals(node)));
  if (flags.every(Boolean)) return alignDeclaration(source, declaration, alignment);
  const parts = partsOf(source, declaration);
  const { startIndex, endIndex } = declaration;
  const between = startsItsLine(source.text, startIndex) ? lineEnding(source.text) + indentationAt(source.text, startIndex) : ' ';
  const declarations = runsOf(flags).map((run) =>
    declarationOf(source, declaration, parts, run, flags[run[0] ?? 0] === true ? alignment : 0),
  );
  return [{ start: startIndex, end: endIndex, text: declarations.join(between) }];
}

function definitionOf(source: SourceText, { name, type, definition }: Variable): { declaration: Node; declarator: Node } {
  const place = `${source.file}:${definition.line}`;
  const simple = name.split('::').at(-1) ?? name;
  const named = nodesOfType(source.root, 'declaration', 'field_declaration').flatMap((declaration) =>
    declaratorsOf(declaration).flatMap((declarator) => {
      const declared = declaredName(declarator);
      return declared?.text === simple && !declaresFunction(declarator) ? { declaration, declarator, declared } : [];
    }),
  );
  const here = named.filter(
    ({ declared, declaration }) => lineOfNode(declared) === definition.line || lineOfNode(declaration) === definition.line,
  );
  const [found, second] = here;
  const renew = t('a macro may produce it, or the source has changed. Make the change by hand, or build and record again.');
  if (!found) {
    const lines = named.map(({ declared }) => String(lineOfNode(declared)));
    if (lines.length > 0)
      throw new Refusal(
        t('{0} does not define {1}, which stands at line {2}: build and record again.', place, printable(name), listed(lines)),
      );
    throw new Refusal(t('{0} has no readable definition of {1}: {2}', place, printable(name), renew));
  }
  if (second) throw new Refusal(t('{0} declares {1} several times: make the change by hand in the right one.', place, printable(name)));
  const { declaration, declarator, declared } = found;
  if (isUnclear(declaration))
    throw new Refusal(t('{0} has a definition of {1} that is not understood: {2}', place, printable(name), renew));
  const written = writtenType(
    declaration.childForFieldName('type'),
    declarator.type === 'init_declarator' ? (declarator.childForFieldName('declarator') ?? declarator) : declarator,
    declared,
  );
  if (!canBeSameType(written, type))
    throw new Refusal(
      t(
        '{0} declares {1} as {2}, but the binary has {3}: build and record again.',
        place,
        printable(name),
        printable(written),
        printable(type),
      ),
    );
  const words = nodesOfType(declaration, 'storage_class_specifier').map(({ text }) => text);
  const isMember = declaration.type === 'field_declaration';
  if (words.includes('extern') && declarator.type !== 'init_declarator')
    throw new Refusal(t('{0} only declares {1}: align its definition, which is in another place.', place, printable(name)));
  if (
    isMember &&
    !(
      words.includes('static') &&
      nodesOfType(declaration, 'type_qualifier', 'storage_class_specifier').some(({ text }) => /^(?:inline|constexpr)$/.test(text))
    )
  )
    throw new Refusal(t('{0} only declares {1}: align its definition outside of the class.', place, printable(name)));
  return { declaration, declarator };
}
