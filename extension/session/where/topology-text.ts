// The machine as lines of text: packages, NUMA nodes, and the caches with who shares them.
import type { MachineCache, MachineTopology } from '../../protocol/where';
import { byteSize, plural, printable, wrap, type Style } from '../text/terminal-text';
import { formatTwoRowTable, type Column } from '../text/text-table';
import { cacheName, cacheSize, cpuList } from './where-values';

/** Groups of CPUs that are listed of one kind of cache. */
const MOST_GROUPS = 16;
const UNKNOWN = '?';

const NODE_COLUMNS: readonly Column[] = [
  { title: 'node', align: 'right' },
  { title: 'CPUs', align: 'left', broken: true },
  { title: 'memory', align: 'right' },
  { title: 'free', align: 'right' },
  { title: 'distance', align: 'left', broken: true },
];

/** Lines below a heading, none wider than `width` columns. */
export function topologyLines(machine: MachineTopology, { width, style }: { width: number; style: Style }): string[] {
  const cpus = machine.nodes.reduce((count, node) => count + node.cpus.length, 0);
  const nodes = machine.numa ? plural(machine.nodes.length, 'NUMA node') : 'no NUMA nodes';
  const counts = [
    ...(machine.packages.length > 0 ? [plural(machine.packages.length, 'package')] : []),
    nodes,
    ...(machine.cores.length > 0 ? [plural(machine.cores.length, 'core')] : []),
    plural(cpus, 'CPU'),
  ];
  const rows = machine.nodes.map(({ id, cpus: own, memoryBytes, freeBytes, distances }) =>
    [
      String(id),
      own.length > 0 ? cpuList(own) : 'none',
      memoryBytes === null ? UNKNOWN : byteSize(memoryBytes),
      freeBytes === null ? UNKNOWN : byteSize(freeBytes),
      distances.length > 0 ? distances.join(' ') : UNKNOWN,
    ].map((text) => ({ text })),
  );
  return [
    ...wrap(counts.join(', '), width, '  '),
    ...packageLines(machine, width),
    ...formatTwoRowTable(NODE_COLUMNS, [], rows, { width, indent: 2, style }),
    ...cacheKinds(machine.caches).flatMap((caches) => cacheLines(caches, width)),
  ];
}

/** Nothing of one package: it has all CPUs. */
function packageLines({ packages }: MachineTopology, width: number): string[] {
  if (packages.length < 2) return [];
  return wrap(packages.map(({ id, cpus }) => `package ${id}: CPUs ${cpuList(cpus)}`).join('; '), width, '  ');
}

/** Caches of one level, type and size together; the order stays. */
export function cacheKinds(caches: readonly MachineCache[]): MachineCache[][] {
  const kinds = new Map<string, MachineCache[]>();
  for (const cache of caches) {
    const key = JSON.stringify([cache.level, cache.type, cache.bytes, cache.lineSize]);
    kinds.set(key, [...(kinds.get(key) ?? []), cache]);
  }
  return [...kinds.values()];
}

function cacheLines(caches: readonly MachineCache[], width: number): string[] {
  const [first] = caches;
  if (first === undefined) return [];
  const size = cacheSize(first.bytes);
  const line = first.lineSize === null ? '' : `, lines of ${first.lineSize} bytes`;
  const head = printable(`${cacheName(first)} cache${size === '' ? '' : `, ${size}`}${line}: `);
  if (caches.every(({ cpus }) => cpus.length === 1)) return wrap(`${head}each CPU has its own`, width, '  ', '    ');
  const groups = caches.slice(0, MOST_GROUPS).map(({ cpus }) => cpuList(cpus));
  const more = caches.length > MOST_GROUPS ? ` and ${caches.length - MOST_GROUPS} more` : '';
  return wrap(`${head}shared by CPUs ${groups.join(' | ')}${more}`, width, '  ', '    ');
}
