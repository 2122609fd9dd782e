// Reports of recordings with data sources, built by hand: an Intel server, an Arm one, and one whose every name is hostile.
import type { Access, CacheLine, Report } from '../../extension/protocol/report';
import { memoryAccess, memoryLine, memoryReport, thread } from './report-builder';

const SOURCE = '/home/ada/demo/src/server.cpp';

/** Two contended lines on two nodes: counters of two threads side by side, and a lock word. */
export function intelReport(): Report {
  const counters = memoryLine(
    [
      memoryAccess({
        ...{ offset: 0, codeAddress: '0x40116d', symbol: 'Worker::count(unsigned long)', object: 'server', file: SOURCE, line: 31 },
        ...{ hitm: [120, 310], ld: { fillBuffer: 12, l1: 85, llc: 4, localDram: 1 }, stores: [240, 31, 0] },
        meanCycles: { remoteHitm: 612.4, localHitm: 181.5, peer: null, load: 44.2 },
        ...{
          cycles: { p50: 402, p95: 1216, max: 60_112 },
          cpus: 3,
          threads: [5001, 5003],
          processes: [5000],
          nodes: [0, 1],
          cpuList: '0-1,4',
        },
        nodeStats: [
          { node: 0, cpus: 2, cpuList: '0-1', hitm: { local: 100, remote: 90 }, peer: { local: 0, remote: 0 }, stores: 200 },
          { node: 1, cpus: 1, cpuList: '4', hitm: { local: 20, remote: 220 }, peer: { local: 0, remote: 0 }, stores: 71 },
        ],
        callers: [
          {
            ...{ records: 602, hitm: 330 },
            frames: [
              { codeAddress: '0x401311', symbol: 'Worker::run()', object: 'server', file: SOURCE, line: 52, inlined: [] },
              { codeAddress: '0x401400', symbol: 'main', object: 'server', file: SOURCE, line: 80, inlined: [] },
            ],
          },
          {
            ...{ records: 201, hitm: 100 },
            frames: [{ codeAddress: '0x7f11c0de', symbol: '', object: 'libc.so.6', file: '', line: 0, inlined: [] }],
          },
        ],
        data: { object: 'counters', offset: 0, definition: { file: SOURCE, line: 12 } },
      }),
      memoryAccess({
        ...{ offset: 8, codeAddress: '0x4011a2', symbol: 'Worker::total() const', object: 'server', file: SOURCE, line: 44 },
        ...{ hitm: [33, 0], ld: { l1: 410, l2: 17 }, meanCycles: { remoteHitm: 0, localHitm: 177.8, peer: null, load: 9.1 } },
        ...{ cycles: { p50: 7, p95: 190, max: 941 }, threads: [5002], processes: [5000], cpuList: '2' },
        nodeStats: [{ node: 0, cpus: 1, cpuList: '2', hitm: { local: 33, remote: 0 }, peer: { local: 0, remote: 0 }, stores: 0 }],
        data: { object: 'counters', offset: 8, definition: { file: SOURCE, line: 12 } },
      }),
      memoryAccess({
        ...{ offset: 16, codeAddress: '0x4011f0', symbol: 'Worker::count(unsigned long)', object: 'server', file: SOURCE, line: 33 },
        ...{ stores: [507, 12, 3], threads: [5002], processes: [5000], cpuList: '2' },
        ...{ meanCycles: { remoteHitm: 0, localHitm: 0, peer: null, load: 0 }, cycles: null },
        nodeStats: [{ node: 0, cpus: 1, cpuList: '2', hitm: { local: 0, remote: 0 }, peer: { local: 0, remote: 0 }, stores: 522 }],
        data: { object: 'counters', offset: 16, definition: { file: SOURCE, line: 12 } },
      }),
    ],
    {
      ...{ address: '0x7f0e3c0010c0', space: 'pid 5000', mapping: '/home/ada/demo/build/server', flags: ['adjacent'], locked: 240 },
      ...{ contended: 1785, contendedShare: 0.9, programShare: 0.7 },
    },
  );
  const lock = memoryLine(
    [
      memoryAccess({
        ...{ offset: 56, codeAddress: '0xffffffff810b2c1d', symbol: 'native_queued_spin_lock_slowpath', object: '[kernel.kallsyms]' },
        ...{ file: '', line: 0, hitm: [9, 2], ld: { l1: 3 }, stores: [40, 0, 0], threads: [5001, 5002, 5003], processes: [5000] },
        ...{ cpus: 3, cpuList: '0,2,4', nodes: [0, 1], memoryNodes: [1], paCount: 14, locked: true },
        ...{ meanCycles: { remoteHitm: 702, localHitm: 204.4, peer: null, load: 31 }, cycles: { p50: 210, p95: 740, max: 744 } },
        nodeStats: [
          { node: 0, cpus: 2, cpuList: '0,2', hitm: { local: 9, remote: 0 }, peer: { local: 0, remote: 0 }, stores: 30 },
          { node: 1, cpus: 1, cpuList: '4', hitm: { local: 0, remote: 2 }, peer: { local: 0, remote: 0 }, stores: 10 },
        ],
        data: { object: '[kernel]', offset: 56, definition: null },
      }),
    ],
    {
      ...{
        address: '0xffff9c4201a3f9c0',
        space: 'kernel',
        mapping: '[kernel.kallsyms]',
        verdict: 'true sharing',
        flags: ['lock'],
        locked: 40,
      },
      ...{ node: [1], paCount: 14, contended: 54, contendedShare: 0.1, programShare: 0.02 },
    },
  );
  return memoryReport([counters, lock], {}, { seconds: 12.25, linesLeftOut: 814, warnings: ['2 samples were lost to throttling'] });
}

