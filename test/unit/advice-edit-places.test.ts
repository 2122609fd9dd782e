// Edits of variables and allocations, and answers that no text can give: other languages, missing and newer sources.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Change, TypeReference } from '../../extension/protocol/advice';
import { editOf, type Edits, type NoEdit } from '../../extension/session/advice/edit';
import { patchOf } from '../../extension/session/advice/patch';
import {
  assertApplies,
  assertCompiles,
  assertEdits,
  closeWorkspace,
  membersChange,
  openWorkspace,
  reasonOf,
  sources,
  type Workspace,
} from './advice-edits';
import { matchGolden } from './golden';

/** A macro that stands before a definition, as a type would. */
const SECTION = '#define SECTION __attribute__((section("counted")))\n';

describe('edits of variables and allocations', () => {
  let workspace: Workspace;
  before(() => (workspace = openWorkspace()));
  after(() => closeWorkspace(workspace));

  function written(file: string, text: string): string {
    const path = join(workspace.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  const lineOf = (text: string, mark: string): number => text.slice(0, text.indexOf(mark)).split('\n').length;

  /** @param names each with its type, "long hits": its line is that of the name's first place in the text */
  async function aligned(file: string, text: string, ...names: string[]): Promise<{ path: string; answer: Edits | NoEdit }> {
    const path = written(file, text);
    const variables = names.map((typed) => {
      const at = typed.lastIndexOf(' ');
      const name = typed.slice(at + 1);
      const simple = name.split('::').at(-1)!;
      return { name, type: typed.slice(0, at), size: 8, definition: { file: path, line: lineOf(text, simple) } };
    });
    const change: Change = { kind: 'align-variables', binary: `${path}.o`, variables, alignment: 64 };
    return { path, answer: await editOf(change, sources) };
  }

  async function allocated(file: string, text: string, mark = '// here'): Promise<{ path: string; answer: Edits | NoEdit }> {
    const path = written(file, text);
    const call = { file: path, line: lineOf(text, mark) };
    return {
      path,
      answer: await editOf(
        { kind: 'allocate', binary: `${path}.o`, call, function: 'make', objectType: '', files: [], alignment: 64 },
        sources,
      ),
    };
  }

  /** @returns the patch, of a text that both compilers take */
  function judged({ path, answer }: { path: string; answer: Edits | NoEdit }): string {
    assertEdits(answer);
    const patch = assertApplies(workspace, answer);
    writeFileSync(path, answer.files[0]!.after);
    assertCompiles(path);
    return patch;
  }

  /** That the linker puts them at multiples of 64, told by the symbols of an object. */
  function assertAligned(path: string, ...names: string[]): void {
    for (const object of Object.values(assertCompiles(path))) {
      const symbols = execFileSync('nm', ['-C', object], { encoding: 'utf8' });
      for (const name of names) {
        const [, address] = new RegExp(`^([0-9a-f]+) \\w (?:${name})$`, 'm').exec(symbols) ?? [];
        assert.equal(Number.parseInt(address ?? '1', 16) % 64, 0, `${name} in ${symbols}`);
      }
    }
  }

  it('align variables', async () => {
    const cases = [
      await aligned(
        'globals.c',
        'int first = 1;\nstatic long hits, misses = 3; // counts\nlong *use(void) { return &hits + misses; }\n',
        'long hits',
        'long misses',
      ),
      await aligned('one-of.c', 'long a = 1, b = 2, *c = &a;\n', 'long int b'),
      await aligned(
        'shared.c',
        'static struct { long a; long b; } shared = { 1, 2 };\nlong *use(void) { return &shared.a; }\n',
        'struct {...} shared',
      ),
      await aligned(
        'array.cpp',
        '#include <atomic>\nnamespace pool {\n  char before = 1;\n  std::atomic<long> counts[4];\n}\n',
        'std::atomic<long> [4] pool::counts',
      ),
      await aligned(
        'member.cpp',
        'struct Pool {\n  static long given;\n};\nchar before = 1;\n[[maybe_unused]] long Pool::given = 1;\n',
        'long Pool::given',
      ),
      await aligned(
        'function.c',
        'long *next(void) {\n\tstatic char before = 1;\n\tstatic long number = 1;\n\tnumber += before;\n\treturn &number;\n}\n',
        'long number',
      ),
      await aligned('extern-c.cpp', 'extern "C" {\nchar before = 1;\nlong shared_count = 1;\n}\n', 'long shared_count'),
      await aligned('section.c', `${SECTION}SECTION _Alignas(64) long first = 1;\nSECTION long second = 1;\n`, 'long second'),
      await aligned(
        'section.cpp',
        `#include <atomic>\n${SECTION}char before = 1;\nSECTION std::atomic<long> number{1};\n`,
        'std::atomic<long> number',
      ),
    ];
    let golden = '';
    for (const [index, one] of cases.entries()) if (index !== 4) golden += judged(one);
    matchGolden('edit-variables.txt', golden);
    assertAligned(cases[0]!.path, 'hits', 'misses');
    assertAligned(cases[1]!.path, 'b');
    assertAligned(cases[2]!.path, 'shared');
    assertAligned(cases[3]!.path, 'pool::counts');
    assertAligned(cases[5]!.path, 'number\\.0|next\\.number|number\\.\\d+');
    assertAligned(cases[6]!.path, 'shared_count');
    assert.match(reasonOf(cases[4]!.answer), /member\.cpp:2 only declares Pool::given: align its definition outside of the class/);
  });

  it('refuse variables whose definition is not there', async () => {
    const reason = async (...of: Parameters<typeof aligned>): Promise<string> => reasonOf((await aligned(...of)).answer);
    assert.match(await reason('extern.c', 'extern long count;\n', 'long count'), /only declares count/);
    assert.match(await reason('type.c', 'int count;\n', 'long count'), /declares count as int, but the binary has long/);
    assert.match(await reason('macro.c', '#define COUNT(name) long name##_count\nCOUNT(a);\n', 'long a_count'), /no readable definition/);
    assert.match(await reason('defines.c', 'struct { long a; } one, two;\n', 'struct {...} one'), /declares several names with a type/);
    assert.match(await reason('done.cpp', 'alignas(64) long count;\n', 'long count'), /already has what the change asks for/);
    const path = written('moved.c', '\n\nlong count;\n');
    const variables = [{ name: 'count', type: 'long', size: 8, definition: { file: path, line: 1 } }];
    assert.match(reasonOf(await editOf({ kind: 'align-variables', binary: 'a', variables, alignment: 64 }, sources)), /stands at line 3/);
  });

  it('align blocks of malloc()', async () => {
    const cases = [
      await allocated(
        'malloc.c',
        '#include <stdlib.h>\nstruct worker { long ticks; };\nstruct worker *make(size_t n) {\n  return malloc(n * sizeof(struct worker)); // here\n}\n',
      ),
      await allocated(
        'lines.c',
        '#include <stddef.h>\n#include <stdio.h>\nvoid *malloc(size_t);\nlong *make(int n, int more) {\n  long *block = (long *) malloc( // here\n    n + more ? 8 : 16);\n  return block;\n}\n',
      ),
      await allocated(
        'std.cpp',
        '#include <cstdlib>\nlong *make() {\n  auto *block = static_cast<long *>(std::malloc(sizeof(long))); // here\n  return block;\n}\n',
      ),
      await allocated('none.cpp', 'extern "C" void *malloc(unsigned long) noexcept;\nvoid *make() { return malloc(100); } // here\n'),
    ];
    matchGolden('edit-allocations.txt', cases.map(judged).join(''));
  });

  describe('of blocks whose call is not known', () => {
    const search = async (files: Record<string, string>, objectType = 'slot'): Promise<{ path: string; answer: Edits | NoEdit }> => {
      const paths = Object.entries(files).map(([file, text]) => written(file, text));
      const change: Change = { kind: 'allocate', binary: 'program', call: null, function: '', objectType, files: paths, alignment: 64 };
      const answer = await editOf(change, sources);
      return { path: 'files' in answer ? answer.files[0]!.file : '', answer };
    };
    const HEAD = '#include <stdlib.h>\nstruct slot { long n; };\nstruct other { long n; };\n';

    it('find the call by what sizeof says, or by the pointer that is given the block', async () => {
      const bodies = [
        'void *make(void) { return malloc(sizeof(struct slot)); }\n',
        'void *make(int n) { struct slot *all = malloc(n * sizeof *all); return all; }\n',
        'void *make(int n) { struct slot *one = 0;\n  one = malloc((unsigned)n * sizeof(*one));\n  return one; }\n',
        'void *make(int n) { struct slot *all;\n  all = malloc(n * sizeof all[0]);\n  return all; }\n',
        'static struct slot *all;\nvoid make(unsigned long bytes) { all = malloc(bytes); }\n',
        'typedef struct slot slot_t;\nvoid *make(void) { return malloc(sizeof(slot_t)); }\n',
        'struct pool { struct slot *all; };\nvoid make(struct pool *p, int n) { p->all = malloc(n * sizeof *p->all); }\n',
      ];
      const others =
        'void *makeOther(void) { struct other *it = malloc(sizeof *it);\n  return it ? it : malloc(sizeof(struct slot *)); }\n';
      for (const [at, body] of bodies.entries()) {
        const patch = judged(await search({ [`found-${at}.c`]: HEAD + body + others }));
        assert.equal(patch.match(/^\+.*aligned_alloc/gm)?.length, 1, patch);
        assert.match(patch, /^\+(?!.*struct other).*aligned_alloc\(64/m);
      }
    });

    it('are not edited where no call, or more than one, is found', async () => {
      const one = `${HEAD}void *make(void) { return malloc(sizeof(struct slot)); }\n`;
      const several = await search({ 'first.c': one, 'second.c': one.replace('make', 'make2') });
      assert.match(reasonOf(several.answer), /^2 calls allocate slot \(\S+first\.c:4, \S+second\.c:4\): record with --heap/);
      const none = await search({ 'none.c': `${HEAD}void *make(void) { return malloc(sizeof(struct other)); }\n` });
      assert.match(reasonOf(none.answer), /^No call that allocates slot was found in \S+none\.c: record with --heap/);
    });
  });

  it('say what to write for other allocations', async () => {
    const reason = async (line: string, file = 'other.c'): Promise<string> =>
      reasonOf((await allocated(file, `#include <stdlib.h>\nvoid *make(void *old, size_t n) {\n  ${line} // here\n}\n`)).answer);
    assert.match(
      await reason('return calloc(n, sizeof(long));'),
      /write “aligned_alloc\(64, \(\(\(n\) \* \(sizeof\(long\)\)\) \+ 63\) \/ 64 \* 64\)” and clear/,
    );
    assert.match(await reason('return realloc(old, n);'), /keeps no alignment/);
    assert.match(await reason('return new long[4];', 'other.cpp'), /struct alignas\(64\) long”, which new respects/);
    assert.match(await reason('return make(malloc(1) ? malloc(2) : 0, n);'), /several times/);
    assert.match(await reason('return make(old, n);'), /has no allocation/);
    assert.match(await reason('old = malloc(n); return realloc(old, 2 * n);'), /goes to realloc\(\) at/);
  });
});

describe('patches', () => {
  let workspace: Workspace;
  before(() => (workspace = openWorkspace()));
  after(() => closeWorkspace(workspace));

  it('name any file, as git does', () => {
    const names = ['a b.c', 'src/Größe 🐍.cpp', 'quote"back\\slash.h', 'tab\tline\nbreak.c', '-dash.c', 'a/b/a/b.c', ' lead.c'];
    const files = names.map((name, index) => ({
      file: join(workspace.folder, name),
      before: `one\r\ntwo ${index}\nthree`,
      after: `one\r\nalignas(64) two ${index}\nthree`,
      edits: [],
    }));
    const patch = assertApplies(workspace, { files });
    assert.ok(patch.includes('+++ "b/src/Gr\\303\\266\\303\\237e \\360\\237\\220\\215.cpp"'), patch);
  });

  it('are of files inside of the folder alone', () => {
    const file = { file: '/src/other.c', before: 'a\n', after: 'b\n' };
    assert.throws(() => patchOf([file], '/src/project'), /\/src\/other\.c lies outside of \/src\/project/);
    assert.equal(patchOf([{ ...file, after: file.before }], '/src'), '');
  });

  it('keep line endings and what is missing at the end', () => {
    for (const [before, after] of [
      ['a\r\nb\r\n', 'a\r\nx\r\nb\r\n'],
      ['a', 'x\na'],
      ['a\n', 'a'],
      ['', 'a\n'],
      ['a\rb\n', 'a\rc\n'],
      ['\\ No newline\n', '\\ No newline at all\n'],
      ['-- a\n++ b\n', '-- b\n++ b\n'],
    ] as const)
      assertApplies(workspace, { files: [{ file: join(workspace.folder, 'ends.c'), before, after, edits: [] }] });
  });
});

describe('changes that no edit makes', () => {
  const type: TypeReference = {
    name: 'Worker',
    binary: '/bin/worker',
    size: 16,
    align: 8,
    definition: { file: '/src/worker.cpp', line: 1 },
    members: ['a', 'b'].map((name, index) => ({ name, type: 'long', offset: 8 * index, size: 8, bitSize: null, line: 1 })),
  };
  const text = 'struct Worker { long a, b; };\n';
  const at = (file: string): Change => membersChange({ ...type, definition: { file, line: 1 } }, '*b a');
  const from = (content: string | undefined, isNewer = false): typeof sources => ({
    read: () => Promise.resolve(content),
    isNewer: () => Promise.resolve(isNewer),
  });

  it('name the line to write in Rust and Go', async () => {
    assert.match(reasonOf(await editOf(at('/src/worker.rs'), from(text))), /#\[repr\(align\(64\)\)\].*crossbeam_utils::CachePadded/);
    assert.match(reasonOf(await editOf(at('/src/worker.go'), from(text))), /_ cpu\.CacheLinePad/);
    assert.match(reasonOf(await editOf(at('/src/worker.zig'), from(text))), /neither C nor C\+\+/);
  });

  it('leave members that are split off to words', async () => {
    const split: Change = {
      kind: 'split-members',
      type: { ...type, definition: { file: '/src/worker.cpp', line: 1 } },
      parts: [{ size: 8, members: [1] }],
    };
    assert.match(reasonOf(await editOf(split, from(text))), /^The code that uses the data has to change, too, /);
  });

  it('need the source that was compiled', async () => {
    assert.match(reasonOf(await editOf(at(''), from(text))), /does not say in which file/);
    assert.match(reasonOf(await editOf(at('/src/worker.cpp'), from(undefined))), /There is no \/src\/worker\.cpp here/);
    assert.match(reasonOf(await editOf(at('/src/worker.cpp'), from(text, true))), /changed after \/bin\/worker was built/);
    assert.match(reasonOf(await editOf(at('/src/worker.cpp'), from(`\n\n${text}`))), /defined at line 3 .* and was at line 1/);
    assert.match(reasonOf(await editOf(at('/src/worker.cpp'), from('struct Worker { long a, c; };'))), /declares no member b/);
    assert.match(
      reasonOf(await editOf(at('/src/worker.cpp'), from('struct Worker { long a, b, c; };'))),
      /declares c, but the binary does not/,
    );
    assert.match(reasonOf(await editOf(at('/src/worker.cpp'), from('struct Worker { long a; int b; };'))), /declares b as int/);
    assert.match(reasonOf(await editOf(at('/src/worker.cpp'), from('struct Worker { long b, a; };'))), /declares b before a/);
    assert.match(reasonOf(await editOf(at('/src/worker.cpp'), from(`// \uFFFD\n${text}`))), /not in UTF-8/);
  });

  it('hold on every text', async () => {
    // Each beginning of a text, and each text without one of its characters: an answer, and no error.
    const whole = 'struct Worker { /* a */ long a, b; }; // end\nWorker w{1, 2};\n';
    for (let cut = 0; cut <= whole.length; cut++)
      for (const damaged of [whole.slice(0, cut), whole.slice(0, cut) + whole.slice(cut + 1)]) {
        const answer = await editOf(membersChange(type, 'a *b'), from(damaged));
        if ('files' in answer) assert.ok(answer.files[0]!.after.includes('alignas(64)'), damaged);
        else assert.match(answer.reason, /^[^]+[.]$/);
      }
  });

  it('contradict themselves', async () => {
    const [first] = membersChange(type, 'a b').order;
    await assert.rejects(editOf({ ...membersChange(type, 'a b'), order: [first!, first!] }, from(text)), RangeError);
    await assert.rejects(editOf({ ...membersChange(type, 'a b'), alignment: 48 }, from(text)), RangeError);
  });
});
