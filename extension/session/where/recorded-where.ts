// What a recording says of where memory is and threads ran: its few looks, and which node its loads were answered from.
import type { RecordingMeta } from '../../protocol/recording';
import type { Report, Stats } from '../../protocol/report';
import type { ById, MachineTopology, Where } from '../../protocol/where';
import { nodesByCpu } from './where-values';

/** What the recording does not hold is null or empty, and sentences say why. */
export function recordedWhere({ stats, recording, warnings }: Pick<Report, 'stats' | 'recording' | 'warnings'>): Where {
  const machine = recording?.topology ?? null;
  const placement = recording?.placement ?? null;
  const share = remoteShareOf(stats);
  return {
    schema: 'cacheline-where/1',
    seconds: placement?.seconds ?? 0,
    machine,
    nodes: placement?.nodes ?? machine?.nodes.map(({ id, cpus }) => ({ id, cpus, bytes: null, kinds: null })) ?? [],
    processes: [],
    threads: placement?.threads.map((thread) => ({ ...thread, runNs: byNode(thread.cpuRunNs, machine), cpuOverTime: [] })) ?? [],
    unlisted: null,
    timeline: null,
    looks: { threads: placement?.looks ?? 0, memory: placement?.looks ?? 0 },
    memoryReason: placement !== null ? null : reasonOf(machine),
    remoteShare: share,
    warnings: [...cutOf(recording), ...warnings],
    conclusion:
      share === null
        ? 'The recording does not say which node answered its loads: that takes data sources, which only a memory PMU records.'
        : 'To see whether threads run far from their memory, run cacheline where on the running program.',
    command: null,
  };
}

/** Why it may hold less than the program did: a sentence. */
function cutOf(recording: RecordingMeta | null): string[] {
  if (recording === null) return [];
  const { target, durationSeconds, interrupted, program } = recording;
  if (durationSeconds === 0) return ['The recording is incomplete: it is still running, or its recorder was killed.'];
  if (interrupted && (target?.kind ?? 'command') === 'command') return ['The recording was stopped before its program ended.'];
  const signal = program?.signal ?? null;
  return signal === null ? [] : [`The recorded program was killed by signal ${signal}.`];
}

function reasonOf(machine: MachineTopology | null): string {
  if (machine === null) return 'the recording has no meta.json that describes its machine';
  return machine.nodes.length === 1
    ? 'recordings of a machine with one node do not record where memory is'
    : 'the recording ended before memory was looked up';
}

function byNode(times: ById, machine: MachineTopology | null): ById {
  const nodeOf = nodesByCpu(machine ?? { nodes: [] });
  const sums: ById = {};
  for (const [cpu, ns] of Object.entries(times)) {
    const node = nodeOf.get(Number(cpu));
    if (node !== undefined) sums[node] = (sums[node] ?? 0) + ns;
  }
  return sums;
}

/** `ldLlc` holds the loads that another core of the node answered; what fill buffers answered came from anywhere. */
function remoteShareOf({ ldL1, ldL2, ldLlc, localDram, remoteHitm, remoteHit, remoteDram }: Stats): number | null {
  const near = [ldL1, ldL2, ldLlc, localDram];
  const far = [remoteHitm, remoteHit, remoteDram];
  const sum = (counts: readonly (number | null)[]): number => counts.reduce((all: number, one) => all + (one ?? 0), 0);
  const all = sum(near) + sum(far);
  return all === 0 ? null : sum(far) / all;
}
