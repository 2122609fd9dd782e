// What the engine sorts lines by for each column of the panel.
import type { Measure } from '../../protocol/measure';
import type { LinesQuestion } from '../../protocol/profile';

const OF_MEASURE: Record<Measure, string> = {
  hitm: 'hitm.total',
  localHitm: 'hitm.local',
  remoteHitm: 'hitm.remote',
  peer: 'peer.total',
  latency: 'cycles.sum',
  contended: 'contended',
};

/** Columns that the engine knows by another name. */
const RENAMED: Record<string, string> = {
  samples: 'records',
  'who.threads': 'threads',
  'llc.hitm': 'hitm.local',
  'remote.hitm': 'hitm.remote',
};

const SAME: ReadonlySet<string> = new Set([
  ...['address', 'object', 'verdict', 'threads', 'writers', 'records', 'loads', 'cycles.mean', 'memory.node', 'memory.pa', 'who.nodes'],
  ...['hitm.total', 'hitm.local', 'hitm.remote', 'peer.total', 'peer.local', 'peer.remote'],
  ...['stores.total', 'stores.l1Hit', 'stores.l1Miss', 'stores.na'],
  ...['ld.l1', 'ld.fillBuffer', 'ld.l2', 'ld.llc', 'ld.remoteHit', 'ld.localDram', 'ld.remoteDram'],
]);

/** @param key of a column; lines have no value in the columns of accesses alone, and are in the order of their addresses then */
export function lineOrder(key: string, descending: boolean, measure: Measure): Pick<LinesQuestion, 'sort' | 'descending'> {
  const sort = key === 'share' ? OF_MEASURE[measure] : SAME.has(key) ? key : RENAMED[key];
  return sort === undefined ? { sort: 'address', descending: false } : { sort, descending };
}
