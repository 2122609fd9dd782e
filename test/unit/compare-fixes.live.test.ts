// Comparisons of recordings by the clock: programs before and after a fix that is known, both ways, twice the same, ended early, attached.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon, NativeEngine } from '../../extension/engine/native';
import type { Diff, DiffEntry } from '../../extension/protocol/diff';
import type { RecordingMeta } from '../../extension/protocol/recording';
import { compareRecordings, type Comparison } from '../../extension/session/compare/comparison';
import { compareView } from '../../extension/session/compare/compare-view';
import { headline } from '../../extension/session/compare/headline';
import { Command } from './command';

/**
 * Counters of threads in a heap array, and a counter that all share, which no fix parts. FIXED 1: elements are aligned; 2: they are inside of
 * a type that is.
 */
const SOURCE = `
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#if FIXED == 1
#define ALIGNED alignas(64)
#else
#define ALIGNED
#endif
struct ALIGNED Stats { std::atomic<long> requests{0}; std::atomic<long> bytes{0}; };
#if FIXED == 2
struct alignas(64) Padded { Stats stats; };
using Element = Padded;
static Stats& statsOf(Element& element) { return element.stats; }
#else
using Element = Stats;
static Stats& statsOf(Element& element) { return element; }
#endif
struct Shared { std::atomic<long> inFlight{0}; };
static Shared* shared;
static Element* elements;
static __attribute__((noinline)) void account(Element& element) {
  Stats& stats = statsOf(element);
  stats.requests.fetch_add(1, std::memory_order_relaxed);
  stats.bytes.fetch_add(64, std::memory_order_relaxed);
}
static __attribute__((noinline)) void enter(Shared& shared) { shared.inFlight.fetch_add(1, std::memory_order_relaxed); }
int main(int count, char** arguments) {
  const long steps = count > 1 ? std::atol(arguments[1]) : 24000000;
  shared = new (std::align_val_t(128)) Shared;
  elements = new (std::align_val_t(64)) Element[2];
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++)
    threads.emplace_back([i, steps] {
      for (long step = 0; step < steps; step++) {
        account(elements[i]);
        if (step % 8 == 0) enter(*shared);
      }
    });
  for (auto& thread : threads) thread.join();
  std::printf("%ld\\n", statsOf(elements[0]).requests.load());
}
`;

