// What every view says of input that it can do nothing with: no recording, one that was cut, one without samples, of what was not sampled.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, examples, type Outcome } from './command';
import { schemaErrors, type SchemaName } from './schemas';

interface View {
  args: (recording: string) => string[];
  schema: SchemaName;
  /** What the text says where no sample is left. */
  empty: RegExp;
}

const VIEWS: Record<string, View> = {
  tables: {
    args: (recording) => ['report', recording, '--by', 'type,thread'],
    schema: 'cacheline-table-1',
    empty: /There are no samples\./,
  },
  threads: {
    args: (recording) => ['threads', recording],
    schema: 'cacheline-threads-1',
    empty: /No thread, or none of the chosen ones, was seen in this window\./,
  },
  workset: {
    args: (recording) => ['workset', recording],
    schema: 'cacheline-workset-1',
    empty: /capacity: not known\. There are no samples with an address\./,
  },
};

describe('views of bad input', function () {
  this.timeout(60_000);
  const command = new Command();
  command.install();
  let folder = '';
  const at = (...names: string[]): string => join(folder, ...names);
  const run = (args: readonly string[]): Promise<Outcome> => command.run(args, { cwd: folder });
  const documentOf = async ({ args, schema }: View, recording: string, ...more: string[]): Promise<{ warnings: string[] }> => {
    const { status, stdout, stderr } = await run([...args(recording), ...more, '--format', 'json']);
    assert.equal(status, 0, stderr);
    const document = JSON.parse(stdout) as { warnings: string[] };
    assert.deepEqual(schemaErrors(schema, document), []);
    return document;
  };
  const refuses = async (args: readonly string[], says: RegExp): Promise<void> => {
    const { status, stdout, stderr } = await run(args);
    assert.equal(status, 3, `${args.join(' ')}: ${stderr}`);
    assert.equal(stdout, '');
    assert.match(stderr, says);
    assert.match(stderr, /^cacheline: .+\n(cacheline: .+\n)?$/, 'a sentence, and what to do');
  };

  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-bad-')));
    const { status, stderr } = await run([
      'record',
      '--collector',
      'clock',
      '-o',
      'whole',
      '--',
      join(examples, 'reader_writer-contended'),
    ]);
    assert.equal(status, 0, stderr);
    writeFileSync(at('text'), 'int main(void) { return 0; } // longer than the header of a recording'.repeat(4));
    writeFileSync(at('short'), 'PERFILE2');
    mkdirSync(at('folder'));
    cpSync(at('whole'), at('spoilt'), { recursive: true });
    writeFileSync(at('spoilt/meta.json'), '{"schema": 7, "topology": {"caches": [{"level": "x"}], "cores": 3}, "switches": []');
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, view] of Object.entries(VIEWS)) {
    it(`${name}: refuse what is no recording`, async () => {
      await refuses(view.args('nowhere'), /there is no recording nowhere/);
      await refuses(view.args('folder'), /the folder folder holds no perf\.data/);
      await refuses(view.args('text'), /text is not a perf\.data file/);
      await refuses(view.args('short'), /short is not a perf\.data file: it has only 8 bytes/);
    });

    it(`${name}: show what is left of a recording that was cut, and say so`, async () => {
      const { length } = readFileSync(at('whole/perf.data'));
      for (const size of [300, Math.floor(length / 2) + 3, length - 1]) {
        copyFileSync(at('whole/perf.data'), at('cut'));
        truncateSync(at('cut'), size);
        const { warnings } = await documentOf(view, 'cut');
        assert.match(warnings.join('\n'), /it was cut short|but the file has/, `${size} of ${length}`);
      }
    });

    it(`${name}: say that nothing is left where filters leave nothing`, async () => {
      await documentOf(view, 'whole', '--tid', '1');
      const { status, stdout, stderr } = await run([...view.args('whole'), '--tid', '1', '--width', '200', '--no-pager']);
      assert.equal(status, 0, stderr);
      assert.match(stdout, view.empty);
    });

    it(`${name}: read a recording whose meta.json is spoilt`, async () => {
      await documentOf(view, 'spoilt');
    });

    it(`${name}: read a recording of a program that ended at once`, async () => {
      const recorded = await run(['record', '--collector', 'clock', '--force', '-o', 'at-once', '--', 'true']);
      assert.equal(recorded.status, 0, recorded.stderr);
      await documentOf(view, 'at-once');
    });
  }

  it('tables and workset: take the name of a type that nothing has as a filter that leaves nothing', async () => {
    for (const { args, empty, schema } of [VIEWS['tables']!, VIEWS['workset']!]) {
      const { status, stdout, stderr } = await run([...args('whole'), '--filter', 'type:no_such_type', '--width', '200', '--no-pager']);
      assert.equal(status, 0, `${schema}: ${stderr}`);
      assert.match(stdout, empty);
    }
  });

  it('warnings name the file as it is called', async () => {
    cpSync(at('whole'), at('shorter'), { recursive: true });
    truncateSync(at('shorter/perf.data'), 3000);
    const { stdout } = await run(['threads', 'shorter', '--width', '200', '--no-pager']);
    assert.match(stdout, /^Warnings\n {2}shorter\/perf\.data: the header says/m);
  });
});
