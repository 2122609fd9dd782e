// Builds reports for tests: only what a test is about has to be said.
import assert from 'node:assert/strict';
import type { FalseShare } from '../../extension/protocol/false-share';
import type { Finding } from '../../extension/protocol/finding';
import type { PanelLine, UnfoldedLine } from '../../extension/protocol/panel';
import type {
  Access,
  C2cSettings,
  CacheLine,
  DataName,
  LoadLevels,
  ObjectSum,
  Report,
  SharedStats,
  Stats,
  ThreadUse,
} from '../../extension/protocol/report';
import { lineSummary } from '../../extension/session/profile/line-summary';
import { panelLines, unfoldedLine } from '../../extension/session/profile/panel-lines';
import { objectName } from '../../extension/session/report/data-text';
import { waitsText } from '../../extension/session/report/remedies';
import type { MeasuredBy } from '../../webviews/panel/columns';

export function access(fields: Partial<Access> & { writes?: number; reads?: number } = {}): Access {
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
    falseShare: null,
    word: null,
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
    finding: null,
    data: { object: 'shared', offset: 0, definition: null },
    ...rest,
  };
}

/** What a sure verdict has. */
export function shareOf(verdict: string): FalseShare | null {
  const value = { 'false sharing': 1, mixed: 0.5, 'true sharing': 0 }[verdict];
  return value === undefined ? null : { value, low: value, high: value };
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
    verdictSure: true,
    falseShare: shareOf(fields.verdict ?? 'false sharing'),
    words: [],
    waits: [],
    victims: [],
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

/** As the page has it, folded. */
export function panelLine(line: CacheLine): PanelLine {
  const [made] = panelLines([lineSummary(line, `${line.space}:${line.address}`)]);
  assert.ok(made);
  return made;
}

/** As the page has it, unfolded. */
export function unfolded(line: CacheLine): UnfoldedLine {
  return unfoldedLine({ id: `${line.space}:${line.address}`, line });
}

/** What the page measures columns by, of few lines. */
export function measuredBy(lines: readonly CacheLine[]): MeasuredBy {
  return { lines: lines.map(panelLine), examples: lines.flatMap(({ accesses }) => accesses) };
}

/** A reader of `limit` whose line `produce` writes beside it, and the sentence that says so. */
export function readerBesideWriter(symbols = { reader: 'consume', writer: 'produce' }): { line: CacheLine; waiting: string } {
  const member = (field: string, offset: number): Partial<Access> => ({
    ...{ offset, word: offset / 8, width: 8 },
    data: { object: 'queue', offset, definition: null, how: 'global', type: 'Queue', field, fieldOffset: offset, index: null },
  });
  const line = cacheLine(
    [
      access({ writes: 400, line: 4, threads: [1], symbol: symbols.writer, ...member('produced', 0) }),
      access({ reads: 30, line: 9, threads: [2], symbol: symbols.reader, ...member('limit', 8) }),
    ],
    {
      words: [0, 1].map((group) => ({ offset: 8 * group, size: 8, group })),
      waits: [{ word: 1, cause: 0, share: 1, falseShare: 1 }],
      victims: [{ words: [1], threads: [2], contended: 30, falseShare: 1, access: 1, cause: 0 }],
    },
  );
  return { line, waiting: waitsText(line) };
}

/** A member of a heap object that only code names, at `base`. */
export function heapData(type: string, base: number, field: string, fieldOffset: number, more: Partial<DataName> = {}): DataName {
  const address = `0x${base.toString(16)}`;
  return { object: '[heap]', offset: 0, definition: null, how: 'code', type, base: address, field, fieldOffset, index: null, ...more };
}

/** With as many samples of contention as of anything. */
export function objectSum(object: string, contended: number, fields: Partial<ObjectSum> = {}): ObjectSum {
  return {
    ...{ object, space: 'pid 1', binary: '', definition: null, base: null, allocation: null },
    ...{
      lines: 1,
      verdict: 'false sharing',
      verdictSure: true,
      falseShare: shareOf('false sharing'),
      flags: [],
      contended,
      contendedShare: 0,
      programShare: 0,
    },
    ...{ records: contended, loads: 0, stores: contended },
    ...fields,
  };
}

const nulls = <Name extends string>(...names: Name[]): Record<Name, null> =>
  Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>;

const NO_SHARED: SharedStats = nulls(
  ...(['lines', 'loads', 'fillBuffer', 'l1', 'l2', 'llc', 'peer', 'locked', 'blocked', 'stores', 'stL1Hit', 'stNa', 'merged'] as const),
);

/** Of all counters only these say something. */
export function statsOf(counts: Partial<Stats> = {}): Stats {
  const none: Stats = nulls(
    ...(['records', 'locked', 'loads', 'ldUncacheable', 'ldIo', 'ldMiss', 'ldNoAddress', 'ldFillBuffer', 'ldL1', 'ldL2', 'ldLlc'] as const),
    ...(['localHitm', 'remoteHitm', 'remoteHit', 'localPeer', 'remotePeer', 'localDram', 'remoteDram', 'ldExclusive', 'ldShared'] as const),
    ...(['blockedData', 'blockedAddress', 'stores', 'stUncacheable', 'stNoAddress', 'stL1Hit', 'stL1Miss', 'stNa', 'noMap'] as const),
    'noParse',
  );
  return { ...none, ...counts };
}

/** A finding of so many contended samples. */
export function finding(subject: { type?: string; object?: string }, contended: number, fields: Partial<Finding> = {}): Finding {
  const verdict = fields.verdict ?? 'false sharing';
  return {
    ...{ id: 'f1', kind: 'type', subject: { type: '', object: '', members: [], ...subject }, definition: null, allocation: null },
    ...{ verdict, sure: true, programShare: 0, contended, falseShare: shareOf(verdict), members: [], waits: [], flags: [] },
    ...{ objects: 1, lineCount: 1, lines: [], advice: null },
    ...fields,
  };
}

/** One finding for each type, or name without one, of what is contended on the lines, whose accesses get its number. */
export function findingsOf(lines: readonly CacheLine[]): Finding[] {
  const found = new Map<string, { type: string; object: string; lines: Set<CacheLine>; bases: Set<string>; accesses: Access[] }>();
  for (const line of lines) {
    for (const each of line.accesses) {
      if (line.contended === 0 || each.contended === 0) continue;
      const type = each.data.how === 'code' ? (each.data.type ?? '') : '';
      const name = objectName(each.data);
      const known = found.get(name) ?? { type, object: type === '' ? name : '', lines: new Set(), bases: new Set(), accesses: [] };
      found.set(name, known);
      known.lines.add(line);
      known.bases.add(each.data.base ?? '');
      known.accesses.push(each);
    }
  }
  const sorted = [...found.values()].map((one) => ({ ...one, contended: one.accesses.reduce((sum, { contended }) => sum + contended, 0) }));
  sorted.sort((a, b) => b.contended - a.contended);
  return sorted.map(({ type, object, lines: own, bases, accesses, contended }, index) => {
    for (const each of accesses) each.finding = index;
    const [first] = own;
    const [verdict = 'mixed', ...others] = new Set([...own].map((line) => line.verdict));
    const judged = others.length > 0 || first === undefined ? { verdict: 'mixed' as const } : { ...first, sure: first.verdictSure };
    return finding({ type, object }, contended, {
      ...{ id: `f${index + 1}`, kind: type === '' ? 'variable' : 'type', verdict: others.length > 0 ? 'mixed' : verdict },
      ...('sure' in judged ? { sure: judged.sure, falseShare: judged.falseShare } : {}),
      ...{ lineCount: own.size, lines: [...own].map(({ address }) => address), objects: bases.size },
    });
  });
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
    blind: null,
    unseen: [],
    stats: statsOf(),
    shared: NO_SHARED,
    lines,
    linesLeftOut: 0,
    findings: findingsOf(lines),
    objects: [],
    binaries: [],
    warnings: [],
    seconds: 1,
    recording: null,
    ...fields,
  };
}

