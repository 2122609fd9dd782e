// Real watchpoints on the examples: the exact words, threads and kinds of access; and nothing wrong confirmed on the fixed twins.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadAddon, NativeEngine } from '../../extension/engine/native';
import type { RecordParams, RecordResult } from '../../extension/protocol/engine';
import { EngineError } from '../../extension/protocol/engine';
import type { CacheLine, Report } from '../../extension/protocol/report';
import { addonPath, examples, root } from './command';
import { temporaryFolder } from './fixtures';

/** Rounds of an example that nobody waits for. */
const ENDLESS = '1000000000000';

/** Works until SIGTERM, then says how many rounds it made; its status is 3. */
const SOURCE = `
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct money { long units, cents; };
struct day { int number; struct money today; };
struct day day __attribute__((aligned(64)));
struct money *here = &day.today;
__thread long own;
static volatile long counters[4] __attribute__((aligned(64)));
volatile long dotted[2] __asm__("main.dotted") __attribute__((aligned(64)));
static volatile sig_atomic_t ended;
static void end(int signal) { ended = signal; }
static void *body(void *index) {
  for (long i = 1; !ended; i++) {
    counters[(long)index] = i;
    *(volatile long *)&day.today.cents = i;
    dotted[1] = i;
    usleep(2000);
  }
  return 0;
}
int main(int count, char **arguments) {
  pthread_t threads[2];
  signal(SIGTERM, end);
  if (count > 1) fclose(fopen(arguments[1], "w"));
  own = count;
  alarm(120);
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, body, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  printf("%ld\\n", counters[0] > counters[1] ? counters[0] : counters[1]);
  return 3;
}
`;

/** Of the words that were watched so far, whether or not anything used them. */
function namesIn(windows: string): Set<string> {
  const lines = readFileSync(windows, 'utf8').split('\n').slice(0, -1);
  return new Set(lines.map((line) => (JSON.parse(line) as { name: string }).name));
}

const HEADLESS = `
#include <pthread.h>
static volatile long pair[2] __attribute__((aligned(64)));
volatile long apart __attribute__((aligned(64)));
static void *body(void *word) {
  for (;;) ++*(volatile long *)word;
  return 0;
}
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 2; i++) pthread_create(&thread, 0, body, (void *)&pair[i]);
  pthread_exit(0);
}
`;

/** Two threads poll what a third one hardly ever writes. */
const POLLED = `
#include <pthread.h>
#include <unistd.h>
volatile long polled __attribute__((aligned(64)));
static void *poll(void *unused) {
  long sum = 0;
  for (;;) sum += polled;
  return (void *)sum;
}
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 2; i++) pthread_create(&thread, 0, poll, 0);
  for (;;) {
    usleep(1000);
    polled++;
  }
}
`;

/** Each of two threads counts in a part of its own of one object. */
const IN_HEAP = `
#include <pthread.h>
#include <stdlib.h>
struct pair { long id; struct { volatile long count; } sides[2]; };
static struct pair *pair;
static void *count(void *side) {
  struct pair *mine = pair;
  for (;;) mine->sides[side != 0].count++;
  return 0;
}
int main(void) {
  pthread_t thread;
  if (posix_memalign((void **)&pair, 64, sizeof *pair)) return 1;
  pthread_create(&thread, 0, count, pair);
  count(0);
}
`;