describe('comparing a program before and after its fix', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const engine = new NativeEngine(loadAddon());
  let folder = '';
  const at = (name: string): string => join(folder, name);

  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-fixes-')));
    writeFileSync(at('counters.cpp'), SOURCE);
    for (const [name, fixed] of [
      ['falsely', 0],
      ['aligned', 1],
      ['wrapped', 2],
    ] as const) {
      const flags = ['-std=c++20', '-O2', '-g', '-pthread', `-DFIXED=${fixed}`];
      execFileSync('c++', [...flags, '-o', at(name), at('counters.cpp')]);
      await record(name, '--', at(name));
    }
    await record('again', '--', at('falsely'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function record(name: string, ...args: string[]): Promise<RecordingMeta> {
    return recordUntil(0, name, ...args);
  }

  async function recordUntil(expected: number, name: string, ...args: string[]): Promise<RecordingMeta> {
    const { status, stderr } = await command.run(['record', '--collector', 'clock', '-o', `${name}.cacheline`, ...args], { cwd: folder });
    assert.equal(status, expected, stderr);
    return JSON.parse(readFileSync(at(`${name}.cacheline/meta.json`), 'utf8')) as RecordingMeta;
  }

  const compare = (before: string, after: string): Promise<Comparison> =>
    compareRecordings(engine, { before: at(`${before}.cacheline`), after: at(`${after}.cacheline`) });
  const entry = ({ entries }: Diff, kind: DiffEntry['kind'], name: RegExp): DiffEntry => {
    const found = entries.filter((one) => one.kind === kind && name.test(one.name));
    assert.equal(found.length, 1, `${kind} ${name} in ${entries.map((one) => `${one.kind} ${one.name}`).join(', ')}`);
    return found[0]!;
  };

  it('says how much faster a run is, how much less it waits, and for what it still does', async () => {
    const { diff } = await compare('falsely', 'aligned');
    assert.deepEqual([diff.unit, entry(diff, 'type', /^Stats$/).status], ['run', 'gone'], headline(diff));
    const [took, takes] = [diff.before.runSeconds!, diff.after.runSeconds!];
    const metas = ['falsely', 'aligned'].map(
      (name) => JSON.parse(readFileSync(at(`${name}.cacheline/meta.json`), 'utf8')) as RecordingMeta,
    );
    assert.deepEqual(
      [took, takes],
      metas.map(({ durationSeconds }) => durationSeconds),
    );
    assert.ok(['better', 'gone'].includes(diff.program.status), JSON.stringify(diff.program));
    assert.match(headline(diff), /(less waiting a run|the waiting is gone) \((>99\.9|99\.\d)% sure\)/);
    if (diff.remaining !== null) assert.equal(diff.remaining.name, 'Shared', headline(diff));
    const back = (await compare('aligned', 'falsely')).diff;
    assert.deepEqual([entry(back, 'type', /^Stats$/).status, back.remaining?.name], ['new', 'Stats'], headline(back));
  });

  it('knows data again whose type the fix has put inside of another one', async () => {
    const { diff, advice, followed, places } = await compare('falsely', 'wrapped');
    const type = entry(diff, 'type', /Stats|Padded/);
    assert.deepEqual([type.name, type.was, type.status, type.after.contended], ['Padded', 'Stats', 'gone', 0]);
    assert.deepEqual(
      diff.entries
        .flatMap(({ kind, name, was }) => (kind === 'member' && was !== undefined && /Stats|Padded/.test(name) ? [[name, was]] : []))
        .sort(),
      [
        ['Padded.stats.bytes', 'Stats.bytes'],
        ['Padded.stats.requests', 'Stats.requests'],
      ],
    );
    assert.equal(places[diff.entries.indexOf(type)]?.side, 'before');
    assert.deepEqual(
      advice.flatMap(({ subject }, index) => (subject.type === 'Stats' ? [followed[index]] : [])),
      [true],
      JSON.stringify(advice),
    );
    const back = entry((await compare('wrapped', 'falsely')).diff, 'type', /Stats|Padded/);
    assert.deepEqual([back.name, back.was, back.status], ['Stats', 'Padded', 'new']);
  });

  it('recognises advice that was followed, and that was not', async () => {
    for (const [after, expected] of [
      ['aligned', 'yes'],
      ['again', 'no'],
    ] as const) {
      const comparison = await compare('falsely', after);
      const index = comparison.advice.filter(({ way }) => way !== 'none').findIndex(({ subject }) => subject.type === 'Stats');
      assert.equal(compareView(comparison).predicted[index]?.followed, expected, JSON.stringify(comparison.advice));
    }
  });

  it('says nothing of a gain where there is none', async () => {
    const { diff } = await compare('falsely', 'falsely');
    assert.match(headline(diff), /^A run takes as long as before; as much waiting a run as before; most of the waiting: Stats\.$/);
    const { status, before: was, after: is } = entry((await compare('falsely', 'again')).diff, 'type', /^Stats$/);
    assert.ok(!['gone', 'new'].includes(status), `${status}: ${JSON.stringify([was, is])}`);
  });

  it('goes by a second where a recording ended early or its program already ran', async () => {
    const long = '1000000000';
    const early = await recordUntil(143, 'early', '--duration', '1', '--', at('falsely'), long);
    assert.equal(early.interrupted, true);
    const running = spawn(at('falsely'), [long], { stdio: 'ignore' });
    try {
      await once(running, 'spawn');
      await record('attached', '--duration', '1', '-p', String(running.pid));
    } finally {
      running.kill('SIGKILL');
      await once(running, 'close');
    }
    for (const [after, reason] of [
      ['early', /the recording after ended before its program/],
      ['attached', /the recording after is of something that already ran/],
    ] as const) {
      const { diff } = await compare('falsely', after);
      assert.deepEqual([diff.unit, diff.before.runSeconds, diff.after.runSeconds], ['second', null, null], after);
      assert.match(headline(diff), reason);
      assert.doesNotMatch(headline(diff), /as fast|takes|a run/);
    }
  });
});