const NO_LEVELS: LoadLevels = { fillBuffer: 0, l1: 0, l2: 0, llc: 0, remoteHit: 0, localDram: 0, remoteDram: 0 };
const levelSum = (ld: LoadLevels): number => Object.values(ld).reduce((total, value) => total + value, 0);

interface MemoryAccessFields extends Partial<Omit<Access, 'stores' | 'ld' | 'hitm' | 'peer'>> {
  /** Local and remote. */
  hitm?: [number, number] | null;
  peer?: [number, number];
  ld?: Partial<LoadLevels>;
  /** L1 hit, L1 miss, no level. */
  stores?: [number, number, number];
}

/** A row of a recording with data sources: `records`, `loads` and `contended` follow from the counts. */
export function memoryAccess(fields: MemoryAccessFields): Access {
  const { hitm = [0, 0], peer = [0, 0], ld = {}, stores = [0, 0, 0], meanCycles = null, ...rest } = fields;
  const levels = { ...NO_LEVELS, ...ld };
  const written = stores[0] + stores[1] + stores[2];
  const loads = levelSum(levels) + (hitm === null ? 0 : hitm[0] + hitm[1]);
  return access({
    width: 0,
    skid: [],
    records: loads + written,
    contended: loads + written,
    loads,
    stores: { total: written, l1Hit: stores[0], l1Miss: stores[1], na: stores[2], rmw: null },
    hitm: hitm === null ? null : { local: hitm[0], remote: hitm[1] },
    peer: { local: peer[0], remote: peer[1] },
    ld: levels,
    memoryNodes: [0],
    paCount: 1,
    cpuList: '0',
    nodeStats: [],
    meanCycles: meanCycles === null ? null : { remotePeer: null, localPeer: null, ...meanCycles },
    ...rest,
  });
}