describe('recording with watchpoints', function () {
  this.timeout(180_000);
  this.retries(5); // A hypervisor can lose a trap's reason, which ends the program (docs/design/recording.md).
  const folder = temporaryFolder();
  let engine: NativeEngine;
  let runs = 0;

  before(() => {
    assert.ok(existsSync(addonPath), `${addonPath} is missing: run "npm run build" first`);
    engine = new NativeEngine(loadAddon([addonPath]));
    execFileSync('make', ['--silent', '-C', join(root, 'examples'), `OUT=${examples}`]);
  });

  /** Ends the recording, and asks what was started to end, once the report of what is there is `enough`. */
  async function record(
    command: string[],
    watch: NonNullable<RecordParams['watch']>,
    enough: (report: Report, words: ReadonlySet<string>) => boolean = () => false,
    more: Partial<RecordParams> = {},
  ): Promise<{ result: RecordResult; report: Report; output: string }> {
    const outputDirectory = join(folder.path, `${++runs}.cacheline`);
    mkdirSync(outputDirectory);
    const analyze = () => engine.call('analyze', { path: outputDirectory, showAll: false });
    const windows = join(outputDirectory, 'watch.jsonl');
    const base = { command, outputDirectory, frequency: 499, durationSeconds: 0, callchains: false, stdio: 'capture' } as const;
    const stop = new AbortController();
    let output = '';
    const recording = engine.call(
      'record',
      { ...base, watch, ...more },
      { signal: stop.signal, onProgress: (progress) => (output += progress.output ?? '') },
    );
    const isOver = (): boolean => true;
    const over = recording.then(isOver, isOver);
    while (!(await Promise.race([over, sleep(200, false)])) && !stop.signal.aborted)
      if (existsSync(windows) && enough(await analyze(), namesIn(windows))) stop.abort();
    return { result: await recording, report: await analyze(), output };
  }

  function compile(name: string, flags: string[], language = 'c', source = SOURCE): string {
    const program = join(folder.path, name);
    writeFileSync(join(folder.path, `slow.${language}`), source);
    execFileSync(language === 'c' ? 'gcc' : 'g++', ['-g', '-pthread', ...flags, '-o', program, join(folder.path, `slow.${language}`)]);
    return program;
  }

  const wordsOf = (line: CacheLine | undefined) => line?.confirmation?.words ?? [];

  const isAnyWritten = ({ lines }: Report): boolean => lines.flatMap(wordsOf).some(({ writes }) => writes > 0);

  const hasTwoWriters = ({ writers }: { writers: unknown[] }): boolean => writers.length === 2;

  const isConfirmed = (report: Report) => report.lines[0]?.confirmation?.confirmed === true;

  for (const [example, verdict, rounds] of [
    ['reader_writer-contended', 'false sharing', ENDLESS],
    ['counter_array-contended', 'false sharing', ENDLESS],
    ['lock_word-contended', 'false sharing', ENDLESS],
    // Its second process is not ended with the first one: it has to end by itself.
    ['shared_memory-contended', 'false sharing', '1000000000'],
  ] as const) {
    it(`confirms ${verdict} in ${example}, which runs until then`, async () => {
      const { result, report } = await record([join(examples, example), rounds], { expressions: [], confirm: true }, isConfirmed);
      assert.ok(result.watch !== null && result.watch.hits > 0, JSON.stringify(result.warnings));
      assert.deepEqual(report.evidence, ['clock', 'watch']);
      const [top] = report.lines;
      assert.equal(top?.verdict, verdict);
      assert.ok(isConfirmed(report), JSON.stringify(top.confirmation));
      if (example !== 'reader_writer-contended') return;
      const words = wordsOf(top).filter(({ writes }) => writes > 0);
      assert.deepEqual(
        words.map(({ offset, name }) => ({ offset, name })),
        [
          { offset: 0, name: 'messages_written' },
          { offset: 8, name: 'messages_read' },
        ],
      );
      for (const { writers } of words) assert.equal(writers.length, 1);
      assert.notDeepEqual(words[0]?.writers, words[1]?.writers);
    });
  }

  it('finds who writes a flag that the samples show polled', async () => {
    const program = compile('polled', ['-O1'], 'c', POLLED);
    const { report } = await record([program], { expressions: [], confirm: true }, isConfirmed);
    const [top] = report.lines;
    assert.ok(isConfirmed(report), JSON.stringify(top?.confirmation));
    assert.equal(top?.verdict, 'true sharing');
    assert.ok(top.contended > 0 && top.contended <= top.records);
    assert.deepEqual(
      wordsOf(top).map(({ name, writers }) => [name, writers.length]),
      [['polled', 1]],
    );
  });

  it('names words in the heap by the types there', async () => {
    const program = compile('heap', ['-O1'], 'c', IN_HEAP);
    const { report } = await record([program], { expressions: [], confirm: true }, isConfirmed);
    assert.deepEqual(
      wordsOf(report.lines[0]).map(({ name }) => name),
      ['pair.sides[0].count', 'pair.sides[1].count'],
    );
  });

  it('confirms what a container runs, also where its first thread has ended', async function () {
    const inside = join(folder.path, 'inside');
    mkdirSync(inside);
    const program = compile('headless', ['-O1'], 'c', HEADLESS);
    const enter = `mount -t tmpfs none ${inside} && cp ${program} ${inside} && exec ${inside}/headless`;
    const child = spawn('unshare', ['--mount', 'sh', '-c', enter], { stdio: 'ignore' });
    try {
      const state = (): string => readFileSync(`/proc/${child.pid}/stat`, 'utf8').replace(/.*\) (.).*/s, '$1');
      const threads = (): number => readdirSync(`/proc/${child.pid}/task`).length;
      while (child.exitCode === null && (state() !== 'Z' || threads() !== 3)) await new Promise((resolve) => setTimeout(resolve, 10));
      if (child.exitCode !== null) {
        console.error('      this user, or this container, may make no mount namespace');
        this.skip();
      }
      const more: Partial<RecordParams> = { attach: { kind: 'processes', ids: [child.pid ?? 0] }, durationSeconds: 60 };
      const { result, report } = await record([], { expressions: ['apart'], confirm: true }, isConfirmed, more);
      // A busy machine may be late to fetch hits, which come faster than that here.
      const ofTheMachine = /hits of watchpoints were lost|held watchpoints back/;
      assert.deepEqual(
        result.warnings.filter((warning) => !ofTheMachine.test(warning)),
        [],
      );
      assert.ok(isConfirmed(report));
      assert.deepEqual(
        wordsOf(report.lines[0]).map(({ name }) => name),
        ['pair[0]', 'pair[1]'],
      );
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('confirms nothing on the fixed one', async () => {
    const { result, report } = await record([join(examples, 'reader_writer-fixed')], { expressions: [], confirm: true });
    // On a busy machine it may end before anybody has looked.
    assert.match(
      result.warnings.join(),
      /nothing was confirmed by watchpoints: (no line .* last looked at, after [\d.]+ s|the program ended before)/,
    );
    assert.deepEqual(
      report.lines.filter(({ confirmation }) => confirmation?.confirmed),
      [],
    );
  });

  for (const [name, flags, language] of [
    ['slow-o0', ['-O0', '-no-pie'], 'c'],
    ['slow-pie', ['-O2', '-fPIE', '-pie'], 'c'],
    ['slow-cpp', ['-O2'], 'cpp'],
  ] as const) {
    it(`finds array elements and members by name in ${name}`, async () => {
      const program = compile(name, [...flags], language);
      const watch = { expressions: ['counters[0]', 'counters[1]', 'day.today.cents'], confirm: false, budget: 1 };
      const isSeen = ({ lines }: Report): boolean => {
        const words = lines.flatMap(wordsOf);
        return watch.expressions.every((name) => words.some((word) => word.name === name && word.writes > 0)) && words.some(hasTwoWriters);
      };
      const { result, report, output } = await record([program], watch, isSeen);
      assert.equal(result.exitStatus, 3, 'the program is unharmed');
      assert.equal(result.watch?.words, 3, JSON.stringify(result.warnings));
      const line = report.lines.find((each) => wordsOf(each).some(({ name: word }) => word === 'counters[1]'));
      assert.deepEqual(
        wordsOf(line).map(({ offset, length, name: word }) => ({ offset, length, word })),
        [
          { offset: 0, length: 8, word: 'counters[0]' },
          { offset: 8, length: 8, word: 'counters[1]' },
        ],
      );
      for (const { writes, reads, writers } of wordsOf(line)) {
        assert.ok(writes > 0 && writes <= Number(output), `${writes} writes in ${output} rounds`);
        assert.equal(reads, 0);
        assert.equal(writers.length, 1);
      }
      const day = report.lines.find((each) => wordsOf(each).some(({ name: word }) => word === 'day.today.cents'));
      assert.equal(wordsOf(day)[0]?.offset, 16);
      assert.equal(wordsOf(day)[0]?.writers.length, 2);
      for (const access of day?.accesses ?? []) {
        assert.equal(access.symbol.replace(/\(.*/, ''), 'body');
        assert.match(access.file, /slow\.c/);
      }
    });
  }

  it('takes dots for part of a name where a symbol has them, as in Go', async () => {
    const program = compile('slow-dotted', ['-O1']);
    const watch = { expressions: ['main.dotted[1]'], confirm: false, budget: 1 };
    const { result, report } = await record([program], watch, isAnyWritten);
    assert.equal(result.watch?.words, 1, JSON.stringify(result.warnings));
    const [word] = report.lines.flatMap(wordsOf);
    assert.equal(word?.name, 'main.dotted[1]');
    assert.ok(word.writes > 0);
  });

  it('goes on where another binary may have the name, says which was not found, and watches the others', async () => {
    const program = compile('slow-several', ['-O1']);
    const watch = { expressions: ['nope', 'day.nope', 'counters[0]'], confirm: false };
    const { result } = await record(['env', program], watch, (_, words) => words.has('counters[0]'));
    assert.equal(result.exitStatus, 3);
    assert.equal(result.watch?.words, 1);
    const said = result.warnings.filter((warning) => warning.startsWith('--watch'));
    assert.match(said[0] ?? '', /^--watch nope: it names no variable .*; env can load or start other binaries \(exec/);
    assert.match(said[1] ?? '', /^--watch day.nope: day has no member 'nope', so it was not watched$/);
    assert.equal(said.length, 2, JSON.stringify(result.warnings));
  });

  it('says so where it is the variable of a library', async () => {
    const program = compile('slow-library', ['-O1']);
    const watch = { expressions: ['environ', 'counters[0]'], confirm: false };
    const { result } = await record([program], watch, (_, words) => words.size === 2);
    const said = result.warnings.filter((warning) => warning.startsWith('--watch'));
    assert.equal(said.length, 1, JSON.stringify(result.warnings));
    // The dynamic loader has one, too, which its debug symbols show.
    assert.match(said[0] ?? '', /^--watch environ: the program itself has no variable of that name; watching the one in .*\/libc\.so\.6$/);
  });

  it('takes the definition that the dynamic loader binds the name to', async () => {
    const library = (name: string, source: string): void => {
      writeFileSync(join(folder.path, `${name}.c`), source);
      execFileSync('gcc', ['-g', '-fPIC', '-shared', '-o', join(folder.path, `lib${name}.so`), join(folder.path, `${name}.c`)]);
    };
    const writing = (rounds: string) => `{ for (int i = 0; ${rounds}; i++) { twice = i; usleep(1000); } }\n`;
    library('hides', `#include <unistd.h>\nstatic volatile long twice; void hidden(void) ${writing('i < 300')}`);
    library('gives', `#include <unistd.h>\nvolatile long twice; void given(void) ${writing('1')}`);
    library('comes-late', 'volatile long twice;\n');
    const libraries = ['-Wl,--no-as-needed', `-L${folder.path}`, '-lhides', '-lgives', '-lcomes-late', `-Wl,-rpath,${folder.path}`];
    const program = compile('slow-bound', libraries, 'c', 'void hidden(void), given(void);\nint main(void) { hidden(); given(); }\n');
    const { result, report } = await record([program], { expressions: ['twice'], confirm: false, budget: 1 }, isAnyWritten);
    assert.match(result.warnings.find((warning) => warning.startsWith('--watch')) ?? '', /watching the one in .*\/libgives\.so$/);
    const writers = report.lines.flatMap(({ accesses }) => accesses).filter(({ watch }) => (watch?.writes ?? 0) > 0);
    assert.deepEqual(
      writers.map(({ symbol }) => symbol),
      ['given'],
    );
  });

  it('watches what a library has that the program loads while it runs', async () => {
    const library = join(folder.path, 'liblate.so');
    writeFileSync(join(folder.path, 'late.c'), 'volatile long late; void work(void) { for (;;) late++; }\n');
    execFileSync('gcc', ['-g', '-fPIC', '-shared', '-o', library, join(folder.path, 'late.c')]);
    const loads = `
      #include <dlfcn.h>
      #include <unistd.h>
      int main(void) { sleep(1); ((void (*)(void))dlsym(dlopen("${library}", RTLD_NOW), "work"))(); }`;
    const program = compile('loads', ['-ldl'], 'c', loads);
    const wasWatched = (report: Report): boolean => report.lines.flatMap(wordsOf).some(({ writes }) => writes > 0);
    const { report } = await record([program], { expressions: ['late'], confirm: false }, wasWatched, { durationSeconds: 60 });
    assert.ok(wasWatched(report));
  });

  it('watches an element of what a pointer leads to, once it leads somewhere', async () => {
    const source = `
      #include <pthread.h>
      #include <stdlib.h>
      #include <unistd.h>
      struct slot { long hits; volatile long misses; };
      static struct slot *slots;
      static void *body(void *slot) { for (;;) { ((struct slot *)slot)->misses++; usleep(1000); } }
      int main(void) {
        pthread_t thread;
        usleep(300000);
        slots = calloc(8, sizeof *slots);
        pthread_create(&thread, 0, body, &slots[2]);
        body(&slots[2]);
      }\n`;
    const program = compile('slow-pointer', [], 'c', source);
    const { report } = await record([program], { expressions: ['slots[2].misses'], confirm: false, budget: 1 }, isAnyWritten);
    const words = report.lines.flatMap(wordsOf).filter(({ writes }) => writes > 0);
    assert.deepEqual(
      words.map(({ name, length }) => [name, length]),
      [['slots[2].misses', 8]],
    );
  });

  it('watches a running process, which goes on', async () => {
    const program = compile('slow-attached', ['-O1']);
    const started = join(folder.path, 'started');
    const child = spawn(program, [started], { stdio: 'ignore' });
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    while (!existsSync(started)) await sleep(10);
    const { result } = await record([], { expressions: ['counters'], confirm: false, budget: 1 }, isAnyWritten, {
      attach: { kind: 'processes', ids: [child.pid ?? 0] },
    });
    assert.equal(result.watch?.words, 4, '32 bytes');
    assert.ok(result.watch.hits > 0);
    assert.equal(child.exitCode, null, 'it goes on');
    child.kill();
    assert.equal(await ended, 3);
  });

  for (const [expression, message] of [
    ['nothing_of_that_name', /nothing_of_that_name.* names no variable of the program/],
    ['counters[9]', /\[9\] is outside of the array's 4 elements/],
    ['day.nope', /has no member 'nope'/],
    ['counters:0', /a length is 1 to 4096 bytes/],
    ['0xzz', /it is not an address/],
    ['own', /it is thread-local/],
    ['main', /it is a function/],
    ['here->units', /an expression follows one pointer at most/],
    ['here.units', /an expression follows one pointer at most/],
  ] as const) {
    it(`refuses ${expression} in one sentence and starts nothing`, async () => {
      const program = compile('slow-o1', ['-O1']);
      const trace = join(folder.path, 'started');
      await assert.rejects(
        () => record([program, trace], { expressions: ['counters[0]', expression], confirm: false }),
        (error: unknown) =>
          error instanceof EngineError && error.kind === 'usage' && message.test(error.message) && !error.message.includes('\n'),
      );
      assert.ok(!existsSync(trace), 'the program was started');
    });
  }
});
