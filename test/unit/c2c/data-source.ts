// What one access adds to the statistics of c2c, after the meaning of PERF_MEM_* in <linux/perf_event.h>.

const OP = { load: 2, store: 4 };
const LEVEL = { na: 0x1, hit: 0x2, miss: 0x4, l1: 0x8, fillBuffer: 0x10, l2: 0x20, l3: 0x40, localRam: 0x80, io: 0x1000, uncached: 0x2000 };
const REMOTE_RAM = 0x100 | 0x200;
const REMOTE_CACHE = 0x400 | 0x800;
const SNOOP = { hit: 4, modified: 16 };

export type Added = Readonly<Record<string, number>>;

const known = new Map<string, Added>();

/** Names are those of the report's `stats`; `ldLlc` leaves local HITMs out, as the tables do. */
export function classify(source: string, hasAddress: boolean, isUnmapped: boolean): Added {
  const key = `${source} ${hasAddress} ${isUnmapped}`;
  const added = known.get(key) ?? classifyWord(source, hasAddress, isUnmapped);
  known.set(key, added);
  return added;
}

function classifyWord(source: string, hasAddress: boolean, isUnmapped: boolean): Added {
  const word = BigInt(`0x${source}`);
  const field = (shift: number, bits: number): number => Number((word >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n));
  const added: Record<string, number> = { records: 1 };
  const add = (name: string, when: boolean): void => {
    if (when) added[name] = (added[name] ?? 0) + 1;
  };
  add('locked', (field(24, 2) & 2) !== 0);
  add('blockedData', (field(40, 3) & 2) !== 0);
  add('blockedAddress', (field(40, 3) & 4) !== 0);

  const operation = field(0, 5);
  const level = field(5, 14);
  const at = (bits: number): boolean => (level & bits) !== 0;
  const hitAt = (bits: number): boolean => at(LEVEL.hit) && at(bits);
  if ((operation & OP.load) !== 0) {
    add('loads', true);
    if (!hasAddress) return { ...added, ldNoAddress: 1 };
    const snoop = field(19, 5);
    const isClean = (snoop & SNOOP.hit) !== 0;
    const isModified = (snoop & SNOOP.modified) !== 0;
    const isPeer = (field(38, 2) & 2) !== 0;
    // The remote bit with a number of hops may mean another core of the same node.
    const isElsewhere = field(37, 1) === 1 && field(43, 3) === 0;
    add('ldUncacheable', hitAt(LEVEL.uncached));
    add('ldIo', hitAt(LEVEL.io));
    add('ldFillBuffer', hitAt(LEVEL.fillBuffer));
    add('ldL1', hitAt(LEVEL.l1));
    add('ldL2', hitAt(LEVEL.l2));
    add('localPeer', hitAt(LEVEL.l2) && isPeer);
    add('localHitm', hitAt(LEVEL.l3) && isModified);
    add('ldLlc', hitAt(LEVEL.l3) && !isModified);
    add('localPeer', hitAt(LEVEL.l3) && isPeer);
    const isLocalRam = hitAt(LEVEL.localRam);
    const isRemoteRam = hitAt(REMOTE_RAM) || (at(LEVEL.hit) && isElsewhere);
    add('localDram', isLocalRam);
    add('remoteDram', isRemoteRam);
    for (const isRam of [isLocalRam, isRemoteRam]) add(isClean ? 'ldShared' : 'ldExclusive', isRam);
    const isRemoteCache = at(REMOTE_CACHE) || isElsewhere;
    add('remoteHit', isRemoteCache && (isClean || (!isModified && isPeer)));
    add('remoteHitm', isRemoteCache && !isClean && isModified);
    add('remotePeer', isRemoteCache && !isClean && !isModified && isPeer);
    add('ldMiss', at(LEVEL.miss));
  } else if ((operation & OP.store) !== 0) {
    add('stores', true);
    if (!hasAddress) return { ...added, stNoAddress: 1 };
    add('stUncacheable', hitAt(LEVEL.uncached));
    add('stL1Hit', hitAt(LEVEL.l1));
    add('stL1Miss', at(LEVEL.miss) && at(LEVEL.l1));
    add('stNa', at(LEVEL.na));
  } else {
    return { ...added, noParse: 1 };
  }
  add('noMap', isUnmapped);
  return added;
}
