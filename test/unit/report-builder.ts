// Builds reports for tests: only what a test is about has to be said.
import type { Access, CacheLine, Report, ThreadUse } from '../../extension/protocol/report';

export function access(fields: Partial<Omit<Access, 'stores'>> & { writes?: number; reads?: number } = {}): Access {
  const { writes = 0, reads = 0, ...rest } = fields;
  return {
    offset: 0,
    width: 8,
    codeAddress: '0x401000',
    symbol: 'work',
    object: 'program',
    file: '/src/program.c',
    line: 1,
    inlined: [],
    locked: false,
    records: writes + reads,
    contended: writes + reads,
    loads: reads,
    stores: { total: writes, l1Hit: null, l1Miss: null, na: writes, rmw: 0 },
    hitm: null,
    peer: null,
    meanCycles: null,
    cycles: null,
    cpus: 1,
    threads: [1],
    processes: [1],
    nodes: [0],
    skid: [0, writes + reads],
    data: { object: 'shared', offset: 0, definition: null },
    ...rest,
  };
}

export function thread(tid: number, competes = true): ThreadUse {
  return { pid: 1, tid, comm: `t${tid}`, loads: 1, stores: 1, competes };
}

export function cacheLine(accesses: Access[], fields: Partial<CacheLine> = {}): CacheLine {
  const sum = (of: (access: Access) => number): number => accesses.reduce((total, access) => total + of(access), 0);
  return {
    address: '0x404040',
    space: 'pid 1',
    mapping: '/src/program',
    node: null,
    paCount: null,
    verdict: 'false sharing',
    flags: [],
    contendedShare: 0,
    programShare: 0,
    contended: sum(({ contended }) => contended),
    hitm: null,
    peer: null,
    records: sum(({ records }) => records),
    loads: sum(({ loads }) => loads),
    stores: { total: sum(({ stores }) => stores.total), l1Hit: null, l1Miss: null, na: 0, rmw: 0 },
    ld: null,
    threads: [...new Set(accesses.flatMap(({ threads }) => threads))].map((tid) => thread(tid)),
    accesses,
    ...fields,
  };
}

export function report(lines: CacheLine[], fields: Partial<Report> = {}): Report {
  const contended = lines.reduce((total, line) => total + line.contended, 0);
  const records = lines.reduce((total, line) => total + line.records, 0);
  return {
    schema: 'cacheline-report/1',
    evidence: ['clock'],
    collector: 'clock',
    lineSize: 64,
    samples: {
      total: records,
      attributed: records,
      contended,
      lost: 0,
      unattributed: { kernel: 0, noInstruction: 0, noMemoryOperand: 0, clobbered: 0, threadLocal: 0, unmapped: 0 },
    },
    stats: {},
    shared: {},
    lines,
    linesLeftOut: 0,
    objects: [],
    binaries: [],
    warnings: [],
    seconds: 1,
    recording: null,
    ...fields,
  };
}
