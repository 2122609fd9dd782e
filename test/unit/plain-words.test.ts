// What the first paragraph leads with, and whether the remedy it names is one.
import assert from 'node:assert/strict';
import type { Access, CacheLine, ObjectSum, Report } from '../../extension/protocol/report';
import { plainWords } from '../../extension/session/report/plain-words';
import { objectFinder } from '../../extension/session/report/sharing-facts';
import { reportFixture } from './fixtures';
import { access, cacheLine, heapData, objectSum, report } from './report-builder';

const HEAP = 0x5000;

const variable = (object: string, name: string, type = object): Access['data'] => ({
  ...{ object, offset: 0, definition: { file: '/src/program.c', line: 3 }, how: 'global', type, field: name, fieldOffset: 0, index: null },
});

/** Lines of two sessions each, `samples` of each session, by the two threads in turn. */
function sessions(lines: number, samples: number): CacheLine[] {
  return Array.from({ length: lines }, (_, i) => {
    const bases = [HEAP + 64 * i, HEAP + 64 * i + 32];
    const accesses = bases.map((base, which) =>
      access({
        ...{ offset: 32 * which, writes: samples, threads: [1 + which] },
        ...{ data: heapData('session', base, 'requests', 0), symbol: 'count', line: 12 },
      }),
    );
    return cacheLine(accesses, { address: `0x${(HEAP + 64 * i).toString(16)}` });
  });
}

function totals(samples: number): CacheLine {
  const accesses = [0, 8].map((offset, which) =>
    access({ offset, writes: samples, threads: [1 + which], data: variable('totals', `flushes[${which}]`), symbol: 'run', line: 19 }),
  );
  return cacheLine(accesses, { address: '0x404040' });
}

/** The report of such lines, most contended first. */
function sessionReport(lines: readonly CacheLine[]): Report {
  const whole = report([...lines].sort((a, b) => b.contended - a.contended));
  for (const line of whole.lines) line.contendedShare = line.contended / whole.samples.contended;
  return whole;
}

const words = (of: Report): string => plainWords(of).join('\n');

describe('what plain words lead with', () => {
  it('is the line where all objects of the type are on it', () => {
    assert.match(words(sessionReport(sessions(1, 10))), /It holds 'session \(heap\)'; 2 threads read and write: false sharing/);
  });

  it('is all that waits falsely, and the code of each', () => {
    const text = words(sessionReport([...sessions(19, 22), totals(55)]));
    assert.match(
      text,
      / 88\.4% .* 38 objects of type 'session', spread over 19 lines: false sharing; 11\.6% are on 'totals': false sharing\./,
    );
    assert.match(text, /Look first at 'count' \(program\.c:12\) and 'run' \(program\.c:19\)\.$/m);
  });

  it('says of lines that differ what most of them are', () => {
    const lines = sessions(3, 20);
    Object.assign(lines[2]!, { verdict: 'true sharing' });
    const text = words(sessionReport(lines));
    assert.match(text, /3 lines: mixed \(false sharing on 2 of them, true sharing on 1\)\./);
    assert.match(text, /^Most of it is false sharing\. .*alignas/m);
  });
});

describe('objects of one name', () => {
  it('are told apart by space, place and definition', () => {
    const place = (line: number): ObjectSum['definition'] => ({ file: '/src/a.c', line });
    const objects = [
      objectSum('session (heap)', 9, { base: '0x9000' }),
      objectSum('session (heap)', 8, { base: '0x5000' }),
      objectSum('session (heap)', 7, { base: '0x5000', space: 'pid 2' }),
      objectSum('count', 6, { definition: place(1) }),
      objectSum('count', 5, { definition: place(2) }),
    ];
    const find = objectFinder(report([], { objects }));
    const index = (data: Access['data'], space = 'pid 1'): number => {
      const found = find(cacheLine([], { space }), access({ data }));
      return found === undefined ? -1 : objects.indexOf(found);
    };
    assert.equal(index(heapData('session', 0x9000, 'bytes', 8)), 0);
    assert.equal(index(heapData('session', 0x5020, 'bytes', 8)), 1, 'the second of those that lie end to end');
    assert.equal(index(heapData('session', 0x5020, 'bytes', 8), 'pid 2'), 2);
    assert.equal(index(heapData('session', 0x4000, 'bytes', 8)), -1);
    assert.equal(index({ ...variable('count', '', 'long'), definition: place(2), base: '0x8000' }), 4);
    assert.equal(index({ ...variable('count', '', 'long'), definition: place(3) }), -1);
  });
});

describe('plain words of several processes', () => {
  it('speak of the machine, and name the process', () => {
    const whole = reportFixture('false-sharing');
    const [top] = whole.lines;
    const pid = Number(/\d+/.exec(top!.space)?.[0]);
    assert.match(words(whole), /of the program's samples/);
    assert.doesNotMatch(words(whole), /of process/);
    whole.recording!.target = { kind: 'system', ids: [], cpus: [], children: false };
    assert.match(words(whole), new RegExp(`of the machine's samples .* of process ${pid} \\((thread )?'[^']+'\\); `));
    top!.threads[0]!.tid = pid;
    top!.threads[0]!.comm = 'web\u001b';
    assert.ok(words(whole).includes(` of process ${pid} ('web\\x1b'); `));
    whole.recording!.target = { kind: 'processes', ids: [pid], cpus: [], children: false };
    assert.doesNotMatch(words(whole), /of process|machine/);
    whole.recording!.target.ids.push(9);
    assert.match(words(whole), /of the program's samples .* of process/);
    const clean = reportFixture('clean');
    clean.recording!.target = { kind: 'system', ids: [], cpus: [], children: false };
    assert.match(words(clean), /of the machine's time can go unseen/);
  });
});
