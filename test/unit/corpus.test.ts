// The programs of test/corpus are as corpus.json says, and compile without a warning; and what bench:accuracy judges reports by.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Access, CacheLine, Report } from '../../extension/protocol/report';
import { alarmShare, falselyWaiting, judgeContended } from '../../scripts/lib/accuracy.mjs';
import {
  contendedMarkers,
  corpusFlags,
  corpusFolder,
  definitionMarkers,
  readCorpus,
  type CorpusProgram,
} from '../../scripts/lib/corpus.mjs';
import { needsCommands } from './commands-here';

const EXTENSIONS: Record<string, string> = { c: '.c', 'c++': '.cpp', rust: '.rs', go: '.go' };
const REASONS = ['lock-with-own-data', 'mixed-use', 'unrelated-owners', 'alignment', 'adjacent', 'true-sharing'];
const CHANGES = ['members', 'align-type', 'align-variables', 'allocate'];

const text = (source: string): string => readFileSync(join(corpusFolder, source), 'utf8');
const variants = ({ contended, fixed, parted }: CorpusProgram): string[] => [contended, fixed, parted].filter((source) => source !== null);

function assertText(value: unknown, what: string): asserts value is string {
  assert.ok(typeof value === 'string' && value !== '', `${what} is ${JSON.stringify(value)}, not a text`);
}

/** The shape of one program; what it says of the sources is another test. */
function assertProgram(program: CorpusProgram): void {
  const { name, language, control, why, patchable, members } = program;
  const fields = ['name', 'language', 'control', 'contended', 'fixed', 'parted', 'why', 'patchable', 'definition', 'members'];
  assertText(name, 'name');
  assert.deepEqual(Object.keys(program).sort(), fields.sort(), name);
  assert.match(name, /^[a-z]+(_[a-z]+)*$/);
  assert.ok(language in EXTENSIONS, `${name}: language ${language}`);
  assert.equal(typeof control, 'boolean', name);
  for (const source of variants(program)) {
    assertText(source, `${name}: a source`);
    assert.equal(source.split('/')[0], name);
    assert.equal(extname(source), EXTENSIONS[language], name);
  }
  assert.ok(why === null || REASONS.includes(why), `${name}: why ${why}`);
  assert.ok(patchable === null || CHANGES.includes(patchable), `${name}: patchable ${patchable}`);
  if (patchable !== null) assert.ok(language.startsWith('c'), `${name}: only C and C++ are patched`);
  // A control has no fix; what is shared falsely has one, with a definition to change and members that are named.
  assert.equal(program.fixed === null, control, `${name}: fixed`);
  assert.equal(program.definition === null, control, `${name}: definition`);
  if (control) assert.equal(patchable, null, name);
  else assert.ok(program.parted === null && members.length > 0, name);
  for (const { marker, object, names, ...others } of members) {
    assertText(marker, `${name}: a marker`);
    assert.deepEqual(others, {}, name);
    if (object !== null) assertText(object, `${name}: the object of ${marker}`);
    assert.ok(object !== null || names.length > 0, `${name}: ${marker} has neither an object nor names`);
    for (const one of names) assert.match(one, /^\S.*\.\w+$/, `${name}: ${marker}`);
  }
}

describe('corpus.json', () => {
  let programs: CorpusProgram[];
  before(async () => {
    programs = await readCorpus();
  });

  it('is well-formed', () => {
    for (const program of programs) assertProgram(program);
    assert.equal(new Set(programs.map(({ name }) => name)).size, programs.length, 'two programs of one name');
  });

  it('has enough programs and controls', () => {
    assert.ok(programs.length >= 24, `${programs.length} programs`);
    assert.ok(programs.filter(({ control }) => control).length >= 6);
    for (const language of ['rust', 'go']) assert.ok(programs.filter((program) => program.language === language).length >= 2, language);
  });

  it('lists the sources that there are', () => {
    const files = readdirSync(corpusFolder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => readdirSync(join(corpusFolder, name)).map((file) => `${name}/${file}`));
    assert.deepEqual(programs.flatMap(variants).sort(), files.sort());
  });

  it('names the markers that the contended sources have, and no others', () => {
    for (const { name, contended, members, definition } of programs) {
      const source = text(contended);
      assert.deepEqual(
        [...new Set([...contendedMarkers(source).values()].flat())].sort(),
        members.map(({ marker }) => marker).sort(),
        name,
      );
      const definitions = [...definitionMarkers(source).values()].flat();
      if (definition === null) assert.deepEqual(definitions, [], name);
      else assert.ok(definitions.includes(definition), `${name}: no "// @definition ${definition}"`);
    }
  });
});

