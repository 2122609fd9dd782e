// How often a recording with `--confirm` looks at its samples where reading debug information takes long, and that it is read once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadAddon, NativeEngine, type NativeAddon } from '../../extension/engine/native';
import { looksBy, type Looks } from '../../extension/engine/suspects';
import type { RecordResult, SuspectsAnswer } from '../../extension/protocol/engine';
import { addonPath } from './command';

const UNITS = 24;
const TYPES = 250;

/** A unit of a library, whose functions each work on a type of their own. */
function unit(number: number): string {
  const types = Array.from({ length: TYPES }, (_, at) => {
    const name = `s${number}_${at}`;
    const before = at === 0 ? 'void' : `struct s${number}_${at - 1}`;
    return `struct ${name} { ${before} *before; struct { long low, high; } range; union { int whole; short half[2]; } either; long hits[4]; };
long use_${name}(struct ${name} *it, long by) {
  for (long i = 0; i < by; i++) { long *here = &it->hits[i & 3]; *here += it->range.low; it->either.whole++; }
  return it->before != 0;
}`;
  });
  return `${types.join('\n')}\n`;
}

/** Two threads that count side by side, in an object whose type is one of the library's many. */
const PROGRAM = `
#include <pthread.h>
struct pair { long id; struct { volatile long count; } sides[2]; };
long use_s0_0(void *, long);
struct pair pair __attribute__((aligned(64)));
static long scratch[64] __attribute__((aligned(64)));
static void *count(void *side) {
  for (;;) {
    for (int i = 0; i < 100; i++) pair.sides[side != 0].count++;
    use_s0_0(side ? scratch : scratch + 32, 100);
  }
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, count, scratch);
  count(0);
}
`;

interface Found {
  cpuSeconds: number;
  /** Binaries. */
  opened: number;
  suspects: { words: { name: string }[] }[];
}

const foundOf = (text: string): Found => JSON.parse(text) as Found;

describe('looks of a recording with --confirm', function () {
  this.timeout(180_000);
  let folder: string;
  let addon: NativeAddon;
  let runs = 0;

  before(() => {
    assert.ok(existsSync(addonPath), `${addonPath} is missing: run "npm run build" first`);
    addon = loadAddon([addonPath]);
    folder = mkdtempSync(join(tmpdir(), 'cacheline-looks-'));
    const units = Array.from({ length: UNITS }, (_, number) => join(folder, `unit${number}.c`));
    units.forEach((file, number) => writeFileSync(file, unit(number)));
    const library = join(folder, 'libmany.so');
    execFileSync('gcc', ['-g', '-O0', '-fPIC', '-shared', '-o', library, ...units]);
    writeFileSync(join(folder, 'pair.c'), PROGRAM);
    const flags = [`-L${folder}`, '-lmany', `-Wl,-rpath,${folder}`];
    execFileSync('gcc', ['-g', '-O1', '-pthread', '-o', join(folder, 'pair'), join(folder, 'pair.c'), ...flags]);
    assert.ok(statSync(library).size > 3e6, 'it has much debug information');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A recording of so many seconds, with the answers of its looks. */
  async function record(seconds: number): Promise<{ path: string; result: RecordResult; answers: SuspectsAnswer[]; forgotten: string[] }> {
    const path = join(folder, `${++runs}.cacheline`);
    mkdirSync(path);
    const answers: SuspectsAnswer[] = [];
    const forgotten: string[] = [];
    const own = looksBy(new NativeEngine(addon));
    const looks: Looks = {
      find: async (of, signal) => {
        const answer = await own.find(of, signal);
        if (!signal.aborted) answers.push(answer);
        return answer;
      },
      forget: (of) => {
        forgotten.push(of);
        own.forget(of);
      },
    };
    const stop = new AbortController();
    const params = { outputDirectory: path, frequency: 499, durationSeconds: 0, callchains: false, stdio: 'capture' } as const;
    const watch = { expressions: [], confirm: true };
    const recording = new NativeEngine(addon, looks).call(
      'record',
      { ...params, command: [join(folder, 'pair')], watch },
      { signal: stop.signal },
    );
    await Promise.race([sleep(seconds * 1000), recording]);
    stop.abort();
    return { path, result: await recording, answers, forgotten };
  }

  it('are at least two in two seconds, of which later ones open nothing', async () => {
    const { path, result, answers, forgotten } = await record(2);
    assert.ok(answers.length >= 2, `${answers.length} looks; ${result.warnings.join()}`);
    const found = answers.flatMap((answer) => ('found' in answer ? [foundOf(answer.found)] : []));
    assert.ok(found.length >= 2, JSON.stringify(answers));
    assert.ok(found[0]!.opened > 0);
    assert.ok(found.at(-1)!.opened < found[0]!.opened, JSON.stringify(found));
    assert.deepEqual(
      found.at(-1)!.suspects[0]?.words.map(({ name }) => name),
      ['pair.sides[0].count', 'pair.sides[1].count'],
    );
    assert.deepEqual(forgotten, [path]);
  });

  it('read each binary once, until they are told that there are no more', async () => {
    const { path } = await record(1);
    const look = async (): Promise<Found> => foundOf(await addon.suspects({ path }).done);
    const first = await look();
    const second = await look();
    assert.ok(first.opened >= 2, `the program and its library: ${JSON.stringify(first)}`);
    assert.equal(second.opened, 0);
    assert.deepEqual(second.suspects, first.suspects);
    addon.forget({ path });
    assert.equal((await look()).opened, first.opened);
    addon.forget({ path });
  });
});
