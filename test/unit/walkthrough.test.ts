// The walkthrough: what it links to is there; and its example as files.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine } from '../../extension/protocol/engine';
import { withBundledFiles } from '../../extension/engine/bundled-files';
import {
  buildExample,
  builtFolder,
  EXAMPLE_SOURCE,
  exampleRecordings,
  findCompiler,
  readSource,
  writeSource,
} from '../../extension/session/example/example-program';

interface Step {
  id: string;
  title: string;
  description: string;
  media: { image: string; altText: string };
  completionEvents: string[];
}

const root = path.resolve(__dirname, '../..');
const text = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const texts = JSON.parse(text('package.nls.json')) as Record<string, string>;
const { contributes } = JSON.parse(text('package.json')) as {
  contributes: {
    commands: { command: string }[];
    walkthroughs: { id: string; steps: Step[] }[];
    viewsWelcome: { contents: string }[];
  };
};
const said = (key: string): string => texts[key.slice(1, -1)] ?? '';
const commands = new Set(contributes.commands.map(({ command }) => command));
const delivered = text(`media/walkthrough/${EXAMPLE_SOURCE}`);

describe('walkthrough', () => {
  const [walkthrough] = contributes.walkthroughs;
  assert.ok(walkthrough);
  const { steps } = walkthrough;

  it('has the steps from building to comparing, and is opened by its command', () => {
    assert.deepEqual(
      steps.map(({ id }) => id),
      ['build', 'profile', 'hover', 'fix', 'compare'],
    );
    assert.ok(text('extension/features/example.ts').includes(`'cacheline-lens.cacheline-lens#${walkthrough.id}'`));
  });

  it('links to commands that are there, here and in the empty views', () => {
    const described = [...steps.map(({ description }) => description), ...contributes.viewsWelcome.map(({ contents }) => contents)];
    let links = 0;
    for (const description of described)
      for (const [, target = ''] of said(description).matchAll(/\]\(([^)]+)\)/g)) {
        const [, command = '', argument] = /^command:([\w.]+)(?:\?(.+))?$/.exec(target) ?? [];
        assert.ok(commands.has(command) || command === 'workbench.trust.manage', target);
        if (argument !== undefined) assert.ok(Array.isArray(JSON.parse(decodeURIComponent(argument))), target);
        links++;
      }
    assert.ok(links >= 12, `${links} links`);
  });

  it('is done step by step, by commands and contexts that are there', () => {
    const set = text('extension/features/example.ts');
    for (const { completionEvents } of steps) {
      assert.ok(completionEvents.length > 0);
      for (const event of completionEvents) {
        const [, kind, name = ''] = /^(onCommand|onContext):(.+)$/.exec(event) ?? [];
        if (kind === 'onCommand') assert.ok(commands.has(name), event);
        else assert.ok(set.includes(`\`${name}\``), event);
      }
    }
  });

  it('has a picture and a text for it in each step', () => {
    for (const { media, title } of steps) {
      assert.ok(existsSync(path.join(root, media.image)), title);
      assert.ok(said(media.altText).length > 30, title);
    }
  });
});

describe('example of the walkthrough', function () {
  this.timeout(60_000);
  let folder: string;
  const fixed = delivered.replace('  atomic_long used;', '  _Alignas(64) atomic_long used;');

  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'cacheline-example-test-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const compiler = async (): Promise<string> => {
    const found = await findCompiler(process.env['PATH'] ?? '');
    assert.ok(found, 'no C compiler on the PATH: npm run setup');
    return found;
  };

  it('finds a compiler in the absolute folders of the PATH, cc first', async () => {
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    for (const name of ['clang', 'gcc']) writeFileSync(path.join(bin, name), '');
    chmodSync(path.join(bin, 'clang'), 0o755);
    assert.equal(await findCompiler(`:relative:${bin}`), path.join(bin, 'clang'), 'gcc may not be executed');
    chmodSync(path.join(bin, 'gcc'), 0o755);
    assert.equal(await findCompiler(bin), path.join(bin, 'gcc'));
    assert.equal(await findCompiler(path.join(folder, 'none')), undefined);
    assert.equal(await findCompiler(''), undefined);
  });

  it('builds each text into a folder of its own, and again only what changed', async () => {
    await writeSource(folder, delivered);
    assert.equal(await readSource(folder), delivered);
    const program = await buildExample(folder, await compiler());
    assert.equal(path.dirname(program), builtFolder(folder, delivered));
    assert.ok(statSync(program).mtimeMs > statSync(path.join(folder, EXAMPLE_SOURCE)).mtimeMs);
    const { ino } = statSync(program);
    utimesSync(program, 1, 1);
    assert.equal(await buildExample(folder, '/no/such/compiler'), program, 'nothing is compiled');
    assert.equal(statSync(program).ino, ino);
    assert.ok(statSync(program).mtimeMs > Date.now() - 60_000, 'it is newer than the source');
    writeFileSync(path.join(folder, EXAMPLE_SOURCE), fixed);
    assert.notEqual(await buildExample(folder, await compiler()), program);
  });

  it('says what the compiler says, and leaves no program', async () => {
    await writeSource(folder, `${delivered}\n#error "\u202eno"\n`);
    await assert.rejects(buildExample(folder, await compiler()), (error: Error) => {
      assert.match(error.message, /did not build the example: .*#error/s);
      assert.doesNotMatch(error.message, /\u202e/);
      return true;
    });
    await assert.rejects(buildExample(folder, '/no/such/compiler'), /ENOENT/);
  });

  it('compares the newest recordings of the first text and of the others', async () => {
    const recording = (text: string, name: string, at: number): string => {
      const made = path.join(builtFolder(folder, text), name);
      mkdirSync(made, { recursive: true });
      writeFileSync(path.join(made, 'meta.json'), '{}');
      utimesSync(path.join(made, 'meta.json'), at, at);
      return made;
    };
    assert.deepEqual(await exampleRecordings(folder, delivered), { before: undefined, after: undefined });
    recording(delivered, 'counters.cacheline', 10);
    const before = recording(delivered, 'counters-2.cacheline', 20);
    assert.deepEqual(await exampleRecordings(folder, delivered), { before, after: undefined });
    recording('other', 'counters.cacheline', 5);
    const after = recording(fixed, 'counters.cacheline', 7);
    assert.deepEqual(await exampleRecordings(folder, delivered), { before, after });
  });

  it('has the files of bundled recordings beside them, and of no others', async () => {
    const asked: unknown[] = [];
    const engine = { call: (_: string, params: unknown) => Promise.resolve(asked.push(params)) } as unknown as Engine;
    const bundled = withBundledFiles(engine, '/extension/example');
    const open = (of: string): Promise<unknown> => bundled.call('analyze', { path: of, showAll: false });
    await open('/extension/example/before.cacheline');
    await open('/extension/example-2/before.cacheline');
    assert.deepEqual(asked, [
      { path: '/extension/example/before.cacheline', showAll: false, symfs: '/extension/example/files' },
      { path: '/extension/example-2/before.cacheline', showAll: false },
    ]);
  });
});
