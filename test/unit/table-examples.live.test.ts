// Tables of the examples, whose answers are known (examples/answers.json): the data that is contended comes first, by whatever key.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, root } from './command';
import { exampleRecording } from './example-recordings';
import { Tables } from './table-recording';

interface Answers {
  programs: {
    name: string;
    source: string;
    top?: { verdict: string; or?: string; variables: { marker: string; object: string; type: string; field: string }[] };
  }[];
}
const answers = JSON.parse(readFileSync(join(root, 'examples/answers.json'), 'utf8')) as Answers;

const PROGRAMS = [
  'reader_writer-contended',
  'lock_readers-contended',
  'descriptor-contended',
  'producer_limit-contended',
  'counter_array-contended',
];

describe('tables of the examples', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();

  for (const name of PROGRAMS)
    it(name, async () => {
      const program = answers.programs.find((each) => each.name === name);
      assert.ok(program?.top, `${name} has no answer`);
      const { variables, verdict, or } = program.top;
      const tables = new Tables(command, () => root, await exampleRecording(command, name));
      await tables.assertSumsBy(['line', 'function', 'member,thread', 'time']);

      const [line] = (await tables.by('line')).rows;
      assert.ok(line);
      assert.ok([verdict, or].includes(line.verdict ?? ''), `it is ${line.verdict}`);
      const objects = new Set(variables.map(({ object }) => object));
      const [object] = (await tables.by('object')).rows;
      assert.ok(object);
      assert.ok(objects.has(object.key.object ?? ''), `${object.key.object} is none of ${[...objects].join(', ')}`);

      // Elements of an array are members of their own type; what has no members goes by its object's name.
      const members = new Set(
        variables.map(({ object: own, type, field }) => (field === '' ? own : `${type.replace(/(\[\d+\])+$/, '')}.${field}`)),
      );
      const contended = (await tables.by('member')).rows.filter((row) => row.contended > 0.02 * line.contended);
      assert.ok(contended.length > 0);
      for (const { key } of contended) assert.ok(members.has(key.member ?? ''), `${key.member} is none of ${[...members].join(', ')}`);

      const source = join(root, 'examples', program.source);
      const [place] = (await tables.by('source')).rows;
      assert.ok(place);
      const [, file, number] = /^(.*):(\d+)$/.exec(place.key.source ?? '') ?? [];
      assert.ok(file !== undefined && source.endsWith(file.replace(/^.*examples\//, '')), place.key.source);
      assert.match(readFileSync(source, 'utf8').split('\n')[Number(number) - 1] ?? '', /\/\/ @contended /);
    });
});
