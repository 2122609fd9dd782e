// What the text and the drawing of `cacheline where` both compute from its values.
import type { ById, MachineCache, MachineTopology, Where, WhereThread } from '../../protocol/where';

/** "0-3,8" of ascending numbers, as the kernel writes CPU lists. */
export function cpuList(cpus: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < cpus.length;) {
    let last = i;
    while (cpus[last + 1] === (cpus[last] ?? NaN) + 1) last++;
    parts.push(last > i ? `${cpus[i] ?? ''}-${cpus[last] ?? ''}` : String(cpus[i]));
    i = last + 1;
  }
  return parts.join(',');
}

export function sum(amounts: Iterable<number>): number {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
}

/** Ids with their amounts, the largest first, ties by ascending id. */
export function descending(amounts: ById): { id: number; amount: number }[] {
  return Object.entries(amounts)
    .map(([id, amount]) => ({ id: Number(id), amount }))
    .sort((a, b) => b.amount - a.amount || a.id - b.id);
}

/** The node of each CPU. */
export function nodesByCpu({ nodes }: Pick<MachineTopology, 'nodes'>): Map<number, number> {
  return new Map(nodes.flatMap(({ id, cpus }) => cpus.map((cpu) => [cpu, id] as const)));
}

/** Run time of all threads by CPU, ns. */
export function runByCpu({ threads }: Pick<Where, 'threads'>): Map<number, number> {
  const total = new Map<number, number>();
  for (const { cpuRunNs } of threads)
    for (const [cpu, ns] of Object.entries(cpuRunNs)) total.set(Number(cpu), (total.get(Number(cpu)) ?? 0) + ns);
  return total;
}

/** "L1 data", "L3". */
export function cacheName({ level, type }: Pick<MachineCache, 'level' | 'type'>): string {
  return `L${level}${type === 'Unified' || type === '' ? '' : ` ${type.toLowerCase()}`}`;
}

/** "48 KiB", "260 MiB"; empty where it is not known. */
export function cacheSize(bytes: number | null): string {
  if (bytes === null) return '';
  const mib = 1024 * 1024;
  return bytes >= mib && bytes % mib === 0 ? `${bytes / mib} MiB` : `${Math.round((bytes / 1024) * 10) / 10} KiB`;
}

/** For each of `columns` stretches of the whole time the CPU that the thread was seen on most often; null: it did not run. */
export function overTime({ cpuOverTime }: WhereThread, columns: number): (number | null)[] {
  const width = Math.max(1, Math.ceil(cpuOverTime.length / columns));
  return Array.from({ length: Math.ceil(cpuOverTime.length / width) }, (_, column) => {
    const seen: ById = {};
    for (const cpu of cpuOverTime.slice(column * width, (column + 1) * width)) if (cpu !== null) seen[cpu] = (seen[cpu] ?? 0) + 1;
    return descending(seen)[0]?.id ?? null;
  });
}
