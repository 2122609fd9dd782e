// Made-up values of `cacheline where`: a machine with any number of NUMA nodes, and a server whose threads run far from its memory.
import type { MachineTopology, LiveWhere, WhereThread } from '../../extension/protocol/where';

const CORES_A_NODE = 4;
const BINS = 60;
const MB = 1_000_000;

/** Packages of one node each with four cores of two CPUs. */
export function machineOf(nodes: number): MachineTopology {
  const cores = nodes * CORES_A_NODE;
  const ids = (count: number): number[] => Array.from({ length: count }, (_, id) => id);
  const cpusOf = (node: number): number[] =>
    [0, cores].flatMap((sibling) => ids(CORES_A_NODE).map((core) => sibling + node * CORES_A_NODE + core));
  const pair = (core: number): number[] => [core, core + cores];
  const own = (level: number, type: string, bytes: number): MachineTopology['caches'] =>
    ids(cores).map((core) => ({ level, type, bytes, lineSize: 64, ways: 8, cpus: pair(core) }));
  return {
    numa: true,
    packages: ids(nodes).map((id) => ({ id, cpus: cpusOf(id) })),
    cores: ids(cores).map((core) => ({
      package: Math.floor(core / CORES_A_NODE),
      die: 0,
      id: core % CORES_A_NODE,
      cpus: pair(core),
    })),
    caches: [
      ...own(1, 'Data', 48 * 1024),
      ...own(1, 'Instruction', 32 * 1024),
      ...own(2, 'Unified', 2 * 1024 * 1024),
      ...ids(nodes).map((node) => ({ level: 3, type: 'Unified', bytes: 32 * 1024 * 1024, lineSize: 64, ways: 16, cpus: cpusOf(node) })),
    ],
    nodes: ids(nodes).map((id) => ({
      id,
      cpus: cpusOf(id),
      memoryBytes: 16_000 * MB,
      freeBytes: 4_000 * MB,
      distances: ids(nodes).map((other) => (other === id ? 10 : 21)),
    })),
  };
}

/** On `cpu`, from `from` to `to` of 60 stretches of time of 50 ms. */
export function threadOn(machine: MachineTopology, tid: number, name: string, cpu: number, from = 0, to = BINS): WhereThread {
  const node = machine.nodes.find(({ cpus }) => cpus.includes(cpu))?.id ?? 0;
  const ns = (to - from) * 50_000_000;
  return {
    tid,
    pid: 4711,
    name,
    runNs: ns > 0 ? { [node]: ns } : {},
    cpuRunNs: ns > 0 ? { [cpu]: ns } : {},
    cpuOverTime: Array.from({ length: BINS }, (_, bin) => (bin >= from && bin < to ? cpu : null)),
  };
}

/** Two nodes; threads 4713 and 4715 run on node 1, and 92% of the memory is on node 0. */
export function whereOfTwoNodes(): LiveWhere {
  const machine = machineOf(2);
  const wandering = threadOn(machine, 4714, 'flush)\u001b[2J', 1, 0, 20);
  wandering.runNs = { 0: 500_000_000, 1: 500_000_000 };
  wandering.cpuRunNs = { 1: 400_000_000, 2: 100_000_000, 6: 300_000_000, 12: 200_000_000 };
  wandering.cpuOverTime = wandering.cpuOverTime.map((cpu, bin) => (cpu === null ? null : bin < 10 ? 1 : 6));
  return {
    schema: 'cacheline-where/1',
    seconds: 3,
    machine,
    nodes: [
      { id: 0, cpus: machine.nodes[0]!.cpus, bytes: 920 * MB, kinds: { huge: 512 * MB, heap: 400 * MB, stack: 1 * MB, other: 7 * MB } },
      { id: 1, cpus: machine.nodes[1]!.cpus, bytes: 80 * MB, kinds: { huge: 0, heap: 70 * MB, stack: 4 * MB, other: 6 * MB } },
    ],
    processes: [
      {
        pid: 4711,
        name: 'server',
        command: ['./server', '--queue', 'two words'],
        allowedCpus: [],
        allowedNodes: [0, 1],
        ended: false,
        missedNs: 120_000_000,
      },
    ],
    threads: [
      threadOn(machine, 4713, 'worker', 5),
      threadOn(machine, 4715, 'worker', 13, 6),
      threadOn(machine, 4712, 'accept', 0, 10, 35),
      wandering,
      threadOn(machine, 4711, 'server', 0, 0, 0),
    ],
    unlisted: { threads: 3, runNs: { 0: 70_000_000 } },
    timeline: {
      binSeconds: 0.05,
      memory: Array.from({ length: BINS }, (_, bin) => (bin % 5 === 0 ? { 0: (800 + 2 * bin) * MB, 1: 80 * MB } : null)),
    },
    looks: { threads: 298, memory: 12 },
    memoryReason: null,
    remoteShare: null,
    warnings: [],
    conclusion: 'Threads 4713 and 4715 run on node 1, 92% of their memory is on node 0.',
    command: "numactl --cpunodebind=0 --membind=0 ./server --queue 'two words'",
  };
}

/** This machine has one node; and the memory cannot be read. */
export function whereOfOneNode(): LiveWhere {
  const machine = machineOf(1);
  const reason = '/proc/4711/numa_maps is not readable for this user: look as the process’s user, or as root';
  return {
    ...whereOfTwoNodes(),
    machine,
    nodes: [{ id: 0, cpus: machine.nodes[0]!.cpus, bytes: null, kinds: null }],
    threads: [threadOn(machine, 4713, 'worker', 5), threadOn(machine, 4711, 'server', 0, 0, 0)],
    unlisted: { threads: 0, runNs: {} },
    memoryReason: reason,
    conclusion: 'This machine has one NUMA node: all memory is equally near to all CPUs.',
    command: null,
  };
}
