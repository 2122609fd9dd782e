// The list of texts that a person can read (scripts/strings.mjs).
import assert from 'node:assert/strict';
import {
  cppStrings,
  documentStrings,
  manifestStrings,
  projectStrings,
  typescriptStrings,
  type FoundString,
} from '../../scripts/strings.mjs';

const shown = (found: readonly FoundString[]): string[] => found.map(({ line, kind, text }) => `${line} ${kind} ${text}`);

describe('the list of texts', () => {
  it('has the texts of TypeScript, and neither keys nor types nor what is compared', () => {
    const source = `import { a } from 'some module here';
type Verdict = 'false sharing' | 'true sharing';
const options = { 'two words': 1, format: 'text', title: 'Lines', id: 'lines' };
say(\`\${count} samples, \${n === 1 ? 'one is lost' : 'all are there'}\`);
say('the first part ' +
  name + ' and the rest');
if (verdict === 'false sharing') print('%s %d', "it's false");
const page = <div class="row wide" title="Share">Which <b>{'line'}</b></div>;
throw new Error('There is no\\tline.');
`;
    assert.deepEqual(shown(typescriptStrings('a.tsx', source)), [
      '3 text Lines',
      '4 text {} samples, {}',
      '4 text one is lost',
      '4 text all are there',
      '5 text the first part {} and the rest',
      "7 text it's false",
      '8 text Share',
      '8 jsx Which',
      '9 text There is no\\tline.',
    ]);
  });

  it('has the texts of C++, joined where they follow each other', () => {
    const source = `#include "some file.h"
// "a comment that is quoted"
static_assert(sizeof(A) == 8, "A has no holes");
throw Error("There is no \\"line\\" "
            "here" + name);
json.Key("falseShare"); char quote = '"'; size_t n = 1'000; auto raw = R"x(raw "text" here)x"; /* "another comment" */
`;
    assert.deepEqual(shown(cppStrings(source)), ['4 text There is no "line" here', '6 text raw "text" here']);
  });

  it('has the texts of the manifest, and headings', () => {
    const texts = `{\n  "description": "Finds it",\n  "command.profile": "Profile"\n}`;
    assert.deepEqual(shown(manifestStrings(texts)), ['2 description Finds it', '3 command.profile Profile']);
    const document = '# Title\n\nSome prose.\n```sh\n# no heading\n```\n## More\n';
    assert.deepEqual(shown(documentStrings(document, { prose: false })), ['1 heading # Title', '7 heading ## More']);
    assert.deepEqual(shown(documentStrings(document, { prose: true })), ['1 heading # Title', '3 prose Some prose.', '7 heading ## More']);
  });

  it('covers all rooms of the project', async () => {
    const files = new Set((await projectStrings()).map(({ file }) => file));
    for (const file of ['README.md', 'package.nls.json', 'extension/cli/options.ts', 'docs/outputs.md', 'native/record/where.cpp'])
      assert.ok(files.has(file), file);
    assert.ok([...files].some((file) => file.startsWith('webviews/panel/')));
    assert.ok(![...files].some((file) => file.startsWith('native/tests/')));
  });
});
