// Tables made by hand, for what shows them.
import type { Table, TableRow } from '../../extension/protocol/table';

export function tableRow(part: Partial<TableRow>): TableRow {
  return {
    key: {},
    samples: 0,
    contended: 0,
    programShare: 0,
    contendedNs: 0,
    reads: 0,
    writes: 0,
    hitm: null,
    peer: null,
    misses: null,
    bounce: null,
    ld: null,
    st: null,
    falseShare: null,
    falseShareLow: null,
    falseShareHigh: null,
    threads: 0,
    lines: 0,
    instances: null,
    bytes: null,
    verdict: null,
    ...part,
  };
}

function table(part: Partial<Table> & Pick<Table, 'rows'>): Table {
  const { rows } = part;
  const sum = (of: (row: TableRow) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const total = {
    samples: sum(({ samples }) => samples),
    contended: sum(({ contended }) => contended),
    misses: rows.some(({ misses }) => misses !== null) ? sum(({ misses }) => misses ?? 0) : null,
  };
  return {
    schema: 'cacheline-table/1',
    by: ['type'],
    evidence: ['clock'],
    collector: 'clock',
    total,
    programSamples: total.samples,
    filtered: null,
    selected: null,
    bins: null,
    limits: ['Clock samples show where threads spend time.'],
    warnings: [],
    ...part,
  };
}

/** A data profile by the clock, with names that would drive a terminal, a CSV reader or a spreadsheet. */
export const typeTable = table({
  by: ['type', 'member'],
  filtered: 12,
  rows: [
    tableRow({
      key: { type: 'ns::Pool<Worker, std::allocator<Worker>>', member: 'slots[].ticks' },
      samples: 7000,
      contended: 6500,
      programShare: 6500 / 8010,
      contendedNs: 6_500_000_000,
      reads: 100,
      writes: 6900,
      falseShare: 1,
      falseShareLow: 0.97,
      falseShareHigh: 1,
      threads: 8,
      lines: 1200,
      instances: 4800,
      bytes: 153_600,
      verdict: 'false sharing',
    }),
    tableRow({
      key: { type: 'Queue', member: 'head, "tail"' },
      samples: 900,
      contended: 300,
      programShare: 300 / 8010,
      contendedNs: 300_500_000,
      reads: 700,
      writes: 200,
      falseShare: 0.41,
      falseShareLow: 0.2,
      falseShareHigh: 0.6,
      threads: 2,
      lines: 1,
      instances: 1,
      bytes: 128,
      verdict: 'mixed',
    }),
    tableRow({
      key: { type: '=cmd|\u001b[31m\u202e', member: '[no member]' },
      samples: 100,
      reads: 100,
      threads: 1,
      lines: 3,
      verdict: 'private',
    }),
    tableRow({ key: { type: '[not attributed: kernel]', member: '[not attributed: kernel]' }, samples: 10, threads: 3 }),
  ],
});

/** By function, with pairs. */
export const functionTable = table({
  by: ['function'],
  rows: [
    tableRow({
      key: { function: 'push' },
      samples: 600,
      contended: 500,
      programShare: 0.5,
      contendedNs: 500_000_000,
      reads: 100,
      writes: 500,
      falseShare: 0.6,
      falseShareLow: 0.5,
      falseShareHigh: 0.7,
      threads: 2,
      lines: 2,
      verdict: 'mixed',
      waitsFor: [
        {
          function: 'pop',
          share: 0.75,
          falseShare: 0.8,
          lines: [
            { source: '/code/queue.c:12', cause: '/code/queue.c:30', share: 0.7 },
            { source: '/code/queue.c:14', cause: '/code/queue.c:30', share: 0.05 },
          ],
        },
        { function: 'push', share: 0.25, falseShare: 0, lines: [{ source: '/code/queue.c:12', cause: '/code/queue.c:12', share: 0.25 }] },
      ],
    }),
    tableRow({ key: { function: 'pop' }, samples: 400, reads: 400, threads: 1, lines: 2, verdict: 'read-shared', waitsFor: [] }),
  ],
});

const BINS = 6;

/** A timeline with data sources. */
export const timeTable = table({
  by: ['time'],
  evidence: ['hitm', 'latency'],
  collector: 'pmu',
  bins: { count: BINS, from: 0, to: 3 },
  rows: Array.from({ length: BINS }, (_, i) =>
    tableRow({
      key: { time: `${(i / 2).toFixed(2)}-${((i + 1) / 2).toFixed(2)}s` },
      samples: 100 * i,
      contended: 10 * i * i,
      contendedNs: null,
      programShare: (10 * i * i) / 1500,
      reads: 90 * i,
      writes: 10 * i,
      hitm: 10 * i * i,
      peer: 0,
      misses: 20 * i,
      bounce: i === 0 ? 0 : i / 10,
      ld: { fillBuffer: 0, l1: 80 * i, l2: 0, llc: 0, remoteHit: 0, localDram: 0, remoteDram: 0 },
      st: { l1Hit: 10 * i, l1Miss: 0, na: 0 },
      falseShare: i === 0 ? null : 1,
      falseShareLow: i === 0 ? null : 1,
      falseShareHigh: i === 0 ? null : 1,
      threads: i,
      lines: i,
      verdict: i === 0 ? null : 'false sharing',
    }),
  ),
});
