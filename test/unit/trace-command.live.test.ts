// `cacheline trace` of real programs: an example whose way is known, a variable, and what cannot be traced.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Trace, TracePath } from '../../extension/protocol/trace';
import { Command, compileFixture, examples, type Outcome } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';
import { typeErrors } from './typed';
import { checkXml } from './xml';

/** Two threads take turns at a variable; with an argument: blocks, how the program ends, or neither. */
const PROGRAM = `
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
struct gauge { long ticks; long reads; };
struct block { long a[2]; struct gauge inner; };
struct unused { long x; };
struct gauge gauge;
struct unused* never;
static void nap(void) { struct timespec t = {0, 200000}; nanosleep(&t, 0); }
__attribute__((noinline)) void tick(long i) { gauge.ticks = i; }
__attribute__((noinline)) long look(void) { return gauge.ticks + gauge.reads++; }
__attribute__((noinline)) struct block* make(void) { struct block* b = malloc(sizeof *b); b->inner.ticks = 1; return b; }
static void* other(void* unused) { for (int i = 0; i < 3000; i++) { look(); nap(); } return unused; }
static void hold(int registers) {
  static long words[4];
  for (int i = 0; i < registers; i++) {
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_RW};
    attr.bp_addr = (unsigned long)&words[i];
    attr.bp_len = sizeof words[i];
    attr.exclude_kernel = 1;
    if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0) abort();
  }
}
static void* idle(void* unused) { pause(); return unused; }
int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (argc > 2 && !strcmp(argv[2], "threads")) { pthread_t other; for (int i = 0; i < 40; i++) pthread_create(&other, 0, idle, 0); }
  else if (argc > 2) hold(atoi(argv[2]));
  if (!strcmp(how, "crash")) { make(); abort(); }
  if (!strcmp(how, "at-once")) abort();
  if (!strcmp(how, "status")) return 7;
  if (!strcmp(how, "blocks")) { for (int i = 0; i < 2000; i++) { struct block* b = make(); nap(); free(b); } return 0; }
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  for (int i = 0; i < 3000; i++) { tick(i); nap(); }
  pthread_join(thread, 0);
  return 0;
}
`;

