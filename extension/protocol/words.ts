// What verdicts and evidence classes mean, in one sentence each: the same words in hovers, reports and the panel.
import type { Evidence, Verdict } from './report';

export const VERDICT_MEANING: Record<Verdict, string> = {
  'false sharing':
    'Threads use different bytes of one cache line and at least one writes: nothing is shared, yet the line moves between cores.',
  'true sharing': 'Threads use the same bytes and at least one writes: the line moves between cores because its data is really shared.',
  mixed: 'Threads share some bytes of this cache line; other bytes belong to one thread each and move along with them.',
  'read-shared': 'Several threads read this cache line and none writes it: every core keeps its own copy.',
  private: 'One thread uses this cache line, or several that never overlap in time.',
};

export const EVIDENCE_MEANING: Record<Evidence, string> = {
  hitm: 'loads that hit a line modified in another core’s cache, counted by the memory PMU',
  peer: 'loads served by another core’s cache, counted by the memory PMU',
  latency: 'load latencies measured by the memory PMU',
  watch: 'accesses trapped by debug registers: who they are is exact, how many is not measured',
  clock: 'time sampled at these accesses; cache misses were not counted',
};

/** Where there is no evidence class. */
export const NO_EVIDENCE = 'none: no sample says where its data came from';

/** Of recordings whose samples all stayed without an address: their binaries are gone, or no instruction of them could be read. */
export const NOTHING_ATTRIBUTED = 'None of the samples could be attributed to a memory access, so nothing can be said about sharing.';
