// The text of `cacheline threads`: one page, widths, untrusted names, lanes, and how uneven work is said.
import assert from 'node:assert/strict';
import type { ThreadsDocument } from '../../extension/protocol/threads';
import { duration } from '../../extension/session/threads/duration';
import { imbalanceOf } from '../../extension/session/threads/imbalance';
import { cellsOf, laneText, resampled } from '../../extension/session/threads/lanes';
import { threadsText } from '../../extension/session/threads/threads-text';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { matchGolden } from './golden';
import { BIN_NS, BINS, hostile, laneOf, sampled, thread, threadsDocument, uneven } from './threads-builder';

const text = (list: ThreadsDocument, width: number): string => threadsText(list, { width, path: 'server.cacheline' });

describe('threads text', () => {
  it('of uneven threads in 80 columns', () => matchGolden('threads-uneven-80.txt', text(uneven, 80)));

  it('of samples alone calls unknown what only context switches tell', () => {
    const shown = text(sampled, 80);
    assert.match(shown, /\nBasis +clock samples: [^]*not known/);
    assert.match(shown, /\n {2}4711 reader \| #{24}X{32} {3}\|\n {2}4712 writer \| (XX {2}){14} {3}\|\n/, 'lanes have nothing but running');
    assert.match(shown, /\n {2}4711 reader +1\.12 s +480 ms +unknown +unknown +unknown +unknown\n/);
    assert.match(shown, /\n {4}0 +1\.08 s +90\.0% +2 +unknown\n/);
    assert.doesNotMatch(shown, /locks|Migrations|blocked\n/);
    assert.match(shown, /\nWarnings\n {2}Contended time is not known: /);
  });

  it('is no wider than it may be', () => {
    for (const list of [uneven, sampled, hostile])
      for (const width of [40, 57, 80, 200])
        for (const line of text(list, width).split('\n')) assert.ok(displayWidth(line) <= width, `${width}: ${line}`);
  });

  it('makes untrusted names harmless', () => {
    assert.doesNotMatch(text(hostile, 80), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    assert.match(text(hostile, 200), /a\\x1b\[31mred/);
  });

  it('lists some threads and says how many more there are', () => {
    assert.match(text(hostile, 80), /and 9 more threads, which ran \d+ ms in total;\s+--format\s+json\s+has\s+them\./);
  });

  it('says what is lost and what is not known', () => {
    assert.match(text(hostile, 200), /12 records were lost/);
    assert.match(text(hostile, 200), /"unknown": the thread was off its CPU/);
    assert.doesNotMatch(text(uneven, 200), /unknown/);
    assert.match(text(sampled, 200), /\(no\s+context\s+switches:\s+they were not asked for \(--no-switches\)\)/);
  });

  it('says of contended code who calls it, as far as that is recorded', () => {
    assert.match(text(uneven, 200), /push is called by produce 75\.0%, refill 25\.0%; it calls lock 66\.7%/);
    assert.match(text(sampled, 200), /Callers are not recorded: cacheline record -g records them\./);
    assert.doesNotMatch(text(threadsDocument(uneven.threads, { functions: null }), 200), /Contended code/);
    assert.match(text(hostile, 200), /unnamed code of lib\\x1b\.so/);
  });

  it('says how unevenly threads work of a few processes that matter', () => {
    const pairs = (count: number, bins: string): ThreadsDocument['threads'] =>
      Array.from({ length: 2 * count }, (_, at) => thread(10 + at, '', bins.padEnd(BINS), { pid: Math.floor(at / 2) + bins.length * 100 }));
    const many = text(threadsDocument([...pairs(8, '########'), ...pairs(3, '#########################################')]), 200);
    assert.equal(many.match(/work about equally long/g)?.length, 5);
    assert.match(many, /^6 more processes: --format json has them\.$/m);
    const small = text(threadsDocument([...pairs(1, '#'), ...pairs(1, '#########################################')]), 200);
    assert.equal(small.match(/work about equally long/g)?.length, 1);
    assert.match(small, /^1 more process: --format json has them\.$/m);
  });

  it('says that there is no thread', () => {
    assert.match(text(threadsDocument([]), 80), /No thread, or none of the chosen ones, was seen in this window\./);
    assert.match(text(threadsDocument([], { spanNs: 0 }), 80), /no records with times in this window/);
  });

  it('differs with colours by the colours alone', () => {
    const coloured = threadsText(uneven, { width: 80, path: 'server.cacheline', style: COLOURED });
    assert.notEqual(coloured, text(uneven, 80));
    assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), text(uneven, 80));
  });

  it('writes durations in s and ms', () => {
    assert.deepEqual([0, 320_000, 45_100_000, 99_960_000, 999_600_000, 1_250_000_000].map(duration), [
      '0.0 ms',
      '0.3 ms',
      '45.1 ms',
      '100 ms',
      '1.00 s',
      '1.25 s',
    ]);
  });
});

describe('lanes', () => {
  const drawn = (pattern: string, width: number): string =>
    laneText(cellsOf(laneOf(pattern), width, (pattern.length * BIN_NS) / width), PLAIN);

  it('show what a thread did most of each cell', () => {
    const pattern = ' ##X..--??  ';
    assert.equal(drawn(pattern, pattern.length), pattern);
    assert.equal(drawn('##..####', 4), '#.##');
    assert.equal(drawn('#..-....', 2), '+.', 'a quarter runs');
    assert.equal(drawn('X..-', 1), 'x');
    assert.equal(drawn('#...................', 1), '.', 'a twentieth runs');
    assert.equal(drawn('#X##', 1), '#', 'a quarter is contended');
    assert.equal(drawn('XX##', 1), '#', 'three quarters of a half are contended');
    assert.equal(drawn('XX#X', 1), 'X');
  });

  it('keep the sums of their bins in fewer cells', () => {
    const bins = Array.from({ length: BINS }, (_, at) => (at * 7919) % 101);
    const total = bins.reduce((sum, bin) => sum + bin, 0);
    for (const width of [1, 7, 31, 59, 60]) {
      const cells = resampled(bins, width);
      assert.equal(cells.length, width);
      assert.ok(Math.abs(cells.reduce((sum, cell) => sum + cell, 0) - total) < 1e-6, String(width));
    }
  });
});

describe('imbalance', () => {
  const working = (...bins: number[]): ThreadsDocument =>
    threadsDocument(bins.map((count, at) => thread(11 + at, 'worker', '#'.repeat(count).padEnd(BINS))));

  it('is said as how many times as long as the others one works', () => {
    const [found] = working(40, 20, 20).imbalance;
    assert.ok(found);
    assert.match(found.sentence, /^Thread 11 \(worker\) .* 2\.0 times as long as the 2 other/);
    assert.equal(found.ratio, 2);
    assert.equal(found.factor, 1.5);
    assert.equal(found.longest, 11);
  });

  it('names the other one of two', () => {
    assert.match(working(20, 50).imbalance[0]!.sentence, /^Thread 12 \(worker\) .* 2\.5 times as long as thread 11 \(worker\)/);
  });

  it('says that work is even', () => {
    assert.match(working(50, 52, 49).imbalance[0]!.sentence, /^The 3 working threads of process 4710 .* equally long/);
  });

  it('leaves out who only waits, and processes with one working thread', () => {
    assert.deepEqual(working(40, 20, 3).imbalance[0]?.threads, [11, 12]);
    assert.deepEqual(working(40, 1).imbalance, []);
    assert.deepEqual(imbalanceOf({ threads: [] }), []);
  });

  it('is of each process, most uneven first', () => {
    const list = threadsDocument([
      thread(1, '', '##'.padEnd(BINS), { pid: 1 }),
      thread(2, '', '##'.padEnd(BINS), { pid: 1 }),
      thread(3, '', '#####'.padEnd(BINS), { pid: 3 }),
      thread(4, '', '#'.padEnd(BINS), { pid: 3 }),
    ]);
    assert.deepEqual(
      list.imbalance.map(({ pid }) => pid),
      [3, 1],
    );
  });
});