describe('cacheline trace', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const run = (args: readonly string[]): Promise<Outcome> => command.run(['trace', ...args], { cwd: folder.path });
  const example = join(examples, 'two_stage_queue-traced');
  const traceOf = ({ status, stdout, stderr }: Outcome, wanted = 0): Trace => {
    assert.equal(status, wanted, stderr);
    const trace = JSON.parse(stdout.slice(stdout.indexOf('{"schema"'))) as Trace;
    assert.deepEqual(schemaErrors('cacheline-trace-1', trace), []);
    return trace;
  };
  const program = (): string => {
    const path = at('program');
    if (!existsSync(path)) execFileSync('cc', ['-O1', '-g', '-pthread', '-o', path, '-x', 'c', '-'], { input: PROGRAM });
    return path;
  };
  /** The functions of a path, each with its accesses together. */
  const visits = ({ steps }: TracePath): { function: string; place: number; read: Set<string>; written: Set<string> }[] => {
    const list: ReturnType<typeof visits> = [];
    for (const step of steps) {
      if (list.at(-1)?.function !== step.function)
        list.push({ function: step.function, place: step.place, read: new Set(), written: new Set() });
      const visit = list.at(-1)!;
      assert.equal(visit.place, step.place, 'a function stays on its CPU');
      for (const member of step.members) (step.access === 'read' ? visit.read : visit.written).add(member);
    }
    return list;
  };

  it('shows the way of the packets through two queues, and again from the recording', async function () {
    if (availableParallelism() < 2) return this.skip();
    const outcome = await run(['packet', '--budget', '20', '--format', 'json', '--svg', 'way.svg', '--', example, '500000']);
    const trace = traceOf(outcome);
    const type = { type: 'Trace', text: JSON.stringify(trace) };
    assert.deepEqual(typeErrors([`import type { Trace } from '../../extension/protocol/trace';`], [type]), []);
    assert.match(outcome.stdout, /^500000 packets, checksum \d+\n/);
    assert.match(outcome.stderr, /^cacheline: \d+ objects followed in .* recorded in two_stage_queue-traced\.cacheline$/m);
    assert.equal(trace.type, 'packet');
    assert.ok(trace.instances >= 20 && trace.accesses >= 6 * trace.instances, JSON.stringify(trace));
    const [path] = trace.paths;
    assert.ok(path!.count >= 0.8 * trace.instances, JSON.stringify(trace.paths));
    assert.equal(path!.allocatedIn, 'make_packet');
    assert.deepEqual(
      visits(path!).map((visit) => ({ ...visit, read: [...visit.read].sort(), written: [...visit.written].sort() })),
      [
        { function: 'make_packet', place: 0, read: [], written: ['data[]', 'length', 'number'] },
        { function: 'route_packet', place: 1, read: ['data[]', 'length', 'number'], written: ['checksum', 'route'] },
        { function: 'send_packet', place: 0, read: ['checksum', 'route'], written: [] },
      ],
    );
    assert.deepEqual(
      path!.steps.filter(({ cpuChanged }) => cpuChanged).map((step) => step.function),
      ['route_packet', 'send_packet'],
    );
    assert.deepEqual({ ...path!.freed, sinceAllocNs: 0 }, { function: 'send_packet', place: 0, cpuChanged: false, sinceAllocNs: 0 });
    const times = [...path!.steps, path!.freed!].map(({ sinceAllocNs }) => sinceAllocNs);
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
    assert.ok(trace.overhead! > 0 && trace.overhead! < 0.3, String(trace.overhead));
    checkXml(readFileSync(at('way.svg'), 'utf8'));

    assert.deepEqual(readdirSync(at('two_stage_queue-traced.cacheline')).sort(), [
      '.build-id',
      'meta.json',
      'perf.data',
      'trace.jsonl',
      'watch.data',
      'watch.jsonl',
    ]);
    assert.deepEqual(traceOf(await run(['--from', 'two_stage_queue-traced.cacheline', '--format', 'json'])), trace);
    const text = await run(['--from', 'two_stage_queue-traced.cacheline']);
    assert.match(text.stdout, /^packet\n {2}\d+ objects followed/);
    for (const line of text.stdout.split('\n')) assert.ok(line.length <= 80, line);
  });

  it('traces one member, and no more objects than it is told to', async () => {
    const trace = traceOf(await run(['packet.checksum', '--instances', '7', '--format', 'json', '-o', 'member', '--', example, '500000']));
    assert.equal(trace.instances, 7);
    assert.equal(trace.member, 'checksum');
    assert.deepEqual(new Set(trace.paths.flatMap(({ steps }) => steps.flatMap(({ members }) => members))), new Set(['checksum']));
  });

  it('follows a variable in windows of time', async () => {
    const trace = traceOf(await run(['gauge', '--format', 'json', '-o', 'variable', '--', program()]));
    const [path] = trace.paths;
    assert.equal(path!.allocatedIn, null);
    assert.equal(path!.freed, null);
    assert.deepEqual([...new Set(path!.steps.map((step) => step.function))].sort(), ['look', 'tick']);
    const ofTick = path!.steps.filter((step) => step.function === 'tick');
    assert.deepEqual(
      ofTick.map(({ members, access }) => ({ members, access })),
      [{ members: ['ticks'], access: 'write' }],
    );
  });

  it('finds the type inside of another one', async () => {
    const trace = traceOf(await run(['gauge', '--format', 'json', '-o', 'inner', '--', program(), 'blocks']));
    const block = trace.paths.find(({ allocatedIn }) => allocatedIn === 'make');
    assert.ok(block !== undefined, JSON.stringify(trace));
    assert.deepEqual(
      block.steps.map((step) => [step.function, step.access, step.members]),
      [['make', 'write', ['ticks']]],
    );
    assert.equal(block.freed?.function, 'main');
  });

  it('says why nothing can be traced, and leaves nothing behind', async () => {
    const refused = async (wanted: number, says: RegExp, ...args: string[]): Promise<void> => {
      const { status, stdout, stderr } = await run(['-o', 'refused', ...args]);
      assert.equal(status, wanted, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, '');
      assert.ok(!existsSync(at('refused')));
    };
    await refused(2, /no structure, class or union of the program is named no_such/, 'no_such', '--', program());
    await refused(2, /gauge has no member nothing/, 'gauge.nothing', '--', program());
    await refused(2, /\/no\/such does not exist/, 'gauge', '--', '/no/such');
    execFileSync('strip', ['-o', at('stripped'), program()]);
    await refused(3, /has no debug information/, 'gauge', '--', at('stripped'));
    execFileSync('cc', ['-g', '-static', '-pthread', '-o', at('static'), '-x', 'c', '-'], { input: PROGRAM });
    await refused(4, /static cannot be traced: it is statically linked/, 'gauge', '--', at('static'));
    writeFileSync(at('no-recording'), '');
    assert.equal((await run(['--from', 'no-recording'])).status, 3);
    const recorded = await command.run(['record', '-o', 'plain', '--', program(), 'status'], { cwd: folder.path });
    assert.equal(recorded.status, 7);
    const without = await run(['--from', 'plain']);
    assert.equal(without.status, 3);
    assert.match(without.stderr, /has no trace \(trace\.jsonl\)/);
  });

  it('says where the machine has too little for it: debug registers, descriptors, perf events', async () => {
    const traced = async (output: string, ...mode: string[]): Promise<Outcome> =>
      run(['gauge', '-o', output, '--', program(), 'blocks', ...mode]);
    const none = await traced('no-registers', '4');
    assert.equal(none.status, 4, none.stderr);
    assert.match(none.stderr, /no debug register was free: a debugger or another recording holds them/);
    assert.doesNotMatch(none.stderr, /no object of the type/);
    const some = await traced('one-register', '3');
    assert.equal(some.status, 0, some.stderr);
    assert.match(some.stderr, /only 1 of 4 debug registers were free/);
    const few = await command.run(['trace', 'gauge', '-o', 'few', '--', program(), 'blocks', 'threads'], {
      cwd: folder.path,
      through: ['prlimit', '--nofile=120:120'],
    });
    assert.equal(few.status, 4, few.stderr);
    assert.match(few.stderr, /there are too few file descriptors to watch every thread \(ulimit -n\)/);
    const refused = await command.run(['trace', 'gauge', '-o', 'refused', '--', program(), 'blocks'], {
      cwd: folder.path,
      through: [compileFixture('refuse-perf', folder.path)],
    });
    assert.equal(refused.status, 4, refused.stderr);
    assert.match(refused.stderr, /perf_event_open is refused/);
    assert.ok(!existsSync(at('refused')));
  });

  it('gives steps the samples of a recording', async () => {
    const recorded = await command.run(['record', '-F', '2000', '-o', 'samples', '--', example, '1000000'], { cwd: folder.path });
    assert.equal(recorded.status, 0, recorded.stderr);
    const trace = traceOf(await run(['packet', '--budget', '20', '--costs', 'samples', '--format', 'json', '--', example, '500000']));
    assert.equal(trace.costReason, null);
    const steps = trace.paths[0]!.steps;
    // It waits for lines that another processor wrote.
    const routes = steps.find((step) => step.function === 'route_packet' && step.access === 'read' && step.members.includes('length'));
    assert.ok(routes!.cost! > 0 && steps.every(({ cost }) => cost !== null && cost < 0.6), JSON.stringify(steps));
    const other = await run(['gauge', '-o', 'inner', '--costs', 'samples', '--', program(), 'blocks']);
    assert.equal(other.status, 0, other.stderr);
    assert.match(other.stderr, /warning: no step has a cost: the samples have none at objects of the type gauge/);
    assert.equal((await run(['--from', 'inner', '--costs', 'no-such'])).status, 3);
  });

  it('passes the status of the program on, however it ends, and says where no object was seen', async () => {
    const none = await run(['unused', '-o', 'none', '--', program(), 'blocks']);
    assert.equal(none.status, 4, none.stderr);
    assert.match(none.stderr, /no object of the type unused was followed/);
    assert.equal((await run(['gauge', '-o', 'status', '--', program(), 'status'])).status, 7);
    assert.equal((await run(['gauge', '-o', 'at-once', '--', program(), 'at-once'])).status, 128 + 6);
    const crashed = traceOf(await run(['block', '--format', 'json', '-o', 'crash', '--', program(), 'crash']), 128 + 6);
    assert.ok(crashed.instances <= 1);
  });
});
