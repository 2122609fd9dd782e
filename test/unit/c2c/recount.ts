// An independent count over the list of samples that cacheline_synth writes beside its recording: the judge where perf has
// no such option, and the proof that perf's own rules are understood.
import { callersCell, COUNTERS, isLineShown, isRowShown, lineCells, metricOf, rankAll, rowCells, sortByRank, type Counts } from './cells';
import { classify, type Added } from './data-source';
import { type Cells, type Question, type TableLine, type Tables } from './tables';

export interface Sample {
  time: number;
  event: number;
  pid: number;
  tid: number;
  cpu: number;
  /** 1: kernel, 2: user, ... (PERF_RECORD_MISC_*). */
  mode: number;
  ip: string;
  address: string;
  /** The same as a number. */
  at: bigint;
  source: string;
  weight: number;
  physical: string;
  /** "pid 5000", "kernel", "file 0:25:77", or "none" where there is no address. */
  space: string;
  /** The line's first byte in that space: a file offset or an address. */
  key: string;
  /** Return addresses in hex, innermost first; recorded with --callchains only. */
  callers: string;
}

/** In the order of time. */
export function parseList(text: string): Sample[] {
  const samples = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Sample => {
      const words = line.split('\t');
      const number = (index: number): number => Number(words[index]);
      const word = (index: number): string => words[index]!;
      const who = { time: number(0), event: number(1), pid: number(2), tid: number(3), cpu: number(4), mode: number(5) };
      const what = { ip: word(6), address: word(7), source: word(8), weight: number(9), physical: word(10) };
      return { ...who, ...what, at: BigInt(`0x${word(7)}`), space: word(11), key: word(12), callers: word(13) };
    });
  return samples.sort((a, b) => a.time - b.time);
}

export interface Rules {
  /** What tells lines apart. */
  lineOf: (sample: Sample) => string;
  /** Whether nothing is mapped at the data. */
  isUnmapped: (sample: Sample) => boolean;
  /** As if never recorded. */
  leaveOut?: (sample: Sample) => boolean;
  /** Counts in the statistics and at no line. */
  isNoAccess?: (sample: Sample) => boolean;
  lineSize?: 64 | 128;
  cpus: number;
}

/** Node n has the physical memory from 4 GiB * n on, of two nodes. */
const nodeOfMemory = (physical: string): number => Math.floor(parseInt(physical, 16) / 2 ** 32);

/** A mean as perf keeps it, so that it rounds the same way. */
class Mean {
  count = 0;
  value = 0;
  add(weight: number): void {
    this.count++;
    this.value += (weight - this.value) / this.count;
  }
}

const noCounts = (): Counts => Object.fromEntries(COUNTERS.map((name) => [name, 0]));

function addCounts(counts: Counts, added: Added): void {
  for (const name in added) if (counts[name] !== undefined) counts[name] += added[name]!;
}

class Entry {
  readonly counts = noCounts();
  readonly cpus = new Set<number>();
  readonly memoryNodes = new Set<number>();
  paCount = 0;
  private physical = '0';

  add(added: Added, sample: Sample): void {
    addCounts(this.counts, added);
    this.cpus.add(sample.cpu);
    if (sample.physical === '0') return;
    const node = nodeOfMemory(sample.physical);
    if (node > 1) return; // a hole of the physical memory
    this.memoryNodes.add(node);
    if (this.physical !== sample.physical) this.paCount++;
    this.physical = sample.physical;
  }
}

class Row extends Entry {
  readonly remote = new Mean();
  readonly local = new Mean();
  readonly remotePeer = new Mean();
  readonly localPeer = new Mean();
  readonly load = new Mean();
  /** Of all loads. */
  readonly cycles: number[] = [];
  readonly nodes = new Map<number, Counts>();
  /** Samples of each call chain. */
  readonly chains = new Map<string, number>();
  constructor(
    readonly offset: number,
    readonly identity: Cells,
  ) {
    super();
  }

  addAccess(added: Added, sample: Sample, node: number): void {
    this.add(added, sample);
    const counts = this.nodes.get(node) ?? noCounts();
    addCounts(counts, added);
    this.nodes.set(node, counts);
    this.chains.set(sample.callers, (this.chains.get(sample.callers) ?? 0) + 1);
    if ((added['loads'] ?? 0) > 0) this.cycles.push(sample.weight);
    const kinds: [string, Mean][] = [
      ['remoteHitm', this.remote],
      ['localHitm', this.local],
    ];
    kinds.push(['remotePeer', this.remotePeer], ['localPeer', this.localPeer], ['loads', this.load]);
    kinds.find(([name]) => (added[name] ?? 0) > 0)?.[1].add(sample.weight);
  }
}

class Line extends Entry {
  readonly rows = new Map<string, Row>();
  /** All that the whole recording counts too. */
  readonly all: Counts = {};
  /** `address`: where the first sample saw it; processes may see it at several. */
  constructor(readonly address: bigint) {
    super();
  }
}

