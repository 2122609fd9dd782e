// A line in summary, of a report that was made elsewhere; of others the engine makes it (native/profile/line_summary.cpp).
import { loadCycles } from '../../protocol/measure';
import { ownPlace } from '../../protocol/own-place';
import type { LineSummary, SummaryUse } from '../../protocol/profile';
import type { Access, CacheLine } from '../../protocol/report';
import { reads, writes } from '../../protocol/roles';

export function lineSummary(line: CacheLine, id: string): LineSummary {
  const { address, space, node, paCount, verdict, confirmation, flags, contended, hitm, peer, ld, records, loads, stores, threads } = line;
  const accesses = [...line.accesses].sort((a, b) => b.contended - a.contended || b.records - a.records || a.offset - b.offset);
  const used = threads.filter(({ competes }) => competes || contended === 0);
  const timed = accesses.filter(({ meanCycles }) => meanCycles !== null);
  return {
    ...{ id, address, space, node, paCount, verdict, flags, contended, hitm, peer, ld, records, loads, stores },
    ...(confirmation ? { confirmation: { confirmed: confirmation.confirmed, sentence: confirmation.sentence } } : {}),
    threads: threads.length,
    writers: used.filter(writes).length,
    readers: used.filter(reads).length,
    data: usesOf(accesses),
    place: accesses.map(ownPlace).find((place) => place !== undefined && place.line > 0) ?? null,
    loadCycles: timed.length === 0 ? null : timed.reduce((sum, access) => sum + loadCycles(access), 0),
    timedLoads: timed.length === 0 ? null : timed.reduce((sum, access) => sum + access.loads, 0),
    nodes: [...new Set(accesses.flatMap(({ nodes }) => nodes ?? []))].sort((a, b) => a - b),
  };
}

function usesOf(accesses: readonly Access[]): SummaryUse[] {
  const uses = new Map<string, SummaryUse>();
  for (const { data: whole, offset, contended, records } of accesses) {
    const data = { ...whole };
    delete data.because;
    delete data.incomplete;
    const { object, type = '', field = '', base = null, stackOwner = null } = data;
    const key = JSON.stringify([offset, object, type, field, base, stackOwner?.tid ?? 0, stackOwner?.comm ?? '']);
    const use = uses.get(key);
    if (use === undefined) {
      uses.set(key, { data, offset, contended, records });
    } else {
      use.contended += contended;
      use.records += records;
    }
  }
  return [...uses.values()];
}
