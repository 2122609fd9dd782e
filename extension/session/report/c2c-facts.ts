// What the texts about recordings with data sources say of lines and rows, worked out of the report's numbers.
import type { Access, CacheLine, Display, Report } from '../../protocol/report';
import { addUse, type UsedData } from './data-text';

/** Counts of a line or of a row. */
export type Counted = Pick<CacheLine | Access, 'hitm' | 'peer'>;

export function displayOf(report: Pick<Report, 'c2c'>): Display {
  return report.c2c?.display ?? 'tot';
}

/** The loads that lines are sorted by: HITMs, or loads that a peer's cache answered. */
export function contendedLoads({ hitm, peer }: Counted, display: Display): number {
  const pair = display === 'peer' ? peer : hitm;
  if (pair === null) return 0;
  return (display === 'rmt' ? 0 : pair.local) + (display === 'lcl' ? 0 : pair.remote);
}

/** The same over all samples. */
export function allContendedLoads({ stats }: Pick<Report, 'stats'>, display: Display): number {
  const [local, remote] = display === 'peer' ? (['localPeer', 'remotePeer'] as const) : (['localHitm', 'remoteHitm'] as const);
  return (display === 'rmt' ? 0 : (stats[local] ?? 0)) + (display === 'lcl' ? 0 : (stats[remote] ?? 0));
}

/** Whether HITMs could be measured: where not, their columns would claim that there are none. */
export function measuresHitm({ evidence }: Report): boolean {
  return evidence.includes('hitm');
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((value, i) => i === 0 || value >= (numbers[i - 1] ?? 0));
}

/** "0-3,8": ascending numbers as perf writes sets of them. */
export function rangeList(numbers: readonly number[]): string {
  let text = '';
  let from: number | undefined;
  let to = 0;
  const close = (): void => {
    if (from === undefined) return;
    if (text !== '') text += ',';
    text += from === to ? String(from) : `${from}-${to}`;
  };
  for (const value of isAscending(numbers) ? numbers : [...numbers].sort((a, b) => a - b)) {
    if (from === undefined || value > to + 1) {
      close();
      from = value;
    }
    to = value;
  }
  close();
  return text;
}

/** The data objects on a line: those with the most contended loads first, then those with the most records. */
export function usedObjects(line: CacheLine, display: Display): UsedData[] {
  const uses = new Map<string, UsedData & { loads: number; records: number }>();
  for (const access of line.accesses) {
    const use = addUse(uses, line, access, (fresh) => ({ ...fresh, loads: 0, records: 0 }));
    use.loads += contendedLoads(access, display);
    use.records += access.records;
  }
  return [...uses.values()].sort((a, b) => b.loads - a.loads || b.records - a.records || a.first - b.first);
}

/** Mean cycles of a line's contended loads, out of its rows' means; undefined where none of them was timed. */
export function meanContendedCycles(line: CacheLine, display: Display): number | undefined {
  let loads = 0;
  let cycles = 0;
  for (const { hitm, peer, meanCycles } of line.accesses) {
    if (meanCycles === null) continue;
    const pair = display === 'peer' ? peer : hitm;
    const [local, remote] =
      display === 'peer'
        ? [meanCycles.localPeer ?? meanCycles.peer ?? 0, meanCycles.remotePeer ?? meanCycles.peer ?? 0]
        : [meanCycles.localHitm ?? 0, meanCycles.remoteHitm ?? 0];
    for (const [count, mean] of [
      [display === 'rmt' ? 0 : (pair?.local ?? 0), local],
      [display === 'lcl' ? 0 : (pair?.remote ?? 0), remote],
    ] as const) {
      loads += count;
      cycles += count * mean;
    }
  }
  return cycles === 0 ? undefined : cycles / loads;
}