/** No HITM on Arm: lines rank by loads that another core's cache answered. */
export function armReport(): Report {
  const row = (offset: number, peer: [number, number], stores: number, more: Partial<Access>): Access => ({
    ...memoryAccess({
      ...{ offset, peer, hitm: null, ld: { l2: peer[0], remoteHit: peer[1], l1: 20 }, stores: [0, 0, stores], object: 'queue' },
      ...{ symbol: 'push', file: '/src/queue.c', line: 20, codeAddress: '0xaaaad4e00a10', memoryNodes: null, paCount: null },
      ...{ meanCycles: { remoteHitm: 0, localHitm: 0, peer: 96, remotePeer: 140.6, localPeer: 71.2, load: 8.5 } },
      ...{
        cycles: { p50: 70, p95: 156, max: 912 },
        threads: [71, 72],
        processes: [70],
        data: { object: 'queue', offset, definition: null },
      },
    }),
    ...more,
  });
  const line: CacheLine = memoryLine(
    [row(0, [300, 44], 0, {}), row(40, [0, 0], 260, { symbol: 'pop', line: 33, cycles: null, threads: [73] })],
    {
      ...{
        address: '0xaaaad4e20040',
        space: 'file 00:1b:4242',
        fileOffset: '0x1040',
        mapping: '/dev/shm/queue',
        node: null,
        paCount: null,
      },
      ...{ contended: 600, contendedShare: 1, programShare: 0.9 },
    },
  );
  return memoryReport([line], { events: ['arm_spe_0/ts_enable=1,load_filter=1,store_filter=1/'], nodes: [{ node: 0, cpus: '0-63' }] });
}

const EVIL = 'evil\u001b]0;owned\u0007\u001b[2J\u202ename\n\u200bend';
const LONG = `std::__detail::_Map_base<${'std::pair<std::basic_string<char>, int const>, '.repeat(12)}true>::operator[](key const&)`;

/** Names that would drive a terminal, names of 600 characters, 40 threads, huge counts, and a line that nothing is known of. */
export function hostileReport(): Report {
  const threads = Array.from({ length: 40 }, (_, i) => 4_194_200 + i);
  const evil = memoryLine(
    [
      memoryAccess({
        ...{
          offset: 63,
          codeAddress: '0xffffffffffffffff',
          symbol: EVIL,
          object: `${EVIL}.so`,
          file: `/tmp/${EVIL}/${'deep/'.repeat(60)}x.c`,
          line: 4_000_000,
        },
        ...{ hitm: [1_234_567_890, 987_654_321], ld: { l1: 1 }, stores: [4_000_000_000, 1, 2], threads, processes: [1, 4_194_303] },
        meanCycles: { remoteHitm: 65_535, localHitm: 60_000.4, peer: null, load: 65_535 },
        ...{
          cycles: { p50: 60_000, p95: 65_000, max: 65_535 },
          cpus: 1024,
          nodes: [0, 1, 2, 3, 7],
          memoryNodes: [0, 3, 5, 7],
          paCount: 123_456_789,
        },
        nodeStats: [0, 1, 2, 3, 7].map((node) => ({
          ...{ node, cpus: 205, cpuList: Array.from({ length: 100 }, (_, i) => node + i * 2).join(',') },
          ...{ hitm: { local: 1_000, remote: 1_000 }, peer: { local: 0, remote: 0 }, stores: 10 },
        })),
        callers: [{ records: 3, hitm: 1, frames: [{ codeAddress: '0x1', symbol: EVIL, object: EVIL, file: EVIL, line: 1, inlined: [] }] }],
        data: { object: EVIL, offset: 9_007_199_254_740_991, definition: null },
      }),
      memoryAccess({
        offset: 0,
        symbol: LONG,
        object: 'x',
        file: '/x.cpp',
        line: 1,
        stores: [1, 0, 0],
        threads: [4_194_200],
        data: { object: LONG, offset: 0, definition: null },
      }),
    ],
    {
      ...{
        address: '0xffffffffffffffc0',
        space: `file ${EVIL}`,
        mapping: EVIL,
        verdict: 'mixed',
        flags: ['straddling', 'adjacent', 'mixed-use', 'latent', 'lock'],
      },
      ...{ threads: threads.map((tid) => ({ ...thread(tid), comm: EVIL })), node: [0, 3, 5, 7], paCount: 123_456_789 },
    },
  );
  const nothing = memoryLine(
    [
      memoryAccess({
        ...{ symbol: '', object: '', file: '', line: 0, hitm: [1, 0], cycles: null, meanCycles: null },
        data: { object: '', offset: 0, definition: null },
      }),
    ],
    { address: '0x0', space: 'pid 1', mapping: '' },
  );
  const report = memoryReport(
    [evil, nothing],
    { events: [`${EVIL}/ldlat=30/P`, 'x'.repeat(300)], filtered: 17 },
    { binaries: [{ path: `/tmp/${EVIL}`, buildId: '', status: 'missing', detail: EVIL }], warnings: [`a name: ${EVIL}`] },
  );
  report.samples.filtered = 17;
  return report;
}
