// Reports of recordings with data sources, for tests: a line that two threads of two nodes fight for, and one they share.
import type { Access, CacheLine, Report } from '../../extension/protocol/report';
import { access, cacheLine, report, SETTINGS, statsOf, thread } from './report-builder';

interface Fields extends Partial<Omit<Access, 'stores' | 'hitm' | 'peer' | 'meanCycles' | 'cycles'>> {
  /** Loads that hit a modified line: local, remote. */
  hitm?: [number, number];
  peer?: [number, number];
  /** Loads of no such kind. */
  plain?: number;
  /** L1 hit, L1 miss, not said. */
  stores?: [number, number, number];
  /** Means of remote HITM, local HITM (or remote peer, local peer) and of other loads. */
  cycles?: [number, number, number];
}

/** An access with HITM evidence, or with peer evidence where `peer` is given. */
export function pmuAccess({ hitm = [0, 0], peer, plain = 0, stores = [0, 0, 0], cycles = [0, 0, 0], ...rest }: Fields): Access {
  const [local, remote] = peer ?? hitm;
  const [l1Hit, l1Miss, na] = stores;
  const total = l1Hit + l1Miss + na;
  const loads = local + remote + plain;
  const [meanRemote, meanLocal, load] = cycles;
  return {
    ...access(),
    width: 0,
    records: loads + total,
    contended: loads + total,
    loads,
    stores: { total, l1Hit, l1Miss, na, rmw: null },
    hitm: peer ? null : { local, remote },
    peer: peer ? { local, remote } : null,
    meanCycles: peer
      ? { remoteHitm: 0, localHitm: 0, peer: meanRemote, remotePeer: meanRemote, localPeer: meanLocal, load }
      : { remoteHitm: meanRemote, localHitm: meanLocal, peer: null, load },
    cycles: loads > 0 ? { p50: load, p95: Math.max(meanRemote, meanLocal, load) * 3, max: 60_233 } : null,
    ...rest,
  };
}

/** A line whose sums are those of its accesses and, where given, of loads that no row lists. */
export function pmuLine(accesses: Access[], fields: Partial<CacheLine> = {}): CacheLine {
  const sum = (of: (access: Access) => number): number => accesses.reduce((total, one) => total + of(one), 0);
  const [local, remote] = [sum(({ hitm }) => hitm?.local ?? 0), sum(({ hitm }) => hitm?.remote ?? 0)];
  const isPeer = accesses.some(({ peer }) => peer !== null);
  return {
    ...cacheLine(accesses),
    node: [0],
    paCount: 1,
    hitm: isPeer ? null : { total: local + remote, local, remote },
    peer: isPeer ? { local: sum(({ peer }) => peer?.local ?? 0), remote: sum(({ peer }) => peer?.remote ?? 0) } : null,
    stores: {
      total: sum(({ stores }) => stores.total),
      l1Hit: sum(({ stores }) => stores.l1Hit ?? 0),
      l1Miss: sum(({ stores }) => stores.l1Miss ?? 0),
      na: sum(({ stores }) => stores.na),
      rmw: null,
    },
    ld: { fillBuffer: 7, l1: 40, l2: 3, llc: 5, remoteHit: 2, localDram: 4, remoteDram: 1 },
    ...fields,
  };
}

const COUNTERS = { object: 'counters', definition: { file: '/build/agent/src/stats.c', line: 8 } };
const PLACE = { file: '/build/agent/src/stats.c', object: 'server', symbol: 'bump' };

/** 401 HITMs, 90 of them on a second line; 2 threads on 2 nodes. */
export function hitmReport(fields: Partial<Report> = {}): Report {
  const bump = pmuAccess({
    ...PLACE,
    line: 21,
    codeAddress: '0x401146',
    hitm: [125, 187],
    plain: 40,
    stores: [200, 30, 0],
    cycles: [512, 210, 90],
    threads: [11, 12],
    nodes: [0, 1],
    cpus: 8,
    data: { ...COUNTERS, offset: 0 },
  });
  const store = pmuAccess({
    ...PLACE,
    line: 33,
    codeAddress: '0x401190',
    symbol: 'reset',
    offset: 8,
    stores: [50, 5, 0],
    threads: [12],
    nodes: [1],
    data: { ...COUNTERS, offset: 8 },
  });
  const read = pmuAccess({
    ...PLACE,
    line: 47,
    codeAddress: '0x4011c0',
    symbol: 'sum',
    offset: 16,
    hitm: [0, 89],
    cycles: [700, 0, 0],
    threads: [11],
    nodes: [0],
    data: { ...COUNTERS, offset: 80 },
  });
  const lines = [
    pmuLine([bump, store], { address: '0x404080', threads: [thread(11), thread(12)] }),
    pmuLine([read], { address: '0x4040c0', verdict: 'true sharing', threads: [thread(11), thread(12)] }),
  ];
  return report(lines, {
    evidence: ['hitm', 'latency'],
    collector: 'pmu',
    c2c: SETTINGS,
    stats: statsOf({ records: 900, loads: 600, stores: 285, localHitm: 125, remoteHitm: 276, localPeer: 0, remotePeer: 0 }),
    ...fields,
  });
}

/** The same shape from a machine that tells which loads a peer's cache answered, and no HITM. */
export function peerReport(): Report {
  const poll = pmuAccess({
    ...PLACE,
    line: 21,
    peer: [30, 70],
    plain: 20,
    cycles: [300, 150, 20],
    threads: [11, 12],
    nodes: [0, 1],
    data: { ...COUNTERS, offset: 0 },
  });
  const lines = [pmuLine([poll], { address: '0x404080', node: null, paCount: null })];
  const { c2c } = hitmReport();
  return report(lines, {
    evidence: ['peer', 'latency'],
    collector: 'pmu',
    ...(c2c && { c2c: { ...c2c, display: 'peer', events: ['arm_spe_0//'] } }),
    stats: statsOf({ records: 130, loads: 120, stores: 10, localPeer: 30, remotePeer: 70 }),
  });
}