describe('sources of the corpus', () => {
  for (const [extension, standard, compilers] of [
    ['.c', 'gnu11', ['gcc', 'clang']],
    ['.cpp', 'c++20', ['g++', 'clang++']],
  ] as const) {
    for (const compiler of compilers) {
      it(`${extension} compile by ${compiler} without a warning`, async function () {
        this.timeout(300_000);
        needsCommands(this, [compiler]);
        const sources = (await readCorpus()).flatMap(variants).filter((source) => extname(source) === extension);
        assert.ok(sources.length > 10);
        const flags = [`-std=${standard}`, '-fsyntax-only', '-Wall', '-Wextra', '-Werror', ...corpusFlags];
        // One process a compiler: rejects with its output where it finds fault.
        await promisify(execFile)(compiler, [...flags, ...sources.map((source) => join(corpusFolder, source))]);
      });
    }
  }
});

describe('accuracy', () => {
  const members = [
    { marker: 'Pair.left', object: 'pair', names: ['Pair.left'] },
    { marker: 'Pair.right', object: 'pair', names: ['Pair.right'] },
  ];
  const markers = contendedMarkers('\nleft();  // @contended Pair.left\nright();  // @contended Pair.right\n');
  const access = (line: number, field: string, over: Partial<Access> = {}): Access =>
    ({
      file: '/src/contended.c',
      line,
      inlined: [],
      contended: 50,
      falseShare: 1,
      word: 0,
      data: { object: 'pair', offset: 0, definition: null, type: 'Pair', field },
      ...over,
    }) as Access;
  const report = (over: Partial<CacheLine>): Report =>
    ({
      lines: [{ verdict: 'false sharing', falseShare: { value: 1, low: 1, high: 1 }, victims: [], accesses: [access(2, 'left')], ...over }],
    }) as unknown as Report;
  const judge = (over: Partial<CacheLine>) => judgeContended(report(over), members, 'contended.c', markers);

  it('reads markers by line', () => {
    assert.deepEqual([...contendedMarkers('a;\nb; // @contended T.a, T.b  \n// @definition T\n')], [[2, ['T.a', 'T.b']]]);
    assert.deepEqual([...definitionMarkers('a;\n// @definition T\n')], [[2, ['T']]]);
  });

  it('counts false sharing as found, true sharing and lines without contended samples not', () => {
    assert.equal(judge({}).found, true);
    assert.deepEqual([judge({ verdict: 'true sharing' }).found, judge({ verdict: 'true sharing' }).verdicts], [false, ['true sharing']]);
    assert.equal(judge({ falseShare: null }).found, false);
    assert.equal(judge({ accesses: [access(2, 'left', { contended: 0 })] }).found, false);
  });

  it('counts mixed as found where the member is a victim', () => {
    const victim = { words: [0], threads: [1], contended: 50, falseShare: 1, access: null, cause: null };
    assert.equal(judge({ verdict: 'mixed', victims: [victim] }).found, true);
    assert.equal(judge({ verdict: 'mixed', victims: [{ ...victim, words: [1] }] }).found, false);
  });

  it('counts contended samples at marked lines, and those with the marked member', () => {
    const accesses = [
      access(2, 'left'),
      access(3, 'left', { contended: 10 }),
      access(9, 'left'),
      access(2, 'left', { file: '/src/other.c' }),
    ];
    const { marked, right, wrong } = judge({ accesses });
    assert.deepEqual([marked, right, wrong], [60, 50, ['contended.c:3 pair Pair:left']]);
    const inlined = access(40, 'right', { file: '/lib/atomic.h', inlined: [{ function: 'f', file: '/src/contended.c', line: 3 }] });
    assert.equal(judge({ accesses: [inlined] }).right, 50);
  });

  it('charges an object with what waits falsely', () => {
    const object = (name: string, contended: number, value: number | null) => ({
      object: name,
      contended,
      falseShare: value === null ? null : { value, low: value, high: value },
    });
    const sums = { objects: [object('a', 10, 1), object('b', 100, 0.05), object('c', 50, null)], samples: { total: 400 } };
    const alarm = falselyWaiting(sums as unknown as Report);
    assert.deepEqual(alarm, { share: 0.025, object: 'a' });
    assert.ok(alarm.share > alarmShare);
    assert.deepEqual(falselyWaiting({ objects: [], samples: { total: 0 } } as unknown as Report), { share: 0, object: '' });
  });
});
