// Assertions of a text about the size of a type, or where its members lie: an edit of its layout would fail them.
import { t } from '../../protocol/l10n';
import type { Node } from 'web-tree-sitter';
import { namesOf, type Definition } from './definitions';
import { Refusal } from './edits';
import { lineOfNode, nodesOfType } from './nodes';
import type { SourceText } from './syntax';

const ASSERTIONS = /^(?:_Static_assert|static_assert|BUILD_BUG_ON|BUILD_BUG_ON_MSG|G_STATIC_ASSERT|BOOST_STATIC_ASSERT)$/;

/** @throws Refusal naming the line; what only asks for a multiple (`%`) is no obstacle */
export function checkLayoutAssertions(source: SourceText, definition: Definition): void {
  const names = namesOf(source, definition);
  const calls = nodesOfType(source.root, 'call_expression').filter((call) =>
    ASSERTIONS.test(call.childForFieldName('function')?.text ?? ''),
  );
  for (const assertion of [...nodesOfType(source.root, 'static_assert_declaration'), ...calls])
    if (statesLayout(assertion, names))
      throw new Refusal(
        t(
          '{0}:{1} asserts the layout of {2}: decide whether it may change, and make the change by hand.',
          source.file,
          lineOfNode(assertion),
          definition.name,
        ),
      );
}

function statesLayout(assertion: Node, names: ReadonlySet<string>): boolean {
  const words = nodesOfType(assertion, 'identifier', 'type_identifier').map(({ text }) => text);
  if (!words.some((word) => names.has(word))) return false;
  const asks = nodesOfType(assertion, 'sizeof_expression', 'offsetof_expression').length > 0 || words.includes('offsetof');
  return asks && !nodesOfType(assertion, 'binary_expression').some((node) => node.childForFieldName('operator')?.text === '%');
}