/** A line with the sums of its rows. */
export function memoryLine(accesses: Access[], fields: Partial<CacheLine> = {}): CacheLine {
  const sum = (of: (access: Access) => number): number => accesses.reduce((total, access) => total + of(access), 0);
  const hitm = { local: sum(({ hitm }) => hitm?.local ?? 0), remote: sum(({ hitm }) => hitm?.remote ?? 0) };
  const ld = { ...NO_LEVELS };
  for (const name of Object.keys(ld) as (keyof LoadLevels)[]) ld[name] = sum(({ ld: levels }) => levels?.[name] ?? 0);
  const tids = [...new Set(accesses.flatMap(({ threads }) => threads))];
  return cacheLine(accesses, {
    node: [0],
    paCount: 1,
    locked: 0,
    hitm: accesses.every((row) => row.hitm === null) ? null : { total: hitm.local + hitm.remote, ...hitm },
    peer: { local: sum(({ peer }) => peer?.local ?? 0), remote: sum(({ peer }) => peer?.remote ?? 0) },
    stores: {
      total: sum(({ stores }) => stores.total),
      l1Hit: sum(({ stores }) => stores.l1Hit ?? 0),
      l1Miss: sum(({ stores }) => stores.l1Miss ?? 0),
      na: sum(({ stores }) => stores.na),
      rmw: null,
    },
    ld,
    threads: tids.map((tid) => {
      const own = accesses.filter(({ threads }) => threads.includes(tid));
      return {
        ...thread(tid),
        loads: own.some(({ loads }) => loads > 0) ? 1 : 0,
        stores: own.some(({ stores }) => stores.total > 0) ? 1 : 0,
      };
    }),
    ...fields,
  });
}

/** How a recording with data sources of two nodes is read. */
export const SETTINGS: C2cSettings = {
  display: 'tot',
  coalesce: ['iaddr'],
  doubleLine: false,
  events: ['cpu/mem-loads,ldlat=30/P', 'cpu/mem-stores/P'],
  nodes: [
    { node: 0, cpus: '0-3' },
    { node: 1, cpus: '4-7' },
  ],
  filtered: 0,
};

/** A recording with data sources whose samples are those of the lines. */
export function memoryReport(lines: CacheLine[], c2c: Partial<C2cSettings> = {}, fields: Partial<Report> = {}): Report {
  const sum = (of: (line: CacheLine) => number): number => lines.reduce((total, line) => total + of(line), 0);
  const level = (name: keyof LoadLevels): number => sum(({ ld }) => ld?.[name] ?? 0);
  const measured = lines.some(({ hitm }) => hitm !== null);
  const hitm = (of: 'local' | 'remote'): number | null => (measured ? sum((line) => line.hitm?.[of] ?? 0) : null);
  const [localHitm, remoteHitm] = [hitm('local'), hitm('remote')];
  const shared = {
    loads: sum(({ loads }) => loads),
    locked: sum(({ locked }) => locked ?? 0),
    stores: sum(({ stores }) => stores.total),
    stL1Hit: sum(({ stores }) => stores.l1Hit ?? 0),
    stNa: sum(({ stores }) => stores.na),
  };
  return report(lines, {
    evidence: measured ? ['hitm', 'latency'] : ['peer', 'latency'],
    collector: 'pmu',
    c2c: { ...SETTINGS, display: measured ? 'tot' : 'peer', ...c2c },
    stats: {
      ...{ records: sum(({ records }) => records), ...shared },
      ...{ ldUncacheable: 0, ldIo: 0, ldMiss: 0, ldNoAddress: 0, ldFillBuffer: level('fillBuffer'), ldL1: level('l1'), ldL2: level('l2') },
      ...{ ldLlc: level('llc') + (localHitm ?? 0), localHitm, remoteHitm, remoteHit: level('remoteHit') },
      ...{ localPeer: sum(({ peer }) => peer?.local ?? 0), remotePeer: sum(({ peer }) => peer?.remote ?? 0) },
      ...{ localDram: level('localDram'), remoteDram: level('remoteDram'), ldExclusive: 0, ldShared: 0, blockedData: 0, blockedAddress: 0 },
      ...{ stUncacheable: 0, stNoAddress: 0, stL1Miss: sum(({ stores }) => stores.l1Miss ?? 0), noMap: 0, noParse: 0 },
    },
    shared: {
      ...{ lines: lines.length, ...shared, fillBuffer: level('fillBuffer'), l1: level('l1'), l2: level('l2') },
      ...{ llc: level('llc') + (localHitm ?? 0), peer: sum(({ peer }) => (peer?.local ?? 0) + (peer?.remote ?? 0)), blocked: 0 },
      merged: (localHitm ?? 0) + (remoteHitm ?? 0) + shared.stores,
    },
    ...fields,
  });
}