export function recount(samples: readonly Sample[], question: Question, rules: Rules): Tables {
  const lineSize = BigInt(rules.lineSize ?? 64);
  const nodeOfCpu = (cpu: number): number => (cpu < rules.cpus / 2 ? 0 : 1);
  const lines = new Map<string, Line>();
  const whole: Counts = {};
  for (const sample of samples) {
    if (rules.leaveOut?.(sample) === true) continue;
    const added = classify(sample.source, sample.address !== '0', rules.isUnmapped(sample));
    sum(whole, added);
    if (rules.isNoAccess?.(sample) === true) continue;
    const id = rules.lineOf(sample);
    const offset = Number(sample.at % lineSize);
    let line = lines.get(id);
    if (!line) lines.set(id, (line = new Line(sample.at - (sample.at % lineSize))));
    sum(line.all, added);
    line.add(added, sample);
    const identity = identityOf(sample, question);
    const rowId = [offset, ...Object.values(identity)].join(' ');
    let row = line.rows.get(rowId);
    if (!row) line.rows.set(rowId, (row = new Row(offset, identity)));
    row.addAccess(added, sample, nodeOfCpu(sample.cpu));
  }
  return tablesOf([...lines.values()], whole, question, nodeOfCpu);
}

function sum(into: Counts, added: Added): void {
  for (const name in added) into[name] = (into[name] ?? 0) + added[name]!;
}

function identityOf(sample: Sample, { coalesce }: Question): Cells {
  const identity: Cells = {};
  if (coalesce.includes('pid')) identity['pid'] = `${sample.pid}`;
  if (coalesce.includes('tid')) identity['tid'] = `${sample.tid}`;
  if (coalesce.includes('iaddr')) identity['codeAddress'] = `0x${sample.ip}`;
  if (coalesce.includes('dso')) identity['object'] = sample.ip.startsWith('ffffffff') ? '[kernel.kallsyms]' : 'worker';
  return identity;
}

const STATS = [
  'records',
  'locked',
  'loads',
  'ldUncacheable',
  'ldIo',
  'ldMiss',
  'ldNoAddress',
  'ldFillBuffer',
  'ldL1',
  'ldL2',
  'ldLlc',
].concat(
  ['localHitm', 'remoteHitm', 'remoteHit', 'localPeer', 'remotePeer', 'localDram', 'remoteDram', 'ldExclusive', 'ldShared'],
  ['blockedData', 'blockedAddress', 'stores', 'stUncacheable', 'stNoAddress', 'stL1Hit', 'stL1Miss', 'stNa', 'noMap', 'noParse'],
);

function tablesOf(lines: readonly Line[], whole: Added, question: Question, nodeOfCpu: (cpu: number) => number): Tables {
  const shared: Counts = {};
  const areShared = lines.filter(({ counts }) => metricOf(counts, 'tot') > 0 || metricOf(counts, 'peer') > 0);
  for (const line of areShared) sum(shared, line.all);
  const of = (added: Added, ...names: string[]): number => names.reduce((total, name) => total + (added[name] ?? 0), 0);
  const stats = Object.fromEntries(STATS.map((name) => [name, `${of(whole, name)}`]));
  stats['ldLlc'] = `${of(whole, 'ldLlc', 'localHitm')}`;
  const wholeCounts = Object.fromEntries(COUNTERS.map((name) => [name, of(whole, name)]));
  const sharedCounts = Object.fromEntries(COUNTERS.map((name) => [name, of(shared, name)]));

  const shown = lines.filter(({ counts }) => isLineShown(counts, sharedCounts, question));
  const tableLines = shown.map((line): TableLine => {
    const place = { address: `0x${line.address.toString(16)}`, nodes: line.memoryNodes, paCount: line.paCount };
    const cells = lineCells(line.counts, wholeCounts, place, question.display);
    const rows = [...line.rows.values()].filter(({ counts }) => isRowShown(counts, question.display));
    return { cells, rank: '', rows: rows.map((row) => ({ cells: cellsOf(row, line, question, nodeOfCpu), rank: '', cycles: row.cycles })) };
  });
  rankAll(tableLines, question.display);
  sortByRank(tableLines);
  const sharedNumbers = {
    lines: areShared.length,
    loads: of(shared, 'loads'),
    fillBuffer: of(shared, 'ldFillBuffer'),
    l1: of(shared, 'ldL1'),
    l2: of(shared, 'ldL2'),
    llc: of(shared, 'ldLlc', 'localHitm'),
    peer: of(shared, 'localPeer', 'remotePeer'),
    locked: of(shared, 'locked'),
    blocked: of(shared, 'blockedData', 'blockedAddress'),
    stores: of(shared, 'stores'),
    stL1Hit: of(shared, 'stL1Hit'),
    stNa: of(shared, 'stNa'),
    merged: of(shared, 'localHitm', 'remoteHitm', 'stores'),
  };
  return { stats, shared: Object.fromEntries(Object.entries(sharedNumbers).map(([name, count]) => [name, `${count}`])), lines: tableLines };
}

function cellsOf(row: Row, line: Line, question: Question, nodeOfCpu: (cpu: number) => number): Cells {
  const [remote, local] = question.display === 'peer' ? [row.remotePeer, row.localPeer] : [row.remote, row.local];
  const nodeUses = [0, 1].map((node) => ({
    node,
    cpus: [...row.cpus].filter((cpu) => nodeOfCpu(cpu) === node),
    metric: row.nodes.has(node) ? metricOf(row.nodes.get(node)!, question.display) : 0,
    stores: row.nodes.get(node)?.['stores'] ?? 0,
  }));
  const facts = {
    counts: row.counts,
    offset: row.offset,
    nodes: row.memoryNodes,
    paCount: row.paCount,
    means: { remote: remote.value, local: local.value, load: row.load.value },
    cpus: row.cpus,
    nodeUses: nodeUses.filter(({ cpus }) => cpus.length > 0),
    identity: question.callers ? { ...row.identity, callers: callersCell([...row.chains.values()]) } : row.identity,
  };
  return rowCells(facts, line.counts, question);
}
