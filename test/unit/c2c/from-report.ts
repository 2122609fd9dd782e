// The engine's report in the shape of perf's tables.
import type { Access, CacheLine, Report } from '../../../extension/protocol/report';
import { basename } from 'node:path';
import { lineCells, rankAll, rowCells, isRowShown, type Counts } from './cells';
import { type Cells, type Question, type Tables } from './tables';

export function tablesOfReport(report: Report, question: Question): Tables {
  const numbers = (of: Record<string, number | null>): Record<string, string> =>
    Object.fromEntries(Object.entries(of).map(([name, count]) => [name, `${count ?? 0}`]));
  const stats = numbers(report.stats);
  const whole = Object.fromEntries(Object.entries(report.stats).map(([name, count]) => [name, count ?? 0]));
  const lines = report.lines.map((line) => {
    const counts = countsOf(line);
    const place = { address: line.address, nodes: line.node ?? [], paCount: line.paCount ?? 0 };
    const accesses = line.accesses.filter((access) => isRowShown(countsOf(access), question.display));
    return {
      cells: lineCells(counts, whole, place, question.display),
      rank: '',
      rows: accesses.map((access) => ({ cells: accessCells(access, line, counts, question), rank: '' })),
    };
  });
  rankAll(lines, question.display);
  return { stats, shared: numbers(report.shared), lines };
}

/** Where the evidence cannot say (null), perf prints 0. */
function countsOf({ hitm, peer, ld, stores }: CacheLine | Access): Counts {
  if (!ld) throw new Error('a line or row without levels of loads');
  return {
    localHitm: hitm?.local ?? 0,
    remoteHitm: hitm?.remote ?? 0,
    localPeer: peer?.local ?? 0,
    remotePeer: peer?.remote ?? 0,
    ldFillBuffer: ld.fillBuffer,
    ldL1: ld.l1,
    ldL2: ld.l2,
    ldLlc: ld.llc,
    remoteHit: ld.remoteHit,
    localDram: ld.localDram,
    remoteDram: ld.remoteDram,
    stores: stores.total,
    stL1Hit: stores.l1Hit ?? NaN,
    stL1Miss: stores.l1Miss ?? NaN,
    stNa: stores.na,
  };
}

function accessCells(access: Access, line: CacheLine, lineCounts: Counts, question: Question): Cells {
  const { meanCycles, nodeStats } = access;
  if (!meanCycles || !nodeStats) throw new Error('a row without means or nodes');
  const isPeer = question.display === 'peer';
  const remote = (isPeer ? meanCycles.remotePeer : meanCycles.remoteHitm) ?? 0;
  const local = (isPeer ? meanCycles.localPeer : meanCycles.localHitm) ?? 0;
  const metric = (of: Pick<Access, 'hitm' | 'peer'>): number => {
    const [hitm, peer] = [of.hitm ?? { local: 0, remote: 0 }, of.peer ?? { local: 0, remote: 0 }];
    return { tot: hitm.local + hitm.remote, lcl: hitm.local, rmt: hitm.remote, peer: peer.local + peer.remote }[question.display];
  };
  const facts = {
    counts: countsOf(access),
    offset: access.offset,
    nodes: access.memoryNodes ?? [],
    paCount: access.paCount ?? 0,
    means: { remote, local, load: meanCycles.load },
    cpus: Array.from({ length: access.cpus ?? 0 }, (_, index) => index),
    nodeUses: nodeStats.map((use) => ({ node: use.node, cpus: cpusOf(use.cpuList), metric: metric(use), stores: use.stores })),
    identity: identityOf(access, line, question),
  };
  const cells = rowCells(facts, lineCounts, question);
  // perf adds means up sample by sample, so that one that lies between two numbers may be a bit less or more there.
  for (const [name, mean] of [
    ['meanRemote', remote],
    ['meanLocal', local],
    ['meanLoad', meanCycles.load],
  ] as const)
    if (Math.abs(mean - Math.floor(mean) - 0.5) < 1e-6) cells[name] = `${Math.floor(mean)} or ${Math.ceil(mean)}`;
  return cells;
}

/** "0-2,5" as numbers. */
function cpusOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first = NaN, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** The names as perf prints them. */
function identityOf(access: Access, line: CacheLine, { coalesce }: Question): Cells {
  const identity: Cells = {};
  const { object } = access;
  const isKernel = object === '[kernel.kallsyms]';
  if (coalesce.includes('pid')) identity['pid'] = access.processes.join(' ');
  if (coalesce.includes('tid')) {
    identity['tid'] = access.threads.join(' ');
    identity['command'] = line.threads.find(({ tid }) => tid === access.threads[0])?.comm ?? '';
  }
  if (coalesce.includes('iaddr')) {
    identity['codeAddress'] = access.codeAddress;
    const symbol = access.inlined.at(-1)?.function ?? access.symbol; // perf has no inlined functions here
    identity['symbol'] = `[${isKernel ? 'k' : '.'}] ${symbol === '' ? access.codeAddress : shortName(symbol)}`;
    identity['source'] = access.file === '' ? 'none' : `${basename(access.file)}:${access.line}`;
  }
  if (coalesce.includes('iaddr') || coalesce.includes('dso')) identity['object'] = object;
  return identity;
}

/** A function's name without its result and its parameters: perf demangles to that. */
function shortName(symbol: string): string {
  let depth = 0;
  let start = 0;
  let end = symbol.length;
  for (let i = 0; i < symbol.length; i++) {
    const letter = symbol[i]!;
    if (letter === '>' || letter === ')') depth--;
    if (depth === 0 && letter === ' ' && end === symbol.length) start = i + 1;
    if (depth === 0 && letter === '(') end = i;
    if (letter === '<' || letter === '(') depth++;
  }
  return symbol.slice(start, end);
}
